// What      Record by record: map, map_in_place, flat_map, filter.
// Invariants
//   (1) The order of records within a batch is kept.
//   (2) flat_map stops after a bounded number of records per activation and goes on where it was:
//       over ranges also within what one record turns into; in its push form between records, so
//       that what one record puts out leaves at once.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/pipe.hpp>

namespace leat::dataflow {

namespace internal {

/// Builds a pipeline operator that is run for records only: `logic(input, output)`. `R` is what
/// comes out, a type of records or `Batched<C>`.
template <class R, progress::Timestamp T, Container C, class Logic>
StreamOf<T, R> on_records(const Stream<T, C>& stream, const progress::NodeName& name, Logic logic) {
  OperatorBuilder<T> builder(stream.scope_state(), name);
  auto input = builder.new_input(stream, pipeline);
  auto [port, produced] = builder.template new_output<BatchOf<R>>();
  builder.set_interest(0, progress::FrontierInterest::never);
  builder.build([&](auto) {
    return [input = std::move(input), output = std::move(port),
            logic = std::move(logic)]() mutable { logic(input, output); };
  });
  return std::move(produced);
}

template <class F>
class MapOp : public Named<MapOp<F>> {
 public:
  MapOp(F f, std::source_location where) : Named<MapOp>("map", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    static_assert(std::is_invocable_v<F&, TakenOf<C>>,
                  "map: the function cannot be called with a record");
    using R = std::decay_t<std::invoke_result_t<F&, TakenOf<C>>>;
    return on_records<R>(stream, this->name_,
                         [f = std::move(f_)](auto& input, auto& output) mutable {
                           input.for_each([&](auto& message) {
                             auto session = output.session(message);
                             for (auto&& record : message.records())
                               session.give(f(std::move(record)));
                             session.flush();
                           });
                         });
  }

 private:
  F f_;
};

template <class F>
class MapInPlaceOp : public Named<MapInPlaceOp<F>> {
 public:
  MapInPlaceOp(F f, std::source_location where)
      : Named<MapInPlaceOp>("map_in_place", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    static_assert(std::is_invocable_v<F&, RecordOf<C>&>,
                  "map_in_place: the function takes a record by reference");
    return on_records<Batched<C>>(stream, this->name_,
                                  [f = std::move(f_)](auto& input, auto& output) mutable {
                                    input.for_each([&](auto& message) {
                                      for (auto& record : message.records()) f(record);
                                      output.session(message).give_batch(message.records());
                                    });
                                  });
  }

 private:
  F f_;
};

template <class F>
class FilterOp : public Named<FilterOp<F>> {
 public:
  FilterOp(F f, std::source_location where) : Named<FilterOp>("filter", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    static_assert(std::is_invocable_r_v<bool, F&, ReadOf<C>>,
                  "filter: the function takes a const record and returns whether it stays");
    return on_records<Batched<C>>(
        stream, this->name_, [f = std::move(f_)](auto& input, auto& output) mutable {
          input.for_each([&](auto& message) {
            auto& records = message.records();
            const auto goes = [&](ReadOf<C> record) { return !f(record); };
            if constexpr (requires { std::erase_if(records, goes); }) {
              std::erase_if(records, goes);
              output.session(message).give_batch(records);
            } else {
              auto session = output.session(message);
              for (auto&& record : records) {
                if (!goes(record)) session.give(std::move(record));
              }
            }
          });
        });
  }

 private:
  F f_;
};

/// Where the push form of flat_map puts its records: `out(record)`.
template <class R, class Session>
class Emit {
 public:
  explicit Emit(Session& session) : session_(session) {}
  void operator()(RecordOf<BatchOf<R>> record) {
    session_.give(std::move(record));
    ++given_;
  }
  /// The same of anything that batches of an author's choice take, such as views.
  template <class View>
    requires(!std::same_as<BatchOf<R>, std::vector<R>> && PushInto<BatchOf<R>, View>)
  void operator()(View&& record) {
    session_.give(std::forward<View>(record));
    ++given_;
  }
  [[nodiscard]] std::size_t given() const noexcept { return given_; }

 private:
  Session& session_;
  std::size_t given_ = 0;
};

/// Runs over messages and the ranges their records turn into, a bounded number of records at a
/// time.
template <progress::Timestamp T, Container C, class F>
class FlatMapLogic {
  using Range = std::decay_t<std::invoke_result_t<F&, TakenOf<C>>>;
  using R = std::ranges::range_value_t<Range>;

 public:
  FlatMapLogic(F f, Activator self) : f_(std::move(f)), self_(std::move(self)) {}

  template <class In, class Out>
  void operator()(In& input, Out& output) {
    std::size_t left = records_left<R>(self_);
    while (left > 0) {
      if (!current_) {
        auto message = input.next();
        if (!message) return;
        current_.emplace(std::move(*message));
        position_ = 0;
      }
      auto session = output.session(*current_);
      auto& records = current_->records();
      while (left > 0 && (open_ || position_ < records.size())) {
        if (!open_) open_.emplace(f_(std::move(records[position_++])));
        left = open_->emit(session, left);
        if (open_->at_end()) open_.reset();
      }
      if (!open_ && position_ == records.size()) current_.reset();
    }
    self_.activate();  // there is, or may be, more
  }

 private:
  // A range being emitted; its iterators point into it, so it stays where it is.
  struct Open {
    explicit Open(Range r) : range(std::move(r)), next(std::ranges::begin(range)) {}
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    Range range;
    std::ranges::iterator_t<Range> next;

    [[nodiscard]] bool at_end() { return next == std::ranges::end(range); }
    template <class Session>
    std::size_t emit(Session& session, std::size_t left) {
      for (; left > 0 && !at_end(); --left, ++next) session.give(std::ranges::iter_move(next));
      return left;
    }
  };
  // Made once: the operator moves before its first run, and what it holds could not follow.
  class OpenSlot {
   public:
    explicit operator bool() const { return place_ && place_->has_value(); }
    Open* operator->() { return &**place_; }
    void emplace(Range range) {
      if (!place_) place_ = std::make_unique<std::optional<Open>>();
      place_->emplace(std::move(range));
    }
    void reset() { place_->reset(); }

   private:
    std::unique_ptr<std::optional<Open>> place_;
  };

  F f_;
  Activator self_;
  std::optional<Received<T, C>> current_;
  std::size_t position_ = 0;
  OpenSlot open_;
};

template <class F>
class FlatMapOp : public Named<FlatMapOp<F>> {
 public:
  FlatMapOp(F f, std::source_location where)
      : Named<FlatMapOp>("flat_map", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    static_assert(
        std::is_invocable_v<F&, TakenOf<C>>,
        "flat_map: the function takes a record and returns a range; or name the record it emits, "
        "flat_map<R>(f), and take (record, auto& out)");
    using Range = std::decay_t<std::invoke_result_t<F&, TakenOf<C>>>;
    static_assert(std::ranges::input_range<Range>,
                  "flat_map: what the function returns is not a range");
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, produced] =
        builder.template new_output<std::vector<std::ranges::range_value_t<Range>>>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port),
              logic = FlatMapLogic<T, C, F>(std::move(f_), builder.info().activation)]() mutable {
        logic(input, output);
      };
    });
    return std::move(produced);
  }

 private:
  F f_;
};

template <class R, class F>
class FlatMapPushOp : public Named<FlatMapPushOp<R, F>> {
 public:
  FlatMapPushOp(F f, std::source_location where)
      : Named<FlatMapPushOp>("flat_map", where), f_(std::move(f)) {}

  template <progress::Timestamp T, Container C>
  auto apply(Stream<T, C> stream) && {
    OperatorBuilder<T> builder(stream.scope_state(), this->name_);
    auto input = builder.new_input(stream, pipeline);
    auto [port, produced] = builder.template new_output<BatchOf<R>>();
    builder.set_interest(0, progress::FrontierInterest::never);
    builder.build([&](auto) {
      return [input = std::move(input), output = std::move(port), f = std::move(f_),
              self = builder.info().activation, current = std::optional<Received<T, C>>(),
              position = std::size_t{0}]() mutable {
        std::size_t left = records_left<R>(self);
        for (;;) {
          if (!current) {
            current = input.next();
            if (!current) return;
            position = 0;
          }
          auto& records = current->records();
          {
            auto session = output.session(*current);
            Emit<R, decltype(session)> emit(session);
            while (position < records.size() && emit.given() < left) {
              f(std::move(records[position++]), emit);
            }
            left -= std::min(left, emit.given());
          }
          if (position == records.size()) current.reset();
          if (left == 0) break;
        }
        self.activate();  // there is, or may be, more
      };
    });
    return std::move(produced);
  }

 private:
  F f_;
};

}  // namespace internal

/// `f(record)` of each record.
inline constexpr internal::MakeRecordOp<internal::MapOp> map{};
/// `f(record&)` on each record, in its batch.
inline constexpr internal::MakeRecordOp<internal::MapInPlaceOp> map_in_place{};
/// The records for which `f(const record&)` is true.
inline constexpr internal::MakeRecordOp<internal::FilterOp> filter{};

/// The records of the range `f(record)`, for each record.
template <class F>
[[nodiscard]] auto flat_map(F f, std::source_location where = std::source_location::current()) {
  return internal::FlatMapOp<F>(std::move(f), where);
}
/// What `f(record, out)` puts out with `out(R)`, for each record: no range is made.
template <class R, class F>
[[nodiscard]] auto flat_map(F f, std::source_location where = std::source_location::current()) {
  return internal::FlatMapPushOp<R, F>(std::move(f), where);
}

}  // namespace leat::dataflow
