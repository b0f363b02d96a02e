#include "load.hpp"

#include "decode.hpp"
#include "edge_list.hpp"

#include <utility>
#include <vector>

namespace leat::tool {
namespace {

std::variant<Loaded, Failure> load_edge_list(const std::string& input, Progress& progress) {
  const std::string file = input == "-" ? "standard input" : input;
  progress.enter("read");
  auto bytes = read_bytes(input);
  if (!bytes) {
    return Failure{ExitCode::runtime,
                   file + ": cannot be read: " + bytes.error().message + ". Nothing was computed."};
  }
  const Encoding encoding = encoding_of_bytes(*bytes);
  auto text = decode(*std::move(bytes), encoding);
  if (!text) {
    return Failure{ExitCode::data, file + ": " + text.error().message + ". Nothing was computed."};
  }
  auto edges = read_edge_list(*text, file);
  if (!edges) return Failure{ExitCode::data, std::move(edges).error().message};
  progress.enter("graph");
  progress.tell({edges->size(), std::nullopt, ""});
  return Loaded{{file, "node", true, 0}, graph_of_edges(*edges)};
}

}  // namespace

std::variant<Loaded, Failure> load(const std::optional<std::string>& input,
                                   const PackagePlaces& places, Progress& progress) {
  if (input) return load_edge_list(*input, progress);
  progress.enter("read");
  auto read = read_package_index(places);
  if (auto* failure = std::get_if<Failure>(&read)) return std::move(*failure);
  const auto& index = std::get<PackageIndex>(read);
  progress.enter("graph");
  progress.tell({index.stanzas, std::nullopt, ""});
  return Loaded{{index.description, "package", false, index.stanzas},
                graph_of_packages(index.packages)};
}

}  // namespace leat::tool
