#include <leat/progress/kept_batch.hpp>

#include <memory>
#include <new>

#include <leat/base/check.hpp>

namespace leat::progress {

namespace {

constexpr std::align_val_t kAlignment{alignof(queue::EntryHeader)};

struct Free {
  void operator()(std::byte* memory) const noexcept { ::operator delete(memory, kAlignment); }
};

}  // namespace

KeptBatch::KeptBatch(const queue::EntryHeader& entry) {
  LEAT_CHECK(entry.ops != nullptr && entry.ops->copy != nullptr,
             "a batch of progress that cannot be copied");
  std::unique_ptr<std::byte, Free> memory(static_cast<std::byte*>(
      ::operator new(sizeof(queue::EntryHeader) + entry.payload_bytes, kAlignment)));
  auto* const header = ::new (memory.get()) queue::EntryHeader;
  header->count = entry.count;
  header->tag = entry.tag;
  header->ops = entry.ops;
  header->payload_bytes = entry.payload_bytes;
  entry.ops->copy(entry.payload(), memory.get() + sizeof(queue::EntryHeader), entry.count);
  memory_ = memory.release();
}

KeptBatch::~KeptBatch() {
  if (memory_ == nullptr) return;
  if (entry().ops->destroy != nullptr) {
    entry().ops->destroy(memory_ + sizeof(queue::EntryHeader), entry().count);
  }
  Free{}(memory_);
}

const queue::EntryHeader& KeptBatch::entry() const noexcept {
  return *std::launder(reinterpret_cast<const queue::EntryHeader*>(memory_));
}

}  // namespace leat::progress
