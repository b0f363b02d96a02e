// What      Everything an author of dataflows includes; `namespace df = leat::dataflow;` is the
//           habit.
#pragma once

#include <leat/dataflow/activator.hpp>
#include <leat/dataflow/backlog.hpp>
#include <leat/dataflow/boundary.hpp>
#include <leat/dataflow/builder.hpp>
#include <leat/dataflow/execute.hpp>
#include <leat/dataflow/hash.hpp>
#include <leat/dataflow/input.hpp>
#include <leat/dataflow/logging/events.hpp>
#include <leat/dataflow/notificator.hpp>
#include <leat/dataflow/operators/accumulate.hpp>
#include <leat/dataflow/operators/delay.hpp>
#include <leat/dataflow/operators/feedback.hpp>
#include <leat/dataflow/operators/inspect.hpp>
#include <leat/dataflow/operators/iterate_while.hpp>
#include <leat/dataflow/operators/map.hpp>
#include <leat/dataflow/operators/merge.hpp>
#include <leat/dataflow/operators/routing.hpp>
#include <leat/dataflow/operators/split.hpp>
#include <leat/dataflow/operators/state_machine.hpp>
#include <leat/dataflow/operators/to_stream.hpp>
#include <leat/dataflow/operators/unary.hpp>
#include <leat/dataflow/probe.hpp>
#include <leat/dataflow/unordered_input.hpp>
#include <leat/dataflow/worker.hpp>
