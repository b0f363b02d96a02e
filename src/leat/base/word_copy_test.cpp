#include <leat/base/word_copy.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace leat {
namespace {

struct overwrite : Edge {};  // the one edge here

template <std::size_t N>
struct Record {
  std::array<std::uint8_t, N> bytes;
  friend bool operator==(const Record&, const Record&) = default;
};

template <std::size_t N>
Record<N> record(std::uint8_t seed) {
  Record<N> made;
  for (std::size_t i = 0; i < N; ++i) made.bytes[i] = static_cast<std::uint8_t>(seed + 7 * i);
  return made;
}

template <std::size_t N>
void comes_back() {
  std::vector<SharedWord> words(words_for(N) + 1);
  for (SharedWord& each : words) each.store_relaxed(~std::uint64_t{0});
  const Record<N> given = record<N>(static_cast<std::uint8_t>(N));
  write_words(words.data(), given, overwrite{});
  PrivateCopy<Record<N>> copy;
  read_words(words.data(), copy.place(), overwrite{});
  EXPECT_EQ(copy.value(), given) << N;
  EXPECT_EQ(words.back().load_relaxed(), ~std::uint64_t{0}) << N << " bytes reach too far";
}

template <std::size_t... kSize>
void all_come_back(std::index_sequence<kSize...>) {
  (comes_back<kSize + 1>(), ...);
}

TEST(WordCopy, BringsRecordsOfSmallSizesBack) { all_come_back(std::make_index_sequence<40>()); }

TEST(WordCopy, BringsRecordsAroundTheUnrolledSizeBack) {
  comes_back<127>();
  comes_back<128>();
  comes_back<129>();
  comes_back<135>();
  comes_back<136>();
  comes_back<4096>();
}

TEST(WordCopy, BringsBytesOfEverySizeBack) {
  constexpr std::size_t kMost = 4096;
  std::vector<std::byte> given(kMost);
  for (std::size_t i = 0; i < kMost; ++i) given[i] = static_cast<std::byte>(i * 31 + i / 256);
  std::vector<SharedWord> words(words_for(kMost) + 1);
  for (std::size_t size = 1; size <= kMost; ++size) {
    words[words_for(size)].store_relaxed(7);
    write_words(words.data(), given.data(), size, overwrite{});
    std::vector<std::byte> copy(size + 1, std::byte{0xAA});
    read_words(words.data(), copy.data(), size, overwrite{});
    ASSERT_TRUE(std::equal(copy.begin(), copy.end() - 1, given.begin())) << size;
    ASSERT_EQ(copy[size], std::byte{0xAA}) << size << " bytes were read too far";
    ASSERT_EQ(words[words_for(size)].load_relaxed(), 7U) << size << " bytes were written too far";
  }
}

TEST(WordCopy, FillsTheLastWordWithZeros) {
  SharedWord word(~std::uint64_t{0});
  write_words(&word, Record<3>{{1, 2, 3}}, overwrite{});
  std::array<std::byte, 8> all{};
  read_words(&word, all.data(), all.size(), overwrite{});
  for (std::size_t i = 3; i < 8; ++i) EXPECT_EQ(all[i], std::byte{0});
}

TEST(WordCopy, CopiesNothingOfNothing) {
  SharedWord word(5);
  const std::byte none{};
  std::byte into{9};
  write_words(&word, &none, 0, overwrite{});
  read_words(&word, &into, 0, overwrite{});
  EXPECT_EQ(word.load_relaxed(), 5U);
  EXPECT_EQ(into, std::byte{9});
}

struct NoDefault {
  explicit NoDefault(int n) : number(n) {}
  int number;
};

TEST(WordCopy, MakesValuesThatHaveNoDefault) {
  SharedWord word;
  write_words(&word, NoDefault(12), overwrite{});
  PrivateCopy<NoDefault> copy;
  read_words(&word, copy.place(), overwrite{});
  EXPECT_EQ(copy.value().number, 12);
}

TEST(WordCopy, CountsTheWordsOfARecord) {
  EXPECT_EQ(words_for(0), 0U);
  EXPECT_EQ(words_for(1), 1U);
  EXPECT_EQ(words_for(8), 1U);
  EXPECT_EQ(words_for(9), 2U);
  EXPECT_EQ(words_for(4096), 512U);
}

}  // namespace
}  // namespace leat
