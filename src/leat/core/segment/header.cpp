#include <leat/core/segment/header.hpp>

#include <leat/base/check.hpp>
#include <leat/base/hash.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace leat::core {
namespace {

template <std::size_t kBytes>
void put_text(std::array<char, kBytes>& to, std::string_view text) {
  const std::size_t bytes = std::min(text.size(), kBytes - 1);  // a zero stays at the end
  std::memcpy(to.data(), text.data(), bytes);
}

// Text that a stranger wrote: ends at its first zero, and prints.
template <std::size_t kBytes>
std::string take_text(const std::array<char, kBytes>& from) {
  std::string text(from.begin(), std::find(from.begin(), from.end(), '\0'));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

constexpr std::size_t kChecksumEnd = offsetof(SegmentHeader, checksum) + sizeof(std::uint64_t);
constexpr std::size_t kConstantEnd = offsetof(SegmentHeader, state);

std::uint64_t checksum_of(std::span<const std::byte, sizeof(SegmentHeader)> header) {
  const auto* text = reinterpret_cast<const char*>(header.data());
  const std::uint64_t hash =
      hash_combine(fnv1a({text, offsetof(SegmentHeader, checksum)}),
                   fnv1a({text + kChecksumEnd, kConstantEnd - kChecksumEnd}));
  return hash;
}

std::string hex(std::uint64_t value) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

void write_header(SegmentHeader& header, const SegmentFacts& facts) {
  const SegmentSpec& spec = facts.spec;
  header.magic = kSegmentMagic;
  header.layout_version = kSegmentLayoutVersion;
  header.byte_order = kSegmentByteOrder;
  header.header_bytes = sizeof(SegmentHeader);
  header.sector_bytes = kSector;
  header.total_bytes = facts.layout.total_bytes;
  header.participants_offset = facts.layout.participants_offset;
  header.payload_offset = facts.layout.payload_offset;
  header.payload_bytes = spec.payload_bytes;
  put_text(header.kind, spec.kind);
  put_text(header.flavour, spec.flavour);
  header.kind_version = spec.kind_version;
  header.participants_max = spec.participants_max;
  header.type_hash = spec.type.hash;
  header.type_bytes = spec.type.bytes;
  header.type_align = spec.type.align;
  put_text(header.type_name, spec.type.name);
  header.stride = spec.stride;
  header.count = spec.count;
  header.words = spec.words;
  header.maker_boot = facts.maker.boot;
  header.maker_pid_namespace = facts.maker.pid_namespace;
  header.maker_pid = facts.maker.pid;
  header.maker_start_time = facts.maker.start_time;
  header.made_at_ns = facts.made_at_ns;
  header.generation = facts.generation;
  put_text(header.name, facts.name);
  put_text(header.maker_program, facts.maker_program);
  header.checksum = checksum_of(std::span<const std::byte, sizeof(SegmentHeader)>(
      reinterpret_cast<const std::byte*>(&header), sizeof header));
}

Result<SegmentFacts> check_header(const std::string& where, std::span<const std::byte> head,
                                  std::uint64_t file_bytes) {
  const auto wrong = [&](const std::string& asked, const std::string& found,
                         const std::string& next) {
    return Error{where + ": asked " + asked + "; found " + found + "; " + next};
  };
  const std::string no_segment = "name a segment, or remove that file";
  if (head.size() < sizeof(SegmentHeader)) {
    return wrong("a segment's header of " + std::to_string(sizeof(SegmentHeader)) + " bytes",
                 std::to_string(head.size()) + " bytes", no_segment);
  }
  // A copy of our own: what the file says may change while we look.
  struct Plain {
    alignas(SegmentHeader) std::array<std::byte, sizeof(SegmentHeader)> bytes;
  } copy;
  std::memcpy(copy.bytes.data(), head.data(), copy.bytes.size());
  const auto& header = *reinterpret_cast<const SegmentHeader*>(copy.bytes.data());

  if (header.magic != kSegmentMagic) {
    return wrong("a segment, which begins with " + hex(kSegmentMagic), hex(header.magic),
                 no_segment);
  }
  if (header.byte_order != kSegmentByteOrder) {
    return wrong("a segment with the byte order " + hex(kSegmentByteOrder), hex(header.byte_order),
                 "join on the machine that made it");
  }
  if (header.layout_version != kSegmentLayoutVersion) {
    return wrong("a segment of layout version " + std::to_string(kSegmentLayoutVersion),
                 std::to_string(header.layout_version),
                 "use programs of one version, or replace it on purpose");
  }
  const auto damaged = [&](const std::string& asked, const std::string& found) {
    return wrong(asked, found, "it is damaged: replace it on purpose, or remove that file");
  };
  if (header.checksum != checksum_of(copy.bytes)) {
    return damaged("a header with the checksum " + hex(header.checksum),
                   hex(checksum_of(copy.bytes)));
  }
  if (header.header_bytes != sizeof(SegmentHeader) || header.sector_bytes != kSector) {
    return damaged("a header of " + std::to_string(sizeof(SegmentHeader)) +
                       " bytes in sectors of " + std::to_string(kSector),
                   std::to_string(header.header_bytes) + " in sectors of " +
                       std::to_string(header.sector_bytes));
  }

  SegmentFacts facts;
  facts.spec = {
      .kind = take_text(header.kind),
      .kind_version = header.kind_version,
      .flavour = take_text(header.flavour),
      .type = {header.type_hash, header.type_bytes, header.type_align, take_text(header.type_name)},
      .stride = header.stride,
      .count = header.count,
      .payload_bytes = header.payload_bytes,
      .participants_max = header.participants_max,
      .words = header.words};
  auto layout = segment_layout(facts.spec);
  if (!layout) return damaged("a possible segment", "this: " + layout.error().message);
  facts.layout = *layout;
  const SegmentLayout written{header.participants_offset, header.payload_offset,
                              header.total_bytes};
  if (facts.layout != written) {
    return damaged(
        "a payload at " + std::to_string(facts.layout.payload_offset) + " of " +
            std::to_string(facts.layout.total_bytes) + " bytes",
        std::to_string(written.payload_offset) + " of " + std::to_string(written.total_bytes));
  }
  if (file_bytes < facts.layout.total_bytes) {
    return damaged("a file of " + std::to_string(facts.layout.total_bytes) + " bytes",
                   std::to_string(file_bytes) + ": it was cut short");
  }
  facts.name = take_text(header.name);
  facts.maker = {header.maker_boot, header.maker_pid_namespace, header.maker_pid,
                 header.maker_start_time};
  facts.maker_program = take_text(header.maker_program);
  facts.made_at_ns = header.made_at_ns;
  facts.generation = header.generation;
  // Relaxed: a copy of our own. What it guards was read with the same read of the file.
  const std::uint32_t state = header.state.load_relaxed();
  facts.state = state == static_cast<std::uint32_t>(SegmentState::ready) ||
                        state == static_cast<std::uint32_t>(SegmentState::retired)
                    ? static_cast<SegmentState>(state)
                    : SegmentState::none;
  if (facts.state == SegmentState::none) {
    return damaged("a segment that is ready",
                   "the state " + std::to_string(state) + ": it was never finished");
  }
  return facts;
}

}  // namespace leat::core
