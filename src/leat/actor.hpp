// What      Everything an author of actors includes.
#pragma once

#include <leat/actor/channel/broadcast.hpp>
#include <leat/actor/channel/channel.hpp>
#include <leat/actor/channel/oneshot.hpp>
#include <leat/actor/channel/select.hpp>
#include <leat/actor/channel/watch.hpp>
#include <leat/actor/config.hpp>
#include <leat/actor/exit.hpp>
#include <leat/actor/local.hpp>
#include <leat/actor/pid.hpp>
#include <leat/actor/preempt/turn.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/scope.hpp>
#include <leat/actor/self.hpp>
#include <leat/actor/signals.hpp>
#include <leat/actor/sim/simulation.hpp>
#include <leat/actor/spawn.hpp>
#include <leat/actor/sync/condition.hpp>
#include <leat/actor/sync/mutex.hpp>
#include <leat/actor/sync/once.hpp>
#include <leat/actor/sync/semaphore.hpp>
#include <leat/actor/sync/shared_mutex.hpp>
#include <leat/actor/time/interval.hpp>
