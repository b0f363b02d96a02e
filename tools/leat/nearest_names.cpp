#include "nearest_names.hpp"

#include "quote.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace leat::tool {
namespace {

std::string one_of(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace

std::size_t mistakes_between(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() < b.size() ? b.size() - a.size() : a.size() - b.size();
  if (difference > limit) return limit + 1;
  // Three rows of the table: the one before last is for swaps.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    std::size_t least = row[0];
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
    before_last.swap(last);
    last.swap(row);
  }
  return std::min(last[b.size()], limit + 1);
}

std::vector<std::string> nearest_names(const DependencyGraph& graph, std::string_view wanted,
                                       std::size_t count) {
  if (wanted.empty() || wanted.size() > 200) return {};
  const std::size_t limit = std::clamp<std::size_t>(wanted.size() / 3, 1, 3);
  // A name that only goes on ("perl" for "perl-base") is as good as one with the most mistakes.
  std::vector<std::tuple<std::size_t, std::size_t, NodeId>> found;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    const std::string_view name = graph.name(node);
    const std::size_t mistakes = mistakes_between(wanted, name, limit);
    if (mistakes <= limit) {
      found.emplace_back(mistakes, 0, node);
    } else if (wanted.size() >= 3 && name.starts_with(wanted)) {
      found.emplace_back(limit, name.size(), node);
    }
  }
  std::ranges::sort(found);
  std::vector<std::string> names;
  for (const auto& [mistakes, length, node] : found) {
    if (names.size() == count) break;
    names.emplace_back(graph.name(node));
  }
  return names;
}

std::string unknown_name_message(const DependencyGraph& graph, std::string_view wanted,
                                 std::string_view noun) {
  constexpr std::size_t kProvidersShown = 5;
  if (const std::span<const NodeId> providers = graph.providers(wanted); !providers.empty()) {
    std::vector<std::string> names;
    for (const NodeId provider : providers) {
      if (names.size() == kProvidersShown) break;
      names.emplace_back(graph.name(provider));
    }
    return quote(wanted) + " is no " + std::string(noun) + " but a name that " +
           counted(providers.size(), noun) + (providers.size() == 1 ? " provides" : " provide") +
           ". Name one of them: " + one_of(names) + ". Nothing was computed.";
  }
  const std::vector<std::string> near = nearest_names(graph, wanted);
  std::string message = "no " + std::string(noun) + " is called " + quote(wanted) + ".";
  if (!near.empty()) message += " Did you mean " + one_of(near) + "?";
  return message + " Nothing was computed.";
}

}  // namespace leat::tool
