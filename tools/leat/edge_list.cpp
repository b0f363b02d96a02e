#include "edge_list.hpp"

#include "quote.hpp"

#include <cstddef>

namespace leat::tool {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view take_column(std::string_view& line) noexcept {
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const std::string_view column = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(column.size());
  return column;
}

std::size_t count_columns(std::string_view line) noexcept {
  std::size_t columns = 0;
  while (!take_column(line).empty()) ++columns;
  return columns;
}

std::string_view trim(std::string_view line) noexcept {
  const std::size_t begin = line.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

Result<std::vector<NamedEdge>> read_edge_list(std::string_view text, std::string_view file) {
  std::vector<NamedEdge> edges;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    ++number;
    if (line.starts_with('#')) continue;
    std::string_view rest = line;
    const std::string_view from = take_column(rest);
    if (from.empty()) continue;
    const std::string_view to = take_column(rest);
    if (to.empty() || !take_column(rest).empty()) {
      return Error{std::string(file) + ":" + std::to_string(number) +
                   ": expected \"FROM TO\", found " + quote(trim(line)) + " (" +
                   counted(count_columns(line), "column") +
                   "). Lines starting with # are skipped. Nothing was computed."};
    }
    edges.push_back({from, to});
  }
  if (edges.empty()) {
    return Error{std::string(file) +
                 ": expected lines \"FROM TO\", found none. Lines starting with # are skipped. "
                 "Nothing was computed."};
  }
  return edges;
}

}  // namespace leat::tool
