// What      Which program this is, told apart from every other build of it.
// Cost      A look at the program's notes; if the linker left no number there, its file is read, once.
#pragma once

#include <string>

namespace leat::os {

/// The build id that the linker wrote into the running program, in hexadecimal; or a hash of its
/// file. "?" where neither can be read.
[[nodiscard]] const std::string& program_build();

}  // namespace leat::os
