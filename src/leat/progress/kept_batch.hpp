// What      A copy of a log entry, header and payload, for a scope that is not built yet.
#pragma once

#include <cstddef>
#include <utility>

#include <leat/queue/append_log.hpp>

namespace leat::progress {

class KeptBatch {
 public:
  /// Copies `entry`, which may be read by others at the same moment.
  explicit KeptBatch(const queue::EntryHeader& entry);
  KeptBatch(KeptBatch&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  KeptBatch& operator=(KeptBatch&&) = delete;
  ~KeptBatch();

  [[nodiscard]] const queue::EntryHeader& entry() const noexcept;

 private:
  std::byte* memory_ = nullptr;
};

}  // namespace leat::progress
