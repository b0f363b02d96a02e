#include <leat/base/os/shared_file.hpp>

#include <leat/base/atomic.hpp>
#include <leat/base/check.hpp>
#include <leat/base/os/descriptor.hpp>
#include <leat/base/os/error_text.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <system_error>
#include <utility>

namespace leat::os {

struct SharedFile::Body {
  Descriptor descriptor;
  std::filesystem::path where;  // for messages
  Access access = Access::read_write;
  std::span<std::byte> mapped;
  bool is_valid = true;
  Body* next = nullptr;  // in the list of all
  Body* before = nullptr;

  Body();
  ~Body();
};

namespace {

// All files of this process, so that a forked child lets go of its parent's. The mutex is held over
// the fork, so that the list is whole in the child.
struct AllFiles {
  std::mutex mutex;
  SharedFile::Body* first = nullptr;
};

AllFiles& all_files() {
  // Never destroyed: a file may outlive every static object.
  static AllFiles& all = *new AllFiles;
  return all;
}

Error refused(const std::filesystem::path& where, const std::string& asked, int number,
              const std::string& next) {
  return {where.string() + ": asked to " + asked + "; found \"" + error_text(number) + "\"; " +
          next};
}

std::string size_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

/// The name by which the kernel knows what a descriptor stands for.
std::string descriptor_path(int number) { return "/proc/self/fd/" + std::to_string(number); }

struct flock lock_of(short kind, std::uint64_t byte) {
  struct flock lock{};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = 1;
  return lock;
}

constexpr const char* kNoLocks =
    "segments need a file system with locks of open files: a tmpfs such as /dev/shm, or a local "
    "disk";

std::string page_policy() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string text;
  if (!std::getline(file, text)) return "";
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return text.substr(open + 1, close - open - 1);
}

bool is_hugetlbfs(int descriptor) {
  struct statfs facts{};
  return ::fstatfs(descriptor, &facts) == 0 && facts.f_type == HUGETLBFS_MAGIC;
}

std::uint64_t block_bytes(int descriptor) {
  struct statfs facts{};
  if (::fstatfs(descriptor, &facts) != 0 || facts.f_bsize <= 0) return 4096;
  return static_cast<std::uint64_t>(facts.f_bsize);
}

void ask_for_huge_pages(const std::filesystem::path& where, int descriptor,
                        std::span<std::byte> mapped, std::vector<std::string>& warnings) {
  if (is_hugetlbfs(descriptor)) return;
  const std::string policy = page_policy();
  if (policy == "never" || policy == "deny") {
    warnings.push_back(where.string() +
                       ": asked for huge pages; the system has them off for shared memory (\"" +
                       policy +
                       "\"); write \"advise\" into "
                       "/sys/kernel/mm/transparent_hugepage/shmem_enabled, or use a folder of a "
                       "hugetlbfs");
    return;
  }
  if (::madvise(mapped.data(), mapped.size(), MADV_HUGEPAGE) != 0) {
    warnings.push_back(where.string() + ": asked for huge pages; found \"" + error_text(errno) +
                       "\"");
  }
}

void lock_in_memory(const std::filesystem::path& where, std::span<std::byte> mapped,
                    std::vector<std::string>& warnings) {
  if (::mlock(mapped.data(), mapped.size()) == 0) return;
  const int number = errno;
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  warnings.push_back(
      where.string() + ": asked to lock " + size_text(mapped.size()) + " in memory; found \"" +
      error_text(number) + "\", at a limit of " +
      (limit.rlim_cur == RLIM_INFINITY ? std::string("none") : size_text(limit.rlim_cur)) +
      "; raise it with ulimit -l");
}

void prefault(std::span<std::byte> mapped, Access access) {
#ifdef MADV_POPULATE_WRITE
  const int advice = access == Access::read_write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (::madvise(mapped.data(), mapped.size(), advice) == 0) return;
#endif
  // A kernel before 5.14. Pages of a shared mapping become writable with the first read.
  static_cast<void>(access);
  const long page = ::sysconf(_SC_PAGESIZE);
  for (std::size_t at = 0; at < mapped.size(); at += static_cast<std::size_t>(page)) {
    static_cast<void>(*static_cast<const volatile std::byte*>(mapped.data() + at));
  }
}

void prefer_node(const std::filesystem::path& where, std::span<std::byte> mapped, int node,
                 std::vector<std::string>& warnings) {
  constexpr int kNodesMax = 1024;
  constexpr int kBits = std::numeric_limits<unsigned long>::digits;
  std::array<unsigned long, kNodesMax / kBits> nodes{};
  int number = EINVAL;
  if (node >= 0 && node < kNodesMax) {
    nodes[static_cast<std::size_t>(node / kBits)] = 1UL << (node % kBits);
    if (::syscall(SYS_mbind, mapped.data(), mapped.size(), MPOL_PREFERRED, nodes.data(),
                  static_cast<unsigned long>(kNodesMax + 1), 0U) == 0) {
      return;
    }
    number = errno;
  }
  warnings.push_back(where.string() + ": asked for memory of NUMA node " + std::to_string(node) +
                     "; found \"" + error_text(number) + "\"");
}

Result<void> set_rights(int descriptor, const std::filesystem::path& where, std::uint32_t mode,
                        std::optional<std::uint32_t> group) {
  if (group && ::fchown(descriptor, static_cast<uid_t>(-1), *group) != 0) {
    return refused(where, "give it to group " + std::to_string(*group), errno,
                   "name a group that this process is a member of");
  }
  if (::fchmod(descriptor, mode) != 0) {
    return refused(where, "set its mode", errno, "choose a mode that the file system takes");
  }
  return {};
}

}  // namespace

SharedFile::Body::Body() {
  AllFiles& all = all_files();
  static std::once_flag once;
  std::call_once(once, [] {
    ::pthread_atfork(
        [] { all_files().mutex.lock(); }, [] { all_files().mutex.unlock(); },
        [] {
          for (Body* body = all_files().first; body != nullptr; body = body->next) {
            body->is_valid = false;
            if (!body->mapped.empty()) {
              const int rights =
                  body->access == Access::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
              void* const copy = ::mmap(body->mapped.data(), body->mapped.size(), rights,
                                        MAP_PRIVATE | MAP_FIXED, body->descriptor.number(), 0);
              // Rather no memory than that of a process which this one is not.
              if (copy == MAP_FAILED) {
                ::munmap(body->mapped.data(), body->mapped.size());
                body->mapped = {};
              }
            }
            body->descriptor.close();
          }
          all_files().mutex.unlock();
        });
  });
  const std::lock_guard lock(all.mutex);
  next = all.first;
  if (next != nullptr) next->before = this;
  all.first = this;
}

SharedFile::Body::~Body() {
  {
    AllFiles& all = all_files();
    const std::lock_guard lock(all.mutex);
    (before != nullptr ? before->next : all.first) = next;
    if (next != nullptr) next->before = before;
  }
  if (!mapped.empty()) ::munmap(mapped.data(), mapped.size());
}

SharedFile::SharedFile(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
SharedFile::SharedFile(SharedFile&&) noexcept = default;
SharedFile& SharedFile::operator=(SharedFile&&) noexcept = default;
SharedFile::~SharedFile() = default;

Result<SharedFile> SharedFile::make_unnamed(const std::filesystem::path& directory,
                                            std::uint32_t mode,
                                            std::optional<std::uint32_t> group) {
  auto body = std::make_unique<Body>();
  body->where = directory;
  body->descriptor =
      Descriptor(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!body->descriptor) {
    return refused(directory, "make a file there", errno,
                   "segments need a folder that may be written, of a file system with unnamed "
                   "files: a tmpfs such as /dev/shm, or a local disk");
  }
  if (auto set = set_rights(body->descriptor.number(), directory, mode, group); !set) {
    return std::move(set).error();
  }
  return SharedFile(std::move(body));
}

Result<std::optional<SharedFile>> SharedFile::open(const std::filesystem::path& path,
                                                   Access access) {
  auto body = std::make_unique<Body>();
  body->where = path;
  body->access = access;
  const int flags = (access == Access::read_write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW;
  body->descriptor = Descriptor(::open(path.c_str(), flags | O_NONBLOCK));
  if (!body->descriptor) {
    const int number = errno;
    if (number == ENOENT) return std::optional<SharedFile>();
    return refused(path, access == Access::read_write ? "open it to read and write" : "open it",
                   number,
                   number == EACCES ? "ask whom it belongs to for the right, or join as an observer"
                                    : "name a segment");
  }
  struct stat facts{};
  if (::fstat(body->descriptor.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Error{path.string() +
                 ": asked a segment; found something that is no plain file; "
                 "name a segment"};
  }
  return std::optional(SharedFile(std::move(body)));
}

bool SharedFile::is_valid() const noexcept { return body_ != nullptr && body_->is_valid; }

Result<std::uint64_t> SharedFile::size() const {
  struct stat facts{};
  if (::fstat(body_->descriptor.number(), &facts) != 0) {
    return refused(body_->where, "look at its size", errno, "open it again");
  }
  return static_cast<std::uint64_t>(facts.st_size);
}

Result<void> SharedFile::allocate(std::uint64_t bytes, std::optional<int> numa_node,
                                  std::vector<std::string>& warnings) {
  const int file = body_->descriptor.number();
  const std::uint64_t block = is_hugetlbfs(file) ? block_bytes(file) : 1;
  const std::string asked = "allocate " + size_text(bytes);
  if (bytes == 0 || bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) - block) {
    return refused(body_->where, asked, EINVAL, "ask for less");
  }
  const std::uint64_t whole = (bytes + block - 1) / block * block;
  if (::ftruncate(file, static_cast<off_t>(whole)) != 0) {
    return refused(body_->where, asked, errno, "ask for less");
  }
  if (numa_node) {
    // The policy is the file's own, and is asked when its pages are allocated: so before that.
    void* const at = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return refused(body_->where, asked, errno, "ask for less");
    prefer_node(body_->where, {static_cast<std::byte*>(at), whole}, *numa_node, warnings);
    ::munmap(at, whole);
  }
  // Without this a full file system shows only when somebody writes, as SIGBUS.
  if (const int number = ::posix_fallocate(file, 0, static_cast<off_t>(whole)); number != 0) {
    struct statfs facts{};
    std::string room;
    if (::fstatfs(file, &facts) == 0 && facts.f_bsize > 0) {
      room = " where " + size_text(facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize)) +
             " are free";
    }
    return refused(body_->where, asked + room, number, "ask for less, or remove old segments");
  }
  return {};
}

Result<std::size_t> SharedFile::read_head(std::span<std::byte> into) const {
  std::size_t read = 0;
  while (read < into.size()) {
    const ssize_t got = ::pread(body_->descriptor.number(), into.data() + read, into.size() - read,
                                static_cast<off_t>(read));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refused(body_->where, "read it", errno, "name a segment");
    if (got == 0) break;
    read += static_cast<std::size_t>(got);
  }
  return read;
}

Result<std::span<std::byte>> SharedFile::map(std::uint64_t bytes, const MapOptions& options,
                                             std::vector<std::string>& warnings) {
  LEAT_CHECK(body_->mapped.empty(), "a shared file was mapped twice");
  const int rights =
      body_->access == Access::read_write ? PROT_READ | PROT_WRITE : static_cast<int>(PROT_READ);
  void* const at = ::mmap(nullptr, bytes, rights, MAP_SHARED, body_->descriptor.number(), 0);
  if (at == MAP_FAILED) {
    return refused(body_->where, "map " + size_text(bytes), errno, "ask for less");
  }
  const std::span<std::byte> mapped(static_cast<std::byte*>(at), bytes);
  {
    // Against a fork at this moment, whose child would keep what it does not know of.
    const std::lock_guard lock(all_files().mutex);
    body_->mapped = mapped;
  }
  if (options.numa_node && body_->access == Access::read_write) {
    prefer_node(body_->where, mapped, *options.numa_node, warnings);
  }
  if (options.huge_pages) {
    ask_for_huge_pages(body_->where, body_->descriptor.number(), mapped, warnings);
  }
  if (options.prefault) prefault(mapped, body_->access);
  if (options.lock_in_memory) lock_in_memory(body_->where, mapped, warnings);
  return mapped;
}

std::span<std::byte> SharedFile::mapped() const noexcept { return body_->mapped; }

Result<bool> SharedFile::give_name(const std::filesystem::path& path) const {
  const std::string self = descriptor_path(body_->descriptor.number());
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    body_->where = path;
    return true;
  }
  if (errno == EEXIST) return false;
  return refused(path, "give a segment that name", errno,
                 "use a folder that may be written, with /proc mounted");
}

Result<void> SharedFile::take_over_name(const std::filesystem::path& path) const {
  // A name of our own first, then one rename: `path` is somebody's at every moment.
  const Identity own = identity();
  std::filesystem::path step = path;
  step += ".new-" + std::to_string(own.device) + "-" + std::to_string(own.inode);
  ::unlink(step.c_str());  // ours alone: left by one that died here and had this file's number
  auto named = give_name(step);
  if (!named) return std::move(named).error();
  if (!*named || ::rename(step.c_str(), path.c_str()) != 0) {
    const int number = *named ? errno : EEXIST;
    ::unlink(step.c_str());
    return refused(path, "put a new segment in the place of an old one", number,
                   "use a folder that may be written");
  }
  body_->where = path;
  return {};
}

bool SharedFile::has_name(const std::filesystem::path& path) const {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0) return false;
  return Identity{facts.st_dev, facts.st_ino} == identity();
}

Result<void> SharedFile::remove_name(const std::filesystem::path& path) const {
  if (::unlink(path.c_str()) == 0) return {};
  return refused(path, "remove it", errno, "ask whom the folder belongs to");
}

Result<bool> SharedFile::try_lock(std::uint64_t byte) const {
  struct flock lock = lock_of(F_WRLCK, byte);
  if (::fcntl(body_->descriptor.number(), F_OFD_SETLK, &lock) == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return refused(body_->where, "lock a byte of it", errno, kNoLocks);
}

void SharedFile::unlock(std::uint64_t byte) const noexcept {
  struct flock lock = lock_of(F_UNLCK, byte);
  ::fcntl(body_->descriptor.number(), F_OFD_SETLK, &lock);
}

bool SharedFile::is_locked_by_another(std::uint64_t byte) const noexcept {
  struct flock lock = lock_of(F_WRLCK, byte);
  // Who cannot be asked is taken for alive: nothing may be taken away from them.
  if (::fcntl(body_->descriptor.number(), F_OFD_GETLK, &lock) != 0) return true;
  return lock.l_type != F_UNLCK;
}

namespace {

Result<void> wait_for_lock(int descriptor, const std::filesystem::path& where, short kind,
                           std::uint64_t byte) {
  struct flock lock = lock_of(kind, byte);
  while (::fcntl(descriptor, F_OFD_SETLKW, &lock) != 0) {
    if (errno != EINTR) return refused(where, "lock a byte of it", errno, kNoLocks);
  }
  return {};
}

}  // namespace

Result<void> SharedFile::lock(std::uint64_t byte) const {
  return wait_for_lock(body_->descriptor.number(), body_->where, F_WRLCK, byte);
}

Result<void> SharedFile::lock_shared(std::uint64_t byte) const {
  return wait_for_lock(body_->descriptor.number(), body_->where, F_RDLCK, byte);
}

SharedFile::Identity SharedFile::identity() const noexcept {
  struct stat facts{};
  if (::fstat(body_->descriptor.number(), &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}

std::filesystem::path default_shared_folder() {
  const char* const told = std::getenv("LEAT_SEGMENTS");
  if (told != nullptr && *told != '\0') return told;
  return "/dev/shm/leat-" + std::to_string(::geteuid());
}

Result<void> make_directory(const std::filesystem::path& path, std::uint32_t mode,
                            std::optional<std::uint32_t> group, bool only_owner) {
  if (path.has_parent_path() && path.parent_path() != path) {
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed) {
      return refused(path.parent_path(), "make that folder", failed.value(),
                     "name a folder that can be made");
    }
  }
  const bool made = ::mkdir(path.c_str(), S_IRWXU) == 0;
  if (!made && errno != EEXIST) {
    return refused(path, "make that folder", errno, "name a folder that can be made");
  }
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return refused(path, "open that folder", errno, "name a folder that may be read");
  if (made) return set_rights(folder.number(), path, mode, group);
  struct stat facts{};
  if (only_owner && ::fstat(folder.number(), &facts) == 0 && facts.st_uid != ::geteuid()) {
    return Error{path.string() + ": asked a folder of user " + std::to_string(::geteuid()) +
                 "; found one of user " + std::to_string(facts.st_uid) +
                 "; name another folder, or remove it"};
  }
  return {};
}

}  // namespace leat::os
