#include "command.hpp"

#include <leat/base/os/affinity.hpp>
#include <leat/base/os/memory.hpp>
#include "definitions.hpp"
#include "load.hpp"
#include "nearest_names.hpp"
#include "reasons.hpp"
#include "report.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace leat::tool {
namespace {

/// A line of a file speaks for itself ("edges.txt:17: ..."), as compilers have it; the rest says
/// who.
Outcome failed(const Failure& failure) {
  const std::string who = failure.code == ExitCode::data ? "" : "leat: ";
  return {failure.code, "", who + failure.message + "\n"};
}

std::variant<NodeId, Failure> node_called(const Loaded& loaded, const std::string& name) {
  if (const auto node = loaded.graph.find(name)) return *node;
  return Failure{ExitCode::usage, unknown_name_message(loaded.graph, name, loaded.subject.noun)};
}

/// Distances of all nodes, from an answer that names only those that broke.
std::vector<Distance> distances_of(const DependencyGraph& graph, const Answer& answer) {
  std::vector<Distance> distance(graph.nodes(), kUnbroken);
  distance[answer.removed] = 0;
  for (const Breakage& breakage : answer.broken) distance[breakage.node] = breakage.distance;
  return distance;
}

ComputeOptions compute_options(const RunPackages& options, const Loaded& loaded) {
  ComputeOptions out;
  out.workers =
      options.workers.value_or(std::max<std::size_t>(os::runnable_cpus() / options.processes, 1));
  if (options.idle_spin) out.idle_spin = *options.idle_spin;
  out.top = options.top;
  if (loaded.subject.is_edge_list) out.candidates = std::max(kEdgeListCandidates, options.top);
  return out;
}

}  // namespace

Outcome run_packages(const RunPackages& options, const PackagePlaces& places, const Look& out,
                     const Look& err, Progress& progress, const Compute& compute) {
  if (options.processes > 1 && options.input == "-") {
    progress.stop();
    return failed({ExitCode::usage,
                   "several processes cannot read one standard input: give --input a file that "
                   "each of them can read"});
  }
  auto load_result = load(options.input, places, progress);
  if (const auto* failure = std::get_if<Failure>(&load_result)) {
    progress.stop();
    return failed(*failure);
  }
  const auto& loaded = std::get<Loaded>(load_result);

  // Names are looked up before anything is computed, all of them.
  ComputeOptions asked = compute_options(options, loaded);
  std::vector<std::string> names = options.without;
  if (options.why) names = {options.why->first, options.why->second};
  std::vector<NodeId> nodes;
  for (const std::string& name : names) {
    const auto node = node_called(loaded, name);
    if (const auto* failure = std::get_if<Failure>(&node)) {
      progress.stop();
      return failed(*failure);
    }
    nodes.push_back(std::get<NodeId>(node));
  }
  asked.without = options.why ? std::vector{nodes.back()} : nodes;

  progress.enter("compute");
  const auto computed = compute(loaded.graph, asked, progress);
  progress.stop();
  if (!computed) return failed({ExitCode::runtime, computed.error().message});

  Outcome outcome;
  if (options.process != 0) return outcome;  // the first one has the result, and says it
  if (options.graph) {
    if (const auto written = write_flow_graph(computed->flow, "leat run packages", *options.graph);
        !written) {
      return failed({ExitCode::runtime, written.error().message});
    }
  }
  if (options.why) {
    const Answer& answer = computed->answers.at(0);
    const std::vector<Reason> chain =
        chain_of_reasons(loaded.graph, distances_of(loaded.graph, answer), nodes.front());
    outcome.out = why_text(options.format, loaded, nodes.front(), nodes.back(), chain, out);
  } else if (!options.without.empty()) {
    outcome.out = answers_text(options.format, loaded, computed->answers, out);
  } else {
    outcome.out = ranking_text(options.format, loaded, *computed, out);
  }
  outcome.err = progress.timings() + "\n" +
                figures_text(computed->figures,
                             os::peak_rss_bytes() + computed->figures.memory_elsewhere, err);
  return outcome;
}

}  // namespace leat::tool
