// What      The first so many of a stream, in an order: each worker picks its own, then one of them
//           picks among those.
// Limits    All records are at one time.
#pragma once

#include "streams.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace leat::tool::flow {

namespace internal {

template <class Record, class Pact, class Before>
auto first_of_worker(Pact pact, std::string name, std::size_t count, Before before) {
  return df::unary_notify<Record>(std::move(pact), std::move(name), [=](auto, const auto&) {
    return [=, kept = std::vector<Record>()](auto& input, auto& output, auto& notificator) mutable {
      input.for_each([&](auto& message) {
        if (kept.empty()) notificator.notify_at(message.retain());
        const auto& records = message.records();
        kept.insert(kept.end(), records.begin(), records.end());
        if (kept.size() / 2 <= count) return;
        std::ranges::nth_element(kept, kept.begin() + static_cast<std::ptrdiff_t>(count), before);
        // One stays even of none, to remember that the notification was asked for.
        kept.resize(std::max<std::size_t>(count, 1));
      });
      while (const auto complete = notificator.next(input.frontier())) {
        std::ranges::sort(kept, before);
        if (kept.size() > count) kept.resize(count);
        output.session(complete->capability).give_all(kept);
      }
    };
  });
}

}  // namespace internal

/// The first `count` records of all workers, on the first worker and in order.
template <class Batch, class Before>
[[nodiscard]] df::Stream<Time, Batch> first(df::Stream<Time, Batch> stream, std::string name,
                                            std::size_t count, Before before) {
  using Record = df::RecordOf<Batch>;
  return std::move(stream) |
         internal::first_of_worker<Record>(df::pipeline, name + ": own", count, before) |
         internal::first_of_worker<Record>(to_first_worker(), name, count, before);
}

}  // namespace leat::tool::flow
