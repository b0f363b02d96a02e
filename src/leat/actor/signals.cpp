#include <leat/actor/signals.hpp>

#include <leat/actor/mailbox/receive.hpp>

namespace leat::actor {

Signal next_signal() { return receive<Signal>(); }
std::optional<Signal> next_signal_until(Nanos deadline) { return receive_until<Signal>(deadline); }

}  // namespace leat::actor
