// A member that LEAT_FIELDS does not name would silently stay behind.
// expect: LEAT_FIELDS: Place has more members than are named
#include <leat/base/fields.hpp>

struct Place {
  int x = 0;
  int y = 0;
};
#ifdef RIGHT
LEAT_FIELDS(Place, x, y);
#else
LEAT_FIELDS(Place, x);
#endif
