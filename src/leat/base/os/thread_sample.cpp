#include <leat/base/os/thread_sample.hpp>

#include <leat/base/atomic.hpp>

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

namespace leat::os {
namespace {

struct order : Edge {};   // who asks -> the handler: what to call
struct answer : Edge {};  // the handler -> who asked: what it saw

constexpr int kPatience = 200;  // rounds of a millisecond

struct Request {
  SampleLook look;
  void* context;
};

constinit std::mutex one_at_a_time;
Request request;  // written by who asks, before `wanted`
constinit Atomic<std::uint32_t> wanted{0};
constinit Atomic<std::uint32_t> looked{0};

std::uintptr_t stack_pointer_of(void* raw) noexcept {
  const auto* const context = static_cast<const ucontext_t*>(raw);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RSP]);
#else
  return context->uc_mcontext.sp;
#endif
}

void on_signal(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const int error = errno;
  // A signal that came after its asker gave up finds nothing to do.
  if (wanted.exchange_acquire(0, order{}) != 0) {
    request.look(request.context, stack_pointer_of(context));
    looked.store_release(1, answer{});
  }
  errno = error;
}

int sample_signal() noexcept {
  static const int number = [] {
    void* warm[2];
    static_cast<void>(::backtrace(warm, 2));  // the first call loads a library
    struct sigaction action{};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    const int signal = SIGRTMIN + 5;
    return ::sigaction(signal, &action, nullptr) == 0 ? signal : 0;
  }();
  return number;
}

}  // namespace

SampledThread this_thread_to_sample() noexcept { return ::pthread_self(); }

bool sample(SampledThread thread, SampleLook look, void* context) {
  const std::lock_guard lock(one_at_a_time);
  const int signal = sample_signal();
  if (signal == 0) return false;
  request = {look, context};
  looked.store_relaxed(0);  // nobody else is here
  wanted.store_release(1, order{});
  if (::pthread_kill(thread, signal) != 0) return false;
  for (int round = 0; round < kPatience; ++round) {
    if (looked.load_acquire(answer{}) != 0) return true;
    const timespec pause{0, round < 10 ? 20'000 : 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  if (wanted.exchange_acquire(0, order{}) != 0) return false;
  while (looked.load_acquire(answer{}) == 0) {  // it has begun
    const timespec pause{0, 20'000};
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

std::size_t calls_here(std::span<void*> into) noexcept {
  return static_cast<std::size_t>(::backtrace(into.data(), static_cast<int>(into.size())));
}

std::vector<std::string> names_of_calls(std::span<void* const> addresses) {
  std::vector<std::string> names;
  char** const symbols = ::backtrace_symbols(addresses.data(), static_cast<int>(addresses.size()));
  if (symbols == nullptr) return names;
  for (std::size_t i = 0; i < addresses.size(); ++i) names.emplace_back(symbols[i]);
  std::free(symbols);
  return names;
}

}  // namespace leat::os
