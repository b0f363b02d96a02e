// Counts words over all lines so far. Shows an operator of one's own: it keeps what arrives until
// its time is complete (no worker can send anything at it any more), so that counts come out in the
// order of times, whatever the order of arrival.
//
//   wordcount [flags]      for example: wordcount -w 2
//
// Each of w workers sends the line "round" in each of ten rounds; prints
//
//   seen: ("round", 1)
//   ...
//   seen: ("round", 10·w)

#include <leat/dataflow.hpp>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace df = leat::dataflow;

using Count = std::pair<std::string, std::uint64_t>;

// [count_words]
// Of a stream of words: each with its count so far, on the worker that its length names.
auto count_words() {
  const auto by_length = df::exchange_by([](const std::string& word) { return word.size(); });
  return df::unary_notify<Count>(by_length, "count words", [](auto, auto) {
    std::map<std::uint64_t, std::vector<std::string>> waiting;  // by time
    std::map<std::string, std::uint64_t> counts;
    return [=](auto& input, auto& output, auto& notificator) mutable {
      input.for_each([&](auto& message) {
        auto& words = waiting[message.time()];
        if (words.empty()) notificator.notify_at(message.retain());
        for (auto& word : message.records()) words.push_back(std::move(word));
      });
      while (auto complete = notificator.next(input.frontier())) {
        auto session = output.session(complete->capability);
        auto words = waiting.extract(complete->time());
        for (const auto& word : words.mapped()) session.give(Count(word, ++counts[word]));
      }
    };
  });
}
// [/count_words]

int main(int argc, char** argv) {
  const auto outcome = df::execute_from_args(argc, argv, [](df::Worker& worker) {
    const auto split = [](const std::string& line, auto& out) {
      std::istringstream words(line);
      for (std::string word; words >> word;) out(word);
    };
    const auto print = [](const Count& count) {
      std::printf("seen: (\"%s\", %lu)\n", count.first.c_str(), count.second);
    };
    df::Input<std::string> lines;
    df::Probe<> probe;
    worker.dataflow([&](auto& scope) {
      scope.input(lines) | df::flat_map<std::string>(split) | count_words() | df::inspect(print) |
          df::probe(probe);
    });
    for (std::uint64_t round = 0; round < 10; ++round) {
      lines.send("round");
      lines.advance_to(round + 1);
      worker.step_or_park_while([&] { return probe.less_than(lines.time()); });
    }
  });
  return outcome.exit_code();
}
