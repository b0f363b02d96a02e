// What      The carriers of batches between operators of one scope: within a worker, to the worker
//           that a record's route names, and the count of records that every edge keeps for
//           progress.
// Invariants
//   (1) The records of an edge are counted as produced at its target before anything is sent on.
//   (2) The sum of records per time that goes in comes out; an edge neither copies nor drops.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/local_ptr.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/comm/channel.hpp>
#include <leat/core/activation.hpp>
#include <leat/dataflow/container_builder.hpp>
#include <leat/dataflow/message.hpp>
#include <leat/dataflow/message_ring.hpp>
#include <leat/progress/ledger.hpp>
#include <leat/progress/watch/channel_log.hpp>

namespace leat::dataflow {

/// Counts what goes over one edge. Empty for what a child scope emits: it reports that itself.
template <progress::Timestamp T>
class EdgeCount {
 public:
  EdgeCount() = default;
  EdgeCount(LocalPtr<progress::Ledger<T>> ledger, progress::PortIndex target)
      : ledger_(std::move(ledger)), target_(target) {}

  void produced(const Stamp<T>& stamp, std::size_t records) const {
    if (!ledger_) return;
    const auto delta = static_cast<std::int64_t>(records);
    if (stamp.single()) [[likely]] {
      ledger_->update(target_, stamp.first(), delta);
    } else {
      for (const T& time : stamp.times()) ledger_->update(target_, time, delta);
    }
  }

 private:
  LocalPtr<progress::Ledger<T>> ledger_;
  progress::PortIndex target_ = 0;
};

/// An edge within a worker: both its ends, in one object.
template <progress::Timestamp T, Container C>
class PipelineEdge final : public Push<T, C>, public Pull<T, C> {
 public:
  /// `log` is null if nobody wants to know.
  PipelineEdge(EdgeCount<T> count, core::Activation consumer, LocalPtr<progress::ChannelLog> log)
      : count_(std::move(count)), consumer_(consumer), log_(std::move(log)) {}

  void push(Message<T, C>& message) override {
    count_.produced(message.stamp, record_count(message.batch));
    if (log_) [[unlikely]]
      log_->sent_here(record_count(message.batch));
    messages_.push(message);
    consumer_.activate();
  }
  void flush() override {}
  [[nodiscard]] bool may_hold() const override { return false; }

  bool pull(Message<T, C>& message) override {
    if (!messages_.pull(message)) return false;
    if (log_) [[unlikely]]
      log_->received_here(record_count(message.batch));
    return true;
  }
  [[nodiscard]] bool was_pending() const override { return !messages_.empty(); }
  [[nodiscard]] MessageRing<T, C>* ring() noexcept override { return log_ ? nullptr : &messages_; }

  void release_spares() override { messages_.release_spares(); }
  void let_go() noexcept override {
    if (--ends_ == 0) delete this;
  }

 private:
  EdgeCount<T> count_;
  core::Activation consumer_;
  MessageRing<T, C> messages_;
  LocalPtr<progress::ChannelLog> log_;
  std::uint32_t ends_ = 2;  // that somebody has
};

/// Records on their way to other workers: one builder of batches per worker, all at one stamp.
template <progress::Timestamp T, ContainerBuilder B>
class Partitioned {
 public:
  using Batch = typename B::Batch;

  Partitioned(comm::Sender<Message<T, Batch>> sender, LocalPtr<progress::ChannelLog> log)
      : sender_(std::move(sender)), log_(std::move(log)), parts_(sender_.peers()) {}

  [[nodiscard]] std::size_t workers() const noexcept { return parts_.size(); }

  /// What comes now is at `stamp`; what was at another is sent off first.
  void at(const Stamp<T>& stamp) {
    if (stamp_ == stamp) return;
    flush();
    stamp_ = stamp;
  }
  template <class R>
  void add(std::size_t worker, R&& record) {
    B& part = parts_[worker];
    if (!part.push(std::forward<R>(record))) [[likely]]
      return;
    while (Batch* const batch = part.extract()) send(worker, *batch);
  }
  void flush() {
    for (std::size_t worker = 0; worker < parts_.size(); ++worker) {
      while (Batch* const batch = parts_[worker].finish()) send(worker, *batch);
    }
  }
  /// The activation that sent is over.
  void end_burst() {
    flush();
    sender_.done();
  }
  void release_spares() {
    for (auto& part : parts_) part.relax();
    sender_.release_spares();
  }

 private:
  // Leaves memory that came back in `batch`.
  void send(std::size_t worker, Batch& batch) {
    if (record_count(batch) == 0) return;
    if (log_) [[unlikely]]
      log_->sent(worker, record_count(batch));
    Message<T, Batch> message{stamp_, std::move(batch)};
    sender_.send(worker, message);
    batch = std::move(message.batch);
  }

  comm::Sender<Message<T, Batch>> sender_;
  LocalPtr<progress::ChannelLog> log_;
  Stamp<T> stamp_;
  std::vector<B> parts_;
};

/// Sends each record to the worker that `Route` names: `route(record) mod peers`.
template <progress::Timestamp T, Drainable C, PreservesLength B, class Route>
class ExchangePush final : public Push<T, C> {
 public:
  ExchangePush(EdgeCount<T> count, Partitioned<T, B> parts, Route route)
      : count_(std::move(count)), parts_(std::move(parts)), route_(std::move(route)) {}

  void push(Message<T, C>& message) override {
    count_.produced(message.stamp, record_count(message.batch));
    parts_.at(message.stamp);
    const std::uint64_t peers = parts_.workers();
    const std::uint64_t mask = std::has_single_bit(peers) ? peers - 1 : 0;
    for (auto&& record : message.batch) {
      const auto route = static_cast<std::uint64_t>(route_(std::as_const(record)));
      parts_.add(mask != 0 ? route & mask : route % peers, std::move(record));
    }
    message.batch.clear();
  }
  void flush() override { parts_.end_burst(); }
  void release_spares() override { parts_.release_spares(); }

 private:
  EdgeCount<T> count_;
  Partitioned<T, B> parts_;
  Route route_;
};

/// Sends each batch to all workers, the own one included. Its records count once for each of them.
template <progress::Timestamp T, CopyableContainer C>
class BroadcastPush final : public Push<T, C> {
 public:
  BroadcastPush(EdgeCount<T> count, comm::Sender<Message<T, C>> sender,
                LocalPtr<progress::ChannelLog> log)
      : count_(std::move(count)), sender_(std::move(sender)), log_(std::move(log)) {}

  void push(Message<T, C>& message) override {
    const std::size_t records = record_count(message.batch);
    count_.produced(message.stamp, records * sender_.peers());
    if (log_) [[unlikely]] {
      for (std::size_t worker = 0; worker < sender_.peers(); ++worker) log_->sent(worker, records);
    }
    sender_.send_to_all(message);
  }
  void flush() override { sender_.done(); }
  void release_spares() override { sender_.release_spares(); }

 private:
  EdgeCount<T> count_;
  comm::Sender<Message<T, C>> sender_;
  LocalPtr<progress::ChannelLog> log_;
};

/// Hands each batch to a user's distributor: `distribute(batch, give)`, where `give(worker,
/// record)` sends.
template <progress::Timestamp T, Drainable C, class Distribute>
class DistributePush final : public Push<T, C> {
 public:
  DistributePush(EdgeCount<T> count, Partitioned<T, CapacityBuilder<C>> parts,
                 Distribute distribute, std::string who)
      : count_(std::move(count)),
        parts_(std::move(parts)),
        distribute_(std::move(distribute)),
        who_(std::move(who)) {}

  void push(Message<T, C>& message) override {
    const std::size_t records = record_count(message.batch);
    count_.produced(message.stamp, records);
    parts_.at(message.stamp);
    std::size_t given = 0;
    distribute_(message.batch, [&](std::size_t worker, Taken record) {
      if (worker >= parts_.workers()) {
        throw UsageError(who_, "worker " + std::to_string(worker),
                         std::to_string(parts_.workers()) + " workers", "name one below that");
      }
      ++given;
      parts_.add(worker, std::move(record));
    });
    if (given != records) {
      throw UsageError(who_, "each of " + std::to_string(records) + " records to be given once",
                       std::to_string(given) + " given",
                       "copy or drop records in an operator, not in a pact");
    }
    message.batch.clear();
  }
  void flush() override { parts_.end_burst(); }
  void release_spares() override { parts_.release_spares(); }

 private:
  using Taken = std::remove_cvref_t<TakenOf<C>>;

  EdgeCount<T> count_;
  Partitioned<T, CapacityBuilder<C>> parts_;
  Distribute distribute_;
  std::string who_;
};

template <progress::Timestamp T, Container C>
class ChannelPull final : public Pull<T, C> {
 public:
  ChannelPull(comm::Receiver<Message<T, C>> receiver, LocalPtr<progress::ChannelLog> log)
      : receiver_(std::move(receiver)), log_(std::move(log)) {}

  bool pull(Message<T, C>& message) override {
    if (log_) [[unlikely]]
      return pull_and_tell(message);
    return receiver_.receive(message);
  }
  [[nodiscard]] bool was_pending() const override { return receiver_.was_pending(); }
  void release_spares() override { receiver_.release_spares(); }

 private:
  bool pull_and_tell(Message<T, C>& message) {
    std::size_t from = 0;
    if (!receiver_.receive(message, from)) return false;
    log_->received(from, record_count(message.batch));
    return true;
  }

  comm::Receiver<Message<T, C>> receiver_;
  LocalPtr<progress::ChannelLog> log_;
};

}  // namespace leat::dataflow
