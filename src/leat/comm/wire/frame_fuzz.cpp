// What      Any bytes, however they are cut, are frames and then a refusal or the wish for more; what is
//           whole is written again as the same bytes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <leat/base/check.hpp>
#include <leat/comm/wire/frame.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace leat::comm;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const FrameLimits limits{.payload_bytes_max = 1 << 16};
  for (;;) {
    FrameHeader header;
    std::string wrong;
    const FrameRead found = read_frame(bytes, limits, header, wrong);
    LEAT_CHECK((found == FrameRead::refused) == !wrong.empty(), "a refusal has words, and only it");
    if (found != FrameRead::whole) return 0;
    const auto whole = bytes.first(static_cast<std::size_t>(header.frame_bytes()));
    std::vector<std::byte> again(whole.begin(), whole.end());
    finish_frame(again, header);
    LEAT_CHECK(std::equal(again.begin(), again.end(), whole.begin()),
               "a frame is written as other bytes than it was read from");
    bytes = bytes.subspan(whole.size());
  }
}
