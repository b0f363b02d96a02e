#include <leat/queue/append_log.hpp>

#include <algorithm>

namespace leat::queue {

AppendLog::AppendLog(std::size_t readers, Options options)
    : readers_(readers),
      chunk_bytes_(std::max(options.chunk_bytes & ~std::size_t{15}, 4 * sizeof(EntryHeader))),
      positions_(std::make_unique<Reader[]>(readers)) {
  first_ = current_ = oldest_ = obtain(0);
  tail_ = ::new (first_->first()) EntryHeader;
}

AppendLog::~AppendLog() {
  for (std::size_t i = 0; i < readers_; ++i) {
    LEAT_DCHECK(!positions_[i].taken || positions_[i].position.load_acquire(passed{}) == kGone,
                "a log was destroyed before one of its cursors");
  }
  if (next_ != nullptr) give_back(next_);
  while (oldest_ != nullptr) {
    destroy_entries(oldest_);
    Chunk* const next = oldest_->next.read();
    give_back(std::exchange(oldest_, next));
  }
  while (free_ != nullptr) ::operator delete(std::exchange(free_, free_->next.read()));
}

// The entry starts a chunk of its own choosing; nobody knows of it until publish_next_chunk. What
// an earlier reserve without commit left is used if it is large enough.
void AppendLog::reserve_in_next_chunk(std::size_t bytes) {
  const std::size_t wanted = bytes + sizeof(EntryHeader);
  if (next_ != nullptr && (next_->bytes < wanted || room() >= wanted)) {
    reserved_->~EntryHeader();
    give_back(std::exchange(next_, nullptr));
  }
  if (room() >= wanted) {
    reserved_ = tail_;
    return;
  }
  if (next_ == nullptr) {
    reserved_ = nullptr;
    next_ = obtain(wanted);
    reserved_ = ::new (next_->first()) EntryHeader;
  }
}

void AppendLog::publish_next_chunk(EntryHeader* after) noexcept {
  EntryHeader* const last = tail_;
  next_->sequence = current_->sequence + 1;
  current_->next.set(next_);
  current_ = std::exchange(next_, nullptr);
  tail_ = after;
  last->committed.store_seq_cst(kContinue, published{});
}

void AppendLog::collect() noexcept {
  std::uint64_t passed_by_all = kGone;
  for (std::size_t i = 0; i < readers_; ++i) {
    passed_by_all = std::min(passed_by_all, positions_[i].position.load_acquire(passed{}));
  }
  if (LEAT_MUTANT("append_log.frees_the_chunk_being_read")) ++passed_by_all;
  while (oldest_ != current_ && oldest_->sequence < passed_by_all) {
    destroy_entries(oldest_);
    Chunk* const next = oldest_->next.read();
    give_back(std::exchange(oldest_, next));
  }
}

AppendLog::Chunk* AppendLog::obtain(std::size_t bytes) {
  if (oldest_ != nullptr) collect();
  bytes = std::max(bytes, chunk_bytes_);
  Chunk* chunk = nullptr;
  if (bytes == chunk_bytes_ && free_ != nullptr) {
    chunk = std::exchange(free_, free_->next.read());
  } else {
    chunk = static_cast<Chunk*>(::operator new(sizeof(Chunk) + bytes));
    ++allocated_;
  }
  ::new (chunk) Chunk;
  chunk->bytes = bytes;
  return chunk;
}

void AppendLog::give_back(Chunk* chunk) noexcept {
  if (chunk->bytes == chunk_bytes_) {
    chunk->next.set(std::exchange(free_, chunk));
  } else {
    ::operator delete(chunk);
  }
}

void AppendLog::destroy_entries(Chunk* chunk) noexcept {
  if (std::is_trivially_destructible_v<EntryHeader> && !chunk->destroys) return;
  for (EntryHeader* entry = chunk->first();;) {
    const std::uint32_t committed = entry->committed.load_relaxed();  // the writer's own stores
    const bool last = committed == 0 || committed == kContinue;
    if (!last && entry->ops != nullptr && entry->ops->destroy != nullptr) {
      entry->ops->destroy(reinterpret_cast<std::byte*>(entry + 1), entry->count);
    }
    entry->~EntryHeader();
    if (last) return;
    entry = at(entry, committed);
  }
}

std::uint64_t AppendLog::chunks_in_use() const noexcept {
  return current_->sequence - oldest_->sequence + 1;
}

AppendLog::Reader& AppendLog::claim(std::size_t reader) noexcept {
  LEAT_CHECK(reader < readers_, "a log has no reader of that number");
  LEAT_CHECK(!positions_[reader].taken, "a reader's cursor was taken twice");
  positions_[reader].taken = true;
  return positions_[reader];
}

AppendLog::Cursor AppendLog::cursor(std::size_t reader) noexcept {
  return Cursor{&claim(reader), first_};
}

void AppendLog::retire(std::size_t reader) noexcept {
  claim(reader).position.store_release(kGone, passed{});
}

}  // namespace leat::queue
