// A pointer among the members means nothing to whoever else maps the record.
// expect: a pointer means nothing to another process
#include <leat/base/identity/hash.hpp>

#include <cstdint>

struct Node {
  std::uint64_t id;
#ifdef RIGHT
  std::uint64_t next;
#else
  Node* next;
#endif
};
LEAT_FIELDS(Node, id, next);

static_assert(leat::layout_hash<Node>() != 0);
