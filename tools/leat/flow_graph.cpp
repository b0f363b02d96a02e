#include "flow_graph.hpp"

#include <leat/base/check.hpp>
#include <leat/base/os/error_text.hpp>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>

namespace leat::tool {
namespace {

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// The row of each operator: one below the lowest of its inputs, feedback not counted.
std::vector<std::size_t> rows_of(const FlowGraph& graph) {
  std::vector<std::size_t> row(graph.operators.size(), 0);
  // Without feedback the channels have no cycle, and this many passes settle the longest path. A
  // cycle that is not marked only makes the picture tall.
  for (std::size_t pass = 0; pass < graph.operators.size(); ++pass) {
    bool moved = false;
    for (const FlowGraph::Channel& channel : graph.channels) {
      if (channel.is_feedback || row[channel.to] > row[channel.from]) continue;
      row[channel.to] = row[channel.from] + 1;
      moved = true;
    }
    if (!moved) break;
  }
  return row;
}

}  // namespace

std::string dot_of(const FlowGraph& graph, std::string_view title) {
  std::string out = "digraph " + dot_quoted(title) + " {\n  node [shape=box];\n";
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    groups[graph.operators[i].group].push_back(i);
  }
  std::size_t cluster = 0;
  for (const auto& [group, members] : groups) {
    std::string indent = "  ";
    if (!group.empty()) {
      out += "  subgraph cluster_" + std::to_string(cluster++) +
             " {\n    label=" + dot_quoted(group) + ";\n";
      indent += "  ";
    }
    for (const std::size_t i : members) {
      out += indent + "n" + std::to_string(i) + " [label=" + dot_quoted(graph.operators[i].name) +
             "];\n";
    }
    if (!group.empty()) out += "  }\n";
  }
  for (const FlowGraph::Channel& channel : graph.channels) {
    out += "  n" + std::to_string(channel.from) + " -> n" + std::to_string(channel.to);
    std::string attributes;
    if (!channel.label.empty()) attributes += "label=" + dot_quoted(channel.label);
    if (channel.is_feedback) {
      attributes += std::string(attributes.empty() ? "" : ", ") + "style=dashed, constraint=false";
    }
    if (!attributes.empty()) out += " [" + attributes + "]";
    out += ";\n";
  }
  return out + "}\n";
}

std::string svg_of(const FlowGraph& graph, std::string_view title) {
  constexpr std::size_t kLetter = 8;
  constexpr std::size_t kBoxHeight = 32;
  constexpr std::size_t kRowHeight = 80;
  constexpr std::size_t kGap = 40;

  const std::vector<std::size_t> row = rows_of(graph);
  struct Box {
    std::size_t x, y, width;
  };
  std::vector<Box> boxes;
  std::map<std::size_t, std::size_t> row_end;  // where the next box of a row may begin
  std::size_t width = 0;
  std::size_t height = kGap;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const std::size_t x = row_end.try_emplace(row[i], kGap).first->second;
    const Box box{x, kGap + row[i] * kRowHeight,
                  graph.operators[i].name.size() * kLetter + 2 * kLetter};
    boxes.push_back(box);
    row_end[row[i]] = box.x + box.width + kGap;
    width = std::max(width, box.x + box.width + kGap);
    height = std::max(height, box.y + kBoxHeight + kGap);
  }
  const auto number = [](std::size_t value) { return std::to_string(value); };
  const std::size_t feedback_x = width;
  width = std::max<std::size_t>(width + kGap, title.size() * kLetter + 2 * kGap);

  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) +
                    "\" height=\"" + number(height) +
                    "\" font-family=\"sans-serif\" font-size=\"13\">\n<title>" +
                    xml_escaped(title) +
                    "</title>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" "
                    "refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">"
                    "<path d=\"M0 0 L8 4 L0 8 z\"/></marker></defs>\n"
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"" +
                    number(kGap) + "\" y=\"24\">" + xml_escaped(title) + "</text>\n";
  for (const FlowGraph::Channel& channel : graph.channels) {
    const Box& from = boxes[channel.from];
    const Box& to = boxes[channel.to];
    const std::size_t from_x = from.x + from.width / 2;
    const std::size_t to_x = to.x + to.width / 2;
    const std::size_t from_y = from.y + kBoxHeight;
    std::string path = "M" + number(from_x) + " " + number(from_y);
    if (channel.is_feedback || to.y <= from.y) {
      path += " C" + number(feedback_x + kGap) + " " + number(from_y + kGap) + " " +
              number(feedback_x + kGap) + " " + number(to.y < kGap ? 0 : to.y - kGap);
    } else {
      path += " C" + number(from_x) + " " + number(from_y + kGap / 2) + " " + number(to_x) + " " +
              number(to.y - kGap / 2);
    }
    path += " " + number(to_x) + " " + number(to.y);
    out += "<path d=\"" + path + "\" fill=\"none\" stroke=\"black\" marker-end=\"url(#arrow)\"" +
           (channel.is_feedback ? " stroke-dasharray=\"5 4\"" : "") + "/>\n";
    if (!channel.label.empty()) {
      out += "<text x=\"" + number((from_x + to_x) / 2 + 4) + "\" y=\"" +
             number((from_y + to.y) / 2) + "\" font-size=\"10\" fill=\"#555\">" +
             xml_escaped(channel.label) + "</text>\n";
    }
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    out += "<rect x=\"" + number(box.x) + "\" y=\"" + number(box.y) + "\" width=\"" +
           number(box.width) + "\" height=\"" + number(kBoxHeight) +
           "\" rx=\"4\" fill=\"#eef4fb\" stroke=\"#335\"/>\n<text x=\"" +
           number(box.x + box.width / 2) + "\" y=\"" + number(box.y + 21) +
           "\" text-anchor=\"middle\">" + xml_escaped(graph.operators[i].name) + "</text>\n";
  }
  return out + "</svg>\n";
}

bool is_flow_graph_file(const std::filesystem::path& file) {
  const std::filesystem::path ending = file.extension();
  return ending == ".dot" || ending == ".gv" || ending == ".svg";
}

Result<void> write_flow_graph(const FlowGraph& graph, std::string_view title,
                              const std::filesystem::path& file) {
  if (!is_flow_graph_file(file)) {
    return Error{file.string() + ": expected a name that ends in .dot, .gv or .svg"};
  }
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << (file.extension() == ".svg" ? svg_of(graph, title) : dot_of(graph, title));
  out.close();
  if (!out) return Error{file.string() + ": cannot be written: " + os::error_text(errno)};
  return {};
}

}  // namespace leat::tool
