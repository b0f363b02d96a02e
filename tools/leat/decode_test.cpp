#include "decode.hpp"

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace leat::tool {
namespace {

std::string text_of_lines(int lines) {
  std::string text;
  for (int line = 0; line < lines; ++line)
    text += "line " + std::to_string(line % 7919 * 7919) + "\n";
  return text;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(text.size() + 1024, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  return out;
}

std::string xz(const std::string& text) {
  std::string out(text.size() + 1024, '\0');
  std::size_t used = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &used, out.size()),
            LZMA_OK);
  out.resize(used);
  return out;
}

std::string lz4(const std::string& text) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  std::string out(LZ4F_compressFrameBound(text.size(), &preferences), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), text.data(), text.size(), &preferences));
  return out;
}

std::string encoded(const std::string& text, Encoding encoding) {
  switch (encoding) {
    case Encoding::gzip:
      return gzip(text);
    case Encoding::xz:
      return xz(text);
    case Encoding::lz4:
      return lz4(text);
    case Encoding::plain:
      break;
  }
  return text;
}

class DecodeEach : public testing::TestWithParam<Encoding> {};

TEST_P(DecodeEach, GivesBackWhatWasEncoded) {
  for (const int lines : {0, 1, 10, 20000}) {
    const std::string text = text_of_lines(lines);
    const auto decoded = decode(encoded(text, GetParam()), GetParam());
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_TRUE(*decoded == text) << lines;
  }
}

TEST_P(DecodeEach, IsRecognisedByItsFirstBytes) {
  EXPECT_EQ(encoding_of_bytes(encoded("Package: a\n", GetParam())), GetParam());
}

TEST_P(DecodeEach, RefusesToGrowPastTheLimit) {
  const std::string text = text_of_lines(5000);
  const std::string bytes = encoded(text, GetParam());
  EXPECT_TRUE(decode(bytes, GetParam(), text.size()));
  const auto decoded = decode(bytes, GetParam(), text.size() - 1);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message,
            "decodes to more than " + std::to_string(text.size() - 1) + " bytes");
}

INSTANTIATE_TEST_SUITE_P(All, DecodeEach,
                         testing::Values(Encoding::plain, Encoding::gzip, Encoding::xz,
                                         Encoding::lz4));

class DecodeCompressed : public testing::TestWithParam<Encoding> {};

TEST_P(DecodeCompressed, JoinsConcatenatedMembers) {
  const std::string bytes = encoded("one\n", GetParam()) + encoded("two\n", GetParam());
  const auto decoded = decode(bytes, GetParam());
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(*decoded, "one\ntwo\n");
}

TEST_P(DecodeCompressed, CallsEveryCutAnError) {
  const std::string bytes = encoded(text_of_lines(100), GetParam());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode(bytes.substr(0, size), GetParam())) << size << " of " << bytes.size();
  }
}

TEST_P(DecodeCompressed, SaysWhatIsWrongWithACutAndWithGarbage) {
  const std::string bytes = encoded(text_of_lines(100), GetParam());
  const auto cut = decode(bytes.substr(0, bytes.size() - 9), GetParam());
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("ends in the middle of its"), std::string::npos)
      << cut.error().message;
  const auto garbage = decode("Package: a\nVersion: 1\n", GetParam());
  ASSERT_FALSE(garbage);
  EXPECT_NE(garbage.error().message.find("is not valid"), std::string::npos)
      << garbage.error().message;
}

TEST_P(DecodeCompressed, SurvivesEveryFlippedByte) {
  const std::string text = text_of_lines(100);
  std::string bytes = encoded(text, GetParam());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
    const auto decoded = decode(bytes, GetParam(), std::size_t{1} << 20);
    if (decoded) {
      EXPECT_TRUE(*decoded == text) << "a changed byte changed the text: " << at;
    }
    bytes[at] = static_cast<char>(bytes[at] ^ 0x5a);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DecodeCompressed,
                         testing::Values(Encoding::gzip, Encoding::xz, Encoding::lz4));

TEST(Decode, KnowsTheEndingsOfNames) {
  EXPECT_EQ(encoding_of_extension(""), Encoding::plain);
  EXPECT_EQ(encoding_of_extension(".gz"), Encoding::gzip);
  EXPECT_EQ(encoding_of_extension(".xz"), Encoding::xz);
  EXPECT_EQ(encoding_of_extension(".lz4"), Encoding::lz4);
  EXPECT_EQ(encoding_of_extension(".zst"), std::nullopt);
}

TEST(Decode, ReadsAFileWholeAndNamesWhatStopsIt) {
  const auto path = std::filesystem::path(testing::TempDir()) / "leat_decode_test.bytes";
  const std::string text = text_of_lines(300000);
  std::ofstream(path, std::ios::binary) << text;
  const auto read = read_bytes(path);
  ASSERT_TRUE(read);
  EXPECT_TRUE(*read == text);
  std::filesystem::remove(path);
  const auto missing = read_bytes(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "No such file or directory");
  const auto directory = read_bytes(testing::TempDir());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().message, "Is a directory");
}

}  // namespace
}  // namespace leat::tool
