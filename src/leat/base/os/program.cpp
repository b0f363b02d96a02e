#include <leat/base/os/program.hpp>

#include <leat/base/hash.hpp>

#include <elf.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace leat::os {

namespace {

std::string hex(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<char, 3> two{};
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned>(bytes[i]));
    text += two.data();
  }
  return text;
}

// The program itself is what the linker lists first.
int note_of_first(dl_phdr_info* info, std::size_t, void* data) {
  auto& found = *static_cast<std::string*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(info->dlpi_addr + header.p_vaddr);
    const auto* const end = at + header.p_memsz;
    while (end - at >= static_cast<std::ptrdiff_t>(sizeof(ElfW(Nhdr)))) {
      ElfW(Nhdr) note{};
      std::memcpy(&note, at, sizeof note);
      const auto* const name = at + sizeof note;
      const auto* const text = name + ((note.n_namesz + 3U) & ~3U);
      const auto* const next = text + ((note.n_descsz + 3U) & ~3U);
      if (next > end || next <= at) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0) {
        found = hex(text, note.n_descsz);
        return 1;
      }
      at = next;
    }
  }
  return 1;
}

std::string find_build() {
  std::string found;
  ::dl_iterate_phdr(&note_of_first, &found);
  if (!found.empty()) return found;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  if (!file) return "?";
  std::uint64_t hash = 0;
  std::string block(1 << 16, '\0');
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    for (std::size_t i = 0; i + 8 <= count; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, block.data() + i, 8);
      hash = hash_combine(hash, word);
    }
    hash = hash_combine(hash, count);
  }
  return hex(reinterpret_cast<const unsigned char*>(&hash), sizeof hash);
}

}  // namespace

const std::string& program_build() {
  static const std::string build = find_build();
  return build;
}

}  // namespace leat::os
