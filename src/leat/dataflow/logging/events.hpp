// What      The events of a worker's logs under the names that authors of dataflows use, and as text.
#pragma once

#include <leat/core/log_registry.hpp>
#include <leat/progress/watch/event_text.hpp>
#include <leat/progress/watch/events.hpp>

namespace leat::dataflow {

using core::LogBatch;
using core::Logged;
using core::Logger;
using core::LogRegistry;

using progress::ChannelsEvent;
using progress::CommChannelsEvent;
using progress::MessagesEvent;
using progress::OperatesEvent;
using progress::ParkEvent;
using progress::ProgressEvent;
using progress::PushProgressEvent;
using progress::ScheduleEvent;
using progress::ShutdownEvent;
using progress::SummaryEvent;
using progress::TextEvent;
using progress::TrackerEvent;
using progress::WorkerEvent;

using progress::kEventStream;
using progress::progress_stream;
using progress::reachability_stream;
using progress::summary_stream;

using progress::text_of;

}  // namespace leat::dataflow
