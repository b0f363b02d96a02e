// What      What a node is called in reports, and a worker's table of such names: operators that are
//           made by the same line of a program, as in each of many dataflows, share one.
// Limits    A name that nobody bears any more is dropped when the table has doubled since it was
//           last looked through.
// Threads   The table: the worker's own. A shared name may be dropped anywhere.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <unordered_set>
#include <utility>

#include <leat/base/hash.hpp>

namespace leat::progress {

/// What a node is called in reports.
struct NodeName {
  std::string name;
  std::source_location where;

  /// `operator "count" (flow.cpp:12)`.
  [[nodiscard]] std::string described() const {
    return "operator \"" + name + "\" (" + place() + ")";
  }
  /// `flow.cpp:12`.
  [[nodiscard]] std::string place() const {
    std::string file = where.file_name();
    if (const auto slash = file.find_last_of('/'); slash != std::string::npos)
      file.erase(0, slash + 1);
    return file + ":" + std::to_string(where.line());
  }

  /// The same words, of the same line.
  friend bool operator==(const NodeName& a, const NodeName& b) noexcept {
    return a.where.line() == b.where.line() && a.name == b.name &&
           std::strcmp(a.where.file_name(), b.where.file_name()) == 0;
  }
};

/// A name that several may bear; not null.
using SharedName = std::shared_ptr<const NodeName>;

class NodeNames {
 public:
  /// The one that equals `name`, kept from now on if there was none.
  [[nodiscard]] SharedName share(NodeName name) {
    if (const auto found = names_.find(name); found != names_.end()) return *found;
    if (names_.size() >= limit_) drop_unused();
    return *names_.insert(std::make_shared<const NodeName>(std::move(name))).first;
  }
  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

 private:
  static constexpr std::size_t kSmall = 64;

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const NodeName& name) const {
      return hash_combine(fnv1a(name.name), name.where.line());
    }
    std::size_t operator()(const SharedName& name) const { return (*this)(*name); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const SharedName& a, const SharedName& b) const { return *a == *b; }
    bool operator()(const NodeName& a, const SharedName& b) const { return a == *b; }
    bool operator()(const SharedName& a, const NodeName& b) const { return *a == b; }
  };

  void drop_unused() {
    std::erase_if(names_, [](const SharedName& name) { return name.use_count() == 1; });
    limit_ = std::max(kSmall, 2 * names_.size());
  }

  std::unordered_set<SharedName, Hash, Equal> names_;
  std::size_t limit_ = kSmall;
};

}  // namespace leat::progress
