// What      Values by row: a worker's part of a graph, gathered while it comes in and then read.
// Shape     Flat: values_[begin_[row]] .. values_[begin_[row + 1]], in the order they came.
// Protocol  `add` any number, `seal` once, then `row`.
#pragma once

#include <leat/base/check.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace leat::tool::flow {

template <class Value>
class Rows {
 public:
  explicit Rows(std::size_t rows) : begin_(rows + 1, 0) {}

  /// Requires: `row` is below the number of rows; not sealed.
  void add(std::size_t row, Value value) {
    LEAT_DCHECK(row + 1 < begin_.size(), "a row that is not this worker's");
    ++begin_[row + 1];
    came_.push_back({row, std::move(value)});
  }

  void seal() {
    for (std::size_t row = 1; row < begin_.size(); ++row) begin_[row] += begin_[row - 1];
    values_.resize(came_.size());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (auto& [row, value] : came_) values_[next[row]++] = std::move(value);
    came_ = {};
  }

  /// Requires: sealed.
  [[nodiscard]] std::span<const Value> row(std::size_t row) const noexcept {
    return {values_.data() + begin_[row], values_.data() + begin_[row + 1]};
  }

 private:
  struct Came {
    std::size_t row;
    Value value;
  };

  std::vector<std::size_t> begin_;
  std::vector<Value> values_;
  std::vector<Came> came_;
};

}  // namespace leat::tool::flow
