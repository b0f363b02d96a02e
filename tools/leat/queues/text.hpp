// What      What `leat queues` prints, as a table or as JSON.
// Invariants  (1) Every text ends with an end of line, and JSON is one value. (2) The names in the
//             JSON are kept; new ones may come.
#pragma once

#include "queues/look.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leat::tool {

[[nodiscard]] std::string queues_table(std::span<const QueueLook> looks);
[[nodiscard]] std::string queue_details(const QueueLook& look);

/// Of all looks, `[...]`, or of one, on a single line.
[[nodiscard]] std::string queues_json(std::span<const QueueLook> looks);
[[nodiscard]] std::string queue_json(const QueueLook& look, const QueueLook* before = nullptr);

/// Messages a second between two looks at one ring; nothing where that cannot be told.
[[nodiscard]] std::optional<double> rate_between(const QueueLook& before, const QueueLook& now);

/// One block of `watch`: each look beside the one before, found by name.
[[nodiscard]] std::string watch_table(std::span<const QueueLook> before,
                                      std::span<const QueueLook> now);

/// Finds the earlier look at the same segment.
[[nodiscard]] const QueueLook* same_queue(std::span<const QueueLook> before, const QueueLook& now);

/// "12345  00 01 02 ...  |..."
[[nodiscard]] std::string message_line(std::uint64_t sequence, std::span<const std::byte> payload,
                                       bool json);

}  // namespace leat::tool
