#include <leat/actor/io/process.hpp>

#include <leat/actor/io/blocking.hpp>

#include <cerrno>

namespace leat::actor {

Result<Process> Process::start(const std::vector<std::string>& words) {
  (void)Reactor::here();  // says so, before a program runs that nobody can wait for
  Result<os::Program> program = os::start_program(words);
  if (!program) return std::move(program).error();
  Result<Polled> exit = Polled::adopt(std::move(program->exit));
  Result<Stream> input = Stream::adopt(std::move(program->input));
  Result<Stream> output = Stream::adopt(std::move(program->output));
  if (!exit || !input || !output) {
    os::kill_program(*program);
    (void)os::reap(*program);
    return !exit ? exit.error() : !input ? input.error() : output.error();
  }
  return Process(std::move(*program), std::move(*exit), std::move(*input), std::move(*output));
}

Process::~Process() {
  if (!exit_ || end_) return;
  os::kill_program(program_);
  (void)os::reap(program_);
}

std::optional<ProgramEnd> Process::wait(Nanos deadline) {
  if (end_) return end_;
  const Transfer ended = exit_.until_done(Polled::Side::read, deadline, [&]() -> Transfer {
    return os::has_ended(program_) ? Transfer{1, 0} : Transfer{0, EAGAIN};
  });
  if (!ended.ok()) return std::nullopt;
  end_ = os::reap(program_);
  return end_;
}

Result<SignalWatch> SignalWatch::open(std::initializer_list<int> signals) {
  Result<os::Descriptor> descriptor =
      os::watch_signals(std::span<const int>(signals.begin(), signals.size()));
  if (!descriptor) return std::move(descriptor).error();
  Result<Polled> polled = Polled::adopt(std::move(*descriptor));
  if (!polled) return std::move(polled).error();
  return SignalWatch(std::move(*polled));
}

int SignalWatch::next(Nanos deadline) {
  int signal = 0;
  (void)polled_.until_done(Polled::Side::read, deadline, [&]() -> Transfer {
    signal = os::try_take_signal(polled_.number());
    return signal != 0 ? Transfer{1, 0} : Transfer{0, EAGAIN};
  });
  return signal;
}

Result<File> File::open(const std::string& path, Mode mode) {
  Result<os::Descriptor> descriptor =
      blocking([&] { return os::open_file(path, mode != Mode::read, mode == Mode::create); });
  if (!descriptor) return std::move(descriptor).error();
  return File(std::move(*descriptor));
}

Transfer File::read_at(std::span<std::byte> into, std::uint64_t offset) const {
  return blocking([&]() -> Transfer {
    std::size_t count = 0;
    while (count < into.size()) {
      const Transfer got = os::read_at(descriptor_.number(), into.subspan(count), offset + count);
      count += got.count;
      if (!got.ok()) return {count, got.error};
      if (got.count == 0) break;
    }
    return {count, 0};
  });
}

Transfer File::write_at(std::span<const std::byte> bytes, std::uint64_t offset) const {
  return blocking([&]() -> Transfer {
    std::size_t count = 0;
    while (count < bytes.size()) {
      const Transfer put = os::write_at(descriptor_.number(), bytes.subspan(count), offset + count);
      count += put.count;
      if (!put.ok()) return {count, put.error};
    }
    return {count, 0};
  });
}

}  // namespace leat::actor
