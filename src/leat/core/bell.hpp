// What      A doorbell that knows whom to activate: a channel's receiving end as its worker sees
//           it.
#pragma once

#include <leat/core/activation.hpp>
#include <leat/core/doorbell.hpp>

namespace leat::core {

class Bell : public Doorbell {
 public:
  explicit Bell(Release release) noexcept : Doorbell(release) {}

  /// Whom to activate when the bell is surfaced. Nobody, until it is set. Threads: the receiver.
  void set_listener(Activation listener) noexcept { listener_ = listener; }
  void activate_listener() { listener_.activate(); }

 private:
  Activation listener_;
};

}  // namespace leat::core
