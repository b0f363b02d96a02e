#include <leat/comm/fabric.hpp>

#include <algorithm>
#include <utility>

#include <leat/base/os/affinity.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/net/links.hpp>
#include <leat/comm/spawn.hpp>

namespace leat::comm {

namespace {
// Processes of one run share the CPUs of their host. If they are more than these, nobody has one for
// itself, and polling takes it from those who are waited for.
std::uint32_t cpus_of_this_process(std::size_t processes_here) {
  const auto all = static_cast<std::size_t>(os::runnable_cpus());
  return static_cast<std::uint32_t>(all / std::max<std::size_t>(processes_here, 1));
}
}  // namespace

Fabric::Fabric(const FabricOptions& options)
    : workers_(options.workers),
      processes_(options.processes),
      process_(options.process),
      zerocopy_(options.zerocopy),
      notify_(options.notify),
      mask_(options.workers),
      failures_(options.workers * options.processes),
      crowd_(cpus_of_this_process(options.processes_here)) {
  for (std::size_t place = 0; place < options.workers; ++place)
    seats_.push_back(std::make_shared<Seat>(*this, first_worker() + place));
  if (zerocopy_ || processes_ > 1) {
    for (auto& seat : seats_) {
      seat->bytes_ = std::make_unique<ByteSeat>(
          *this, seat->index(), !zerocopy_, options.checks_bytes && processes_ > 1, options.refill);
    }
  }
  // Every reader stands at the beginning of every log before anybody writes. Nobody reads its own.
  for (std::size_t reader = 0; reader < options.workers; ++reader) {
    for (std::size_t writer = 0; writer < options.workers; ++writer) {
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
  for (auto& seat : seats_) seat->cursors_.clear();  // before the logs they stand in
  links_.reset();
  for (auto& seat : seats_) {
    seat->ready().surface([](core::Doorbell&) {});  // a seat may outlive what its list holds
    seat->links_ = nullptr;
  }
}

void Fabric::connect(std::unique_ptr<Links> links) {
  links_ = std::move(links);
  for (auto& seat : seats_) {
    seat->links_ = links_.get();
    seat->cursors_.push_back(links_->cursor(seat->place()));
  }
  links_->start();
}

std::optional<core::StopReason> Fabric::finish() {
  return links_ ? links_->finish() : std::nullopt;
}

void Fabric::wake_all() noexcept {
  for (auto& seat : seats_) seat->parker().unpark();
}

void Fabric::failed(std::size_t worker, std::string where, std::exception_ptr error) {
  failures_.note({worker, where, error});
  if (peers() == 1) return;
  // Also if another thread noted it: it may not have come to stopping everybody yet.
  std::string who = "worker " + std::to_string(worker);
  if (!where.empty()) who += ", " + where;
  fail({std::move(who), message_of(error), std::move(error)});
}

void Fabric::built(std::size_t worker, std::uint64_t id, std::string where,
                   std::exception_ptr error) {
  if (peers() == 1) return;
  if (links_) {
    const std::string said = error ? message_of(error) : std::string();
    links_->tell_built(worker, id, where, error ? &said : nullptr);
  }
  peer_built(worker, id, std::move(where), std::move(error));
}

void Fabric::peer_built(std::size_t worker, std::uint64_t id, std::string where,
                        std::exception_ptr error) {
  std::optional<Failure> failure;
  if (error) failure = Failure{worker, std::move(where), std::move(error)};
  if (auto found = failures_.built(id, std::move(failure))) {
    failed(found->worker, std::move(found->where), std::move(found->error));
  }
}

void Fabric::fail(core::StopReason reason) {
  const std::string who = reason.who;
  const std::string why = reason.why;
  if (stop_.request(std::move(reason)) && links_) links_->tell_failed(who, why);
}

void Fabric::lost(core::StopReason reason) {
  const std::string who = reason.who;
  const std::string why = reason.why;
  stop_.request(std::move(reason));
  links_->tell_failed(who, why);
}

void Fabric::left(std::uint64_t next_id) {
  if (links_) links_->tell_left(next_id);
  peer_left(next_id);
}

void Fabric::peer_left(std::uint64_t next_id) {
  {
    const std::lock_guard lock(mutex_);
    if (next_id < lowest_id_left_at_.load_relaxed())  // written under the mutex only
      lowest_id_left_at_.store_release(next_id, departed{});
  }
  wake_all();
}

UsageError Fabric::refusal(std::uint64_t id, std::size_t first_worker, const Signature& first,
                           std::size_t worker, const Signature& signature) {
  return {"worker " + std::to_string(worker), "the same dataflow on all workers",
          "under id " + std::to_string(id) + " worker " + std::to_string(first_worker) + " built " +
              first.text + ", and worker " + std::to_string(worker) + " built " + signature.text,
          "build dataflows in the same order and shape on every worker"};
}

std::optional<UsageError> Fabric::note_made(std::size_t worker, std::uint64_t id,
                                            const Signature& signature) {
  Made& made = made_[id];
  std::optional<UsageError> wrong;
  if (!made.by.empty() && made.by.front().signature.hash != signature.hash) {
    wrong = refusal(id, made.by.front().worker, made.by.front().signature, worker, signature);
  }
  made.by.push_back({worker, signature});
  if (made.by.size() == processes_) made_.erase(id);
  return wrong;
}

void Fabric::tell_made(std::size_t worker, std::uint64_t id, const Signature& signature) {
  if (links_) links_->tell_made(worker, id, signature.hash, signature.text);
  if (auto wrong = note_made(worker, id, signature)) throw std::move(*wrong);
}

void Fabric::peer_made(std::size_t worker, std::uint64_t id, Signature signature) {
  std::optional<UsageError> wrong;
  {
    const std::lock_guard lock(mutex_);
    wrong = note_made(worker, id, signature);
  }
  if (!wrong) return;
  const std::string what = wrong->what();
  peer_failed({"worker " + std::to_string(worker), what, std::make_exception_ptr(*wrong)});
}

}  // namespace leat::comm
