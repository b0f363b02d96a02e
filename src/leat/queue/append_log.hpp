// What      One writer appends entries, a fixed set of readers each reads all of them in place: how
//           a worker tells its peers about progress, whatever their number. In private memory,
//           grown by chunks; the readers copy nothing and write nothing but a position per chunk.
// Shape
//   chunk 7 ----------------------.          chunk 8 ---------------------.
//   | header payload | header payload |  continue |  -->  | header payload | 0 |  ...
//                            ^ reader A stands here              reader B ^
//
//   header:  committed  bytes of the whole entry, header included; 0: not yet; or `continue`
//            count, tag, ops, payload bytes; the payload begins behind it, aligned to 16
// Protocol  Writer:  reserve room for an entry; fill it; commit: write the header's fields, zero
//                    the *next* header, and only then store `committed` (seq_cst). An entry that
//                    does not fit begins the next chunk: it is made whole there, and the one store
//                    that publishes it is `continue` in the old chunk. So `continue` is never
//                    followed by nothing. After commit look for sleepers (core/park_mask.hpp) and
//                    wake them.
//           Reader:  peek: load `committed`; at `continue` step into the next chunk, publish the
//                    position, look there. advance: add the entry's bytes.
//                    Before parking: publish_position, set the bit, has_more, then sleep.
//           Recycling, by the writer when it needs a chunk: chunks before the one where the last
//                    reader stands are free; their entries are destroyed and the memory is used
//                    again.
// Invariants
//   (1) A reader never stands on a word that was not made a header, 0 or more, before it could get
//       there.
//   (2) A published position is never ahead of the chunk its reader stands in.
//   (3) All cursors' positions exist, at chunk 0, before the first entry is committed.
//   (4) Committed entries do not change until their chunk is free.
// Ordering  published  from the store of `committed` to the readers' loads: the entry is whole and
//                      the next header zero. seq_cst on the writer's side and in has_more: "commit,
//                      then look for sleepers" against "say that I sleep, then look at the header".
//                      peek needs acquire only.
//           passed     from a reader's position to the writer: it has read all it will of the
//                      chunks before that one.
//           Relaxed: `committed` of the first entry of a chunk, which `continue` publishes; a
//           reader's second load of what peek saw; and the writer's own loads when it destroys.
// Limits    Unbounded: a reader that stands still keeps all chunks from its own on. A reader that
//           does not come must be retired. Several readers may read and copy a payload at the same
//           moment: its type must allow concurrent const use. Free chunks are kept until the log
//           goes; a chunk larger than `chunk_bytes`, made for one large entry, is freed. The log
//           must outlive its cursors. One process: entries hold pointers.
// Cost      commit: one seq_cst store, the entry's own lines, nothing per reader. peek: one load. A
//           chunk: one load per reader for the writer, one store for each reader. Nothing is
//           allocated once the readers' lag is covered by chunks.
// Source    Ours. Single-writer logs as in Aeron's log buffers (committed length as the header's
//           first word); progress over them is new.
#pragma once

#include <leat/base/atomic.hpp>
#include <leat/base/cache_line.hpp>
#include <leat/base/check.hpp>
#include <leat/base/codec.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/plain.hpp>
#include <leat/base/type_name.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::queue {

/// What the log and those who keep an entry for later must know about the records of its payload.
struct EntryOps {
  std::uint64_t type_hash;
  std::string_view type_name;
  std::size_t record_bytes;
  /// Copy-constructs `count` records at `to`; null if the type cannot be copied.
  void (*copy)(const std::byte* from, std::byte* to, std::size_t count);
  /// Ends the life of `count` records; null if there is nothing to do.
  void (*destroy)(std::byte* records, std::size_t count) noexcept;
  /// Appends the encoding of `count` records; null if the type has no codec.
  void (*encode)(const std::byte* records, std::size_t count, ByteSink& sink);
};

namespace internal {

template <class T>
constexpr EntryOps make_entry_ops() noexcept {
  static_assert(alignof(T) <= 16, "payloads of log entries are aligned to 16 bytes");
  static_assert(std::is_nothrow_destructible_v<T>);
  EntryOps ops{type_hash<T>(), type_name<T>(), sizeof(T), nullptr, nullptr, nullptr};
  if constexpr (std::is_copy_constructible_v<T>) {
    ops.copy = [](const std::byte* from, std::byte* to, std::size_t count) {
      std::uninitialized_copy_n(std::launder(reinterpret_cast<const T*>(from)), count,
                                reinterpret_cast<T*>(to));
    };
  }
  if constexpr (!std::is_trivially_destructible_v<T>) {
    ops.destroy = [](std::byte* records, std::size_t count) noexcept {
      std::destroy_n(std::launder(reinterpret_cast<T*>(records)), count);
    };
  }
  if constexpr (Encodable<T>) {
    ops.encode = [](const std::byte* records, std::size_t count, ByteSink& sink) {
      const T* const first = std::launder(reinterpret_cast<const T*>(records));
      for (std::size_t i = 0; i < count; ++i) Codec<T>::encode(sink, first[i]);
    };
  }
  return ops;
}

}  // namespace internal

/// The operations for a payload that is an array of `T`.
template <class T>
inline constexpr EntryOps kEntryOps = internal::make_entry_ops<T>();

/// What stands before each payload. Readers see it constant.
struct alignas(16) EntryHeader {
  Atomic<std::uint32_t> committed{0};
  std::uint32_t count = 0;          // records, or whatever the writer counts
  std::uint64_t tag = 0;            // whose entry: the id of a scope
  const EntryOps* ops = nullptr;    // null: bytes that need no destruction
  std::uint32_t payload_bytes = 0;  // as reserved

  [[nodiscard]] const std::byte* payload() const noexcept {
    return reinterpret_cast<const std::byte*>(this + 1);
  }

  /// The payload as the records it was written as. Requires: it was written as `T`s; checked.
  template <class T>
  [[nodiscard]] std::span<const T> records() const noexcept {
    LEAT_CHECK(ops != nullptr && ops->type_hash == type_hash<T>(),
               "a log entry was read as a type that it was not written as");
    return {std::launder(reinterpret_cast<const T*>(payload())), count};
  }
};

class AppendLog {
  struct published : Edge {};  // writer -> reader: the entry is whole, the next header is zero
  struct passed : Edge {};     // reader -> writer: nothing before this chunk is read any more

  struct Chunk;

 public:
  struct Options {
    /// Bytes of a chunk for entries and their headers. Larger: fewer steps between chunks; smaller:
    /// less memory per worker.
    std::size_t chunk_bytes = 64 * 1024;
  };

  class Cursor;

  /// Makes a log for `readers` cursors, numbered from 0, all at the beginning.
  explicit AppendLog(std::size_t readers) : AppendLog(readers, Options{}) {}
  AppendLog(std::size_t readers, Options options);

  AppendLog(const AppendLog&) = delete;
  AppendLog& operator=(const AppendLog&) = delete;

  /// Destroys all entries, read or not. Requires: all cursors have gone.
  ~AppendLog();

  /// Makes room for an entry. A second `reserve` before `commit` replaces the first.
  ///
  /// Requires: `payload_bytes` is less than about 4 GiB; checked.
  /// Returns:  where to write the payload, aligned to 16; the writer's until `commit`.
  /// Threads:  the writer. Allocates only if no chunk is free.
  [[nodiscard]] std::byte* reserve(std::size_t payload_bytes) {
    const std::size_t bytes = entry_bytes(payload_bytes);
    if (next_ == nullptr && room() >= bytes + sizeof(EntryHeader)) {
      reserved_ = tail_;
    } else {
      reserve_in_next_chunk(bytes);
    }
    reserved_->payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    reserved_bytes_ = static_cast<std::uint32_t>(bytes);
    return reinterpret_cast<std::byte*>(reserved_ + 1);
  }

  /// Publishes the reserved entry to all readers.
  ///
  /// Requires: a `reserve` before it; the payload's `count` records are alive, and their lives end
  ///           through `ops` (which lives as long as the log), or need no end if it is null.
  /// Threads:  the writer. Wake sleepers after it.
  /// Ordering: what the writer did before is visible to a reader that peeks the entry. A reader
  ///           that set its bit in a park mask sees it in `has_more`, or the writer sees the bit.
  void commit(std::uint64_t tag, std::uint32_t count, const EntryOps* ops) noexcept {
    LEAT_DCHECK(reserved_ != nullptr, "commit without reserve");
    EntryHeader* const entry = std::exchange(reserved_, nullptr);
    entry->tag = tag;
    entry->count = count;
    entry->ops = ops;
    EntryHeader* const after = at(entry, reserved_bytes_);
    if (!LEAT_MUTANT("append_log.commit_before_zeroing")) ::new (after) EntryHeader;
    ++entries_;
    if (next_ == nullptr) {
      chunk_destroys(current_, ops);
      tail_ = after;
      entry->committed.store_seq_cst(reserved_bytes_, published{});
      if (LEAT_MUTANT("append_log.commit_before_zeroing")) ::new (after) EntryHeader;
      return;
    }
    chunk_destroys(next_, ops);
    entry->committed.store_relaxed(reserved_bytes_);  // seen only past `continue`, which orders it
    publish_next_chunk(after);
  }

  /// Copies `records` into an entry and publishes it. If a copy throws, nothing is published.
  template <class T>
  void append(std::uint64_t tag, std::span<const T> records) {
    std::byte* to = reserve(records.size_bytes());
    std::uninitialized_copy(records.begin(), records.end(), reinterpret_cast<T*>(to));
    commit(tag, static_cast<std::uint32_t>(records.size()), &kEntryOps<T>);
  }

  /// Destroys the entries that all readers have passed, chunk by chunk. `reserve` does so when it
  /// needs a chunk; a writer that goes to sleep may do it earlier. Threads: the writer.
  void collect() noexcept;

  /// The cursor of reader number `reader`. Threads: any; one thread per number, once.
  [[nodiscard]] Cursor cursor(std::size_t reader) noexcept;

  /// Says that reader number `reader` will not come. Instead of `cursor`.
  void retire(std::size_t reader) noexcept;

  [[nodiscard]] std::size_t readers() const noexcept { return readers_; }

  /// Entries committed, chunks that hold entries, chunks ever allocated. Threads: the writer.
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_; }
  [[nodiscard]] std::uint64_t chunks_in_use() const noexcept;
  [[nodiscard]] std::uint64_t chunks_allocated() const noexcept { return allocated_; }

 private:
  static constexpr std::uint32_t kContinue = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kGone = std::numeric_limits<std::uint64_t>::max();

  struct alignas(16) Chunk {
    Plain<Chunk*> next{nullptr};  // the reader's once `continue` is committed
    std::uint64_t sequence = 0;
    std::size_t bytes = 0;  // room for entries, behind this struct
    bool destroys = false;  // whether an entry's ops must be called

    [[nodiscard]] EntryHeader* first() noexcept { return reinterpret_cast<EntryHeader*>(this + 1); }
  };

  struct Reader {
    // A chunk's sequence: all before it are passed. Stored once per chunk, so that sharing a line
    // with other readers costs little.
    Atomic<std::uint64_t> position{0};
    bool taken = false;
  };

  static std::size_t entry_bytes(std::size_t payload_bytes) noexcept {
    LEAT_CHECK(payload_bytes < kContinue - 2 * sizeof(EntryHeader), "a log entry of 4 GiB or more");
    return (sizeof(EntryHeader) + payload_bytes + 15) & ~std::size_t{15};
  }
  static EntryHeader* at(EntryHeader* header, std::size_t bytes) noexcept {
    return reinterpret_cast<EntryHeader*>(reinterpret_cast<std::byte*>(header) + bytes);
  }
  static void chunk_destroys(Chunk* chunk, const EntryOps* ops) noexcept {
    if (ops != nullptr && ops->destroy != nullptr) chunk->destroys = true;
  }
  [[nodiscard]] std::size_t room() const noexcept {
    return current_->bytes -
           static_cast<std::size_t>(reinterpret_cast<const std::byte*>(tail_) -
                                    reinterpret_cast<const std::byte*>(current_->first()));
  }

  void reserve_in_next_chunk(std::size_t bytes);
  void publish_next_chunk(EntryHeader* after) noexcept;
  [[nodiscard]] Chunk* obtain(std::size_t bytes);
  void give_back(Chunk* chunk) noexcept;
  static void destroy_entries(Chunk* chunk) noexcept;
  [[nodiscard]] Reader& claim(std::size_t reader) noexcept;

  // Read by all, written before anybody else knows the log.
  std::size_t readers_;
  std::size_t chunk_bytes_;
  std::unique_ptr<Reader[]> positions_;
  Chunk* first_ = nullptr;

  // The writer's.
  alignas(kCacheLine) Chunk* current_ = nullptr;
  EntryHeader* tail_ = nullptr;      // the header of the next entry, in current_
  EntryHeader* reserved_ = nullptr;  // in current_, or the first of next_
  std::uint32_t reserved_bytes_ = 0;
  Chunk* next_ = nullptr;    // where the reserved entry stands, if not in current_
  Chunk* oldest_ = nullptr;  // oldest_ ... current_ hold entries, linked by next
  Chunk* free_ = nullptr;    // of chunk_bytes_ each, linked by next
  std::uint64_t entries_ = 0;
  std::uint64_t allocated_ = 0;
};

/// One reader's place in a log. Used by one thread at a time; leaves when it is destroyed.
class AppendLog::Cursor {
 public:
  /// A cursor of no log: it has nothing to read.
  Cursor() noexcept = default;

  Cursor(Cursor&& other) noexcept
      : reader_(std::exchange(other.reader_, nullptr)), chunk_(other.chunk_), at_(other.at_) {}
  Cursor& operator=(Cursor&& other) noexcept {
    if (this != &other) {
      leave();
      reader_ = std::exchange(other.reader_, nullptr);
      chunk_ = other.chunk_;
      at_ = other.at_;
    }
    return *this;
  }
  ~Cursor() { leave(); }

  /// The oldest entry not yet advanced over, or null. Never waits, allocates or writes, save for
  /// the position when it enters a chunk.
  ///
  /// Returns: an entry that stays as it is until `advance` or `leave`.
  [[nodiscard]] const EntryHeader* peek() noexcept {
    if (reader_ == nullptr) return nullptr;
    std::uint32_t committed = at_->committed.load_acquire(published{});
    while (committed == kContinue) {
      chunk_ = chunk_->next.read();
      at_ = chunk_->first();
      publish_position();
      committed = at_->committed.load_acquire(published{});
    }
    return committed == 0 ? nullptr : at_;
  }

  /// Steps over the entry that `peek` returned. Requires: `peek` returned one; checked in debug
  /// builds.
  void advance() noexcept {
    const std::uint32_t committed = at_->committed.load_relaxed();  // peek ordered it
    LEAT_DCHECK(committed != 0 && committed != kContinue, "advance without peek");
    at_ = at(at_, committed);
  }

  /// Whether there is an entry to peek. For the recheck before parking: orders against `commit`.
  [[nodiscard]] bool has_more() const noexcept {
    return reader_ != nullptr && at_->committed.load_seq_cst(published{}) != 0;
  }

  /// Tells the writer which chunks this reader is done with. `peek` does so whenever it enters a
  /// chunk.
  void publish_position() noexcept {
    if (reader_ != nullptr) reader_->position.store_release(chunk_->sequence, passed{});
  }

  /// Gives up reading: the writer no longer waits for this cursor. It has nothing to read
  /// afterwards.
  void leave() noexcept {
    if (reader_ != nullptr) {
      std::exchange(reader_, nullptr)->position.store_release(kGone, passed{});
    }
  }

 private:
  friend class AppendLog;
  Cursor(Reader* reader, Chunk* chunk) noexcept
      : reader_(reader), chunk_(chunk), at_(chunk->first()) {}

  Reader* reader_ = nullptr;  // null: left, or of no log
  Chunk* chunk_ = nullptr;
  EntryHeader* at_ = nullptr;
};

}  // namespace leat::queue
