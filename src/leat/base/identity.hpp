// What      What a type is, as a number that other processes and later programs compute alike: all of
//           `identity/`.
#pragma once

#include <leat/base/identity/hash.hpp>
#include <leat/base/identity/lock.hpp>
#include <leat/base/identity/standard.hpp>
#include <leat/base/identity/versions.hpp>
