// Counts words in columns: a record is never an object on its way. Lines are pushed into columns of
// texts; words are read there as views, and pushed into columns of words and counts; the exchange
// copies from column to column; and `aggregate` makes a string of a word when it sees it first.
//
//   columnar [flags]      for example: columnar -w 2
//
// In round r of three, each of w workers sends the line "to be or not to be" r + 1 times. For each
// round the workers print between them
//
//   round r: be 2·w·(r+1)
//   round r: not w·(r+1)
//   round r: or w·(r+1)
//   round r: to 2·w·(r+1)
//
// each line by the worker that the word belongs to, and each worker for itself
//
//   worker i: complete up to r

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace df = leat::dataflow;

// [columnar]
struct Word {
  std::string text;
  std::uint64_t count = 0;
};
LEAT_FIELDS(Word, text, count);

// Of columns of lines: columns of words, each counted once.
auto split() {
  return df::flat_map<df::Columnwise<Word>>([](std::string_view line, auto& out) {
    while (!line.empty()) {
      const auto end = line.find(' ');
      out(std::pair(line.substr(0, end), std::uint64_t{1}));
      line.remove_prefix(end == line.npos ? line.size() : end + 1);
    }
  });
}

// Of columns of words: for each time, every word and how often it came.
auto sum() {
  return df::aggregate<std::uint64_t>(
      [](std::string_view, std::uint64_t count, std::uint64_t& sum) { sum += count; },
      [](const std::string& text, std::uint64_t sum) { return Word{text, sum}; });
}
// [/columnar]

int main(int argc, char** argv) {
  const auto outcome = df::execute_from_args(argc, argv, [](df::Worker& worker) {
    df::Input<df::Columnwise<std::string>> lines;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(lines) | split() | sum() | df::inspect_time([](auto round, const Word& word) {
        std::printf("round %lu: %s %lu\n", round, word.text.c_str(), word.count);
      }) | df::probe(probe);
    });
    for (std::uint64_t round = 0; round < 3; ++round) {
      for (std::uint64_t line = 0; line <= round; ++line) lines.send("to be or not to be");
      lines.advance_to(round + 1);
      worker.step_or_park_while([&] { return probe.less_than(lines.time()); });
      std::printf("worker %zu: complete up to %lu\n", worker.index(), round);
    }
  });
  return outcome.exit_code();
}
