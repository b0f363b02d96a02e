// Counts the primes below 200 000 by 64 actors, each with a part of the numbers, and one that asks too
// much: its failure is seen where it is joined, and nowhere else.
//
//   $ primes -w 2
//   17984 primes below 200000
//   one failed: std::invalid_argument: from 7 to 3
#include <leat/actor.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace leat::actor;

std::uint64_t count_primes(std::uint64_t from, std::uint64_t to) {
  if (from > to) {
    throw std::invalid_argument("from " + std::to_string(from) + " to " + std::to_string(to));
  }
  std::uint64_t count = 0;
  for (std::uint64_t n = from; n < to; ++n) {
    if (n < 2 || (n != 2 && n % 2 == 0)) continue;
    bool prime = true;
    for (std::uint64_t d = 3; d * d <= n && prime; d += 2) prime = n % d != 0;
    if (prime) ++count;
  }
  return count;
}

// [actors]
void first_actor() {
  constexpr std::uint64_t kParts = 64;
  constexpr std::uint64_t kPart = 3125;
  std::vector<JoinHandle<std::uint64_t>> parts;
  for (std::uint64_t i = 0; i < kParts; ++i) {
    parts.push_back(spawn([i] { return count_primes(i * kPart, (i + 1) * kPart); }));
  }
  std::uint64_t sum = 0;
  for (auto& part : parts) sum += part.join();
  std::printf("%lu primes below %lu\n", sum, kParts * kPart);

  const auto wrong = spawn([] { return count_primes(7, 3); }).join_result();
  if (!wrong.ok()) std::printf("one failed: %s\n", wrong.exit.text().c_str());
}
// [/actors]

}  // namespace

int main(int argc, char** argv) {
  std::size_t threads = 1;
  if (argc == 3 && std::string_view(argv[1]) == "-w") threads = std::strtoul(argv[2], nullptr, 10);
  Runtime runtime(Config::exact(threads));
  runtime.run(first_actor);
}
