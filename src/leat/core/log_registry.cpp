#include <leat/core/log_registry.hpp>

#include <leat/base/small_vector.hpp>

namespace leat::core {

LogBinding LogRegistry::insert_log(std::string_view name, LocalPtr<internal::LogBase> log) {
  check_thread();
  LocalPtr<internal::LogBase>& place = logs_[std::string(name)];
  return LogBinding(std::exchange(place, std::move(log)));
}

LogBinding LogRegistry::remove(std::string_view name) {
  check_thread();
  const auto it = logs_.find(name);
  if (it == logs_.end()) return {};
  LogBinding binding(std::move(it->second));
  logs_.erase(it);
  return binding;
}

LogBinding LogRegistry::find(std::string_view name) const {
  check_thread();
  const auto it = logs_.find(name);
  return it == logs_.end() ? LogBinding{} : LogBinding(it->second);
}

void LogRegistry::flush() {
  check_thread();
  // An action may bind names: go over the logs as they stand now.
  SmallVector<LocalPtr<internal::LogBase>, 16> logs;
  for (const auto& [name, log] : logs_) logs.push_back(log);
  for (const auto& log : logs) log->flush();
}

}  // namespace leat::core
