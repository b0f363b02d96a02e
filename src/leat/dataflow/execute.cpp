#include <leat/dataflow/execute.hpp>

#include <cstdio>
#include <string_view>

#include <leat/comm/net/connect.hpp>
#include <leat/comm/net/links.hpp>
#include <leat/core/options.hpp>

namespace leat::dataflow::internal {

namespace {
constexpr int kOk = 0;
constexpr int kRuntimeError = 1;
constexpr int kUsageError = 2;
}  // namespace

const Clock& steady_clock() {
  static const RealClock clock;
  return clock;
}

Error no_workers() { return Error{"workers: expected a whole number from 1, found 0"}; }

namespace {

// Memory that the program made, as a buffer has it.
struct Foreign {
  core::OwnedBytes bytes;
  operator std::span<std::byte>() const noexcept { return bytes.memory; }
};

// A process of this host, as far as its address says.
bool is_here(const std::string& host) {
  for (const char* const start : {"localhost:", "127.", "[::1]:", "unix:"}) {
    if (host.starts_with(start)) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<comm::Fabric>> make_fabric(const core::Config& config) {
  const core::Network& network = config.network;
  const bool is_shared = network.fabric == core::FabricKind::shm;
  comm::FabricOptions options;
  options.workers = config.workers;
  options.processes = network.processes;
  options.process = network.process;
  options.notify = config.notify;
  options.zerocopy = config.zerocopy;
  options.checks_bytes = !is_shared;
  options.refill.spares_max = network.spares_max;
  if (network.refill) {
    options.refill.make = [make = network.refill](std::size_t bytes) {
      return comm::ByteBuffer(Foreign{make(bytes)});
    };
  }
  if (network.processes == 1) return std::make_unique<comm::Fabric>(options);
  if (network.process >= network.processes) {
    return Error{"process: expected a number below that of processes, " +
                 std::to_string(network.processes) + ", found " + std::to_string(network.process)};
  }
  for (std::size_t process = 0; process < network.processes; ++process) {
    if (process == network.process) continue;
    if (is_shared || is_here(comm::host_of(network, process))) ++options.processes_here;
  }
  auto connected = comm::connect_processes(network, config.workers, config.report, steady_clock());
  if (!connected) return std::move(connected).error();
  auto fabric = std::make_unique<comm::Fabric>(options);
  comm::LinkOptions links;
  links.peer_timeout = network.peer_timeout;
  links.message_bytes_max = network.message_bytes_max;
  links.checks_bytes = options.checks_bytes;
  links.refill = options.refill;
  links.log = network.log;
  links.on_peer_lost = network.on_peer_lost;
  fabric->connect(std::make_unique<comm::Links>(*fabric, std::move(connected->connections),
                                                std::move(links), steady_clock()));
  return fabric;
}

CommandLine read_command_line(int argc, const char* const* argv) {
  auto parsed = core::parse_args(argc, argv);
  if (!parsed) return {{}, {}, parsed.error(), kUsageError, false};
  if (parsed->help) return {{}, {}, Error{std::string(core::usage())}, kOk, true};
  return {std::move(parsed->config), std::move(parsed->free), std::nullopt, kOk, false};
}

int report(const Error& refusal, int exit_code, bool is_help) {
  std::fprintf(is_help ? stdout : stderr, "%s\n", refusal.message.c_str());
  return exit_code;
}

int report(const std::vector<comm::Ending>& endings, std::size_t first) {
  int exit_code = kOk;
  for (std::size_t worker = 0; worker < endings.size(); ++worker) {
    const auto& ending = endings[worker];
    if (!ending.error) continue;
    exit_code = kRuntimeError;
    if (ending.stopped) continue;  // it only followed the one that failed
    const std::string said = comm::message_of(ending.error);
    const bool is_said = ending.where.empty() || said.starts_with(ending.where);
    const std::string place = is_said ? std::string() : ", " + ending.where;
    std::fprintf(stderr, "worker %zu%s: %s\n", first + worker, place.c_str(), said.c_str());
  }
  return exit_code;
}

}  // namespace leat::dataflow::internal
