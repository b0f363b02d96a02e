// What      `LEAT_MUTANT("name")`: false, and gone at compile time, except in the model build,
//           where a model test can make it true by name. A protocol's known-wrong variant stands
//           behind it, beside the right one, so that the test that should catch it can show that it
//           does: if (!LEAT_MUTANT("parker.skip_recheck")) recheck();
#pragma once

#if defined(LEAT_MODEL) && LEAT_MODEL
#include <leat/base/model/hooks.hpp>
#define LEAT_MUTANT(name) (::leat::model::internal::mutated(name))
#else
#define LEAT_MUTANT(name) (false)
#endif
