// What      What workers are told when the way to other processes fails, or what came over it cannot
//           be right.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace leat::comm {

/// Its text begins with "leat communication error: ".
class CommError : public std::runtime_error {
 public:
  explicit CommError(const std::string& what)
      : std::runtime_error("leat communication error: " + what) {}
};

/// A process is gone, or its connection is, or it was silent for too long.
class PeerLost : public CommError {
 public:
  PeerLost(std::size_t process, const std::string& name, const std::string& how)
      : CommError("lost " + name + ": " + how), process_(process) {}

  /// Which process.
  [[nodiscard]] std::size_t process() const noexcept { return process_; }

 private:
  std::size_t process_;
};

/// A worker of another process failed; this is what it said.
class PeerFailed : public CommError {
 public:
  explicit PeerFailed(const std::string& what) : CommError(what) {}
};

}  // namespace leat::comm
