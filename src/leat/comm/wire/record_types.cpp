#include <leat/comm/wire/record_types.hpp>

#include <map>
#include <mutex>

namespace leat::comm {

namespace {

struct Known {
  std::mutex mutex;
  std::map<std::uint64_t, std::string> types;  // guarded by mutex
};

// Made by the first note, which comes before other statics of the program can.
Known& known() {
  static Known all;
  return all;
}

}  // namespace

internal::RecordTypeNote::RecordTypeNote(std::string_view name, std::uint64_t schema) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  all.types.try_emplace(hash_combine(fnv1a(name), schema), name);
}

std::vector<RecordType> record_types() {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  std::vector<RecordType> types;
  for (const auto& [number, name] : all.types) types.push_back({number, name});
  return types;
}

}  // namespace leat::comm
