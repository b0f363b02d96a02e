#include <leat/progress/watch/event_text.hpp>

namespace leat::progress {

namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

struct Text {
  std::string operator()(const OperatesEvent& e) const {
    return std::string(e.is_scope ? "scope " : "operator ") + number(e.id) + " " +
           text_of(e.address) + " \"" + e.name + "\" (" + e.place + ")";
  }
  std::string operator()(const ChannelsEvent& e) const {
    return "channel " + number(e.id) + " in " + text_of(e.edge.scope) + ": " + number(e.edge.from) +
           ".out" + number(e.edge.output) + " -> " + number(e.edge.to) + ".in" +
           number(e.edge.input) + ", " + e.edge.pact + " of " + e.type;
  }
  std::string operator()(const CommChannelsEvent& e) const {
    return std::string(e.kind == CommChannelsEvent::Kind::data ? "shared channel "
                                                               : "shared progress of scope ") +
           number(e.id);
  }
  std::string operator()(const PushProgressEvent& e) const {
    return "frontier changed " + number(e.id);
  }
  std::string operator()(const MessagesEvent& e) const {
    return std::string(e.is_send ? "sent" : "received") + " on channel " + number(e.channel) +
           ": " + number(e.records) + " records from " + number(e.from) + " to " + number(e.to) +
           " #" + number(e.sequence);
  }
  std::string operator()(const ScheduleEvent& e) const {
    return "schedule " + number(e.id) + (e.kind == ScheduleEvent::Kind::start ? " start" : " stop");
  }
  std::string operator()(const ShutdownEvent& e) const { return "shutdown " + number(e.id); }
  std::string operator()(const ParkEvent& e) const {
    if (e.kind == ParkEvent::Kind::unpark) return "unpark";
    if (!e.timeout) return "park";
    return "park for " + std::to_string(e.timeout->count()) + "ns";
  }
  std::string operator()(const TextEvent& e) const { return "text " + e.text; }
};

}  // namespace

std::string text_of(const WorkerEvent& event) { return std::visit(Text{}, event); }

std::string text_of(const Sketch::Address& address) {
  std::string text = "[";
  for (std::size_t i = 0; i < address.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(address[i]);
  return text + "]";
}

}  // namespace leat::progress
