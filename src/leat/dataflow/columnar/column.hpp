// What      `Column<T>`: how records of type `T` lie in columns, and how one is looked at there. A
//           column is a few sections of bytes that all rows share; a record is never an object in
//           them, and looking at one makes a view: a number, a std::string_view, a pair or tuple of
//           views.
// Shape       number, enum, kPlainBytes<T>   one section: row after row
//             bool                           one section: a byte per row, 0 or 1
//             std::string                    ends (4 bytes per row), letters
//             std::vector<U>                 ends (4 bytes per row), then the column of all `U`s
//             pair, tuple, LEAT_FIELDS       the columns of the members
//           The end of a row is where the next one begins; the first begins at 0.
// Limits    Letters or elements of one column: fewer than 2^32. What is pushed must not lie in the
//           column itself.
// Source    The columnar crate of Rust's Timely Dataflow: structs as columns, texts as bounds and
//           bytes.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/base/codec/codec.hpp>
#include <leat/base/fields.hpp>
#include <leat/base/hash.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/dataflow/columnar/section.hpp>

namespace leat::dataflow {

/// Where the sections of a column begin, to read them.
using Places = const std::byte* const*;
/// The bytes of the sections of a column that nobody has looked at yet.
using Unchecked = const std::span<const std::byte>*;

/// A specialisation has
///   kSections                        how many sections it takes
///   kSchema                          a number for the layout: other layouts have other numbers
///   View                             how a record is looked at
///   push(sections, record)           appends a row
///   at(places, row)                  a view of a row
///   truncate(sections, rows)         forgets all rows but the first ones
///   wrong(sections, rows)            why the sections are not of so many rows; null if they are
template <class T>
struct Column;

/// Types that have columns.
template <class T>
concept Columnar = requires {
  { Column<T>::kSections } -> std::convertible_to<std::size_t>;
  typename Column<T>::View;
};

/// A record that a column of `T`s takes: a `T`, a view of one, or what is alike.
template <class R, class T>
concept PushableTo =
    requires(Section* sections, const R& record) { Column<T>::push(sections, record); };

namespace internal {

// Ends of rows, in the first of a column's sections.
using End = std::uint32_t;

inline std::size_t end_of(const std::byte* ends, std::size_t row) {
  End end = 0;
  std::memcpy(&end, ends + row * sizeof(End), sizeof(End));
  return end;
}
inline std::size_t begin_of(const std::byte* ends, std::size_t row) {
  return row == 0 ? 0 : end_of(ends, row - 1);
}
inline std::size_t last_end(const Section& ends) {
  return begin_of(ends.bytes().data(), ends.size() / sizeof(End));
}
inline void push_end(Section& ends, std::size_t at) {
  if (at > std::numeric_limits<End>::max()) [[unlikely]] {
    throw UsageError("columns", "a record to be appended",
                     std::to_string(at) + " letters or elements in one column",
                     "send the batch before it has 2^32 of them");
  }
  const auto end = static_cast<End>(at);
  ends.append(&end, sizeof(End));
}

[[nodiscard]] inline bool is_of(std::span<const std::byte> section, std::size_t rows,
                                std::size_t row_bytes) {
  return section.size() % row_bytes == 0 && section.size() / row_bytes == rows;
}
[[nodiscard]] inline const char* wrong_ends(std::span<const std::byte> ends, std::size_t rows) {
  if (!is_of(ends, rows, sizeof(End))) return "a section of ends is not of the rows' number";
  for (std::size_t row = 1; row < rows; ++row) {
    if (end_of(ends.data(), row) < end_of(ends.data(), row - 1)) return "ends are not in order";
  }
  return nullptr;
}

// The columns of members, one after the other.
template <class... Ts>
struct MemberColumns {
  static constexpr std::size_t kSections = (std::size_t{0} + ... + Column<Ts>::kSections);
  static constexpr std::uint64_t kSchema = [] {
    std::uint64_t hash = fnv1a("members");
    ((hash = hash_combine(hash, Column<Ts>::kSchema)), ...);
    return hash;
  }();

  /// Where the sections of member `kIndex` are among those of all.
  template <std::size_t kIndex>
  static constexpr std::size_t first() {
    constexpr std::array<std::size_t, sizeof...(Ts)> kCounts{Column<Ts>::kSections...};
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kIndex; ++i) sum += kCounts[i];
    return sum;
  }

  /// Calls `f.template operator()<Member, first section, index>()` for each member.
  template <class F>
  static void for_each(F&& f) {
    [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
      (f.template operator()<Ts, first<kIndices>(), kIndices>(), ...);
    }(std::index_sequence_for<Ts...>());
  }
  template <class View>
  static View at(Places places, std::size_t row) {
    return [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
      return View(Column<Ts>::at(places + first<kIndices>(), row)...);
    }(std::index_sequence_for<Ts...>());
  }
  static void truncate(Section* sections, std::size_t rows) {
    for_each([&]<class Member, std::size_t kFirst, std::size_t>() {
      Column<Member>::truncate(sections + kFirst, rows);
    });
  }
  static const char* wrong(Unchecked sections, std::size_t rows) {
    const char* found = nullptr;
    for_each([&]<class Member, std::size_t kFirst, std::size_t>() {
      if (found == nullptr) found = Column<Member>::wrong(sections + kFirst, rows);
    });
    return found;
  }

  /// Whether `R` is as a tuple, each part of which is for a member.
  template <class R>
  static constexpr bool takes() {
    if constexpr (requires { std::tuple_size<R>::value; }) {
      if constexpr (std::tuple_size_v<R> == sizeof...(Ts)) {
        return []<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
          return (PushableTo<std::remove_cvref_t<std::tuple_element_t<kIndices, R>>, Ts> && ...);
        }(std::index_sequence_for<Ts...>());
      } else {
        return false;
      }
    } else {
      return false;
    }
  }
  template <class R>
  static void push(Section* sections, const R& record) {
    for_each([&]<class Member, std::size_t kFirst, std::size_t kIndex>() {
      Column<Member>::push(sections + kFirst, std::get<kIndex>(record));
    });
  }
};

template <HasFields T>
struct FieldsAsMembers {
  template <std::size_t... kIndices>
  static auto type(std::index_sequence<kIndices...>) -> MemberColumns<FieldType<T, kIndices>...>;
  using Type = decltype(type(std::make_index_sequence<kFields<T>>()));

  template <std::size_t... kIndices>
  static auto views(std::index_sequence<kIndices...>)
      -> std::tuple<typename Column<FieldType<T, kIndices>>::View...>;
  using Views = decltype(views(std::make_index_sequence<kFields<T>>()));
};

}  // namespace internal

template <leat::internal::Flat T>
struct Column<T> {
  static constexpr std::size_t kSections = 1;
  static constexpr std::uint64_t kSchema = hash_combine(fnv1a(std::is_floating_point_v<T> ? "float"
                                                              : std::is_signed_v<T>       ? "signed"
                                                              : std::is_class_v<T>        ? "plain"
                                                                                   : "unsigned"),
                                                        sizeof(T));
  using View = T;

  static void push(Section* sections, const std::convertible_to<T> auto& record) {
    const auto value = static_cast<T>(record);
    sections[0].append(&value, sizeof(T));
  }
  static T at(Places places, std::size_t row) {
    T value;
    std::memcpy(&value, places[0] + row * sizeof(T), sizeof(T));
    return value;
  }
  static void truncate(Section* sections, std::size_t rows) {
    sections[0].truncate(rows * sizeof(T));
  }
  static const char* wrong(Unchecked sections, std::size_t rows) {
    return internal::is_of(sections[0], rows, sizeof(T))
               ? nullptr
               : "a section of numbers is not of the rows' number";
  }
};

template <>
struct Column<bool> {
  static constexpr std::size_t kSections = 1;
  static constexpr std::uint64_t kSchema = fnv1a("bool");
  using View = bool;

  static void push(Section* sections, const std::convertible_to<bool> auto& record) {
    const auto value = static_cast<std::uint8_t>(static_cast<bool>(record) ? 1 : 0);
    sections[0].append(&value, 1);
  }
  static bool at(Places places, std::size_t row) { return places[0][row] != std::byte{0}; }
  static void truncate(Section* sections, std::size_t rows) { sections[0].truncate(rows); }
  static const char* wrong(Unchecked sections, std::size_t rows) {
    if (sections[0].size() != rows) return "a section of bools is not of the rows' number";
    for (const std::byte byte : sections[0]) {
      if (byte > std::byte{1}) return "a bool is neither 0 nor 1";
    }
    return nullptr;
  }
};

template <>
struct Column<std::string> {
  static constexpr std::size_t kSections = 2;
  static constexpr std::uint64_t kSchema = fnv1a("text");
  using View = std::string_view;

  static void push(Section* sections, std::string_view text) {
    internal::push_end(sections[0], sections[1].size() + text.size());
    sections[1].append(text.data(), text.size());
  }
  static std::string_view at(Places places, std::size_t row) {
    const std::size_t begin = internal::begin_of(places[0], row);
    return {reinterpret_cast<const char*>(places[1]) + begin,
            internal::end_of(places[0], row) - begin};
  }
  static void truncate(Section* sections, std::size_t rows) {
    sections[0].truncate(rows * sizeof(internal::End));
    sections[1].truncate(internal::last_end(sections[0]));
  }
  static const char* wrong(Unchecked sections, std::size_t rows) {
    if (const char* found = internal::wrong_ends(sections[0], rows)) return found;
    return sections[1].size() == internal::begin_of(sections[0].data(), rows)
               ? nullptr
               : "letters do not end where the last text does";
  }
};

/// Goes through the rows of a column and makes a view of each. Keeps no more than where the column
/// is.
template <Columnar T>
class RowIterator {
 public:
  using value_type = typename Column<T>::View;
  using reference = value_type;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;  // of old: it has no lasting references
  using iterator_concept = std::random_access_iterator_tag;

  RowIterator() = default;
  RowIterator(Places places, std::size_t row) : row_(row) {
    std::copy_n(places, Column<T>::kSections, places_.begin());
  }

  [[nodiscard]] reference operator*() const { return Column<T>::at(places_.data(), row_); }
  [[nodiscard]] reference operator[](difference_type n) const { return *(*this + n); }
  RowIterator& operator++() {
    ++row_;
    return *this;
  }
  RowIterator operator++(int) {
    RowIterator old = *this;
    ++row_;
    return old;
  }
  RowIterator& operator--() {
    --row_;
    return *this;
  }
  RowIterator operator--(int) {
    RowIterator old = *this;
    --row_;
    return old;
  }
  RowIterator& operator+=(difference_type n) {
    row_ += static_cast<std::size_t>(n);
    return *this;
  }
  RowIterator& operator-=(difference_type n) { return *this += -n; }
  friend RowIterator operator+(RowIterator at, difference_type n) { return at += n; }
  friend RowIterator operator+(difference_type n, RowIterator at) { return at += n; }
  friend RowIterator operator-(RowIterator at, difference_type n) { return at -= n; }
  friend difference_type operator-(const RowIterator& a, const RowIterator& b) {
    return static_cast<difference_type>(a.row_ - b.row_);
  }
  friend bool operator==(const RowIterator& a, const RowIterator& b) { return a.row_ == b.row_; }
  friend auto operator<=>(const RowIterator& a, const RowIterator& b) { return a.row_ <=> b.row_; }

 private:
  std::array<const std::byte*, Column<T>::kSections> places_{};
  std::size_t row_ = 0;
};

/// The elements of one row of a column of vectors.
template <Columnar U>
class ListView {
 public:
  ListView(Places places, std::size_t begin, std::size_t end) : begin_(begin), end_(end) {
    std::copy_n(places, Column<U>::kSections, places_.begin());
  }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
  [[nodiscard]] bool empty() const noexcept { return end_ == begin_; }
  [[nodiscard]] typename Column<U>::View operator[](std::size_t index) const {
    return Column<U>::at(places_.data(), begin_ + index);
  }
  [[nodiscard]] RowIterator<U> begin() const { return {places_.data(), begin_}; }
  [[nodiscard]] RowIterator<U> end() const { return {places_.data(), end_}; }

 private:
  std::array<const std::byte*, Column<U>::kSections> places_;
  std::size_t begin_;
  std::size_t end_;
};

template <Columnar U, class Alloc>
struct Column<std::vector<U, Alloc>> {
  static constexpr std::size_t kSections = 1 + Column<U>::kSections;
  static constexpr std::uint64_t kSchema = hash_combine(fnv1a("list"), Column<U>::kSchema);
  using View = ListView<U>;

  template <std::ranges::input_range Range>
    requires PushableTo<std::ranges::range_value_t<Range>, U>
  static void push(Section* sections, const Range& range) {
    std::size_t end = internal::last_end(sections[0]);
    for (auto&& element : range) {
      Column<U>::push(sections + 1, element);
      ++end;
    }
    internal::push_end(sections[0], end);
  }
  static View at(Places places, std::size_t row) {
    return {places + 1, internal::begin_of(places[0], row), internal::end_of(places[0], row)};
  }
  static void truncate(Section* sections, std::size_t rows) {
    sections[0].truncate(rows * sizeof(internal::End));
    Column<U>::truncate(sections + 1, internal::last_end(sections[0]));
  }
  static const char* wrong(Unchecked sections, std::size_t rows) {
    if (const char* found = internal::wrong_ends(sections[0], rows)) return found;
    return Column<U>::wrong(sections + 1, internal::begin_of(sections[0].data(), rows));
  }
};

template <Columnar A, Columnar B>
struct Column<std::pair<A, B>> : internal::MemberColumns<A, B> {
  using View = std::pair<typename Column<A>::View, typename Column<B>::View>;

  template <class R>
    requires(internal::MemberColumns<A, B>::template takes<R>())
  static void push(Section* sections, const R& record) {
    internal::MemberColumns<A, B>::push(sections, record);
  }
  static View at(Places places, std::size_t row) {
    return internal::MemberColumns<A, B>::template at<View>(places, row);
  }
};

template <Columnar... Ts>
struct Column<std::tuple<Ts...>> : internal::MemberColumns<Ts...> {
  using View = std::tuple<typename Column<Ts>::View...>;

  template <class R>
    requires(internal::MemberColumns<Ts...>::template takes<R>())
  static void push(Section* sections, const R& record) {
    internal::MemberColumns<Ts...>::push(sections, record);
  }
  static View at(Places places, std::size_t row) {
    return internal::MemberColumns<Ts...>::template at<View>(places, row);
  }
};

/// A record of a type named with LEAT_FIELDS, in its columns: a tuple of views of the members, in
/// the order of the list; `field<&T::member>(view)` finds one by its member.
template <class T>
struct FieldsView : internal::FieldsAsMembers<T>::Views {
  using Base = typename internal::FieldsAsMembers<T>::Views;
  using Base::Base;
};

namespace internal {
template <class T, auto kMember>
constexpr std::size_t field_index() {
  std::size_t index = 0;
  bool found = false;
  std::apply(
      [&]<class... Fields>(const Fields&... fields) {
        const auto look = [&](const auto& field) {
          if constexpr (std::same_as<std::remove_cvref_t<decltype(field.place)>,
                                     std::remove_cv_t<decltype(kMember)>>) {
            if (field.place == kMember) found = true;
          }
          if (!found) ++index;
        };
        (look(fields), ...);
      },
      fields_of<T>());
  return index;
}
}  // namespace internal

/// The view of one member: `field<&Word::text>(record)`.
template <auto kMember, class T>
[[nodiscard]] const auto& field(const FieldsView<T>& record) {
  constexpr std::size_t kIndex = internal::field_index<T, kMember>();
  static_assert(kIndex < kFields<T>, "field: the member is not in the type's LEAT_FIELDS");
  return std::get<kIndex>(record);
}

template <class T>
  requires(HasFields<T> && !leat::internal::Flat<T>)
struct Column<T> : internal::FieldsAsMembers<T>::Type {
  using Members = typename internal::FieldsAsMembers<T>::Type;  // the base
  static constexpr std::uint64_t kSchema = [] {
    std::uint64_t schema = Members::kSchema;
    std::apply(
        [&](const auto&... fields) { ((schema = hash_combine(schema, fnv1a(fields.name))), ...); },
        fields_of<T>());
    return schema;
  }();
  using View = FieldsView<T>;

  template <class R>
    requires(Members::template takes<R>())
  static void push(Section* sections, const R& record) {
    Members::push(sections, record);
  }
  static void push(Section* sections, const T& record) {
    std::apply(
        [&](const auto&... fields) { Members::push(sections, std::tie(record.*fields.place...)); },
        fields_of<T>());
  }
  static View at(Places places, std::size_t row) { return Members::template at<View>(places, row); }
};

}  // namespace leat::dataflow

template <class T>
struct std::tuple_size<leat::dataflow::FieldsView<T>>
    : std::tuple_size<typename leat::dataflow::internal::FieldsAsMembers<T>::Views> {};
template <std::size_t kIndex, class T>
struct std::tuple_element<kIndex, leat::dataflow::FieldsView<T>>
    : std::tuple_element<kIndex, typename leat::dataflow::internal::FieldsAsMembers<T>::Views> {};
