#include <leat/progress/kept_batch.hpp>

#include <new>

#include <leat/base/check.hpp>

namespace leat::progress {

namespace {
constexpr std::align_val_t kAlignment{alignof(queue::EntryHeader)};
}  // namespace

KeptBatch::KeptBatch(const queue::EntryHeader& entry)
    : memory_(static_cast<std::byte*>(
          ::operator new(sizeof(queue::EntryHeader) + entry.payload_bytes, kAlignment))) {
  LEAT_CHECK(entry.ops != nullptr && entry.ops->copy != nullptr,
             "a batch of progress that cannot be copied");
  auto* const header = ::new (memory_) queue::EntryHeader;
  header->count = entry.count;
  header->tag = entry.tag;
  header->ops = entry.ops;
  header->payload_bytes = entry.payload_bytes;
  entry.ops->copy(entry.payload(), memory_ + sizeof(queue::EntryHeader), entry.count);
}

KeptBatch::~KeptBatch() {
  if (memory_ == nullptr) return;
  if (entry().ops->destroy != nullptr) {
    entry().ops->destroy(memory_ + sizeof(queue::EntryHeader), entry().count);
  }
  ::operator delete(memory_, kAlignment);
}

const queue::EntryHeader& KeptBatch::entry() const noexcept {
  return *std::launder(reinterpret_cast<const queue::EntryHeader*>(memory_));
}

}  // namespace leat::progress
