// The number that was locked is of the type as it was.
// expect: the type has changed since its number was locked
#include <leat/base/identity/lock.hpp>

#include <cstdint>

struct Quote {
  std::uint64_t id;
#ifdef RIGHT
  double price;
#else
  float price;
#endif
};
LEAT_FIELDS(Quote, id, price);
LEAT_LOCK_LAYOUT(Quote, 7982106433007147431U);
