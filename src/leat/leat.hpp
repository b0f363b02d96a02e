// What      Everything Leat offers, for examples and first steps. Include a layer's own headers
//           where compile time matters.
#pragma once

#include <leat/actor.hpp>
#include <leat/dataflow.hpp>
#include <leat/tile.hpp>
