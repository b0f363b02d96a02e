#include <leat/comm/spawn.hpp>

#include <algorithm>
#include <thread>
#include <utility>

#include <leat/base/os/thread_name.hpp>
#include <leat/core/worker.hpp>

namespace leat::comm {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

namespace {

// What one worker's thread does.
void run_worker(Fabric& fabric, std::size_t index,
                void (*body)(void* data, Seat& seat, std::string& where), void* data,
                Ending& ending) {
  os::set_thread_name("leat:work-" + std::to_string(fabric.first_worker() + index));
  Seat& seat = fabric.seat(fabric.first_worker() + index);
  seat.enter();
  try {
    body(data, seat, ending.where);
  } catch (const core::Stopped&) {
    ending.stopped = true;
    ending.error = std::current_exception();
  } catch (...) {
    ending.error = std::current_exception();
    std::string who = "worker " + std::to_string(seat.index());
    if (!ending.where.empty()) who += ", " + ending.where;
    fabric.fail({std::move(who), message_of(ending.error), ending.error});
  }
  seat.leave();
}

}  // namespace

std::vector<Ending> run_workers(Fabric& fabric,
                                void (*body)(void* data, Seat& seat, std::string& where),
                                void* data) {
  std::vector<Ending> endings(fabric.workers());
  std::vector<std::thread> threads;
  threads.reserve(fabric.workers());
  try {
    while (threads.size() < fabric.workers()) {
      const std::size_t index = threads.size();
      threads.emplace_back([&fabric, &ending = endings[index], index, body, data] {
        run_worker(fabric, index, body, data, ending);
      });
    }
  } catch (...) {  // the system gives no thread: those that run would wait for it forever
    const std::size_t index = threads.size();
    const auto error = std::current_exception();
    const std::string who = "worker " + std::to_string(fabric.first_worker() + index);
    fabric.fail({who, "no thread for it: " + message_of(error), error});
    endings[index].error = error;
    for (std::size_t later = index + 1; later < endings.size(); ++later) {
      endings[later].stopped = true;
      endings[later].error = std::make_exception_ptr(core::Stopped(*fabric.stop().reason()));
    }
  }
  for (auto& thread : threads) thread.join();
  // What user code threw is the worker's ending, also if its function caught it or followed a stop.
  for (std::size_t index = 0; index < endings.size(); ++index) {
    Ending& ending = endings[index];
    if (ending.error && !ending.stopped) continue;
    if (auto failure = fabric.failures().of(fabric.first_worker() + index)) {
      ending = {std::move(failure->error), std::move(failure->where), false};
    }
  }
  // If nobody here failed, it was another process, or the way there: that is everybody's ending.
  const auto lost = fabric.finish();
  const auto* const reason = fabric.stop().reason();
  const bool is_from_elsewhere =
      reason != nullptr && reason->exception &&
      std::none_of(endings.begin(), endings.end(),
                   [](const Ending& ending) { return ending.error && !ending.stopped; });
  for (Ending& ending : endings) {
    if (ending.stopped && is_from_elsewhere) {
      ending = {reason->exception, {}, false};
    } else if (!ending.error && lost) {
      ending = {lost->exception, {}, false};
    }
  }
  return endings;
}

}  // namespace leat::comm
