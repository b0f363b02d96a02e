// What      The picture of a dataflow: its operators, its channels, and how to write them as DOT
//           for Graphviz or as an SVG that any browser shows.
// Limits    The SVG's layout is plain: an operator stands one row below the lowest of its inputs,
//           feedback edges run back up on the right.
#pragma once

#include <leat/base/result.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace leat::tool {

struct FlowGraph {
  struct Operator {
    std::string name;
    std::string group;  // the scope it stands in; empty for the outermost
  };
  struct Channel {
    std::size_t from;  // index of an operator
    std::size_t to;
    std::string label;  // "exchange", "pipeline"; may be empty
    bool is_feedback = false;
  };

  std::vector<Operator> operators;
  std::vector<Channel> channels;
};

[[nodiscard]] std::string dot_of(const FlowGraph& graph, std::string_view title);
[[nodiscard]] std::string svg_of(const FlowGraph& graph, std::string_view title);

/// Writes the picture in the format that the file's ending asks for: .dot, .gv or .svg.
///
/// Returns: an error that names the file if the ending is another, or it cannot be written.
Result<void> write_flow_graph(const FlowGraph& graph, std::string_view title,
                              const std::filesystem::path& file);

/// Whether `write_flow_graph` knows the ending; asked before hours are spent.
[[nodiscard]] bool is_flow_graph_file(const std::filesystem::path& file);

}  // namespace leat::tool
