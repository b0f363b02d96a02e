// What      All segments under a base folder, and who takes part in each: for tools.
// Limits    A look: what it found may be over when it returns. Segments that may not be read, or are
//           damaged, are listed with why.
// Cost      Per segment some ten system calls, one or two for each participant; no payload is read.
#pragma once

#include <leat/base/result.hpp>
#include <leat/core/segment/segment.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace leat::core {

struct SegmentListing {
  SegmentName name;
  std::uint64_t file_bytes = 0;
  /// What its header says, or why that cannot be told.
  Result<SegmentFacts> facts = Error{};

  struct Participant {
    ParticipantFacts facts;
    ParticipantLife life = ParticipantLife::gone;
  };
  std::vector<Participant> participants{};

  [[nodiscard]] bool is_alive() const noexcept;
};

/// The segments of one namespace, or of all, by name. Errors: a base folder that cannot be read; one
/// that is not there has no segments.
[[nodiscard]] Result<std::vector<SegmentListing>> list_segments(
    const std::filesystem::path& base, const std::optional<std::string>& space = std::nullopt);

}  // namespace leat::core
