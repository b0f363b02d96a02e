// What      calls_of(): which calls are under way on a stack that is not running.
// Shape     A few instructions of assembly whose unwind table says that their caller is what the
//           context names: an unwinder that starts above them goes on there. Nothing is run on the
//           other stack, and nothing of it is written.
// Limits    The context must be whole, and nobody may go on with it meanwhile. Not for a stack that
//           is put away.
// Cost      Under a microsecond for each call under way.
// Source    ours; backtrace(3).
#pragma once

#include <leat/actor/fiber/context.hpp>

#include <cstddef>
#include <span>

namespace leat::actor {

/// The addresses of the calls under way where `context` was left, the innermost first. Returns: how
/// many. Threads: any, while nobody swaps to it.
std::size_t calls_of(const Context& context, std::span<void*> into) noexcept;

}  // namespace leat::actor
