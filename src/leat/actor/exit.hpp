// What      Exit: why an actor ended, as its joiner and its supervisor see it; and the exception by
//           which an actor is told to end.
// Shape     normal     its function returned
//           failed     an exception left it, or its function returned `Exit::failed("...")`
//           cancelled  it was told to end, or its deadline passed, and it did
//           shutdown   it was told to end in order, by a supervisor or at the end of the runtime
//           killed     somebody had it killed, or unwound its thread by force (pthread_exit)
//           no_actor   there was nobody with that name
// Limits    The text of an exception is looked for when asked: an actor that fails pays for one
//           throw and one catch.
// Source    Erlang's exit reasons.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace leat::actor {

enum class ExitKind : unsigned char { normal, failed, cancelled, shutdown, killed, no_actor };

/// The kind in a word, as in "shutdown".
[[nodiscard]] std::string_view name_of(ExitKind kind) noexcept;

class [[nodiscard]] Exit {
 public:
  /// A normal end.
  Exit() noexcept = default;
  static Exit normal() noexcept { return {}; }
  /// A failure without an exception: as cheap as a return.
  static Exit failed(std::string why) { return {ExitKind::failed, std::move(why), nullptr}; }
  /// The failure that `exception` is. Requires: not null.
  static Exit of(std::exception_ptr exception) noexcept {
    return {ExitKind::failed, {}, std::move(exception)};
  }
  static Exit cancelled(std::string why) { return {ExitKind::cancelled, std::move(why), nullptr}; }
  static Exit shutdown(std::string why = "it was shut down") {
    return {ExitKind::shutdown, std::move(why), nullptr};
  }
  static Exit killed(std::string why) { return {ExitKind::killed, std::move(why), nullptr}; }
  static Exit no_actor() { return {ExitKind::no_actor, "there is no such actor", nullptr}; }

  [[nodiscard]] ExitKind kind() const noexcept { return kind_; }
  [[nodiscard]] bool ok() const noexcept { return kind_ == ExitKind::normal; }

  /// What was thrown, as it was thrown; null if nothing was.
  [[nodiscard]] const std::exception_ptr& exception() const noexcept { return exception_; }

  /// One line: the type of what was thrown and its text, or why; "normal".
  [[nodiscard]] std::string text() const;

  /// Throws what was thrown, or Failure or Cancelled with the reason. Requires: `!ok()`; checked.
  [[noreturn]] void raise() const;

 private:
  Exit(ExitKind kind, std::string why, std::exception_ptr exception) noexcept
      : kind_(kind), why_(std::move(why)), exception_(std::move(exception)) {}

  ExitKind kind_ = ExitKind::normal;
  std::string why_;
  std::exception_ptr exception_;
};

/// What join throws for an actor that ended badly without an exception of its own.
class Failure : public std::exception {
 public:
  explicit Failure(std::string why) : why_(std::move(why)) {}
  [[nodiscard]] const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

/// Thrown by every call that may wait, in an actor that was cancelled or whose deadline has passed.
///
/// Let it through. It is no std::exception, so that a handler of errors does not swallow it; who
/// swallows it all the same meets it again at the next call that may wait.
class Cancelled {
 public:
  enum class Why : unsigned char { asked, deadline };

  explicit Cancelled(Why why) noexcept : why_(why) {}
  [[nodiscard]] Why why() const noexcept { return why_; }
  [[nodiscard]] const char* what() const noexcept {
    return why_ == Why::asked ? "it was cancelled" : "its deadline passed";
  }

 private:
  Why why_;
};

}  // namespace leat::actor
