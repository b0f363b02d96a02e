// What      Turns the bytes of a file into text: plain, gzip, xz or lz4, as apt stores its lists.
// Limits    Total: a damaged, truncated or oversized file is an Error, never a crash and never a
//           part of the text. Several members or frames one after the other are one text.
// Cost      One pass; the text is held whole, because what is parsed points into it.
#pragma once

#include <leat/base/result.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace leat::tool {

enum class Encoding { plain, gzip, xz, lz4 };

/// A text may not grow past this; no index is near it, and a file made to explode is refused.
inline constexpr std::size_t kDecodedBytesMax = std::size_t{2} << 30;

/// Tells the encoding from the first bytes; what begins like none of the others is plain.
[[nodiscard]] Encoding encoding_of_bytes(std::string_view bytes) noexcept;

/// Tells the encoding from the end of a name: ".gz", ".xz", ".lz4", and plain if there is no
/// ending.
///
/// Returns: nothing for an ending that is none of these.
[[nodiscard]] std::optional<Encoding> encoding_of_extension(std::string_view extension) noexcept;

/// Decodes a whole file that is in memory. The error says what is wrong, not in which file.
[[nodiscard]] Result<std::string> decode(std::string bytes, Encoding encoding,
                                         std::size_t decoded_bytes_max = kDecodedBytesMax);

/// Reads a file, or standard input if the path is "-", as it is. The error is the system's word
/// ("No such file or directory").
[[nodiscard]] Result<std::string> read_bytes(const std::filesystem::path& path);

}  // namespace leat::tool
