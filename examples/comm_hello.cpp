// Channels without a dataflow: every worker greets every worker, itself too, wherever it runs. For who
// builds something else than dataflows on workers of one or several processes.
//
//   comm_hello [flags]      for example: comm_hello -w 2
//                           or: leat launch -n 2 -w 2 -- comm_hello
//
// Worker i of n prints
//
//   worker i of n: started
//   worker i of n: heard "hello from j"     n lines, one for each j from 0 to n - 1, in any order
//   worker i of n: done

#include <leat/base/clock.hpp>
#include <leat/base/hash.hpp>
#include <leat/comm/net/open_fabric.hpp>
#include <leat/comm/spawn.hpp>
#include <leat/core/options.hpp>
#include <leat/core/worker.hpp>

#include <cstddef>
#include <cstdio>
#include <string>

namespace comm = leat::comm;

// [comm_hello]
void greet(comm::Seat& seat) {
  const auto say = [&](const std::string& what) {
    std::printf("worker %zu of %zu: %s\n", seat.index(), seat.peers(), what.c_str());
  };
  say("started");
  // All workers make channel 0, and call it the same.
  auto [sender, receiver] = seat.fabric().channel<std::string>(
      seat, 0, {leat::fnv1a("greetings"), "the channel of greetings"}, {});
  for (std::size_t to = 0; to < seat.peers(); ++to) {
    std::string greeting = "hello from " + std::to_string(seat.index());
    sender.send(to, greeting);
  }
  std::string greeting;
  for (std::size_t heard = 0; heard < seat.peers();) {
    if (const auto* why = seat.fabric().stop().reason()) throw leat::core::Stopped(*why);
    seat.look();
    while (receiver.receive(greeting)) {
      say("heard \"" + greeting + "\"");
      ++heard;
    }
    if (heard < seat.peers()) seat.park(std::nullopt);
  }
  say("done");
}
// [/comm_hello]

int main(int argc, char** argv) {
  const auto args = leat::core::parse_args(argc, argv);
  if (!args || args->help) {
    std::fprintf(args ? stdout : stderr, "%s\n",
                 args ? std::string(leat::core::usage()).c_str() : args.error().message.c_str());
    return args ? 0 : 2;
  }
  const leat::RealClock clock;
  auto fabric = comm::open_fabric(args->config, clock);
  if (!fabric) {
    std::fprintf(stderr, "%s\n", fabric.error().message.c_str());
    return 1;
  }
  int code = 0;
  for (const comm::Ending& ending :
       comm::run_workers(**fabric, [](comm::Seat& seat, std::string&) { greet(seat); })) {
    if (!ending.error) continue;
    std::fprintf(stderr, "%s\n", comm::message_of(ending.error).c_str());
    code = 1;
  }
  return code;
}
