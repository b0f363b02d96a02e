// What      How `leat` ends, for scripts: the table of its exit codes, and an error that has one.
#pragma once

#include <string>

namespace leat::tool {

enum class ExitCode : int {
  ok = 0,
  runtime = 1,        // the machine said no: a file that cannot be read, a worker that failed
  usage = 2,          // the command line, or a package it names, means nothing
  data = 5,           // input that was read and makes no sense
  interrupted = 130,  // SIGINT
};

/// Why the command stops, in words for its user, and the code it ends with.
struct Failure {
  ExitCode code;
  std::string message;
};

}  // namespace leat::tool
