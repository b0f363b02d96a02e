// What      A file that is written at its end and read anywhere, and what must be done so that it is
//           still there after a crash: for logs and values that outlive their program.
// Protocol  `sync` before somebody is told that it is safe. A file that is to change as a whole goes
//           through `replace_file`: after a crash it is the old one or the new one.
// Limits    One thread at a time. Errors name the file, what was asked and what the system said.
// Cost      A system call each.
#pragma once

#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat::os {

class File {
 public:
  /// Makes a file that is not there yet. Errors: it is; the folder is not, or not writable.
  [[nodiscard]] static Result<File> create(const std::filesystem::path& path);
  /// Opens one to be read; nothing if there is none.
  [[nodiscard]] static Result<std::optional<File>> open(const std::filesystem::path& path);
  /// Opens one to hold its lock, made if it is not there. Nothing: somebody else holds it. The lock
  /// goes with this object, and with its process.
  [[nodiscard]] static Result<std::optional<File>> lock(const std::filesystem::path& path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// Writes all of `bytes` at the end. Errors: no room; then a part of them may be there.
  [[nodiscard]] Result<void> append(std::span<const std::byte> bytes);
  /// Returns when all that was written is on the disk.
  [[nodiscard]] Result<void> sync();
  /// Reads from `offset` on until `into` is full or the file ends. Returns: how many bytes.
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const;
  [[nodiscard]] Result<std::uint64_t> size() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  File(int descriptor, std::filesystem::path path) noexcept;

  int descriptor_ = -1;
  std::filesystem::path path_;
};

/// Makes the names in a folder as lasting as its files: after create, remove and replace.
[[nodiscard]] Result<void> sync_folder(const std::filesystem::path& folder);

/// Makes `bytes` all that `path` holds, at once: whoever reads it sees the old bytes or the new ones,
/// also after a crash. The file `<path>.new` is made and taken away on the way.
[[nodiscard]] Result<void> replace_file(const std::filesystem::path& path,
                                        std::span<const std::byte> bytes);

/// All bytes of a file; nothing if there is none.
[[nodiscard]] Result<std::optional<std::vector<std::byte>>> read_file(
    const std::filesystem::path& path);

}  // namespace leat::os
