#include "decode.hpp"

#include <leat/base/os/error_text.hpp>

#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>

namespace leat::tool {
namespace {

constexpr std::string_view kGzipMagic{"\x1f\x8b", 2};
constexpr std::string_view kXzMagic{
    "\xfd"
    "7zXZ\0",
    6};
constexpr std::string_view kLz4Magic{"\x04\x22\x4d\x18", 4};

/// The text as it grows: room first, then `used` says how much of it is text.
class Sink {
 public:
  Sink(std::size_t source_bytes, std::size_t bytes_max) : bytes_max_(bytes_max) {
    text_.resize(std::min(bytes_max, std::max<std::size_t>(source_bytes * 3, 4096)));
  }

  /// Makes room if there is none. Returns: false if the text is as long as it may be.
  [[nodiscard]] bool make_room() {
    if (used_ < text_.size()) return true;
    if (used_ >= bytes_max_) return false;
    text_.resize(std::min(bytes_max_, std::max<std::size_t>(text_.size() * 2, 4096)));
    return true;
  }

  [[nodiscard]] char* room() noexcept { return text_.data() + used_; }
  [[nodiscard]] std::size_t room_bytes() const noexcept { return text_.size() - used_; }
  void use(std::size_t bytes) noexcept { used_ += bytes; }

  [[nodiscard]] std::string take() && {
    text_.resize(used_);
    return std::move(text_);
  }

  [[nodiscard]] Error too_long() const {
    return Error{"decodes to more than " + std::to_string(bytes_max_) + " bytes"};
  }

 private:
  std::string text_;
  std::size_t used_ = 0;
  std::size_t bytes_max_;
};

Error truncated(const char* format) {
  return Error{std::string("ends in the middle of its ") + format + " data"};
}

Error damaged(const char* format, const char* why) {
  return Error{std::string("is not valid ") + format + " data (" + why + ")"};
}

Result<std::string> decode_gzip(std::string_view bytes, std::size_t bytes_max) {
  z_stream stream{};
  constexpr int kGzipOnly = 15 + 16;
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return Error{"cannot start the gzip decoder"};
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> guard(&stream, &inflateEnd);

  constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();
  Sink sink(bytes.size(), bytes_max);
  while (true) {
    if (!sink.make_room()) return sink.too_long();
    const std::size_t in = std::min(bytes.size(), kPiece);
    const std::size_t out = std::min(sink.room_bytes(), kPiece);
    // zlib never writes through next_in; its type only predates const.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(sink.room());
    stream.avail_out = static_cast<uInt>(out);
    const int status = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(in - stream.avail_in);
    sink.use(out - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (bytes.empty()) return std::move(sink).take();
      if (inflateReset(&stream) != Z_OK) return damaged("gzip", "a member cannot follow");
      continue;
    }
    if (status == Z_BUF_ERROR || (status == Z_OK && bytes.empty() && stream.avail_out != 0)) {
      return truncated("gzip");
    }
    if (status != Z_OK) {
      return damaged("gzip", stream.msg != nullptr ? stream.msg : "unknown reason");
    }
  }
}

const char* lzma_word(lzma_ret status) noexcept {
  switch (status) {
    case LZMA_FORMAT_ERROR:
      return "no xz header";
    case LZMA_DATA_ERROR:
      return "corrupt";
    case LZMA_OPTIONS_ERROR:
      return "unsupported options";
    case LZMA_MEMLIMIT_ERROR:
      return "needs too much memory";
    case LZMA_MEM_ERROR:
      return "out of memory";
    default:
      return "unknown reason";
  }
}

Result<std::string> decode_xz(std::string_view bytes, std::size_t bytes_max) {
  constexpr std::uint64_t kMemoryMax = std::uint64_t{512} << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMemoryMax, LZMA_CONCATENATED) != LZMA_OK) {
    return Error{"cannot start the xz decoder"};
  }
  const std::unique_ptr<lzma_stream, decltype(&lzma_end)> guard(&stream, &lzma_end);

  Sink sink(bytes.size(), bytes_max);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  stream.avail_in = bytes.size();
  while (true) {
    if (!sink.make_room()) return sink.too_long();
    stream.next_out = reinterpret_cast<std::uint8_t*>(sink.room());
    stream.avail_out = sink.room_bytes();
    const std::size_t out = stream.avail_out;
    const lzma_ret status = lzma_code(&stream, LZMA_FINISH);
    sink.use(out - stream.avail_out);
    if (status == LZMA_STREAM_END) return std::move(sink).take();
    if (status == LZMA_BUF_ERROR) return truncated("xz");
    if (status != LZMA_OK) return damaged("xz", lzma_word(status));
  }
}

Result<std::string> decode_lz4(std::string_view bytes, std::size_t bytes_max) {
  LZ4F_dctx* raw = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) {
    return Error{"cannot start the lz4 decoder"};
  }
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(
      raw, &LZ4F_freeDecompressionContext);

  Sink sink(bytes.size(), bytes_max);
  std::size_t wanted = 1;  // what the decoder hopes to read next; 0 at the end of a frame
  while (!bytes.empty() || wanted != 0) {
    if (!sink.make_room()) return sink.too_long();
    std::size_t in = bytes.size();
    std::size_t out = sink.room_bytes();
    wanted = LZ4F_decompress(context.get(), sink.room(), &out, bytes.data(), &in, nullptr);
    if (LZ4F_isError(wanted) != 0) return damaged("lz4", LZ4F_getErrorName(wanted));
    bytes.remove_prefix(in);
    sink.use(out);
    if (wanted != 0 && bytes.empty() && in == 0 && out == 0) return truncated("lz4");
  }
  return std::move(sink).take();
}

struct FileCloser {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// Reads to the end. `bytes_expected` is room made at once; a right guess saves all copies.
Result<std::string> read_stream(std::FILE* file, std::size_t bytes_expected) {
  std::string bytes(bytes_expected + 1, '\0');  // one more, to meet the end without growing
  std::size_t used = 0;
  while (true) {
    if (bytes.size() == used) bytes.resize(std::max(bytes.size() * 2, std::size_t{1} << 20));
    errno = 0;
    const std::size_t got = std::fread(bytes.data() + used, 1, bytes.size() - used, file);
    used += got;
    if (got == 0) {
      if (std::ferror(file) != 0) return Error{os::error_text(errno)};
      bytes.resize(used);
      return bytes;
    }
  }
}

}  // namespace

Encoding encoding_of_bytes(std::string_view bytes) noexcept {
  if (bytes.starts_with(kGzipMagic)) return Encoding::gzip;
  if (bytes.starts_with(kXzMagic)) return Encoding::xz;
  if (bytes.starts_with(kLz4Magic)) return Encoding::lz4;
  return Encoding::plain;
}

std::optional<Encoding> encoding_of_extension(std::string_view extension) noexcept {
  if (extension.empty()) return Encoding::plain;
  if (extension == ".gz") return Encoding::gzip;
  if (extension == ".xz") return Encoding::xz;
  if (extension == ".lz4") return Encoding::lz4;
  return std::nullopt;
}

Result<std::string> decode(std::string bytes, Encoding encoding, std::size_t decoded_bytes_max) {
  switch (encoding) {
    case Encoding::gzip:
      return decode_gzip(bytes, decoded_bytes_max);
    case Encoding::xz:
      return decode_xz(bytes, decoded_bytes_max);
    case Encoding::lz4:
      return decode_lz4(bytes, decoded_bytes_max);
    case Encoding::plain:
      break;
  }
  if (bytes.size() > decoded_bytes_max) return Sink(0, decoded_bytes_max).too_long();
  return bytes;
}

Result<std::string> read_bytes(const std::filesystem::path& path) {
  if (path == "-") return read_stream(stdin, 0);
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return Error{os::error_text(errno)};
  std::error_code no_size;  // a pipe, a device: grow while reading
  const std::uintmax_t size = std::filesystem::file_size(path, no_size);
  return read_stream(file.get(), no_size || size > kDecodedBytesMax ? 0 : size);
}

}  // namespace leat::tool
