// What      The path of one execution through the tree of choices, and the step to the next path:
//           depth first, each choice from the first (ordinary) alternative to the last.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace leat::model::internal {

class Choices {
 public:
  /// Back to the root, to walk the present path again.
  void rewind() noexcept { depth_ = 0; }

  /// Forgets the path: the next one takes the first alternative everywhere.
  void clear() noexcept {
    path_.clear();
    depth_ = 0;
  }

  /// Which of `count` alternatives this execution takes here; `fresh` if the path ends here.
  ///
  /// Returns: 0 .. count - 1; -1 if an earlier execution on this path had another count here, so
  ///          that the test does not do the same thing each time.
  [[nodiscard]] int choose(int count, int fresh = 0) {
    if (count == 1) return 0;
    if (depth_ == path_.size()) path_.push_back({fresh, count});
    Choice& choice = path_[depth_++];
    if (choice.count == 0) choice.count = count;  // from a schedule
    return choice.count == count && choice.taken < count ? choice.taken : -1;
  }

  /// Moves to the next path. Returns: false if this was the last.
  [[nodiscard]] bool advance() {
    path_.resize(depth_);
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

  /// The present path as text: one digit or letter per choice, `(n)` beyond 35, no trailing zeros.
  [[nodiscard]] std::string schedule() const;

  /// Takes the path from such text. Returns: false if it is malformed.
  [[nodiscard]] bool set_schedule(std::string_view text);

 private:
  struct Choice {
    int taken;
    int count;
  };

  std::vector<Choice> path_;
  std::size_t depth_ = 0;
};

}  // namespace leat::model::internal
