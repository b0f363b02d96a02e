#include <leat/actor/stack/stack_use.hpp>

#include <leat/actor/stack/stack_region.hpp>
#include <leat/base/os/address_space.hpp>

#include <cstdint>

namespace leat::actor {
namespace {

// A leaf function may keep values below its stack pointer.
#if defined(__x86_64__)
constexpr std::size_t kRedZone = 128;
#else
constexpr std::size_t kRedZone = 0;
#endif

// By hand and word by word: what the sanitizers poisoned on a stack is copied as it is.
#if defined(__clang__)
__attribute__((no_sanitize("address", "thread"), noinline))
#else
__attribute__((no_sanitize_address, no_sanitize_thread, noinline))
#endif
void copy_words(const std::byte* from, std::byte* to, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
    const auto word = *reinterpret_cast<const volatile std::uint64_t*>(from + i);
    *reinterpret_cast<volatile std::uint64_t*>(to + i) = word;
  }
}

#if defined(__clang__)
__attribute__((no_sanitize("address", "thread"), noinline))
#else
__attribute__((no_sanitize_address, no_sanitize_thread, noinline))
#endif
std::byte*
first_not_zero(std::byte* low, std::byte* high) noexcept {
  for (; low < high; low += sizeof(std::uint64_t)) {
    if (*reinterpret_cast<const volatile std::uint64_t*>(low) != 0) break;
  }
  return low;
}

std::byte* usable_low(Stack stack) noexcept {
  return stack.slot() + StackRegion::process().guard_bytes(stack.stack_class());
}

}  // namespace

std::size_t stack_used_bytes(Stack stack) noexcept {
  std::byte* const top = stack.top();
  std::byte* at = usable_low(stack);
  while (at < top) {
    at = os::first_resident(at, top);
    std::byte* const page_end = at + os::page_bytes();
    std::byte* const end = page_end < top ? page_end : top;
    if (at >= top) break;
    at = first_not_zero(at, end);
    if (at < end) break;
  }
  return at < top ? static_cast<std::size_t>(top - at) : 0;
}

void forget_stack_use(Stack stack, const Fiber* fiber) noexcept {
  const std::byte* live = stack.top();
  if (fiber != nullptr) live = static_cast<const std::byte*>(fiber->context().sp) - kRedZone;
  const std::size_t page = os::page_bytes();
  std::byte* const low = usable_low(stack);
  if (live <= low) return;
  const auto bytes = static_cast<std::size_t>(live - low);
  // Whole pages go; of the last one, what is not live is written over.
  const std::size_t whole = bytes & ~(page - 1);
  if (whole > 0) os::empty_space(low, whole);
  for (std::size_t i = whole; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
    *reinterpret_cast<volatile std::uint64_t*>(low + i) = 0;
  }
}

ParkedStack::ParkedStack(Stack stack, const Fiber& fiber) {
  const std::byte* const low = static_cast<std::byte*>(fiber.context().sp) - kRedZone;
  const auto bytes = static_cast<std::size_t>(stack.top() + sizeof(StackRecord) - low);
  block_.reset(new std::byte[sizeof(Head) + bytes]);
  ::new (static_cast<void*>(block_.get())) Head{stack, bytes};
  copy_words(low, block_.get() + sizeof(Head), bytes);
}

std::byte* ParkedStack::low() const noexcept {
  return stack().top() + sizeof(StackRecord) - bytes();
}

void ParkedStack::unpark() noexcept {
  copy_words(block_.get() + sizeof(Head), low(), bytes());
  block_.reset();
}

}  // namespace leat::actor
