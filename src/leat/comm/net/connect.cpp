#include <leat/comm/net/connect.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <utility>

#include <leat/base/os/descriptor_wait.hpp>
#include <leat/base/os/endpoint.hpp>
#include <leat/base/os/process.hpp>
#include <leat/base/os/program.hpp>
#include <leat/comm/net/handshake.hpp>
#include <leat/comm/net/shared_transport.hpp>

namespace leat::comm {

namespace {

constexpr Nanos kHandshakeTime = std::chrono::seconds(5);
constexpr Nanos kFirstPause = std::chrono::milliseconds(5);
constexpr Nanos kLongestPause = std::chrono::milliseconds(500);
constexpr Nanos kSayEvery = std::chrono::seconds(60);
constexpr Nanos kLookAgain = std::chrono::milliseconds(20);
constexpr std::size_t kStrangersAtOnce = 128;
constexpr int kAcceptsAtOnce = 64;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string seconds(Nanos time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

/// A connection whose other end has not proved itself yet.
struct Talk {
  os::Socket socket;
  Handshake handshake;
  Nanos deadline;
  std::optional<std::size_t> process{};  // whom this side called
  std::vector<std::byte> unsent{};
};

/// How far it is with one other process.
struct Peer {
  std::vector<std::string> addresses;  // to call it at; of a lower one
  std::size_t next_address = 0;
  std::size_t attempts = 0;
  std::optional<os::Connecting> call;
  bool talks = false;
  Nanos call_at{0};
  Nanos pause = kFirstPause;
  std::string trouble = "it has not come yet";
  std::unique_ptr<Transport> transport;
  // In shared memory: the socket of a client that waits for the memory.
  std::optional<os::Socket> waits_for_memory;
};

class Connector {
 public:
  Connector(const core::Network& network, std::size_t workers, bool report, const Clock& clock)
      : network_(network), report_(report), clock_(clock), peers_(network.processes) {
    self_.process = static_cast<std::uint32_t>(network.process);
    self_.processes = static_cast<std::uint32_t>(network.processes);
    self_.workers = static_cast<std::uint32_t>(workers);
    self_.fabric = is_shared() ? 1 : 0;
    self_.cluster = network.cluster;
    self_.program = os::program_build();
    self_.program_name = os::program_name();
    self_.types = record_types();
    std::random_device random;
    self_.nonce = std::uint64_t{random()} << 32 | random();
  }

  Result<Connected> run() {
    if (auto done = read_secret(); !done) return std::move(done).error();
    if (auto done = open_doors(); !done) return std::move(done).error();
    const Nanos begin = clock_.now();
    Nanos say_at = begin + kSayEvery;
    while (!failed_ && !is_complete()) {
      const Nanos now = clock_.now();
      if (now - begin > network_.connect_timeout) return too_late(now - begin);
      if (now >= say_at) {
        say(waiting_for() + "; waited " + seconds(now - begin) + " of " +
            seconds(network_.connect_timeout));
        say_at = now + kSayEvery;
      }
      call(now);
      accept(now);
      talk(now);
      take_memory();
      if (!failed_ && !is_complete()) wait();
    }
    if (failed_) return *failed_;
    Connected connected;
    connected.refused = refused_;
    for (std::size_t process = 0; process < peers_.size(); ++process) {
      if (process == network_.process) continue;
      connected.connections.push_back(
          {process, name_of(process), std::move(peers_[process].transport)});
    }
    return connected;
  }

 private:
  [[nodiscard]] bool is_shared() const noexcept { return network_.fabric == core::FabricKind::shm; }
  [[nodiscard]] std::string address_of(std::size_t process) const {
    if (!is_shared()) return host_of(network_, process);
    return "unix:@leat-" + std::to_string(os::effective_user()) + "-" + network_.cluster + "-" +
           std::to_string(process);
  }
  [[nodiscard]] std::string name_of(std::size_t process) const {
    const std::string name = "process " + std::to_string(process);
    return is_shared() || !network_.sockets.empty() ? name
                                                    : name + " (" + address_of(process) + ")";
  }

  Result<void> read_secret() {
    if (network_.secret_file.empty()) return {};
    std::ifstream file(network_.secret_file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (!file || text.size() < 8) {
      return Error{"secret: expected a file of at least 8 bytes, found \"" + network_.secret_file +
                   "\" " + (file ? "with " + std::to_string(text.size()) : "unreadable")};
    }
    const auto bytes = std::as_bytes(std::span(text));
    secret_.assign(bytes.begin(), bytes.end());
    return {};
  }

  Result<void> open_doors() {
    for (std::size_t process = 0; process < network_.process; ++process) {
      peers_[process].addresses =
          is_shared() ? std::vector{address_of(process)} : words_of(address_of(process));
    }
    if (!network_.sockets.empty()) return take_sockets();
    if (network_.listener >= 0 && !is_shared()) {
      auto door = os::Doorway::adopt(os::Descriptor(network_.listener));
      if (!door) return std::move(door).error();
      doors_.push_back(std::move(*door));
    } else if (network_.process + 1 < network_.processes) {
      // Those with higher numbers call; the last one has nobody to wait for.
      const std::string own = address_of(network_.process);
      for (const std::string& word : is_shared() ? std::vector{own} : words_of(own)) {
        auto endpoints = os::Endpoint::look_up(word);
        if (!endpoints) return std::move(endpoints).error();
        std::optional<Error> trouble;
        bool is_open = false;
        for (const os::Endpoint& endpoint : *endpoints) {
          auto door = os::Doorway::open(endpoint);
          if (door) {
            doors_.push_back(std::move(*door));
            is_open = true;
          } else if (!trouble) {
            trouble = std::move(door).error();
          }
        }
        if (!is_open) return *trouble;
      }
    }
    for (const os::Doorway& door : doors_) {
      poller_.add(door.descriptor());
      if (!door.is_local() && secret_.empty() && !network_.insecure) {
        return Error{
            "listening at " + door.text() +
            ": others than this host can reach it; say who may with --secret-file, or that "
            "all may with --insecure"};
      }
      if (report_) say("listens at " + door.text());
    }
    return {};
  }

  Result<void> take_sockets() {
    if (network_.sockets.size() != network_.processes) {
      return Error{"sockets: expected one for each of " + std::to_string(network_.processes) +
                   " processes, found " + std::to_string(network_.sockets.size())};
    }
    for (std::size_t process = 0; process < network_.processes; ++process) {
      if (process == network_.process) continue;
      begin_talk(os::Socket(os::Descriptor(network_.sockets[process])),
                 process < network_.process ? Side::client : Side::server, process);
    }
    return {};
  }

  // -- Calling those with lower numbers -----------------------------------------------------------

  void call(Nanos now) {
    if (!network_.sockets.empty()) return;
    for (std::size_t process = 0; process < network_.process; ++process) {
      Peer& peer = peers_[process];
      if (peer.transport || peer.talks || peer.waits_for_memory) continue;
      if (!peer.call) {
        if (now < peer.call_at) continue;
        begin_call(peer, now);
        if (!peer.call) continue;
      }
      const int descriptor = peer.call->descriptor();  // it is the socket's afterwards
      auto socket = peer.call->look();
      if (!socket) {
        hang_up(peer, now, socket.error().message);
      } else if (*socket) {
        poller_.remove(descriptor);
        peer.call.reset();
        begin_talk(std::move(**socket), Side::client, process);
      }
    }
  }
  void begin_call(Peer& peer, Nanos now) {
    const std::string& address = peer.addresses[peer.next_address++ % peer.addresses.size()];
    auto endpoints = os::Endpoint::look_up(address);
    if (!endpoints) {
      hang_up(peer, now, endpoints.error().message);
      return;
    }
    // The better address first, then the others in turn.
    auto begun = os::Connecting::begin((*endpoints)[peer.attempts++ % endpoints->size()]);
    if (!begun) {
      hang_up(peer, now, begun.error().message);
      return;
    }
    peer.call = std::move(*begun);
    poller_.add(peer.call->descriptor(), true);
  }
  void hang_up(Peer& peer, Nanos now, const std::string& trouble) {
    if (peer.call) {
      poller_.remove(peer.call->descriptor());
      peer.call.reset();
    }
    peer.talks = false;
    peer.trouble = trouble;
    peer.call_at = now + peer.pause;
    peer.pause = std::min(2 * peer.pause, kLongestPause);
  }

  // -- Those who call -----------------------------------------------------------------------------

  void accept(Nanos /*now*/) {
    for (os::Doorway& door : doors_) {
      for (int i = 0; i < kAcceptsAtOnce; ++i) {
        auto socket = door.accept();
        if (!socket || !*socket) break;
        if (is_shared() && !(*socket)->is_of_same_user()) {
          refuse_stranger("a process of another user");
          continue;
        }
        begin_talk(std::move(**socket), Side::server, std::nullopt);
      }
    }
    while (talks_.size() > kStrangersAtOnce + peers_.size()) {
      const auto oldest = std::find_if(talks_.begin(), talks_.end(),
                                       [](const auto& talk) { return !talk->process; });
      if (oldest == talks_.end()) break;
      poller_.remove((*oldest)->socket.descriptor());
      talks_.erase(oldest);
      refuse_stranger("it said nothing, and others wait");
    }
  }
  void refuse_stranger(const std::string& why) {
    ++refused_;
    last_refused_ = why;
    if (report_) say("dropped a connection: " + why);
    if (!network_.log) return;
    core::NetworkEvent event;
    event.kind = core::NetworkEvent::Kind::refused;
    event.text = why;
    network_.log(event);
  }

  // -- Shaking hands ------------------------------------------------------------------------------

  void begin_talk(os::Socket socket, Side side, std::optional<std::size_t> process) {
    Handshake handshake(side, self_, secret_, [this, process](const Identity& peer) -> std::string {
      if (process && peer.process != *process) {
        return "it is process " + std::to_string(peer.process) + ", where process " +
               std::to_string(*process) + " should be";
      }
      if (peers_[peer.process].transport || peers_[peer.process].waits_for_memory) {
        return "process " + std::to_string(peer.process) + " is here already";
      }
      return {};
    });
    if (process) peers_[*process].talks = true;
    poller_.add(socket.descriptor());
    talks_.push_back(std::make_unique<Talk>(
        Talk{std::move(socket), std::move(handshake), clock_.now() + kHandshakeTime, process}));
  }

  void talk(Nanos now) {
    for (std::size_t i = 0; i < talks_.size() && !failed_;) {
      if (go_on(*talks_[i], now)) {
        ++i;
      } else {
        talks_.erase(talks_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  // Returns: whether it goes on.
  bool go_on(Talk& talk, Nanos now) {
    Handshake& handshake = talk.handshake;
    std::string trouble;
    bool is_open = write(talk);
    while (is_open && handshake.state() == Handshake::State::going_on && handshake.wants() > 0) {
      std::array<std::byte, 512> room;
      const Io io =
          talk.socket.read(std::span(room).first(std::min(room.size(), handshake.wants())));
      if (io.state == IoState::none) break;
      if (io.state != IoState::some) {
        trouble = io.state == IoState::over ? "it hung up" : talk.socket.error().message;
        is_open = false;
        break;
      }
      handshake.feed(std::span(room).first(io.bytes));
      is_open = write(talk);
    }
    if (handshake.state() == Handshake::State::going_on) {
      if (is_open && now < talk.deadline) return true;
      if (trouble.empty()) trouble = is_open ? "it said too little, too slowly" : "it hung up";
      give_up(talk, now, trouble);
      return false;
    }
    if (handshake.state() == Handshake::State::refused) {
      if (handshake.is_disagreement()) {
        failed_ = Error{"connecting: " +
                        (talk.process ? name_of(*talk.process)
                                      : "process " + std::to_string(handshake.peer().process)) +
                        ": " + handshake.reason()};
        poller_.remove(talk.socket.descriptor());
        talk.socket.finish_writing();
      } else {
        give_up(talk, now, handshake.reason());
      }
      return false;
    }
    if (!talk.unsent.empty() && is_open) return true;  // the welcome is to be written yet
    take(talk, handshake.peer().process);
    return false;
  }
  // Returns: false if nothing can be written any more.
  bool write(Talk& talk) {
    const auto output = talk.handshake.take_output();
    talk.unsent.insert(talk.unsent.end(), output.begin(), output.end());
    while (!talk.unsent.empty()) {
      const Io io = talk.socket.write(talk.unsent);
      if (io.state == IoState::none) return true;
      if (io.state != IoState::some) return false;
      talk.unsent.erase(talk.unsent.begin(),
                        talk.unsent.begin() + static_cast<std::ptrdiff_t>(io.bytes));
    }
    return true;
  }
  void give_up(Talk& talk, Nanos now, const std::string& trouble) {
    poller_.remove(talk.socket.descriptor());
    if (!talk.process) {
      refuse_stranger(trouble);
    } else if (!network_.sockets.empty()) {
      failed_ = Error{"connecting: " + name_of(*talk.process) + ": " + trouble};
    } else {
      hang_up(peers_[*talk.process], now, trouble);
    }
  }

  // -- What a handshake leads to ------------------------------------------------------------------

  void take(Talk& talk, std::size_t process) {
    Peer& peer = peers_[process];
    peer.talks = false;
    if (!is_shared()) {
      poller_.remove(talk.socket.descriptor());
      peer.transport = std::make_unique<SocketTransport>(std::move(talk.socket));
    } else if (process < network_.process) {
      peer.waits_for_memory = std::move(talk.socket);  // which the other side makes
      return;
    } else {
      poller_.remove(talk.socket.descriptor());
      auto made = SharedTransport::make(std::move(talk.socket));
      if (!made) {
        failed_ = std::move(made).error();
        return;
      }
      peer.transport = std::move(*made);
    }
    if (report_) say(name_of(process) + " is here");
  }
  void take_memory() {
    for (std::size_t process = 0; process < peers_.size() && !failed_; ++process) {
      Peer& peer = peers_[process];
      if (!peer.waits_for_memory) continue;
      os::Descriptor descriptor;
      const Io io = peer.waits_for_memory->receive_descriptor(descriptor);
      if (io.state == IoState::none) continue;
      poller_.remove(peer.waits_for_memory->descriptor());
      if (io.state != IoState::some || !descriptor) {
        failed_ = Error{"connecting: " + name_of(process) + ": it sent no memory"};
        return;
      }
      auto joined = SharedTransport::join(std::move(*peer.waits_for_memory), std::move(descriptor));
      peer.waits_for_memory.reset();
      if (!joined) {
        failed_ = std::move(joined).error();
        return;
      }
      peer.transport = std::move(*joined);
      if (report_) say(name_of(process) + " is here");
    }
  }

  // -- Waiting ------------------------------------------------------------------------------------

  [[nodiscard]] bool is_complete() const {
    for (std::size_t process = 0; process < peers_.size(); ++process) {
      if (process != network_.process && !peers_[process].transport) return false;
    }
    return true;
  }
  void wait() { poller_.wait(kLookAgain); }

  [[nodiscard]] std::string waiting_for() const {
    std::string text = "waits for";
    const char* between = " ";
    for (std::size_t process = 0; process < peers_.size(); ++process) {
      if (process == network_.process || peers_[process].transport) continue;
      text += between + name_of(process) + " (" + peers_[process].trouble + ")";
      between = ", ";
    }
    return text;
  }
  [[nodiscard]] Error too_late(Nanos waited) const {
    const std::string strangers = refused_ == 0
                                      ? std::string()
                                      : "; turned away " + std::to_string(refused_) +
                                            " connections, the last one since " + last_refused_;
    return Error{"connecting: process " + std::to_string(network_.process) + " " + waiting_for() +
                 "; waited " + seconds(waited) + strangers +
                 "; start them, or wait longer with --connect-timeout"};
  }
  void say(const std::string& text) const {
    std::fprintf(stderr, "leat: process %zu %s\n", network_.process, text.c_str());
  }

  const core::Network& network_;
  bool report_;
  const Clock& clock_;
  Identity self_;
  std::vector<std::byte> secret_;
  std::vector<os::Doorway> doors_;
  std::vector<Peer> peers_;
  std::vector<std::unique_ptr<Talk>> talks_;
  os::DescriptorWait poller_;
  std::optional<Error> failed_;
  std::uint64_t refused_ = 0;
  std::string last_refused_;
};

}  // namespace

std::string host_of(const core::Network& network, std::size_t process) {
  if (process < network.hosts.size()) return network.hosts[process];
  return "localhost:" + std::to_string(2101 + process);
}

Result<Connected> connect_processes(const core::Network& network, std::size_t workers, bool report,
                                    const Clock& clock) {
  return Connector(network, workers, report, clock).run();
}

}  // namespace leat::comm
