// What      `Columns<T>`: a batch whose records lie in columns. Records are pushed as they are, or as
//           views of them, and read as views: no object and no allocation per record. As batches of
//           a stream: `Input<Columnwise<T>>`, `unary<Columnwise<T>>`.
// Shape     On the wire, all numbers little-endian and at multiples of 8 from the start:
//             0    8 bytes   "LEATCOL1"
//             8    8 bytes   the schema: a hash of the columns' kinds and of the fields' names
//             16   8 bytes   the number of rows
//             24   8 bytes   for each section, its bytes
//             ..             each section, at the next multiple of 8, after zeros
//           A section is on the wire what it is in memory (column.hpp).
// Protocol  `ColumnsView<T>::over(bytes)` checks bytes from anywhere once: sizes, ends of rows, and
//           bools. Then it reads them where they are. `Codec<Columns<T>>` takes them in as a batch, a
//           copy per section.
// Invariants  (1) Any bytes are a view or an Error; a view never reads past them.
// Limits    Views are of their batch: they end when it is changed, cleared or destroyed.
// Cost      A push is a copy of the record's bytes; memory is kept when a batch is cleared, so a
//           steady stream allocates nothing. Writing and taking in are a copy per section.
// Source    The columnar crate of Rust's Timely Dataflow; the block is ours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <leat/base/codec/codec.hpp>
#include <leat/dataflow/columnar/column.hpp>
#include <leat/dataflow/container.hpp>

namespace leat::dataflow {

/// Records in columns that somebody else keeps.
template <Columnar T>
class ColumnsView {
 public:
  using value_type = typename Column<T>::View;

  ColumnsView() = default;

  /// Looks at `block`, which must stay where it is while the view is used.
  ///
  /// Errors: what is wrong with the bytes, and where.
  [[nodiscard]] static Result<ColumnsView> over(std::span<const std::byte> block) {
    ByteSource from(block);
    ColumnsView view;
    if (view.read(from) && from.left() != 0) {
      from.fail("the columns end before the bytes do", from.left(), 0);
    }
    if (from.failed()) return from.error();
    return view;
  }
  /// Looks at the block that begins at the source's next multiple of 8.
  [[nodiscard]] bool read(ByteSource& from);

  [[nodiscard]] std::size_t size() const noexcept { return rows_; }
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
  [[nodiscard]] value_type operator[](std::size_t row) const {
    return Column<T>::at(places_.data(), row);
  }
  [[nodiscard]] RowIterator<T> begin() const { return {places_.data(), 0}; }
  [[nodiscard]] RowIterator<T> end() const { return {places_.data(), rows_}; }

  /// The bytes of section `index`.
  [[nodiscard]] std::span<const std::byte> section(std::size_t index) const {
    return {places_[index], sizes_[index]};
  }

 private:
  template <Columnar>
  friend class Columns;

  std::array<const std::byte*, Column<T>::kSections> places_{};
  std::array<std::size_t, Column<T>::kSections> sizes_{};
  std::size_t rows_ = 0;
};

/// A batch of records in columns.
template <Columnar T>
class Columns {
 public:
  using value_type = T;

  Columns() = default;
  Columns(const Columns&) = default;
  Columns& operator=(const Columns&) = default;
  Columns(Columns&& other) noexcept
      : sections_(std::move(other.sections_)), rows_(std::exchange(other.rows_, 0)) {}
  Columns& operator=(Columns&& other) noexcept {
    sections_ = std::move(other.sections_);
    rows_ = std::exchange(other.rows_, 0);
    return *this;
  }

  /// Appends a record, or a view of one. If that throws, nothing was appended.
  template <PushableTo<T> R>
  void push_back(const R& record) {
    try {
      Column<T>::push(sections_.data(), record);
    } catch (...) {
      Column<T>::truncate(sections_.data(), rows_);
      throw;
    }
    ++rows_;
  }
  void clear() noexcept {
    for (auto& section : sections_) section.truncate(0);
    rows_ = 0;
  }

  [[nodiscard]] std::size_t size() const noexcept { return rows_; }
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
  /// Bytes of all sections, as they would be on the wire.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const auto& section : sections_) sum += section.size();
    return sum;
  }
  /// Whether 8 KiB are full (or as many rows, if they take none).
  [[nodiscard]] bool at_capacity() const noexcept {
    return (Column<T>::kSections == 0 ? rows_ : bytes()) >= kBytesWanted;
  }

  [[nodiscard]] typename Column<T>::View operator[](std::size_t row) const { return view()[row]; }
  [[nodiscard]] RowIterator<T> begin() const { return view().begin(); }
  [[nodiscard]] RowIterator<T> end() const { return view().end(); }
  /// All records as they are now.
  [[nodiscard]] ColumnsView<T> view() const {
    ColumnsView<T> view;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      view.places_[i] = sections_[i].bytes().data();
      view.sizes_[i] = sections_[i].size();
    }
    view.rows_ = rows_;
    return view;
  }

  /// Replaces all records by those of `view`, which must not be of this batch.
  void assign(const ColumnsView<T>& view) {
    for (std::size_t i = 0; i < sections_.size(); ++i) sections_[i].assign(view.section(i));
    rows_ = view.size();
  }

  /// Appends the block to `sink`, at the next multiple of 8.
  void write_to(ByteSink& sink) const;

 private:
  static constexpr std::size_t kBytesWanted = 8192;

  std::array<Section, Column<T>::kSections> sections_;
  std::size_t rows_ = 0;
};

/// In place of a type of records: records in columns.
template <Columnar T>
using Columnwise = Batched<Columns<T>>;

namespace internal {
inline constexpr std::uint64_t kColumnsMagic = 0x314c4f435441454c;  // "LEATCOL1"
}

template <Columnar T>
void Columns<T>::write_to(ByteSink& sink) const {
  sink.align();
  sink.write_plain(internal::kColumnsMagic);
  sink.write_plain(Column<T>::kSchema);
  sink.write_plain(std::uint64_t{rows_});
  for (const auto& section : sections_) sink.write_plain(std::uint64_t{section.size()});
  for (const auto& section : sections_) {
    sink.align();
    sink.write(section.bytes().data(), section.size());
  }
}

template <Columnar T>
bool ColumnsView<T>::read(ByteSource& from) {
  std::uint64_t magic = 0;
  std::uint64_t schema = 0;
  std::uint64_t rows = 0;
  std::array<std::uint64_t, Column<T>::kSections> sizes{};
  std::array<std::span<const std::byte>, Column<T>::kSections> sections{};
  if (!from.align() || !from.read_plain(magic)) return false;
  if (magic != internal::kColumnsMagic) return from.fail("these are no columns");
  if (!from.read_plain(schema)) return false;
  if (schema != Column<T>::kSchema) return from.fail("the columns are of another type");
  if (!from.read_plain(rows)) return false;
  for (auto& size : sizes) {
    if (!from.read_plain(size)) return false;
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!from.align()) return false;
    const std::byte* const place = from.take(static_cast<std::size_t>(sizes[i]));
    if (place == nullptr) return false;
    sections[i] = {place, static_cast<std::size_t>(sizes[i])};
  }
  if (const char* found = Column<T>::wrong(sections.data(), static_cast<std::size_t>(rows))) {
    return from.fail(found);
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    places_[i] = sections[i].data();
    sizes_[i] = sections[i].size();
  }
  rows_ = static_cast<std::size_t>(rows);
  return true;
}

}  // namespace leat::dataflow

/// A batch of columns inside other bytes.
template <class T>
struct leat::Codec<leat::dataflow::Columns<T>> {
  static constexpr std::size_t kBytesMin = 24;
  static void encode(ByteSink& sink, const dataflow::Columns<T>& value) { value.write_to(sink); }
  [[nodiscard]] static bool decode(ByteSource& from, dataflow::Columns<T>& to) {
    dataflow::ColumnsView<T> view;
    if (!view.read(from)) return false;
    to.assign(view);
    return true;
  }
};
