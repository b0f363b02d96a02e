// What      Any bytes are a value of each of these types or an error with a message; and what they
//           are a value of is encoded as the same bytes again, if the type has one encoding.
// Shape     The first byte chooses the type, the rest are its bytes.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/codec.hpp>

namespace {

struct Tree {
  std::string name;
  std::optional<std::int16_t> mark;
  std::vector<Tree> children;
};
LEAT_FIELDS(Tree, name, mark, children);

struct Expression {
  std::variant<std::monostate, bool, std::vector<Expression>, std::map<std::string, Expression>> is;
};
LEAT_FIELDS(Expression, is);

enum class Encodings { one, many };

template <class T, Encodings kEncodings = Encodings::one>
void check(std::span<const std::byte> bytes) {
  const leat::Result<T> value = leat::decode<T>(bytes);
  if (!value) {
    LEAT_CHECK(!value.error().message.empty(), "an error without a message");
    return;
  }
  const leat::ByteSink again = leat::encoded(*value);
  LEAT_CHECK(again.size() == bytes.size(), "the value takes another number of bytes");
  if constexpr (kEncodings == Encodings::one) {
    LEAT_CHECK(std::equal(bytes.begin(), bytes.end(), again.bytes().begin()),
               "the value has two encodings");
  } else {
    LEAT_CHECK(leat::decode<T>(again.bytes()).has_value(), "an encoding that cannot be decoded");
  }
}

using Check = void (*)(std::span<const std::byte>);
constexpr Check kChecks[] = {
    &check<std::vector<std::uint32_t>>,
    &check<std::vector<std::string>>,
    &check<Tree>,
    &check<Expression>,
    &check<std::map<std::string, std::vector<double>>>,
    &check<std::set<std::pair<bool, std::int8_t>>>,
    &check<std::multimap<std::uint8_t, std::optional<std::u16string>>>,
    &check<std::unordered_map<std::string, std::uint64_t>, Encodings::many>,
    &check<std::unordered_multiset<std::uint8_t>, Encodings::many>,
    &check<std::tuple<std::vector<bool>, std::array<std::string, 2>, std::tuple<>>>,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kChecks[data[0] % std::size(kChecks)](
      std::as_bytes(std::span<const std::uint8_t>(data + 1, size - 1)));
  return 0;
}
