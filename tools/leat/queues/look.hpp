// What      One look at a segment and, if a ring lies in it, at the ring: all that `leat queues` shows.
#pragma once

#include <leat/base/clock.hpp>
#include <leat/base/result.hpp>
#include <leat/core/segment/listing.hpp>
#include <leat/queue/ring/core.hpp>
#include "queues/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace leat::tool {

struct QueueLook {
  core::SegmentListing segment;
  std::optional<queue::RingShape> shape;  // of a ring
  std::optional<queue::RingReport> ring;
  std::optional<std::uint64_t> used;     // messages in it that somebody has yet to read
  std::optional<std::uint64_t> written;  // messages ever
  std::uint64_t lost = 0;                // by all who are attached
  std::string trouble;                   // why it cannot be looked into; empty: it can
  Nanos at{};

  /// "ring spmc"; "?" for what is damaged.
  [[nodiscard]] std::string kind_text() const;
  [[nodiscard]] std::size_t living() const;
  [[nodiscard]] std::size_t dead() const;
};

/// Looks at all that `options` name. Errors: the folder cannot be read; a named one is not there.
[[nodiscard]] Result<std::vector<QueueLook>> look_at_queues(const RunQueues& options, Nanos now);

}  // namespace leat::tool
