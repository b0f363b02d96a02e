#include <leat/tile/record/value_store.hpp>

#include <leat/base/crc32c.hpp>

#include <algorithm>
#include <cstring>
#include <system_error>

namespace leat::tile::internal {
namespace {

struct ValueHead {
  std::uint64_t magic = 0x314c'4156'5441'454c;  // "LEATVAL1" in memory
  std::uint32_t crc = 0;                        // of the rest, and of the bytes
  std::uint32_t unused = 0;
  std::int64_t saved_at_ns = 0;
  std::uint64_t schema = 0;
};
static_assert(sizeof(ValueHead) == 32);

std::uint32_t crc_of(ValueHead head, std::span<const std::byte> bytes) noexcept {
  head.crc = 0;
  return crc32c(bytes, crc32c(std::as_bytes(std::span(&head, 1))));
}

Result<std::filesystem::path> path_of(const std::filesystem::path& folder,
                                      const std::string& name) {
  const bool is_word = !name.empty() && name.size() <= 100 && name.front() != '.' &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789._-") == std::string::npos;
  if (is_word) return folder / (name + ".value");
  return Error{"value: asked for the name \"" + name +
               "\"; found that one has 1 to 100 letters, digits, and . _ - in between"};
}

}  // namespace

Result<void> save_value(const std::filesystem::path& folder, const std::string& name, WallTime now,
                        std::uint64_t schema, std::span<const std::byte> bytes) {
  const auto path = path_of(folder, name);
  if (!path) return path.error();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error{"value: asked to save into " + folder.string() + "; found " + error.message()};
  }
  ValueHead head;
  head.saved_at_ns = now.ns;
  head.schema = schema;
  head.crc = crc_of(head, bytes);
  std::vector<std::byte> whole(sizeof head + bytes.size());
  std::memcpy(whole.data(), &head, sizeof head);
  std::copy(bytes.begin(), bytes.end(), whole.begin() + sizeof head);
  return os::replace_file(*path, whole);
}

Result<std::optional<StoredValue>> load_value(const std::filesystem::path& folder,
                                              const std::string& name) {
  const auto path = path_of(folder, name);
  if (!path) return path.error();
  auto whole = os::read_file(*path);
  if (!whole) return whole.error();
  if (!*whole) return std::optional<StoredValue>();
  ValueHead head;
  const bool fits = (*whole)->size() >= sizeof head;
  if (fits) std::memcpy(&head, (*whole)->data(), sizeof head);
  const auto bytes = std::span<const std::byte>(**whole).subspan(fits ? sizeof head : 0);
  if (!fits || head.magic != ValueHead{}.magic || head.crc != crc_of(head, bytes)) {
    return Error{"value \"" + name + "\": asked to load " + path->string() +
                 "; found bytes that are no value, or damaged; save it anew"};
  }
  return std::optional<StoredValue>(
      StoredValue{name, WallTime{head.saved_at_ns}, head.schema, {bytes.begin(), bytes.end()}});
}

Result<std::vector<std::string>> value_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".value") names.push_back(entry.path().stem().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Error{"value: asked what is in " + folder.string() + "; found " + error.message()};
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace leat::tile::internal
