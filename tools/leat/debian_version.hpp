// What      Which of two Debian version strings is the newer one; the package reader keeps the
//           newest of several stanzas of one name.
// Protocol  [epoch:]upstream[-revision]. The epoch is a number, 0 if absent; the revision is what
//           follows the last hyphen, empty if there is none. The three are compared in that order.
//           Text is compared in turns: a run of non-digits, then a run of digits as a number of any
//           length, and so on. Among non-digits `~` sorts before everything, the end of the text
//           included; then the end; then letters; then all other characters.
// Limits    Total: every pair of strings has an answer, malformed ones too. Nothing is allocated.
// Source    Debian Policy 5.6.12.
#pragma once

#include <compare>
#include <string_view>

namespace leat::tool {

/// Compares two versions. `weak`, because "1.0" and "1.00" are equal and not the same text.
[[nodiscard]] std::weak_ordering compare_versions(std::string_view a, std::string_view b) noexcept;

}  // namespace leat::tool
