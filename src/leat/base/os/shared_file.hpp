// What      A file that processes map into their memory and through which they see each other die:
//           made whole before it gets a name, its pages allocated, and bytes in it that are locked
//           by whoever is alive. Segments stand on it (core/segment); nobody else should need it.
// Protocol  Maker:   make_unnamed, allocate, map, fill in, give_name (or take_over_name).
//           Others:  open, read the head and check it, map.
//           A lock belongs to the object that took it, not to a process or thread, and goes with
//           it: at its end, at its process's end however that comes, never earlier. Bytes past the
//           end of the file can be locked.
// Invariants
//   (1) Under a name there is never a file that its maker had not finished.
//   (2) A name is never taken from a file without take_over_name or remove_name by its own.
//   (3) After fork the child's object is invalid: its descriptor is closed, so that it keeps no lock
//       of its parent's alive, and what it mapped became a private copy, so that a destructor that
//       runs there writes into nobody's memory.
// Limits    File systems that make unnamed files and have locks of open files: tmpfs, ext4, xfs,
//           btrfs. A child made by the bare system call, without the handlers of fork, keeps the
//           locks of its parent. Somebody who may write the file can cut it short, and whoever
//           touches what is gone gets SIGBUS.
// Cost      System calls: for set-up and for suspicion, not for loops.
// Source    Open file description locks, fcntl(2); O_TMPFILE with linkat, open(2).
#pragma once

#include <leat/base/result.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat::os {

enum class Access : std::uint8_t { read_write, read_only };

/// How a file is mapped. What the system refuses becomes a warning; the mapping stands without it.
struct MapOptions {
  bool huge_pages = false;      // ask for transparent ones; on a hugetlbfs they come by themselves
  bool lock_in_memory = false;  // never paged out
  bool prefault = false;        // page tables filled in now, so that the first lap has no faults
  std::optional<int> numa_node{};  // where pages that are not there yet will be allocated
};

class SharedFile {
 public:
  struct Body;  // of the source alone

  /// Makes a file in `directory` that has no name yet, and goes with this object if it gets none.
  ///
  /// `mode` is as in chmod, whatever the umask; `group` may be given if the caller is a member.
  [[nodiscard]] static Result<SharedFile> make_unnamed(const std::filesystem::path& directory,
                                                       std::uint32_t mode,
                                                       std::optional<std::uint32_t> group);

  /// Opens what has the name `path`; nothing if there is no such file.
  [[nodiscard]] static Result<std::optional<SharedFile>> open(const std::filesystem::path& path,
                                                              Access access);

  SharedFile(SharedFile&&) noexcept;
  SharedFile& operator=(SharedFile&&) noexcept;
  /// Unmaps, gives back the locks, closes.
  ~SharedFile();

  /// False in a forked child, for ever; there only the destructor may be called.
  [[nodiscard]] bool is_valid() const noexcept;

  /// Makes it `bytes` long, of zeros, with memory or disk blocks for all of them.
  ///
  /// On a hugetlbfs: rounded up to its pages. With `numa_node` the memory is asked from there;
  /// what could not be done about that is appended to `warnings`.
  /// Errors: there is no room; how much was asked, and where.
  [[nodiscard]] Result<void> allocate(std::uint64_t bytes, std::optional<int> numa_node,
                                      std::vector<std::string>& warnings);

  [[nodiscard]] Result<std::uint64_t> size() const;

  /// Fills `into` with the file's first bytes. Returns: how many there were, at most.
  [[nodiscard]] Result<std::size_t> read_head(std::span<std::byte> into) const;

  /// Maps the first `bytes` bytes. Once; the mapping goes with this object.
  ///
  /// Requires: `bytes <= size()`. Read-only if it was opened so.
  [[nodiscard]] Result<std::span<std::byte>> map(std::uint64_t bytes, const MapOptions& options,
                                                 std::vector<std::string>& warnings);
  [[nodiscard]] std::span<std::byte> mapped() const noexcept;

  /// Gives it the name `path`. Returns: false if the name is another's.
  [[nodiscard]] Result<bool> give_name(const std::filesystem::path& path) const;
  /// Gives it the name `path`, which in the same moment stops being another's.
  [[nodiscard]] Result<void> take_over_name(const std::filesystem::path& path) const;
  /// Whether `path` is this file's name now.
  [[nodiscard]] bool has_name(const std::filesystem::path& path) const;
  /// Takes the name `path` away. Requires: `has_name(path)`, and nobody else changes that.
  [[nodiscard]] Result<void> remove_name(const std::filesystem::path& path) const;

  /// Takes the lock of one byte if no other object has it. An object has a lock once.
  ///
  /// Requires: opened to be written.
  [[nodiscard]] Result<bool> try_lock(std::uint64_t byte) const;
  void unlock(std::uint64_t byte) const noexcept;
  /// Whether another object has the lock of that byte, in this process or another.
  [[nodiscard]] bool is_locked_by_another(std::uint64_t byte) const noexcept;

  /// Waits for the lock of one byte: alone, or with all others that share it.
  [[nodiscard]] Result<void> lock(std::uint64_t byte) const;
  [[nodiscard]] Result<void> lock_shared(std::uint64_t byte) const;

  /// The file behind the object, as it is told apart from all others on this machine.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  [[nodiscard]] Identity identity() const noexcept;

 private:
  explicit SharedFile(std::unique_ptr<Body> body) noexcept;

  std::unique_ptr<Body> body_;
};

/// Where processes of one user meet: the environment's LEAT_SEGMENTS, else /dev/shm/leat-<user id>.
[[nodiscard]] std::filesystem::path default_shared_folder();

/// Makes the folder `path` if there is none, with all above it.
///
/// `mode` is that of the last one, whatever the umask, if it is made.
/// Errors: it cannot be made; or it is there, is no folder, or `only_owner` is asked and it belongs
/// to another user.
[[nodiscard]] Result<void> make_directory(const std::filesystem::path& path, std::uint32_t mode,
                                          std::optional<std::uint32_t> group, bool only_owner);

}  // namespace leat::os
