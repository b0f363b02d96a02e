// A chat room: the room is a server, each guest an actor. The room watches its guests: one that ends, in
// whatever way, has left, and the others are told.
//
//   $ chat_room -w 2
//   anna hears: ben came, ben: hello, ben left
//   carl hears: anna came, ben came, ben: hello, ben left
//   2 guests are in the room
#include <leat/actor/kit/server.hpp>
#include <leat/actor/runtime.hpp>
#include <leat/actor/supervise/links.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leat::actor;

// [room]
struct Heard {
  std::string text;
};
struct Enter {
  using Reply = Done;
  Pid guest;
  std::string name;
};
struct Say {
  Pid guest;
  std::string text;
};
struct Count {
  using Reply = std::size_t;
};

class Room : public Server<Room> {
 public:
  using Takes = Messages<Enter, Say, Count>;

  Done handle(Enter enter) {
    tell_all(enter.name + " came");
    guests_[enter.guest] = {enter.name, monitor(enter.guest)};
    return {};
  }
  void handle(Say say) {
    const std::string line = guests_[say.guest].name + ": " + say.text;
    tell_all(line, say.guest);
  }
  std::size_t handle(Count) { return guests_.size(); }
  void handle(Down down) {
    const std::string name = guests_[down.pid].name;
    guests_.erase(down.pid);
    tell_all(name + " left");
  }

 private:
  struct Guest {
    std::string name;
    Monitor watch;
  };
  void tell_all(const std::string& text, Pid but = Pid()) {
    for (const auto& [pid, guest] : guests_) {
      if (pid != but) (void)send(pid, Heard{text});
    }
  }
  std::map<Pid, Guest> guests_;
};
// [/room]

struct Stop {};

// Listens until it has heard so much. Returns: what it heard.
std::string listen(Pid room, const std::string& name, std::size_t lines) {
  if (!ask(room, Enter{self(), name})) throw std::runtime_error("there is no room");
  std::string heard;
  for (std::size_t i = 0; i < lines; ++i) {
    heard += (i == 0 ? "" : ", ") + receive<Heard>().text;
  }
  receive<Stop>();  // it stays for a while
  return heard;
}

void evening() {
  const auto room = start_server<Room>().ref;
  const auto wait_for = [&](std::size_t guests) {
    while (*room.ask(Count{}) < guests) yield_now();
  };
  auto carl = spawn([pid = room.pid()] { return listen(pid, "carl", 4); });
  wait_for(1);
  auto anna = spawn([pid = room.pid()] { return listen(pid, "anna", 3); });
  wait_for(2);
  auto ben = spawn([pid = room.pid()] {
    (void)ask(pid, Enter{self(), "ben"});
    (void)send(pid, Say{self(), "hello"});
    throw std::runtime_error("ben's connection is lost");
  });
  (void)ben.join_result();
  while (*room.ask(Count{}) > 2) yield_now();
  const std::size_t left = *room.ask(Count{});
  (void)send(anna.pid(), Stop{});
  (void)send(carl.pid(), Stop{});
  std::printf("anna hears: %s\n", anna.join().c_str());
  std::printf("carl hears: %s\n", carl.join().c_str());
  std::printf("%zu guests are in the room\n", left);
  cancel(room.pid());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t threads = 1;
  if (argc == 3 && std::string_view(argv[1]) == "-w") threads = std::strtoul(argv[2], nullptr, 10);
  Runtime runtime(Config::exact(threads));
  runtime.run(evening);
}
