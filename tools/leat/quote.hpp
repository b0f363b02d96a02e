// What      Foreign text inside our own sentences: what a file or a user gave, made safe to print.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leat::tool {

/// The text in double quotes, cut after `bytes_max`, with control characters and bytes that are not
/// UTF-8 as \xNN.
[[nodiscard]] std::string quote(std::string_view text, std::size_t bytes_max = 60);

/// The count with its noun: "1 column", "2 columns".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// A number in groups of three: "49 582".
[[nodiscard]] std::string grouped(std::size_t number);

}  // namespace leat::tool
