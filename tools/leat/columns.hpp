// What      Lines of words under a head, for people: what `leat queues` and `leat tiles` list.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace leat::tool {

/// The words of one line.
using Row = std::vector<std::string>;

/// The rows as text, the columns as wide as they must be; all but the first `left` to the right.
///
/// Requires: at least one row, and as many words in each.
[[nodiscard]] std::string columns(const std::vector<Row>& rows, std::size_t left);

}  // namespace leat::tool
