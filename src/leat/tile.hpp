// What      Everything an author of tiles includes.
#pragma once

#include <leat/tile/control/board.hpp>
#include <leat/tile/loop/scope.hpp>
#include <leat/tile/metrics/timers.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/record/log_writer.hpp>
#include <leat/tile/record/recorder.hpp>
#include <leat/tile/record/replay.hpp>
#include <leat/tile/record/value_store.hpp>
#include <leat/tile/spine/spine.hpp>
#include <leat/tile/spine/spine_scope.hpp>
