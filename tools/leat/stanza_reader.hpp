// What      Reads the stanzas of a Debian control file (a package index, the dpkg status file) one
//           by one, keeping only the fields the dependency graph is made of.
// Shape     A stanza is lines "Field: value"; a line that begins with a blank continues the value
//           above; an empty line ends the stanza. Field names are compared exactly, as the tools
//           that write these files spell them.
// Limits    The values are views into the text that was given; the text must outlive them. A value
//           that was continued keeps its line breaks.
// Cost      One memchr per line and a look at the first byte; nothing is allocated.
#pragma once

#include <cstddef>
#include <string_view>

namespace leat::tool {

/// The fields of one package; empty where the stanza has none.
struct Stanza {
  std::string_view package;
  std::string_view version;
  std::string_view depends;
  std::string_view pre_depends;
  std::string_view provides;
  std::string_view status;
};

class StanzaReader {
 public:
  enum class Read { stanza, end, malformed };

  explicit StanzaReader(std::string_view text) noexcept : text_(text) {}

  /// Reads the next stanza into `stanza`.
  ///
  /// Returns: `malformed` at a line that is neither a field nor a continuation, and at a stanza
  ///          without a Package field; then line() and found() say where and what.
  [[nodiscard]] Read next(Stanza& stanza) noexcept;

  /// The number, from 1, of the line that was read last.
  [[nodiscard]] std::size_t line() const noexcept { return line_; }
  /// The line that was read last.
  [[nodiscard]] std::string_view found() const noexcept { return found_; }

 private:
  std::string_view take_line() noexcept;

  std::string_view text_;
  std::string_view found_;
  std::size_t line_ = 0;
};

}  // namespace leat::tool
