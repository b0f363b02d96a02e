#include <leat/comm/net/open_fabric.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <leat/comm/net/connect.hpp>
#include <leat/comm/net/links.hpp>

namespace leat::comm {

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

Result<std::unique_ptr<Fabric>> open_fabric(const core::Config& config, const Clock& clock) {
  const core::Network& network = config.network;
  const bool is_shared = network.fabric == core::FabricKind::shm;
  if (config.workers == 0) return Error{"workers: expected a whole number from 1, found 0"};
  FabricOptions options;
  options.workers = config.workers;
  options.processes = network.processes;
  options.process = network.process;
  options.notify = config.notify;
  options.zerocopy = config.zerocopy;
  options.checks_bytes = !is_shared;
  options.refill.spares_max = network.spares_max;
  if (network.refill) {
    options.refill.make = [make = network.refill](std::size_t bytes) {
      return ByteBuffer(Foreign{make(bytes)});
    };
  }
  if (network.processes == 1) return std::make_unique<Fabric>(options);
  if (network.process >= network.processes) {
    return Error{"process: expected a number below that of processes, " +
                 std::to_string(network.processes) + ", found " + std::to_string(network.process)};
  }
  for (std::size_t process = 0; process < network.processes; ++process) {
    if (process == network.process) continue;
    if (is_shared || is_here(host_of(network, process))) ++options.processes_here;
  }
  auto connected = connect_processes(network, config.workers, config.report, clock);
  if (!connected) return std::move(connected).error();
  auto fabric = std::make_unique<Fabric>(options);
  LinkOptions links;
  links.peer_timeout = network.peer_timeout;
  links.message_bytes_max = network.message_bytes_max;
  links.checks_bytes = options.checks_bytes;
  links.refill = options.refill;
  links.log = network.log;
  links.on_peer_lost = network.on_peer_lost;
  fabric->connect(
      std::make_unique<Links>(*fabric, std::move(connected->connections), std::move(links), clock));
  return fabric;
}

}  // namespace leat::comm
