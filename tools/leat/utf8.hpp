// What      The little that the command must know of UTF-8: where characters end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leat::tool {

/// The length of the character at the front; 0 if the bytes there are none, or there are no bytes.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

/// How many characters: the columns of a terminal, for the text that we print.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// The first characters, at most `columns`.
[[nodiscard]] std::string_view cut_to_columns(std::string_view text, std::size_t columns) noexcept;

/// Our own text with its few characters outside ASCII replaced: for terminals that have only that.
[[nodiscard]] std::string ascii_text(std::string text);

}  // namespace leat::tool
