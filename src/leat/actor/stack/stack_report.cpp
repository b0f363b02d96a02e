#include <leat/actor/stack/stack_report.hpp>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>

namespace leat::actor {

void StackReport::add(std::type_index kind, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  Use& use = uses_[kind];
  ++use.actors;
  use.most_bytes = std::max(use.most_bytes, bytes);
}

std::vector<StackUse> StackReport::report() const {
  std::vector<StackUse> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [kind, use] : uses_) {
      int status = 0;
      const std::unique_ptr<char, void (*)(void*)> text(
          abi::__cxa_demangle(kind.name(), nullptr, nullptr, &status), std::free);
      all.push_back({status == 0 ? text.get() : kind.name(), use.actors, use.most_bytes});
    }
  }
  std::ranges::sort(all, std::greater(), &StackUse::most_bytes);
  return all;
}

}  // namespace leat::actor
