#include "launch/run.hpp"

#include <leat/base/os/child.hpp>
#include <leat/base/os/descriptor_wait.hpp>
#include <leat/base/os/endpoint.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace leat::tool {
namespace {

// How often Ctrl-C and the clock are looked at.
constexpr Nanos kLook = std::chrono::milliseconds(50);
// How long processes have to end by themselves when one has failed, and then to obey.
constexpr Nanos kGrace = std::chrono::seconds(10);
constexpr Nanos kToObey = std::chrono::seconds(3);

/// What comes out of one end of one process, cut into lines.
class Lines {
 public:
  Lines(os::PipeEnd& from, std::string prefix, const std::function<void(std::string_view)>& print)
      : from_(from), prefix_(std::move(prefix)), print_(print) {}

  /// Prints what has come. Returns: false when nothing comes any more.
  bool pump(os::DescriptorWait& poller) {
    if (is_over_) return false;
    std::array<std::byte, 4096> room;
    for (;;) {
      const Io io = from_.read(room);
      if (io.state == IoState::none) return true;
      if (io.state != IoState::some) break;
      part_.append(reinterpret_cast<const char*>(room.data()), io.bytes);
      for (std::size_t end = part_.find('\n'); end != std::string::npos; end = part_.find('\n')) {
        print_(prefix_ + part_.substr(0, end + 1));
        part_.erase(0, end + 1);
      }
    }
    if (!part_.empty()) print_(prefix_ + part_ + "\n");
    is_over_ = true;
    poller.remove(from_.descriptor());
    return false;
  }

 private:
  os::PipeEnd& from_;
  std::string prefix_;
  const std::function<void(std::string_view)>& print_;
  std::string part_;
  bool is_over_ = false;
};

struct Process {
  explicit Process(os::Child started) : child(std::move(started)) {}

  os::Child child;
  std::optional<Lines> out;
  std::optional<Lines> err;
  std::optional<os::ChildEnd> end;
};

class Launch {
 public:
  Launch(const RunLaunch& options, const LaunchWorld& world) : options_(options), world_(world) {}

  int run() {
    if (!start()) return static_cast<int>(ExitCode::runtime);
    for (;;) {
      poller_.wait(kLook);
      bool is_open = false;
      bool is_running = false;
      for (auto& process : processes_) {
        is_open = process->out->pump(poller_) || is_open;
        is_open = process->err->pump(poller_) || is_open;
        if (!process->end) note_end(*process);
        is_running = is_running || !process->end;
      }
      if (!is_running) {
        // What their own children still have to say is not waited for.
        for (auto& process : processes_) {
          static_cast<void>(process->out->pump(poller_));
          static_cast<void>(process->err->pump(poller_));
        }
        break;
      }
      look_after();
    }
    return signal_ != 0 ? 128 + signal_ : exit_code_;
  }

 private:
  bool start() {
    std::vector<os::Doorway> doors;
    std::string hosts;
    if (options_.fabric == "tcp") {
      for (std::size_t i = 0; i < options_.processes; ++i) {
        auto where = os::Endpoint::look_up("127.0.0.1:0");
        auto door = where ? os::Doorway::open(where->front())
                          : Result<os::Doorway>(std::move(where).error());
        if (!door) return refuse(door.error().message);
        hosts += (i == 0 ? "" : ",") + door->text();
        doors.push_back(std::move(*door));
      }
    }
    std::random_device random;
    const std::string cluster =
        "launch-" + std::to_string(random()) + "-" + std::to_string(random());
    for (std::size_t i = 0; i < options_.processes; ++i) {
      os::ChildSpec spec;
      spec.words = options_.program;
      spec.environment = {{"LEAT_PROCESSES", std::to_string(options_.processes)},
                          {"LEAT_PROCESS", std::to_string(i)},
                          {"LEAT_FABRIC", options_.fabric},
                          {"LEAT_CLUSTER", cluster}};
      if (options_.workers != 0) {
        spec.environment.emplace_back("LEAT_WORKERS", std::to_string(options_.workers));
      }
      if (!doors.empty()) {
        spec.environment.emplace_back("LEAT_HOSTS", hosts);
        spec.environment.emplace_back("LEAT_LISTEN", std::to_string(doors[i].descriptor()));
        spec.inherits.push_back(doors[i].descriptor());
      }
      auto child = os::Child::start(spec);
      if (!child) return refuse(child.error().message);
      auto& process = *processes_.emplace_back(std::make_unique<Process>(std::move(*child)));
      const std::string prefix = options_.is_plain ? "" : "[" + std::to_string(i) + "] ";
      process.out.emplace(process.child.out(), prefix, world_.out);
      process.err.emplace(process.child.err(), prefix, world_.err);
      for (const int descriptor : {process.child.out().descriptor(),
                                   process.child.err().descriptor(), process.child.descriptor()}) {
        poller_.add(descriptor);
      }
    }
    return true;
  }
  bool refuse(const std::string& why) {
    world_.err("leat launch: " + why + "\n");
    return false;
  }

  void note_end(Process& process) {
    process.end = process.child.look();
    if (!process.end) return;
    poller_.remove(process.child.descriptor());
    const int code = process.end->exit_code();
    if (code == 0 || exit_code_ != 0) return;
    exit_code_ = code;
    end_at_ = world_.clock.now() + kGrace;
    if (process.end->signal != 0 && signal_ == 0) {
      std::size_t number = 0;
      while (processes_[number].get() != &process) ++number;
      world_.err("leat launch: process " + std::to_string(number) + " was ended by signal " +
                 std::to_string(process.end->signal) + "\n");
    }
  }

  void look_after() {
    const Nanos now = world_.clock.now();
    if (signal_ == 0 && world_.interrupted) {
      if (const int signal = world_.interrupted(); signal != 0) {
        signal_ = signal;
        send_all(signal);
        kill_at_ = now + kToObey;
      }
    }
    if (end_at_ && now >= *end_at_) {
      end_at_.reset();
      send_all(SIGTERM);
      if (!kill_at_) kill_at_ = now + kToObey;
    }
    if (kill_at_ && now >= *kill_at_) {
      kill_at_.reset();
      send_all(SIGKILL);
    }
  }
  void send_all(int signal) {
    for (auto& process : processes_) {
      process->child.send(signal);
      // Who was stopped is to hear of it, too.
      process->child.send(SIGCONT);
    }
  }

  const RunLaunch& options_;
  const LaunchWorld& world_;
  os::DescriptorWait poller_;
  std::vector<std::unique_ptr<Process>> processes_;
  int exit_code_ = 0;
  int signal_ = 0;
  std::optional<Nanos> end_at_;
  std::optional<Nanos> kill_at_;
};

}  // namespace

int run_launch(const RunLaunch& options, const LaunchWorld& world) {
  return Launch(options, world).run();
}

}  // namespace leat::tool
