#include <leat/comm/net/shared_transport.hpp>

#include <array>
#include <utility>

namespace leat::comm {

SharedTransport::SharedTransport(os::Socket socket, os::SharedPages pages, bool is_maker)
    : socket_(std::move(socket)),
      pages_(std::move(pages)),
      out_(is_maker ? pages_.memory().first(kBytes / 2) : pages_.memory().last(kBytes / 2)),
      in_(is_maker ? pages_.memory().last(kBytes / 2) : pages_.memory().first(kBytes / 2)) {}

Result<std::unique_ptr<Transport>> SharedTransport::make(os::Socket socket) {
  auto pages = os::SharedPages::make(kBytes);
  if (!pages) return std::move(pages).error();
  if (!socket.send_descriptor(pages->descriptor())) {
    return Error{"connecting: the shared memory cannot be handed on"};
  }
  return std::unique_ptr<Transport>(
      new SharedTransport(std::move(socket), std::move(*pages), true));
}

Result<std::unique_ptr<Transport>> SharedTransport::join(os::Socket socket, os::Descriptor memory) {
  auto pages = os::SharedPages::of(std::move(memory), kBytes);
  if (!pages) return std::move(pages).error();
  return std::unique_ptr<Transport>(
      new SharedTransport(std::move(socket), std::move(*pages), false));
}

void SharedTransport::wake_peer() noexcept {
  const std::byte one{1};
  // No room on the socket means that it is to be woken already.
  static_cast<void>(socket_.write(std::span(&one, 1)));
}

Io SharedTransport::read(std::span<std::byte> into) {
  const bool was_gone = is_gone_;  // before the look: nothing is written after it
  const std::size_t count = in_.read(into);
  if (count > into.size()) {
    error_ = Error{"the counts of its ring cannot be"};
    return {IoState::broken, 0};
  }
  if (count > 0) {
    if (in_.must_wake()) wake_peer();
    return {IoState::some, count};
  }
  if (is_broken_) return {IoState::broken, 0};
  return {was_gone ? IoState::over : IoState::none, 0};
}

Io SharedTransport::write(std::span<const std::span<const std::byte>> parts) {
  if (is_broken_) return {IoState::broken, 0};
  std::size_t asked = 0;
  for (const auto part : parts) asked += part.size();
  const std::size_t count = out_.write(parts);
  is_full_ = count != asked;
  if (count == 0) return {IoState::none, 0};
  if (out_.must_wake()) wake_peer();
  return {IoState::some, count};
}

void SharedTransport::finish_writing() noexcept { socket_.finish_writing(); }

bool SharedTransport::may_sleep() {
  if (is_gone_) return true;
  if (!in_.may_sleep()) return false;
  return !is_full_ || out_.may_sleep_for_room();
}

void SharedTransport::awake() noexcept {
  in_.awake();
  std::array<std::byte, 64> rings;
  while (!is_gone_) {
    const Io io = socket_.read(rings);
    if (io.state == IoState::none) return;
    if (io.state == IoState::over) is_gone_ = true;
    if (io.state == IoState::broken) {
      is_gone_ = true;
      is_broken_ = true;
      error_ = socket_.error();
    }
  }
}

}  // namespace leat::comm
