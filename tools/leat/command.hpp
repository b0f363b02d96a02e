// What      `leat run packages`, from options to the text for standard output; main.cpp adds only
//           the process around it.
#pragma once

#include "compute.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "package_index.hpp"
#include "progress.hpp"
#include "terminal.hpp"

#include <functional>
#include <string>

namespace leat::tool {

/// What computes: `compute`, or what a test puts in its place.
using Compute =
    std::function<Result<Computed>(const DependencyGraph&, const ComputeOptions&, Progress&)>;

/// What is left to print, and how to end.
struct Outcome {
  ExitCode code = ExitCode::ok;
  std::string out;  // whole or empty: a run that failed prints nothing to standard output
  std::string err;  // the closing lines, or why it failed
};

/// Does the job. Progress is shown while it runs and stopped when this returns.
[[nodiscard]] Outcome run_packages(const RunPackages& options, const PackagePlaces& places,
                                   const Look& out, const Look& err, Progress& progress,
                                   const Compute& compute);

}  // namespace leat::tool
