// What      How much may be done before others get their turn. The unit is a record that an
//           operator took in or put out, and every activation costs some on top.
// Shape     Two bounds: `per_activation`, for one run of one operator, so that it does not starve
//           its neighbours; and `left`, of one run of the whole task (a dataflow), so that a task
//           does not starve the others of its worker. The worker fills `left` before each run of a
//           task, by the task's weight.
// Protocol  Whoever works takes off what it has used; none of the two is ever looked at within a
//           batch, so both may be overdrawn by what cannot be divided. What a task overdraws is
//           taken off its next runs.
#pragma once

#include <cstdint>
#include <limits>

namespace leat::core {

struct Fuel {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max() / 4;
  /// What an activation costs that handles no record.
  static constexpr std::int64_t kActivation = 16;

  std::int64_t per_activation = kUnlimited;
  std::int64_t left = kUnlimited;  // of the run of the task that is running

  [[nodiscard]] bool is_spent() const noexcept { return left <= 0; }
};

}  // namespace leat::core
