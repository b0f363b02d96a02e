// What      Any bytes, cut into words at zeros and line ends, are a command line that is parsed or
//           refused with a message, and nothing worse.

#include <leat/base/check.hpp>
#include <leat/core/options.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(std::string_view("\0\n", 2));
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  const leat::Result<leat::core::ParsedArgs> args = leat::core::parse_args(words);
  if (args) {
    LEAT_CHECK(args->config.workers >= 1, "a run without workers");
    LEAT_CHECK(args->config.idle_spin >= leat::Nanos{0}, "a spin of negative length");
    LEAT_CHECK(args->free.size() <= words.size(), "more words came out than went in");
  } else {
    LEAT_CHECK(!args.error().message.empty(), "an error without a message");
  }
  return 0;
}
