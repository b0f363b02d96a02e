// What      The command line of a program that runs on Leat: flags become a Config, the other words
//           stay the program's own.
// Shape     -w2   -w 2   --workers=2   --workers 2   -r     and -- ends the flags
// Protocol  parse_args; if it answers an error, print it and end with 2; if `help`, print usage().
//           Where a flag is not given, the environment may say it: LEAT_WORKERS, LEAT_PROCESSES,
//           LEAT_PROCESS, LEAT_FABRIC, LEAT_CLUSTER, LEAT_HOSTS (separated by commas), LEAT_LISTEN,
//           LEAT_SECRET_FILE. `leat launch` sets them.
// Limits    Long names are not abbreviated, and a flag is given once.
// Source    The flags of Timely Dataflow, with these changes: --workers exists, --help alone asks
//           for help since -h is the host file, and -p is checked against -n.
#pragma once

#include <leat/base/result.hpp>
#include <leat/core/config.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::core {

struct ParsedArgs {
  Config config;
  std::vector<std::string> free;  ///< the words that are no flags, in their order
  bool help = false;              ///< --help was there; then nothing else was looked at
};

/// What the environment says under a name; null if nothing.
using Environment = std::function<const char*(const char* name)>;

/// Reads the words of a command line, the program's name not among them.
///
/// Returns: an error that names the flag, or the variable, what was found and what is expected.
[[nodiscard]] Result<ParsedArgs> parse_args(std::span<const std::string_view> words,
                                            const Environment& environment = nullptr);

/// The same for what main got: the first word is the program's name, and is skipped. Looks at the
/// environment of the process.
[[nodiscard]] Result<ParsedArgs> parse_args(int argc, const char* const* argv);

/// One line for each flag, as --help shows them.
[[nodiscard]] std::string_view usage() noexcept;

}  // namespace leat::core
