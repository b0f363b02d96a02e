#include <leat/base/os/file.hpp>

#include <leat/base/os/error_text.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace leat::os {
namespace {

Error refused(const char* asked, const std::filesystem::path& path, int why) {
  return Error{std::string("file: asked to ") + asked + " " + path.string() + "; found " +
               error_text(why)};
}

}  // namespace

File::File(int descriptor, std::filesystem::path path) noexcept
    : descriptor_(descriptor), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    path_ = std::move(other.path_);
  }
  return *this;
}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::create(const std::filesystem::path& path) {
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return refused("make", path, errno);
  return File(descriptor, path);
}

Result<std::optional<File>> File::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return std::optional<File>();
  if (descriptor < 0) return refused("read", path, errno);
  return std::optional<File>(File(descriptor, path));
}

Result<std::optional<File>> File::lock(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return refused("lock", path, errno);
  File file(descriptor, path);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return std::optional<File>(std::move(file));
  if (errno == EWOULDBLOCK) return std::optional<File>();
  return refused("lock", path, errno);
}

Result<void> File::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return refused("write", path_, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> File::sync() {
  if (::fdatasync(descriptor_) != 0) return refused("bring to the disk", path_, errno);
  return {};
}

Result<std::size_t> File::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = ::pread(descriptor_, into.data() + done, into.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      return refused("read", path_, errno);
    }
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Result<std::uint64_t> File::size() const {
  struct stat facts{};
  if (::fstat(descriptor_, &facts) != 0) return refused("measure", path_, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

Result<void> sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? std::filesystem::path(".") : folder;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return refused("open the folder", path, errno);
  const int synced = ::fsync(descriptor);
  const int why = errno;
  ::close(descriptor);
  if (synced != 0) return refused("bring to the disk the folder", path, why);
  return {};
}

Result<void> replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::path fresh = path;
  fresh += ".new";
  std::error_code gone;
  std::filesystem::remove(fresh, gone);  // what a crash left there
  auto file = File::create(fresh);
  if (!file) return file.error();
  if (auto written = file->append(bytes); !written) return written;
  if (auto synced = file->sync(); !synced) return synced;
  if (::rename(fresh.c_str(), path.c_str()) != 0) return refused("replace", path, errno);
  return sync_folder(path.parent_path());
}

Result<std::optional<std::vector<std::byte>>> read_file(const std::filesystem::path& path) {
  auto file = File::open(path);
  if (!file) return file.error();
  if (!*file) return std::optional<std::vector<std::byte>>();
  const auto size = (*file)->size();
  if (!size) return size.error();
  std::vector<std::byte> bytes(static_cast<std::size_t>(*size));
  const auto read = (*file)->read_at(0, bytes);
  if (!read) return read.error();
  bytes.resize(*read);
  return std::optional<std::vector<std::byte>>(std::move(bytes));
}

}  // namespace leat::os
