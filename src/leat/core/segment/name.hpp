// What      Where a segment is found: a name in a namespace under a base folder. Processes that are
//           to meet say the same three; instances that must not meet differ in the namespace.
// Shape     <base>/<space>/<name>, a file; nothing of a segment is anywhere else.
// Limits    Names are used as they are, never cut: letters of ASCII, digits, and . _ - in between,
//           at most 100. What is longer or else is an error.
#pragma once

#include <leat/base/result.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace leat::core {

struct SegmentName {
  std::string name;
  std::string space = "default";
  /// Empty: `default_segment_base()`.
  std::filesystem::path base{};

  friend bool operator==(const SegmentName&, const SegmentName&) = default;
};

/// The environment's LEAT_SEGMENTS, else /dev/shm/leat-<user id>. The latter is the user's own:
/// whoever shares with other users names a base that both may write.
[[nodiscard]] std::filesystem::path default_segment_base();

/// Whether `text` can be the name of a segment or of a namespace; the error says what is wrong.
[[nodiscard]] Result<void> check_segment_word(std::string_view what, std::string_view text);

/// The file of a segment. Errors: a name that cannot be one.
[[nodiscard]] Result<std::filesystem::path> segment_path(const SegmentName& name);

}  // namespace leat::core
