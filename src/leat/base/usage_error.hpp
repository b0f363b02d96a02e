// What      The one exception that this library throws: a public interface was misused by its user.
// Shape     <who>: asked <asked>; found <found>; <next>
// Limits    It fails the operator, tile or actor that made the mistake and reaches `join` as that
//           unit's failure; it never takes the process along.
#pragma once

#include <stdexcept>
#include <string>

namespace leat {

/// Says who misused what: `operator "split" (flow.cpp:12): asked ...; found ...; <what to do>`.
class UsageError : public std::logic_error {
 public:
  /// `who` names the unit and its place in the source; `next` is the step that would repair it.
  UsageError(const std::string& who, const std::string& asked, const std::string& found,
             const std::string& next)
      : std::logic_error(who + ": asked " + asked + "; found " + found + "; " + next) {}
};

}  // namespace leat
