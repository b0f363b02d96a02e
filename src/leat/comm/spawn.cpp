#include <leat/comm/spawn.hpp>

#include <thread>

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

std::vector<Ending> run_workers(Fabric& fabric,
                                void (*body)(void* data, Seat& seat, std::string& where),
                                void* data) {
  std::vector<Ending> endings(fabric.workers());
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < fabric.workers(); ++index) {
    threads.emplace_back([&fabric, &ending = endings[index], index, body, data] {
      os::set_thread_name("leat:work-" + std::to_string(index));
      Seat& seat = fabric.seat(index);
      seat.enter();
      try {
        body(data, seat, ending.where);
      } catch (const core::Stopped&) {
        ending.stopped = true;
        ending.error = std::current_exception();
      } catch (...) {
        ending.error = std::current_exception();
        std::string who = "worker " + std::to_string(index);
        if (!ending.where.empty()) who += ", " + ending.where;
        fabric.fail({std::move(who), message_of(ending.error), ending.error});
      }
      seat.leave();
    });
  }
  for (auto& thread : threads) thread.join();
  return endings;
}

}  // namespace leat::comm
