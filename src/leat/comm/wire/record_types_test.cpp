#include <leat/comm/wire/record_types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <leat/base/fields.hpp>
#include <leat/comm/fabric.hpp>

namespace leat::comm {

namespace record_types_test {
struct Crate {
  std::uint32_t weight = 0;
  std::string to;
};
LEAT_FIELDS(Crate, weight, to);
struct Letter {
  std::uint32_t weight = 0;
};
LEAT_FIELDS(Letter, weight);
struct Unsendable {
  int* where = nullptr;
};
}  // namespace record_types_test

namespace {

using record_types_test::Crate;
using record_types_test::Letter;
using record_types_test::Unsendable;

bool is_known(const std::string& name) {
  const auto types = record_types();
  return std::any_of(types.begin(), types.end(),
                     [&](const RecordType& type) { return type.name == name; });
}

// To have it in the program is enough.
template <class M>
[[maybe_unused]] auto make_channel(Fabric& fabric) {
  return fabric.channel<M>(fabric.seat(0), 1, {}, {});
}

TEST(RecordTypes, AreKnownBeforeAnyChannelIsMade) {
  [[maybe_unused]] const auto crates = &make_channel<std::vector<Crate>>;
  [[maybe_unused]] const auto uncoded = &make_channel<Unsendable>;
  EXPECT_TRUE(is_known(std::string(type_name<std::vector<Crate>>())));
  EXPECT_FALSE(is_known(std::string(type_name<std::vector<Letter>>())));
  EXPECT_FALSE(is_known(std::string(type_name<Unsendable>())));
}

TEST(RecordTypes, AscendAndEachIsThereOnce) {
  const auto types = record_types();
  for (std::size_t i = 1; i < types.size(); ++i) {
    EXPECT_LT(types[i - 1].number, types[i].number) << types[i].name;
  }
}

TEST(RecordTypes, AreOfAnotherSchemaWhenAMemberIs) {
  EXPECT_NE(schema_of(RecordTypes<std::vector<Crate>>{}),
            schema_of(RecordTypes<std::vector<Letter>>{}));
  EXPECT_NE(schema_of(RecordTypes<int, Crate>{}), schema_of(RecordTypes<Crate, int>{}));
}

}  // namespace
}  // namespace leat::comm
