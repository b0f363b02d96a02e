// What      An open loop: offers records to a dataflow at a fixed rate, whatever it does with them,
//           and measures how long each takes until a probe has passed it.
// Protocol  Latency counts from when a record was due, not from when it was sent: a stall delays
//           many records, and all of them tell. The longer the dataflow lags behind, the larger the
//           batches: each ends at a multiple of a power of two that is no less than the lag.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/histogram.hpp>
#include <leat/dataflow.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>

/// Offers this worker's share of `rate` records a second for `seconds`: their numbers, from 0 on.
///
/// Returns: how long each of them took, in nanoseconds.
inline leat::Histogram run_open_loop(leat::dataflow::Worker& worker,
                                     leat::dataflow::Input<std::uint64_t, leat::Nanos>& input,
                                     const leat::dataflow::Probe<leat::Nanos>& probe,
                                     std::uint64_t rate, std::uint64_t seconds) {
  using leat::Nanos;
  // A barrier: when this time is over, everybody is here.
  const Nanos begin(1);
  input.advance_to(begin);
  worker.step_or_park_while([&] { return probe.less_than(begin); });

  const leat::RealClock clock;
  const Nanos start = clock.now() - begin;
  const auto due = [&](std::uint64_t i) { return begin + Nanos(i * 1'000'000'000 / rate); };
  leat::Histogram latencies;
  std::uint64_t next = worker.index();  // to be sent
  std::uint64_t oldest = next;          // that was sent and has not come through
  while (oldest < rate * seconds) {
    const Nanos now = clock.now() - start;
    const Nanos passed = probe.frontier()[0];
    for (; oldest < next && due(oldest) < passed; oldest += worker.peers()) {
      latencies.record(static_cast<std::uint64_t>((now - due(oldest)).count()));
    }
    const auto outstanding = static_cast<std::uint64_t>((input.time() - passed).count());
    const Nanos end = now - now % static_cast<std::int64_t>(std::bit_ceil(outstanding));
    if (input.time() < end) {
      for (; next < rate * seconds && due(next) < end; next += worker.peers()) input.send(next);
      input.advance_to(end);
    }
    worker.step();  // and never sleep: the next record is due soon
  }
  return latencies;
}

/// Prints what fraction of the latencies was not below which: `latency_ns\tfraction`, in sixteen
/// steps per power of two from 2^10 ns, where it is neither all nor none.
inline void print_tail(const leat::Histogram& latencies) {
  const auto all = static_cast<double>(latencies.count());
  for (std::uint64_t power = 1 << 10; latencies.count_from(power) > 0; power *= 2) {
    for (std::uint64_t latency = power; latency < 2 * power; latency += power / 16) {
      const auto some = latencies.count_from(latency);
      if (0 < some && some < latencies.count()) {
        std::printf("%lu\t%g\n", latency, static_cast<double>(some) / all);
      }
    }
  }
}

/// Prints the tail of what all workers measured, or what went wrong; returns the exit code.
inline int finish(leat::dataflow::Outcome<leat::Histogram> outcome) {
  if (!outcome.ok()) return outcome.exit_code();
  leat::Histogram all;
  for (std::size_t worker = 0; worker < outcome.workers(); ++worker) {
    all.merge(outcome.value(worker));
  }
  print_tail(all);
  return 0;
}
