// What      ValueStore<T>: values by name in a folder, each of which is kept as a whole: after a crash it
//           is the one that was saved last or the one before.
// Shape     `<name>.value`: | magic | crc | saved at, ns since 1970 | schema of T | encoded T |
// Limits    One thread saves a name at a time. What has another schema than T is an error that says so.
// Source    Flux's Persistable, which writes in place.
#pragma once

#include <leat/base/codec.hpp>
#include <leat/base/identity.hpp>
#include <leat/base/os/file.hpp>
#include <leat/base/result.hpp>
#include <leat/base/time/text.hpp>
#include <leat/base/type_name.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leat::tile {

namespace internal {

struct StoredValue {
  std::string name;
  WallTime saved_at;
  std::uint64_t schema = 0;
  std::vector<std::byte> bytes;
};

[[nodiscard]] Result<void> save_value(const std::filesystem::path& folder, const std::string& name,
                                      WallTime now, std::uint64_t schema,
                                      std::span<const std::byte> bytes);
/// Nothing: there is none of that name.
[[nodiscard]] Result<std::optional<StoredValue>> load_value(const std::filesystem::path& folder,
                                                            const std::string& name);
[[nodiscard]] Result<std::vector<std::string>> value_names(const std::filesystem::path& folder);

}  // namespace internal

template <class T>
class ValueStore {
 public:
  struct Saved {
    std::string name;
    WallTime saved_at;
    T value;
  };

  /// The folder is made with the first value.
  explicit ValueStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Keeps `value` under `name`; returns when it is on the disk. Errors: the name is no file's; the
  /// disk says no: then what was kept before still is.
  [[nodiscard]] Result<void> save(const std::string& name, const T& value,
                                  WallTime now = wall_now()) const {
    ByteSink sink;
    encode(sink, value);
    return internal::save_value(folder_, name, now, schema_hash<T>(), sink.bytes());
  }

  /// What was saved last; nothing if there is none. Errors: it is damaged, or no T.
  [[nodiscard]] Result<std::optional<T>> load(const std::string& name) const {
    auto found = load_saved(name);
    if (!found) return found.error();
    if (!*found) return std::optional<T>();
    return std::optional<T>(std::move((*found)->value));
  }
  /// The same, if it was saved at `since` or later.
  [[nodiscard]] Result<std::optional<T>> load_since(const std::string& name, WallTime since) const {
    auto found = load_saved(name);
    if (!found) return found.error();
    if (!*found || (*found)->saved_at < since) return std::optional<T>();
    return std::optional<T>(std::move((*found)->value));
  }
  /// All of the folder that were saved at `since` or later, by name.
  [[nodiscard]] Result<std::vector<Saved>> load_all(WallTime since = {}) const {
    const auto names = internal::value_names(folder_);
    if (!names) return names.error();
    std::vector<Saved> all;
    for (const std::string& name : *names) {
      auto found = load_saved(name);
      if (!found) return found.error();
      if (*found && (*found)->saved_at >= since) all.push_back(*std::move(*found));
    }
    return all;
  }

 private:
  [[nodiscard]] Result<std::optional<Saved>> load_saved(const std::string& name) const {
    auto stored = internal::load_value(folder_, name);
    if (!stored) return stored.error();
    if (!*stored) return std::optional<Saved>();
    if ((*stored)->schema != schema_hash<T>()) {
      return Error{"value \"" + name + "\" in " + folder_.string() + ": asked for a " +
                   std::string(type_name<T>()) +
                   "; found one of another schema; read it with the program that saved it"};
    }
    auto value = decode<T>((*stored)->bytes);
    if (!value) return value.error();
    return std::optional<Saved>(Saved{name, (*stored)->saved_at, *std::move(value)});
  }

  std::filesystem::path folder_;
};

}  // namespace leat::tile
