// What a worker tells of itself: its logs are registered before dataflows are built, and printed. The
// second dataflow is built after the log of events was bound anew, so it is heard in the new one. The
// last log is the program's own.
//
//   logging_send [BATCH] [ROUNDS] [flags]     10 records in each of 3 rounds, unless told otherwise
//
// prints lines that begin with the log's name and the time since the start, in nanoseconds:
//
//   LOG1 24310 operator 1 [0, 1] "input" (logging_send.cpp:53)
//   SUMMARY 24310 summary 2: in0->out0 by 0
//   REACHABILITY 25020 counts of scope 0: 1.out0 +1 @ 0
//   PROGRESS 31207 progress sent by 0 #0 of scope 0: messages 2.in0 +10 @ 0; internal 1.out0 ...
//   LOG2 52014 scope 4 [1] "dataflow" (logging_send.cpp:52)
//   Round tick at: 61733

#include <leat/dataflow.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

#include "arguments.hpp"

namespace df = leat::dataflow;

namespace {

// [print_log]
/// Prints what is logged to `stream` from now on.
template <class Event>
void print_log(df::Worker& worker, std::string_view stream, const char* name) {
  worker.logs().insert<Event>(stream, [name](leat::Nanos, df::LogBatch<Event>& batch) {
    for (const auto& logged : batch) {
      std::printf("%s %lld %s\n", name, static_cast<long long>(logged.time.count()),
                  df::text_of(logged.event).c_str());
    }
  });
}
// [/print_log]

struct Tick {};

}  // namespace

int main(int argc, char** argv) {
  const auto batch = number(argc, argv, 1, "BATCH", 10);
  const auto rounds = number(argc, argv, 2, "ROUNDS", 3);
  const auto outcome = df::execute_from_args(argc, argv, [=](df::Worker& worker) {
    df::Input<std::uint64_t> input;
    df::Probe<> probe;
    const auto build = [&] {
      worker.dataflow([&](auto& scope) {
        scope.input(input) | df::exchange([](std::uint64_t x) { return x; }) | df::probe(probe);
      });
    };

    print_log<df::WorkerEvent>(worker, df::kEventStream, "LOG1");
    print_log<df::ProgressEvent<std::uint64_t>>(worker, df::progress_stream<std::uint64_t>(),
                                                "PROGRESS");
    print_log<df::TrackerEvent<std::uint64_t>>(worker, df::reachability_stream<std::uint64_t>(),
                                               "REACHABILITY");
    print_log<df::SummaryEvent<std::uint64_t>>(worker, df::summary_stream<std::uint64_t>(),
                                               "SUMMARY");
    build();
    print_log<df::WorkerEvent>(worker, df::kEventStream, "LOG2");
    build();

    // [own_log]
    worker.logs().insert<Tick>("ticks", [](leat::Nanos, df::LogBatch<Tick>& ticks) {
      for (const auto& logged : ticks)
        std::printf("Round tick at: %lld\n", static_cast<long long>(logged.time.count()));
    });
    const auto ticks = worker.logs().get<Tick>("ticks");
    // [/own_log]
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::uint64_t i = 0; i < batch; ++i) input.send(i);
      input.advance_to(round + 1);
      ticks.log(Tick{});
      worker.step_or_park_while([&] { return probe.less_than(input.time()); });
    }
  });
  return outcome.exit_code();
}
