// What      Any bytes are columns or an error with a message; columns can be read to the last letter
//           of the last record, and written they are the same bytes again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/base/codec/codec.hpp>
#include <leat/dataflow/columnar/columns.hpp>

namespace {

struct Line {
  std::string text;
  std::int16_t mark = 0;
  std::vector<std::vector<std::pair<bool, std::string>>> words;
};
LEAT_FIELDS(Line, text, mark, words);

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), 'a')) + text.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using leat::dataflow::Columns;
  using leat::dataflow::ColumnsView;
  // The magic and the schema, which no fuzzer guesses, stand in front of what it makes.
  leat::ByteSink bytes;
  Columns<Line>().write_to(bytes);
  const leat::ByteSink empty = std::move(bytes);
  leat::ByteSink block;
  block.write(empty.bytes().data(), 16);
  block.write(data, size);

  const auto view = ColumnsView<Line>::over(block.bytes());
  if (!view) {
    LEAT_CHECK(!view.error().message.empty(), "an error without a message");
    return 0;
  }
  std::size_t sum = 0;
  for (const auto& line : *view) {
    sum += letters(leat::dataflow::field<&Line::text>(line));
    for (const auto& words : leat::dataflow::field<&Line::words>(line)) {
      for (const auto& [flag, word] : words) sum += letters(word) + (flag ? 1 : 0);
    }
  }
  LEAT_CHECK(sum <= 3 * size, "more was read than there is");
  Columns<Line> taken;
  taken.assign(*view);
  leat::ByteSink again;
  taken.write_to(again);
  LEAT_CHECK(std::ranges::equal(again.bytes(), block.bytes()), "the columns have two forms");
  return 0;
}
