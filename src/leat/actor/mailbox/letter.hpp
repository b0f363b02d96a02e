// What      Letter: a message or a signal on its way to an actor, of any type; what lies in a
//           mailbox.
// Shape     A Letter is the first part of a LetterOf<T>, which has the value. Its kind says which
//           type that is: there is one LetterKind for each T, and it is known by its address.
// Limits    Internal; authors see `send` and `receive`. A value must be movable without throwing.
#pragma once

#include <leat/actor/exit.hpp>
#include <leat/actor/pid.hpp>
#include <leat/base/type_name.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::actor {

/// What a parent is told: that a child which was started under it has ended, and how.
struct Signal {
  Pid child;
  Exit exit;
};

/// What a monitor says, once: that the actor which it watched has ended, and how.
struct Down {
  Pid pid;
  std::uint64_t monitor = 0;  ///< `Monitor::id()`
  Exit exit;
};

/// What an actor that traps exits gets in place of being ended: from whom, and why.
struct ExitSignal {
  Pid from;
  Exit exit;
};

namespace internal {

struct LetterKind {
  std::string_view name;  ///< of the type
  bool is_signal;         ///< exempt from bounds, and no dead letter
};

struct Letter {
  enum class Watched : std::uint8_t { no, armed, delivered, in_hand, taken };

  Letter* previous = nullptr;
  Letter* next = nullptr;
  const LetterKind* kind = nullptr;
  void (*drop)(Letter* letter) noexcept = nullptr;  ///< ends it
  std::uint64_t number = 0;                         ///< in its mailbox, in the order of arrival
  bool urgent = false;
  Watched watched = Watched::no;  ///< of a monitor's: see bonds.hpp

  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;

 protected:
  Letter(const LetterKind* of, void (*end)(Letter*) noexcept) noexcept : kind(of), drop(end) {}
  ~Letter() = default;
};

struct DropsLetter {
  void operator()(Letter* letter) const noexcept { letter->drop(letter); }
};
using LetterPtr = std::unique_ptr<Letter, DropsLetter>;

template <class T>
inline constexpr bool kIsSignal =
    std::is_same_v<T, Signal> || std::is_same_v<T, Down> || std::is_same_v<T, ExitSignal>;

template <class T>
struct LetterOf : Letter {
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>, "a message is a value");
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a message must be movable without throwing");

  static constexpr LetterKind kKind{type_name<T>(), kIsSignal<T>};

  explicit LetterOf(T&& of) noexcept : LetterOf(std::move(of), &end) {}

  T value;

 protected:
  LetterOf(T&& of, void (*drops)(Letter*) noexcept) noexcept
      : Letter(&kKind, drops), value(std::move(of)) {}

 private:
  static void end(Letter* letter) noexcept { delete static_cast<LetterOf*>(letter); }
};

}  // namespace internal
}  // namespace leat::actor
