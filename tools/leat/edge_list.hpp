// What      Reads an edge list, the other input of the job: a line "FROM TO" per edge.
// Protocol  Columns are separated by blanks or tabs. Lines that start with # and lines without a
//           column are skipped. Anything else is an error that names the line.
// Limits    The edges are views into the text.
#pragma once

#include <leat/base/result.hpp>
#include "dependency_graph.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace leat::tool {

/// Reads all edges of `text`, or says which line is none.
///
/// Returns: an error for the user, whole: `edges.txt:17: expected "FROM TO", found "libc6"
///          (1 column). Lines starting with # are skipped. Nothing was computed.`
[[nodiscard]] Result<std::vector<NamedEdge>> read_edge_list(std::string_view text,
                                                            std::string_view file);

}  // namespace leat::tool
