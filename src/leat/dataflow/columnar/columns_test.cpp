#include <leat/dataflow/columnar/columns.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <new>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <leat/base/codec.hpp>
#include <leat/base/sanitizers.hpp>
#include <leat/dataflow.hpp>
#include <leat/dataflow/capture/event_bytes.hpp>
#include <leat/dataflow/test_world.hpp>

// How many times this program asked for memory. Not inlined: g++ would see a delete that frees.
namespace {
std::size_t allocations = 0;
}  // namespace

#if !LEAT_TSAN  // whose own cannot be replaced: nothing is counted under it
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* const place = std::malloc(bytes == 0 ? 1 : bytes)) return place;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* place) noexcept { std::free(place); }
[[gnu::noinline]] void operator delete(void* place, std::size_t) noexcept { std::free(place); }
#endif

namespace leat::dataflow {
namespace {

using test::World;

using Number = std::uint64_t;
using Count = std::pair<std::string, Number>;

struct Line {
  std::string text;
  std::int16_t mark = 0;
  std::vector<std::pair<bool, std::string>> words;
};
LEAT_FIELDS(Line, text, mark, words);

static_assert(Drainable<Columns<Line>> && CopyableContainer<Columns<Line>>);
static_assert(std::ranges::random_access_range<Columns<Line>>);
static_assert(PushInto<Columns<Count>, std::pair<std::string_view, int>>);
static_assert(PushInto<Columns<Line>, FieldsView<Line>> && PushInto<Columns<Line>, Line>);
static_assert(PushInto<Columns<std::string>, const char (&)[3]>);
static_assert(!PushInto<Columns<Line>, int> && !PushInto<Columns<Count>, std::pair<int, Number>>);
static_assert(!Columnar<void*> && !Columnar<std::vector<void*>>);
static_assert(Column<std::pair<int, bool>>::kSchema != Column<std::pair<bool, int>>::kSchema);
static_assert(Column<float>::kSchema != Column<std::int32_t>::kSchema);

Line line(std::string text, std::int16_t mark, std::vector<std::pair<bool, std::string>> words) {
  return {std::move(text), mark, std::move(words)};
}

TEST(Columns, ShowRecordsAsViewsOfWhatWasPushed) {
  Columns<Line> lines;
  lines.push_back(line("to be", -1, {{true, "to"}, {false, "be"}}));
  lines.push_back(line("", 7, {}));
  lines.push_back(
      std::tuple(std::string_view("or"), 8, std::vector<std::pair<int, const char*>>{{1, "or"}}));
  lines.push_back(Columns<Line>(lines)[0]);  // a view of a record of other columns
  ASSERT_EQ(record_count(lines), 4u);

  EXPECT_EQ(field<&Line::text>(lines[0]), "to be");
  EXPECT_EQ(field<&Line::mark>(lines[0]), -1);
  EXPECT_EQ(field<&Line::words>(lines[0])[1], (std::pair<bool, std::string_view>(false, "be")));
  const auto [text, mark, words] = lines[1];
  EXPECT_EQ(text, "");
  EXPECT_EQ(mark, 7);
  EXPECT_TRUE(words.empty());
  EXPECT_EQ(field<&Line::words>(lines[2]).size(), 1u);

  std::string all;
  for (const auto& record : lines) {
    for (const auto& [flag, word] : field<&Line::words>(record)) {
      all += std::string(word) + (flag ? "+ " : "- ");
    }
  }
  EXPECT_EQ(all, "to+ be- or+ to+ be- ");
}

TEST(Columns, CanBeCopiedMovedAndClearedAndKeepTheirMemory) {
  Columns<std::string> texts;
  texts.push_back("a");
  texts.push_back(std::string(1000, 'b'));
  const Columns<std::string> copy = texts;
  const char* const place = texts[0].data();
  texts.clear();
  EXPECT_TRUE(texts.empty());
  texts.push_back("c");
  EXPECT_EQ(texts[0].data(), place);
  Columns<std::string> moved = std::move(texts);
  EXPECT_EQ(moved[0].data(), place);
  EXPECT_EQ(texts.size(), 0u);  // NOLINT(bugprone-use-after-move)
  texts.push_back("d");
  EXPECT_EQ(texts[0], "d");
  EXPECT_EQ(copy[1].size(), 1000u);
}

TEST(Columns, AreAtCapacityWith8KiB) {
  Columns<std::string> texts;
  while (!at_capacity(texts)) texts.push_back("four");
  EXPECT_EQ(texts.size(), 1024u);
  EXPECT_EQ(texts.bytes(), 8192u);
  Columns<std::tuple<>> nothing;
  while (!at_capacity(nothing)) nothing.push_back(std::tuple());
  EXPECT_EQ(nothing.size(), 8192u);
}

TEST(Columns, StayAsTheyWereIfAPushThrows) {
  using Texts = std::vector<std::string>;
  Columns<std::pair<Number, Texts>> rows;
  rows.push_back(std::pair(1, Texts{"a"}));
  const auto throwing = std::views::iota(0, 3) | std::views::transform([](int i) {
                          if (i == 2) throw std::runtime_error("no more");
                          return std::string("lost");
                        });
  EXPECT_THROW(rows.push_back(std::pair(2, throwing)), std::runtime_error);
  rows.push_back(std::pair(3, Texts{"b", "c"}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].second[0], "a");
  EXPECT_EQ(rows[1].first, 3u);
  ASSERT_EQ(rows[1].second.size(), 2u);
  EXPECT_EQ(rows[1].second[1], "c");
}

// --- on the wire

std::vector<std::byte> block(const Columns<std::pair<std::string, bool>>& columns) {
  ByteSink sink;
  columns.write_to(sink);
  return {sink.bytes().begin(), sink.bytes().end()};
}

TEST(Columns, AreTheirSectionsOnTheWire) {
  Columns<std::pair<std::string, bool>> columns;
  columns.push_back(std::pair("ab", true));
  columns.push_back(std::pair("c", false));
  std::vector<std::byte> wanted;
  const auto add = [&](std::initializer_list<int> bytes) {
    for (const int byte : bytes) wanted.push_back(static_cast<std::byte>(byte));
  };
  add({'L', 'E', 'A', 'T', 'C', 'O', 'L', '1'});
  for (int shift = 0; shift < 64; shift += 8) {
    add({static_cast<int>(Column<std::pair<std::string, bool>>::kSchema >> shift & 255)});
  }
  add({2, 0, 0, 0, 0, 0, 0, 0});
  add({8, 0, 0, 0, 0, 0, 0, 0});
  add({3, 0, 0, 0, 0, 0, 0, 0});
  add({2, 0, 0, 0, 0, 0, 0, 0});
  add({2, 0, 0, 0, 3, 0, 0, 0});
  add({'a', 'b', 'c', 0, 0, 0, 0, 0});
  add({1, 0});
  EXPECT_EQ(block(columns), wanted);
}

TEST(ColumnsView, ReadsABlockWhereItIs) {
  Columns<std::pair<std::string, bool>> columns;
  columns.push_back(std::pair("ab", true));
  columns.push_back(std::pair("c", false));
  const std::vector<std::byte> bytes = block(columns);
  const auto view = ColumnsView<std::pair<std::string, bool>>::over(bytes);
  ASSERT_TRUE(view.has_value()) << view.error().message;
  ASSERT_EQ(view->size(), 2u);
  EXPECT_EQ((*view)[1], (std::pair<std::string_view, bool>("c", false)));
  const auto* const text = reinterpret_cast<const std::byte*>((*view)[0].first.data());
  EXPECT_TRUE(text >= bytes.data() && text < bytes.data() + bytes.size());

  Columns<std::pair<std::string, bool>> taken;
  taken.assign(*view);
  EXPECT_EQ(block(taken), bytes);
}

TEST(ColumnsView, RefusesWhatIsNoBlockOfItsType) {
  using View = ColumnsView<std::pair<std::string, bool>>;
  Columns<std::pair<std::string, bool>> columns;
  columns.push_back(std::pair("ab", true));
  columns.push_back(std::pair("c", false));
  const std::vector<std::byte> good = block(columns);
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(View::over(std::span(good).first(bytes)).has_value()) << bytes;
  }
  const auto refused = [&](std::size_t at, int byte) {
    auto bad = good;
    bad[at] = static_cast<std::byte>(byte);
    const auto view = View::over(bad);
    return view ? "a view" : view.error().message;
  };
  EXPECT_EQ(refused(0, 'l'), "decode, byte 8 of 66: these are no columns");
  EXPECT_EQ(refused(9, 0xff), "decode, byte 16 of 66: the columns are of another type");
  EXPECT_EQ(refused(16, 3), "decode, byte 66 of 66: a section of ends is not of the rows' number");
  EXPECT_EQ(refused(48, 4), "decode, byte 66 of 66: ends are not in order");
  EXPECT_EQ(refused(52, 2), "decode, byte 66 of 66: letters do not end where the last text does");
  EXPECT_EQ(refused(59, 1), "decode, byte 64 of 66: padding is not zero");
  EXPECT_EQ(refused(64, 2), "decode, byte 66 of 66: a bool is neither 0 nor 1");
  EXPECT_EQ(refused(40, 1), "decode, byte 65 of 66: a section of bools is not of the rows' number");
  auto longer = good;
  longer.push_back(std::byte{0});
  EXPECT_EQ(View::over(longer).error().message,
            "decode, byte 66 of 67: the columns end before the bytes do (1, at most 0)");
  EXPECT_EQ((ColumnsView<std::pair<bool, std::string>>::over(good).error().message),
            "decode, byte 16 of 66: the columns are of another type");
}

TEST(Columns, AreCodedAmongOtherValues) {
  std::pair<bool, Columns<Line>> value;
  value.first = true;
  value.second.push_back(line("x y", 3, {{true, "x"}, {true, "y"}}));
  const auto back = decode<std::pair<bool, Columns<Line>>>(encoded(value).bytes());
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_TRUE(back->first);
  ASSERT_EQ(back->second.size(), 1u);
  EXPECT_EQ(field<&Line::words>(back->second[0])[1].second, "y");
}

// Bytes that are written to memory and read from there.
struct Memory {
  std::vector<std::byte>* bytes;
  std::size_t at = 0;
  Error none{};

  Io write(std::span<const std::byte> from) {
    bytes->insert(bytes->end(), from.begin(), from.end());
    return {IoState::some, from.size()};
  }
  Io read(std::span<std::byte> into) {
    const std::size_t count = std::min(into.size(), bytes->size() - at);
    if (count == 0) return {IoState::over, 0};
    std::copy_n(bytes->begin() + static_cast<std::ptrdiff_t>(at), count, into.begin());
    at += count;
    return {IoState::some, count};
  }
  [[nodiscard]] const Error& error() const { return none; }
};

TEST(Columns, AreCarriedAsBytes) {
  std::vector<std::byte> bytes;
  Columns<Line> lines;
  lines.push_back(line("x y", 3, {{true, "x"}, {true, "y"}}));
  auto writer = event_writer<Number, Columns<Line>>(Memory{&bytes});
  writer.push(Messages<Number, Columns<Line>>{Stamp<Number>(7), lines});
  writer.end();
  EXPECT_EQ(writer.flush(), Flush::all);

  auto reader = event_reader<Number, Columns<Line>>(Memory{&bytes});
  Event<Number, Columns<Line>> event;
  ASSERT_EQ(reader.next(event), Next::event);
  const auto& message = std::get<Messages<Number, Columns<Line>>>(event);
  EXPECT_EQ(message.stamp.first(), 7u);
  ASSERT_EQ(message.batch.size(), 1u);
  EXPECT_EQ(field<&Line::words>(message.batch[0])[1].second, "y");
  EXPECT_EQ(reader.next(event), Next::over);
}

// --- through the engine

// Counts words over columns, from input to exchange to aggregate, on `peers` workers.
std::map<std::string, Number> counted(std::size_t peers, std::size_t rounds,
                                      std::size_t* allocated = nullptr) {
  static const std::vector<std::string> kWords{"to", "be", "or", "not",
                                               "a word that is too long to be kept in place"};
  World world(peers);
  std::map<std::string, Number> counts;
  std::vector<Input<Columnwise<Count>>> inputs(peers);
  std::vector<Probe<>> probes(peers);
  for (std::size_t i = 0; i < peers; ++i) {
    world[i].dataflow([&](auto& scope) {
      scope.input(inputs[i]) | exchange([](const auto& count) { return hash(count.first); }) |
          aggregate<Number>([](const auto&, Number n, Number& sum) { sum += n; },
                            [](const std::string& word, Number sum) { return Count(word, sum); }) |
          inspect([&counts](const Count& count) { counts[count.first] += count.second; }) |
          probe(probes[i]);
    });
  }
  const auto round = [&](Number time) {
    for (std::size_t i = 0; i < 5000; ++i) {
      for (auto& input : inputs) {
        input.send(std::pair(std::string_view(kWords[i % kWords.size()]), i % 3));
      }
      if (i % 250 == 0) world.steps(1);
    }
    for (auto& input : inputs) input.advance_to(time + 1);
    while (probes[0].less_than(time + 1)) world.steps(1);
  };
  for (Number time = 0; time < rounds; ++time) {
    const std::size_t before = allocations;
    round(time);
    if (allocated != nullptr) *allocated = allocations - before;  // of the last round
  }
  for (auto& input : inputs) input.close();
  EXPECT_TRUE(world.ends());
  return counts;
}

TEST(Columns, AreExchangedAndAggregatedByAnyNumberOfWorkers) {
  for (const std::size_t peers : {1U, 2U, 3U}) {
    const auto counts = counted(peers, 2);
    Number sum = 0;
    for (const auto& [word, count] : counts) sum += count;
    EXPECT_EQ(counts.size(), 5u) << peers;
    EXPECT_EQ(sum, 2 * peers * 4999) << peers;  // 0, 1, 2, 0, 1, 2, ... to 1 of 5000
    EXPECT_EQ(counts.at("to"), counted(1, 1).at("to") * 2 * peers) << peers;
  }
}

TEST(Columns, AllocateNothingPerRecord) {
  Columns<Line> lines;
  const Line record = line("to be", -1, {{true, "to"}, {false, "be"}});
  const auto fill = [&] {
    while (!at_capacity(lines)) lines.push_back(record);
    lines.clear();
  };
  fill();
  const std::size_t before = allocations;
  fill();
  EXPECT_EQ(allocations, before);

  std::size_t allocated = 0;
  counted(2, 4, &allocated);
  // Ten thousand records. What is allocated is for batches that wait, for keys, and for times.
  EXPECT_LT(allocated, 1000u);
}

TEST(Columns, PassOperatorsThatTakeAnyContainer) {
  World world;
  Input<Columnwise<std::string>> input;
  std::vector<std::string> seen;
  std::size_t shared_rows = 0;
  world[0].dataflow([&](auto& scope) {
    auto words = scope.input(input) | filter([](std::string_view word) { return word != "b"; });
    words | map([](std::string_view word) { return std::string(word) + "!"; }) |
        inspect([&](const std::string& word) { seen.push_back(word); });
    words | concat(words) | shared() | inspect([&](std::string_view) { ++shared_rows; });
  });
  for (const char* word : {"a", "b", "c"}) input.send(word);
  input.close();
  EXPECT_TRUE(world.ends());
  EXPECT_EQ(seen, (std::vector<std::string>{"a!", "c!"}));
  EXPECT_EQ(shared_rows, 4u);
}

}  // namespace
}  // namespace leat::dataflow
