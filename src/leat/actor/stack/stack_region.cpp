#include <leat/actor/stack/stack_region.hpp>

#include <leat/actor/fiber/sanitizers.hpp>
#include <leat/base/check.hpp>
#include <leat/base/mutant.hpp>
#include <leat/base/os/address_space.hpp>
#include <leat/base/os/error_text.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_STACK_REGISTER(low, high) 0
#endif

namespace leat::actor {
namespace {

constexpr std::size_t kLargestSlot = stack_bytes(StackClass::k1MiB);
constexpr std::size_t kClassBytesMin = std::size_t{16} << 20;

std::byte* pointer(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

const char* name_of(StackClass c) {
  constexpr const char* kNames[kStackClasses] = {"16 KiB", "64 KiB", "256 KiB", "1 MiB"};
  return kNames[static_cast<std::size_t>(c)];
}

}  // namespace

StackRegion& StackRegion::process() {
  Options options;
  // Tools that shadow all memory have less of it to give.
  if (LEAT_ASAN || LEAT_TSAN) options.class_bytes = std::size_t{1} << 34;
  if (RUNNING_ON_VALGRIND) options.class_bytes = std::size_t{1} << 26;
  return process(options);
}

StackRegion& StackRegion::process(const Options& wanted) {
  // Never destroyed: actors of a runtime with static lifetime may still run when statics end.
  static StackRegion& region = [&]() -> StackRegion& {
    Options options = wanted;
    for (;;) {
      Result<std::unique_ptr<StackRegion>> made = reserve(options);
      if (made) {
        StackRegion* made_region = std::move(made).value().release();
        internal::stack_place.class_shift.store_relaxed(
            static_cast<std::uintptr_t>(std::countr_zero(made_region->class_bytes_)));
        internal::stack_place.low.store_relaxed(made_region->low_);
        return *made_region;
      }
      LEAT_CHECK(options.class_bytes > kClassBytesMin, made.error().message.c_str());
      options.class_bytes /= 2;
    }
  }();
  return region;
}

Result<std::unique_ptr<StackRegion>> StackRegion::reserve(const Options& options) {
  const std::size_t page = os::page_bytes();
  LEAT_CHECK(
      options.guard_bytes % page == 0 && options.guard_bytes < stack_bytes(StackClass::k16KiB),
      "the guard of a stack is of whole pages, and smaller than the smallest stack");
  LEAT_CHECK(std::has_single_bit(options.class_bytes) && options.class_bytes >= kClassBytesMin,
             "the bytes of a stack class are a power of two, and no less than 16 MiB");
  std::unique_ptr<StackRegion> region(new StackRegion);
  if (!region->map(options)) {
    return Error{"no address space for stacks: mmap of " +
                 std::to_string(options.class_bytes * kStackClasses) +
                 " bytes: " + os::error_text(errno) + "; raise `ulimit -v`"};
  }
  return region;
}

bool StackRegion::map(const Options& options) noexcept {
  class_bytes_ = options.class_bytes;
  guard_bytes_ = options.guard_bytes;
  page_bytes_ = os::page_bytes();
  // One more slot's worth to align within.
  mapping_bytes_ = bytes() + kLargestSlot;
  const os::Reservation space = os::reserve_space(mapping_bytes_);
  if (space.low == nullptr) return false;
  writable_on_use_ = !space.writable;
  mapping_ = reinterpret_cast<std::uintptr_t>(space.low);
  low_ = (mapping_ + kLargestSlot - 1) & ~(kLargestSlot - 1);
  if (!LEAT_MUTANT("stack_region.huge_pages")) os::refuse_huge_pages(space.low, mapping_bytes_);

  next_bytes_ = 0;
  for (std::size_t c = 0; c < kStackClasses; ++c) next_bytes_ += slots(c) * sizeof(std::uint32_t);
  const os::Reservation next = os::reserve_space(next_bytes_);
  if (next.low == nullptr) return false;
  auto* lists = reinterpret_cast<std::uint32_t*>(next.low);
  for (std::size_t c = 0; c < kStackClasses; ++c) {
    classes_[c].next = lists;
    lists += slots(c);
  }

  guard_ = options.guard;
  if (guard_ == GuardKind::best) {
    const bool light = !writable_on_use_ && os::has_light_guards(pointer(low_), page_bytes_);
    guard_ =
        light && !LEAT_MUTANT("stack_region.heavy_guards") ? GuardKind::light : GuardKind::mprotect;
  }
  slots_max_ = options.slots_max;
  if (slots_max_ == 0) {
    slots_max_ = ~std::size_t{0};
    // Two mappings for each guarded stack, and some for everything else in the process.
    if (guard_ == GuardKind::mprotect && !LEAT_MUTANT("stack_region.no_bound"))
      slots_max_ = os::mappings_max() * 7 / 16;
  }
  return true;
}

StackRegion::~StackRegion() {
  if (mapping_ != 0) os::unreserve_space(pointer(mapping_), mapping_bytes_);
  if (classes_[0].next != nullptr) {
    os::unreserve_space(reinterpret_cast<std::byte*>(classes_[0].next), next_bytes_);
  }
}

Stack StackRegion::take_slot(StackClass c) noexcept {
  const auto index = static_cast<std::size_t>(c);
  Class& of = classes_[index];
  const std::uintptr_t class_low = low_ + index * class_bytes_;
  std::uint32_t slot = kNone;
  bool fresh = false;
  {
    const std::lock_guard lock(of.mutex);
    if (of.idle != kNone) {
      slot = of.idle;
      of.idle = of.next[slot];
    } else if (of.fresh < slots(index) && made_.load_relaxed() < slots_max_) {
      slot = of.fresh++;
      fresh = true;
    }
  }
  if (slot == kNone) return {};
  const std::uintptr_t at = class_low + (static_cast<std::uintptr_t>(slot) << stack_shift(c));
  if (fresh) {
    made_.fetch_add_relaxed(1);
    // A slot without a guard is lost rather than handed out.
    if (!prepare({at, c})) return {};
  }
  return {at, c};
}

bool StackRegion::prepare(Stack stack) noexcept {
  std::byte* const low = stack.slot();
  const std::size_t slot_bytes = stack.slot_bytes();
  const std::size_t guard = guard_bytes(stack.stack_class());
  if (writable_on_use_) {
    system_calls_.fetch_add_relaxed(1);
    if (!os::make_writable(low, slot_bytes)) return false;
  }
  // Memory tools tell stacks apart by where they lie; and pointers on them keep what they point to.
  static_cast<void>(VALGRIND_STACK_REGISTER(low + guard, low + slot_bytes));
#if LEAT_ASAN
  __lsan_register_root_region(low + guard, slot_bytes - guard);
#endif
  system_calls_.fetch_add_relaxed(1);
  return guard_ == GuardKind::light ? os::install_light_guard(low, guard)
                                    : os::install_heavy_guard(low, guard);
}

void StackRegion::give_slot(Stack stack) noexcept {
  const auto index = static_cast<std::size_t>(stack.stack_class());
  Class& of = classes_[index];
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(stack.slot()) - (low_ + index * class_bytes_);
  const auto slot = static_cast<std::uint32_t>(offset >> stack_shift(stack.stack_class()));
  const std::lock_guard lock(of.mutex);
  of.next[slot] = of.idle;
  of.idle = slot;
}

void StackRegion::release(std::span<Stack> stacks) const noexcept {
  std::ranges::sort(stacks, {}, &Stack::word);
  for (std::size_t i = 0; i < stacks.size();) {
    std::byte* low = stacks[i].slot();
    std::byte* high = low + stacks[i].slot_bytes();
    for (++i; i < stacks.size() && stacks[i].slot() == high; ++i) high += stacks[i].slot_bytes();
    // Guards stay: light ones are not memory, and the others have none.
    os::empty_space(low, static_cast<std::size_t>(high - low));
  }
}

Error StackRegion::shortage(StackClass c) const {
  const std::string asked = std::string("no more stacks of ") + name_of(c) + ": ";
  if (made_.load_relaxed() >= slots_max_) {
    return {asked + std::to_string(slots_max_) +
            " stacks are in use or waiting, and this kernel needs two mappings for each; raise "
            "vm.max_map_count, or use Linux 6.13 or later, whose guards need none"};
  }
  return {asked + std::to_string(class_bytes_) +
          " bytes of address space are used up, or the kernel has no memory left for a guard; use "
          "smaller stacks, or raise `ulimit -v`"};
}

}  // namespace leat::actor
