#include <leat/progress/watch/holding.hpp>

#include <algorithm>
#include <string_view>

#include <leat/progress/watch/event_text.hpp>

namespace leat::progress {

namespace {

std::string counted(std::int64_t count, const std::string& noun) {
  std::string plural = noun;
  if (plural.ends_with('y')) {
    plural.replace(plural.size() - 1, 1, "ies");
  } else {
    plural += 's';
  }
  return std::to_string(count) + " " + (count == 1 ? noun : plural);
}

/// Whose it is: the workers by name, or what this one knows of its own part.
std::string owners(const Holding& held, std::size_t worker, std::size_t peers) {
  const std::string here = "worker " + std::to_string(worker);
  if (peers == 1) return here;
  std::string booked;
  for (std::size_t at = 0; at < held.by_worker.size(); ++at) {
    if (held.by_worker[at] == 0) continue;
    booked += (booked.empty() ? "worker " : ", worker ") + std::to_string(at);
    if (held.by_worker[at] != 1) booked += " (" + std::to_string(held.by_worker[at]) + ")";
  }
  const std::string others =
      peers == 2 ? "worker " + std::to_string(1 - worker) : std::string("another worker");
  if (held.kind == Holding::Kind::records) {
    // The book says who sent what nobody consumed; within a worker that is who has it.
    const bool stays = std::string_view(held.pact) == "pipeline";
    if (stays && !booked.empty()) return booked;
    const bool some_here = held.unread && (held.unread->waiting || held.unread->kept > 0);
    const std::string who = !held.unread ? "some worker"
                            : some_here  ? here + ", perhaps on others"
                                         : others + ", not here";
    return booked.empty() ? who : who + ", sent by " + booked;
  }
  if (!booked.empty()) return booked;
  if (!held.held_here) return "some worker";
  const auto held_here = static_cast<std::int64_t>(*held.held_here);
  if (held_here == 0) return others + ", not here";
  if (held_here >= held.count_at_port) return here;
  return here + " and " + others;
}

std::string advice(const Holding& held) {
  if (held.is_due) return "it is about to run here: step the worker";
  if (held.kind == Holding::Kind::capability) {
    if (std::string_view(held.outside) == "input handle")
      return "advance the input handle, or close it";
    if (*held.outside != '\0') return std::string("release the ") + held.outside;
    return "release the capability, or downgrade it";
  }
  std::string text;
  const Unread unread = held.unread.value_or(Unread{});
  if (unread.waiting) text = "messages wait to be taken here";
  if (unread.kept > 0) {
    text += (text.empty() ? "" : ", and ") + std::string("it keeps ") +
            counted(static_cast<std::int64_t>(unread.kept), "message") + " that it took here";
  }
  return text.empty() ? "take them, and let go of the messages" : text;
}

std::string line(const Holding& held, std::size_t worker, std::size_t peers) {
  std::string text = "  at " + held.time + ": " + held.who + " " + text_of(held.address);
  if (held.kind == Holding::Kind::capability) {
    text +=
        " holds " + counted(held.count, "capability") + " for output " + std::to_string(held.port);
    if (*held.outside != '\0') text += ", outside, in its " + std::string(held.outside);
  } else {
    text += " has not consumed " + counted(held.count, "record") + " of input " +
            std::to_string(held.port);
  }
  return text + "; on " + owners(held, worker, peers) + ": " + advice(held) + "\n";
}

}  // namespace

std::string where_is_it_stuck(const std::string& title, const std::vector<Holding>& holdings,
                              std::size_t worker, std::size_t peers) {
  const auto blocking = std::count_if(holdings.begin(), holdings.end(), [](const Holding& held) {
    return held.blocks && held.count > 0;
  });
  const auto behind = std::count_if(holdings.begin(), holdings.end(), [](const Holding& held) {
    return !held.blocks && held.count > 0;
  });
  const auto under_way = std::count_if(holdings.begin(), holdings.end(),
                                       [](const Holding& held) { return held.count < 0; });
  const std::string view = title + ", as worker " + std::to_string(worker) + " sees it: ";
  if (blocking + behind + under_way == 0) return view + "nothing holds it back\n";
  std::string text = view + "what its frontiers wait for\n";
  for (const Holding& held : holdings) {
    if (held.blocks && held.count > 0) text += line(held, worker, peers);
  }
  if (behind > 0) {
    text += "  " + std::to_string(behind) + " more stand" + (behind == 1 ? "s" : "") +
            " behind these\n";
  }
  if (under_way > 0) text += "  reports of peers are under way: look again\n";
  return text;
}

}  // namespace leat::progress
