// What      Any bytes are a stream of events, or are refused with where they stop being one; and the
//           same comes out however they are divided. A whole stream is written as the same bytes
//           again.
// Shape     The first byte says in which pieces the rest comes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/dataflow/capture/event_bytes.hpp>
#include <leat/progress/product.hpp>

namespace {

using namespace leat;
using Time = progress::Product<std::uint64_t, std::uint8_t>;
using Batch = std::vector<std::string>;
using Happened = dataflow::Event<Time, Batch>;

constexpr std::size_t kFrameBytesMax = 4096;

class Pieces {
 public:
  Pieces(std::span<const std::byte> bytes, std::size_t piece) : bytes_(bytes), piece_(piece) {}
  Io read(std::span<std::byte> into) {
    const std::size_t count = std::min({into.size(), piece_, bytes_.size()});
    if (count == 0) return {IoState::over, 0};
    std::memcpy(into.data(), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return {IoState::some, count};
  }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t piece_;
  Error error_;
};

class Kept {
 public:
  explicit Kept(std::vector<std::byte>& bytes) : bytes_(&bytes) {}
  Io write(std::span<const std::byte> bytes) {
    bytes_->insert(bytes_->end(), bytes.begin(), bytes.end());
    return {IoState::some, bytes.size()};
  }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  std::vector<std::byte>* bytes_;
  Error error_;
};

struct Found {
  std::vector<Happened> events;
  std::string error;
};

Found read(std::span<const std::byte> bytes, std::size_t piece) {
  auto reader = dataflow::event_reader<Time, Batch>(Pieces(bytes, piece), kFrameBytesMax);
  Found found;
  Happened event;
  dataflow::Next last = reader.next(event);
  for (; last == dataflow::Next::event; last = reader.next(event))
    found.events.push_back(std::move(event));
  LEAT_CHECK(last != dataflow::Next::none, "a source that always has something has nothing");
  if (last == dataflow::Next::broken) {
    found.error = reader.error().message;
    LEAT_CHECK(found.error.find("byte") != std::string::npos, "an error that does not say where");
  }
  return found;
}

std::vector<std::byte> written(std::vector<Happened> events) {
  std::vector<std::byte> bytes;
  auto writer = dataflow::event_writer<Time, Batch>(Kept(bytes), kFrameBytesMax);
  for (auto& event : events) writer.push(std::move(event));
  writer.end();
  LEAT_CHECK(writer.flush() == dataflow::Flush::all, "what was read cannot be written");
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const Found whole = read(bytes, bytes.size() + 1);
  const Found pieces = read(bytes, std::size_t{1} + data[0]);
  LEAT_CHECK(whole.events == pieces.events, "other events come out of other pieces");
  // What follows the end is refused by what came along with it.
  LEAT_CHECK(whole.error.empty() || whole.error == pieces.error ||
                 whole.error.find("nothing after the end") != std::string::npos,
             "another error comes out of other pieces");
  if (!whole.error.empty()) return 0;
  const auto again = written(whole.events);
  LEAT_CHECK(std::equal(bytes.begin(), bytes.end(), again.begin(), again.end()),
             "a stream has two ways to be written");
  return 0;
}
