// What      Names: actors known by a word, each word to one actor at a time.
// Protocol  register_name("log");   ...   send("log", Line{...});   Pid log = whereis("log");
// Invariants
//   (1) A name is free before anybody is told of its actor's end, be it by a join or by a letter.
// Cost      One lock, one look into a hash table.
// Source    Erlang's register and whereis.
#pragma once

#include <leat/actor/pid.hpp>
#include <leat/actor/wait/object_lock.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace leat::actor {

class Runtime;

/// The names of one runtime. Authors use the functions below.
class Names {
 public:
  explicit Names(SoloMark* mark) noexcept : lock_(mark) {}

  /// Returns: whether the name was free. Threads: any, as for the others.
  bool claim(std::string_view name, Pid pid);
  /// Gives a name up if it is `pid`'s.
  bool forget(std::string_view name, Pid pid) noexcept;
  /// Whose it is; none if it is free.
  [[nodiscard]] Pid find(std::string_view name) noexcept;
  [[nodiscard]] std::vector<std::pair<std::string, Pid>> all();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  ObjectLock lock_;
  std::unordered_map<std::string, Pid, Hash, std::equal_to<>> names_;  // guarded by lock_
};

/// Gives the actor a name, which it keeps until it ends or `unregister_name`.
///
/// Returns: false if the name is taken, or nobody with that Pid lives. An actor may have several.
/// Throws: UsageError on a plain thread, as the others.
bool register_name(std::string_view name, Pid pid);
/// The running actor.
bool register_name(std::string_view name);
/// Returns: whether somebody had it.
bool unregister_name(std::string_view name);
/// Who has that name; none if nobody.
[[nodiscard]] Pid whereis(std::string_view name);
/// The same for any thread.
[[nodiscard]] Pid whereis(Runtime& runtime, std::string_view name);
/// All names and whose they are, in the order of the alphabet.
[[nodiscard]] std::vector<std::pair<std::string, Pid>> registered_names();

}  // namespace leat::actor
