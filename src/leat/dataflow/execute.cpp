#include <leat/dataflow/execute.hpp>

#include <cstdio>
#include <string_view>

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
