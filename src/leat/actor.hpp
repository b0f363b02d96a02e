// What      Everything an author of actors includes.
#pragma once

#include <leat/actor/fiber/fiber.hpp>
#include <leat/actor/stack/stack_pool.hpp>
