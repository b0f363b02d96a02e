#include <leat/progress/watch/channel_log.hpp>

#include <array>

namespace leat::progress {

MessagesEvent ChannelLog::message(bool is_send, std::size_t from, std::size_t to,
                                  std::size_t records) {
  std::uint64_t& next = is_send ? sent_[to] : received_[from];
  return {is_send, channel_, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to),
          next++,  records};
}

void ChannelLog::sent(std::size_t to, std::size_t records) {
  logger_.log(message(true, worker_, to, records));
}

void ChannelLog::received(std::size_t from, std::size_t records) {
  logger_.log(message(false, from, worker_, records));
}

void ChannelLog::crossed(std::size_t records) {
  logger_.log_many(std::array{message(true, worker_, worker_, records),
                              message(false, worker_, worker_, records)});
}

void ChannelLog::reaches_peers() {
  if (sent_.size() > 1) logger_.log(CommChannelsEvent{channel_, CommChannelsEvent::Kind::data});
}

}  // namespace leat::progress
