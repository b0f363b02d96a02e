// What      Runs one execution at a time: which model thread goes on, and what each operation sees.
// Protocol  Each operation of a model thread calls `turn`, which may hand the processor to another
//           thread, then asks the memory for the possible outcomes, chooses one, and applies it.
//           When a thread blocks, pauses or ends, `hand_over` chooses the next one.
// Invariants
//   (1) All choices go through Choices, in an order that only the body decides, so a path replays.
//   (2) One fiber runs at a time; the host's own stack runs only between executions.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <leat/base/model/choices.hpp>
#include <leat/base/model/explore.hpp>
#include <leat/base/model/fiber.hpp>
#include <leat/base/model/memory.hpp>
#include <leat/base/rng.hpp>

namespace leat::model::internal {

class Engine {
 public:
  Engine(const Options& options, const std::function<void(Run&)>& body);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Result explore();
  Result replay(std::string_view schedule);

  // From Run.
  int add_thread(std::function<void()> body);
  void join_threads();
  void add_outcome(std::string what) { outcomes_.push_back(std::move(what)); }
  void name(const void* object, std::string name);

  // From the headers under test.
  void created(const void* address, const Word& value);
  void destroyed(const void* address);
  Word load(const void* address, const Word& raw, Order order, Edges edges);
  Word store(const void* address, const Word& raw, const Word& value, Order order, Edges edges);
  Modified modify(const void* address, const Word& raw, const Change& change, bool weak,
                  Order order, Edges edges);
  void fence(Order order, Edges edges);
  void plain_created(const void* address) { memory_.plain_create(current_, address); }
  void plain_read(const void* address) { complain(memory_.plain_read(current_, address)); }
  void plain_write(const void* address) { complain(memory_.plain_write(current_, address)); }
  void pause();
  void futex_wait(const void* address, std::uint32_t expected, bool timed);
  int futex_wake(const void* address, int n);
  [[nodiscard]] bool mutated(std::string_view name);
  void require(bool condition, std::string_view what);

  [[nodiscard]] int current() const noexcept { return current_; }
  [[nodiscard]] const void* thread_mark() const noexcept {
    return &threads_[static_cast<std::size_t>(current_)];
  }

  /// Ends this execution from within a signal handler.
  [[noreturn]] void crashed(int signal);

 private:
  enum class State : std::uint8_t { unused, added, ready, joining, sleeping, done };
  enum class End : std::uint8_t { running, finished, failed, discarded };
  struct Thread {
    State state = State::unused;
    bool joined = false;
    int pauses = 0;
    int futex = -1;             // location slept on
    bool timed = false;         // the sleep has a timeout
    std::uint64_t asleep = 0;   // orders the sleepers
    std::int64_t priority = 0;  // in a sample the ready thread with the highest runs
    std::function<void()> body;
    Fiber fiber;
  };

  void execute();
  Result sample();
  Result nothing_found();
  void draw_points();
  void describe_failure();
  void run_thread(int t);
  static void enter_main(void* engine);
  static void enter_thread(void* engine);

  Thread& thread(int t) { return threads_[static_cast<std::size_t>(t)]; }
  [[nodiscard]] bool worn(const Thread& thread) const noexcept {
    return thread.pauses >= options_.pauses;
  }
  [[nodiscard]] bool samples() const noexcept { return options_.sampling.executions > 0; }
  using Threads = std::array<int, kThreadsMax>;
  [[nodiscard]] int highest(const Threads& threads, int count);
  int choose(int count, int fresh = 0);
  int choose_outcome(int count);
  void turn();
  void hand_over();
  void switch_to(int t);
  void wrote();
  [[noreturn]] void leave(End end);

  void fail(const std::string& what);  // may return, if a promise is open
  [[noreturn]] void fail_hard(const std::string& what);
  void complain(const std::optional<std::string>& wrong) {
    if (wrong) fail(*wrong);
  }
  void touch(int location);
  Order weakened(Order order, Edges edges);
  void look_up(EdgeTag& tag);
  const Place& pick();

  void trace(int location, std::string_view what, Order order, Edges edges,
             const std::string& more);
  [[nodiscard]] std::string show(int location);
  [[nodiscard]] std::string futures_text() const;
  [[nodiscard]] bool set_futures(std::string_view text);

  const Options& options_;
  const std::function<void(Run&)>& body_;
  std::uint64_t exploration_;  // tells edge tags whose answer they hold

  Memory memory_;
  Choices choices_;
  std::array<Thread, kThreadsMax> threads_;
  int threads_used_ = 1;
  int current_ = 0;
  bool chosen_ = false;  // the running thread was chosen to run since its last operation
  int preemptions_ = 0;
  int spurious_failures_ = 0;
  int spurious_wakeups_ = 0;
  int steps_ = 0;
  int outcomes_met_ = 0;  // choices between outcomes
  std::uint64_t sleeps_ = 0;
  bool time_passed_ = false;  // the last time that nobody could run, paused threads went on
  End end_ = End::running;
  Fiber host_;

  // A sample: where this execution leaves the ordinary way.
  Rng rng_;
  std::vector<int> changes_;    // steps
  std::vector<int> surprises_;  // choices between outcomes
  std::int64_t lowest_ = 0;     // priority given last
  int steps_most_ = 0;          // of the executions so far
  int outcomes_most_ = 0;

  std::string failure_;  // of this execution
  std::vector<std::string> outcomes_;
  bool tracing_ = false;
  std::vector<std::string> steps_text_;
  std::vector<Place> places_;
  std::vector<bool> edges_found_;
  std::vector<bool> mutants_found_;
  Result result_;
};

}  // namespace leat::model::internal
