// What      Which types of messages this program can send as bytes, and how each is encoded: what two
//           processes compare before they send each other any.
// Protocol  `note_record_types` is called by whatever makes channels; to have it in the program is
//           enough, it need not run. Types are entered while the program, or a library that it loads
//           later, starts up.
// Limits    How a type is encoded is known by its members, if they are named (identity/hash.hpp); of a
//           type with a codec of its own by its name.
// Cost      An entry for each type when the program starts. Nothing afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <leat/base/hash.hpp>
#include <leat/base/identity/standard.hpp>
#include <leat/base/type_name.hpp>

namespace leat::comm {

/// A type of messages, or of what is in them.
struct RecordType {
  std::uint64_t number = 0;  // of its name and of how it is encoded
  std::string name;          // for people; empty if another process only told the number
};

/// All of this program, ascending by number. Threads: any.
[[nodiscard]] std::vector<RecordType> record_types();

/// What is in one kind of message.
template <class... Ts>
struct RecordTypes {};

namespace internal {

struct RecordTypeNote {
  RecordTypeNote(std::string_view name, std::uint64_t schema);
};

template <class T>
struct NotedRecordType {
  static inline const RecordTypeNote kNote{type_name<T>(), schema_hash<T>()};
};

}  // namespace internal

template <class... Ts>
void note_record_types(RecordTypes<Ts...>) noexcept {
  (static_cast<void>(&internal::NotedRecordType<Ts>::kNote), ...);
}

/// How all of them are encoded, as one number.
template <class... Ts>
[[nodiscard]] constexpr std::uint64_t schema_of(RecordTypes<Ts...>) noexcept {
  std::uint64_t hash = 0;
  ((hash = hash_combine(hash, schema_hash<Ts>())), ...);
  return hash;
}

}  // namespace leat::comm
