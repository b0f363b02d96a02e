// Input without an order of times: the program itself holds the capability to send, and so decides
// which times are still open. (df::Input instead has one current time, which only moves forward.)
//
//   unordered_input
//
// prints, each line during the one step that its round is given,
//
//   0 -> [0]
//   ...
//   9 -> [9]

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace df = leat::dataflow;

int main() {
  df::execute_directly([](df::Worker& worker) {
    // [unordered_input]
    auto [input, capability] = worker.dataflow([](auto& scope) {
      auto made = df::unordered_input<std::uint64_t>(scope);
      made.stream | df::inspect_batch([](std::uint64_t time, const auto& batch) {
        std::string records;
        for (const auto record : batch) {
          records += (records.empty() ? "" : ", ") + std::to_string(record);
        }
        std::printf("%lu -> [%s]\n", time, records.c_str());
      });
      return std::pair(std::move(made.handle), std::move(made.capability));
    });
    for (std::uint64_t round = 0; round < 10; ++round) {
      input.session(capability).give(round);
      capability.downgrade(round + 1);
      worker.step();
    }
    // [/unordered_input]
  });
}
