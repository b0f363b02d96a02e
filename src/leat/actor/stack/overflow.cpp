#include <leat/actor/stack/overflow.hpp>

#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/atomic.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/fault.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace leat::actor {
namespace {

OwnerCalls the_calls;  // written before actors run
// By the thread that ends an actor; the fault handler writes it and the end reads it.
thread_local constinit FaultKind ending_by = FaultKind::stack_overflow;

// A line of text built without allocation.
class Line {
 public:
  Line& operator<<(std::string_view text) noexcept {
    const std::size_t n = std::min(text.size(), text_.size() - size_);
    std::copy_n(text.data(), n, text_.data() + size_);
    size_ += n;
    return *this;
  }
  Line& operator<<(std::size_t number) noexcept {
    std::array<char, 20> digits;
    std::size_t first = digits.size();
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return *this << std::string_view(digits.data() + first, digits.size() - first);
  }
  Line& hex(std::uintptr_t number) noexcept {
    std::array<char, 16> digits;
    std::size_t first = digits.size();
    do {
      digits[--first] = "0123456789abcdef"[number & 15];
      number >>= 4U;
    } while (number != 0);
    return *this << "0x" << std::string_view(digits.data() + first, digits.size() - first);
  }
  Line& owner(const void* who) noexcept {
    if (the_calls.name == nullptr || who == nullptr) return *this << "somebody";
    size_ += the_calls.name(who, std::span<char>(text_).subspan(size_));
    return *this;
  }
  void print() noexcept {
    *this << "\n";
    os::write_error(text_.data(), size_);
  }

 private:
  std::array<char, 512> text_{};
  std::size_t size_ = 0;
};

void end_owner(void* owner) {
  the_calls.end(owner, ending_by);
  std::abort();  // it was not to come back
}

bool on_fault(os::Fault& fault) noexcept {
  if (LEAT_MUTANT("overflow.unwatched")) return false;
  const Stack stack = Stack::of(reinterpret_cast<const void*>(fault.stack_pointer()));
  // The stack pointer of a large frame may already be in, or beyond, the guard.
  const Stack at = Stack::of(reinterpret_cast<const void*>(fault.address()));
  if (!stack && !at) return false;
  const StackRegion& region = StackRegion::process();
  const auto in_guard = [&](Stack of) {
    const auto low = reinterpret_cast<std::uintptr_t>(of.slot());
    return of && fault.address() - low < region.guard_bytes(of.stack_class());
  };
  const Stack hit = in_guard(at) ? at : stack;
  if (!hit) return false;
  FaultKind kind = FaultKind::stack_overflow;
  if (!in_guard(hit)) {
    if (fault.is_arithmetic()) {
      kind = FaultKind::arithmetic;
    } else if (fault.address() < 4096) {
      kind = FaultKind::null_access;
    } else {
      return false;
    }
  }
  void* const owner = hit.record().owner;
  const bool alone =
      owner != nullptr && the_calls.ends_alone != nullptr && the_calls.ends_alone(owner, kind);
  Line line;
  line << "leat: ";
  line.owner(owner);
  if (kind == FaultKind::stack_overflow) {
    const auto top = reinterpret_cast<std::uintptr_t>(hit.top());
    line << " overflowed its stack of " << hit.slot_bytes() / 1024 << " KiB: it was "
         << top - fault.address() << " bytes deep at ";
    line.hex(fault.address()) << "; give it a larger one (Config::stack)";
  } else if (alone) {
    line << (kind == FaultKind::arithmetic ? " divided by zero, or the like, at "
                                           : " used a null pointer, at ");
    line.hex(fault.address());
  } else {
    return false;  // no more to say than anybody would
  }
  const std::uint32_t held = turn().held();
  if (!alone || held != 0) {
    if (alone) line << "; it holds " << std::size_t{held} << " locks, so the process ends with it";
    line.print();
    return false;
  }
  line << "; it ends, and what it owned leaks";
  line.print();
  ending_by = kind;
  fault.go_on_at(&end_owner, owner, reinterpret_cast<std::uintptr_t>(hit.top()));
  return true;
}

}  // namespace

void tell_of_owners(const OwnerCalls& calls) noexcept { the_calls = calls; }

void watch_faults() noexcept { os::handle_faults(&on_fault); }

}  // namespace leat::actor
