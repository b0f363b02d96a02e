// Each version of a type is locked, so that none changes once it was written.
// expect: Versions: each version is locked, with LEAT_LOCK_SCHEMA
#include <leat/base/identity/versions.hpp>

#include <cstdint>

struct Old {
  std::uint32_t id = 0;
};
LEAT_FIELDS(Old, id);
#ifdef RIGHT
LEAT_LOCK_SCHEMA(Old, 2091033187439160873U);
#endif

struct New {
  std::uint64_t id = 0;
};
LEAT_FIELDS(New, id);
LEAT_LOCK_SCHEMA(New, 17151952735756968741U);

New upgrade(Old&& old) { return {old.id}; }

constexpr auto kSchemas = leat::Versions<Old, New>::kSchemas;
