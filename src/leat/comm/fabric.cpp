#include <leat/comm/fabric.hpp>

#include <leat/base/os/affinity.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/spawn.hpp>

namespace leat::comm {

Fabric::Fabric(std::size_t workers, core::NotifyRule notify)
    : notify_(notify),
      mask_(workers),
      failures_(workers),
      crowd_(static_cast<std::uint32_t>(os::runnable_cpus())) {
  for (std::size_t index = 0; index < workers; ++index) {
    seats_.push_back(std::make_shared<Seat>(*this, index, workers));
  }
  // Every reader stands at the beginning of every log before anybody writes. Nobody reads its own.
  for (std::size_t reader = 0; reader < workers; ++reader) {
    for (std::size_t writer = 0; writer < workers; ++writer) {
      if (reader == writer) {
        seats_[writer]->log_.retire(reader);
      } else {
        seats_[reader]->cursors_.push_back(seats_[writer]->log_.cursor(reader));
      }
    }
  }
  static_cast<void>(stop_.add_waker([this] { wake_all(); }));
}

Fabric::~Fabric() {
  for (auto& seat : seats_) {
    seat->cursors_.clear();                         // before the logs they stand in
    seat->ready().surface([](core::Doorbell&) {});  // a seat may outlive what its list holds
  }
}

void Fabric::wake_all() noexcept {
  for (auto& seat : seats_) seat->parker().unpark();
}

void Fabric::failed(std::size_t worker, std::string where, std::exception_ptr error) {
  failures_.note({worker, where, error});
  if (workers() == 1) return;
  // Also if another thread noted it: it may not have come to stopping everybody yet.
  std::string who = "worker " + std::to_string(worker);
  if (!where.empty()) who += ", " + where;
  fail({std::move(who), message_of(error), std::move(error)});
}

void Fabric::built(std::size_t worker, std::uint64_t id, std::string where,
                   std::exception_ptr error) {
  if (workers() == 1) return;
  std::optional<Failure> failure;
  if (error) failure = Failure{worker, std::move(where), std::move(error)};
  if (auto found = failures_.built(id, std::move(failure))) {
    failed(found->worker, std::move(found->where), std::move(found->error));
  }
}

void Fabric::left(std::uint64_t next_id) {
  {
    const std::lock_guard lock(mutex_);
    if (next_id < lowest_id_left_at_.load_relaxed())  // written under the mutex only
      lowest_id_left_at_.store_release(next_id, departed{});
  }
  wake_all();
}

void Fabric::refuse(std::uint64_t id, const Meeting& meeting, std::size_t worker,
                    const Signature& signature) {
  throw UsageError("worker " + std::to_string(worker), "the same dataflow on all workers",
                   "under id " + std::to_string(id) + " worker " +
                       std::to_string(meeting.first_worker) + " built " + meeting.signature.text +
                       ", and worker " + std::to_string(worker) + " built " + signature.text,
                   "build dataflows in the same order and shape on every worker");
}

}  // namespace leat::comm
