// What      InterruptWatcher: turns Ctrl-C (SIGINT) and SIGTERM, if asked SIGQUIT too, into one
//           ordinary function call.
// Protocol  Make it in main, before any other thread: it blocks the signals in the calling thread,
//           and threads made later inherit that. A thread of its own waits for them. The first one
//           calls `on_interrupt` there, outside any signal handler, where locks and wakes are
//           allowed. A second one ends the process at once, as if nobody had watched.
// Limits    One at a time in a process. Programs started by exec meanwhile inherit the block.
// Source    signalfd(2), rather than a handler that may do next to nothing.
#pragma once

#include <leat/base/function.hpp>

#include <csignal>
#include <string>
#include <thread>

namespace leat::os {

enum class WatchQuit : bool { no, yes };

/// "SIGINT" and the like, for messages.
[[nodiscard]] std::string signal_name(int signal);

class InterruptWatcher {
 public:
  /// `on_interrupt` gets the signal's number; it runs at most once, on a thread of the watcher.
  explicit InterruptWatcher(Function<void(int)> on_interrupt, WatchQuit quit = WatchQuit::no);
  InterruptWatcher(const InterruptWatcher&) = delete;
  InterruptWatcher& operator=(const InterruptWatcher&) = delete;

  /// Waits for a call under way, then gives the signals back to whom they belonged.
  ~InterruptWatcher();

 private:
  void watch();

  Function<void(int)> on_interrupt_;
  int signals_ = -1;  // signalfd
  int quit_ = -1;     // eventfd
  sigset_t mask_before_{};
  std::thread thread_;
};

}  // namespace leat::os
