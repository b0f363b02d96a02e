#include <leat/core/segment/header.hpp>

#include <leat/base/rng.hpp>

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace leat::core {
namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

SegmentSpec board() {
  return {.kind = "board",
          .kind_version = 3,
          .flavour = "plain",
          .type = {0x1234, 16, 8, "Quote"},
          .stride = 64,
          .count = 100,
          .payload_bytes = 6400,
          .participants_max = 4,
          .words = {7}};
}

/// The bytes of a header that is in order.
class Head {
 public:
  Head() {
    auto& header = *new (bytes.data()) SegmentHeader{};
    facts = {.spec = board(),
             .layout = *segment_layout(board()),
             .name = "prices",
             .maker = os::this_process(),
             .maker_program = "test",
             .made_at_ns = 5,
             .generation = 2};
    write_header(header, facts);
    header.state.store_relaxed(static_cast<std::uint32_t>(SegmentState::ready));
    facts.state = SegmentState::ready;
  }

  [[nodiscard]] Result<SegmentFacts> check(std::uint64_t file_bytes) const {
    return check_header("/a/prices", bytes, file_bytes);
  }
  [[nodiscard]] Result<SegmentFacts> check() const { return check(facts.layout.total_bytes); }
  [[nodiscard]] std::string error() const {
    const auto checked = check();
    return checked ? "no error" : checked.error().message;
  }
  template <class T>
  void put(std::size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }

  alignas(SegmentHeader) std::array<std::byte, sizeof(SegmentHeader)> bytes{};
  SegmentFacts facts;
};

TEST(SegmentHeader, SaysWhatWasWrittenIntoIt) {
  const Head head;
  const auto read = head.check();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->spec, head.facts.spec);
  EXPECT_EQ(read->layout, head.facts.layout);
  EXPECT_EQ(read->name, "prices");
  EXPECT_EQ(read->maker, head.facts.maker);
  EXPECT_EQ(read->maker_program, "test");
  EXPECT_EQ(read->generation, 2U);
  EXPECT_EQ(read->state, SegmentState::ready);
}

TEST(SegmentHeader, EachThingThatIsWrongHasAnErrorOfItsOwn) {
  EXPECT_PRED2(says, check_header("/a", {}, 0).error().message, "found 0 bytes");
  Head head;
  EXPECT_PRED2(says, head.check(4096).error().message, "it was cut short");
  head.put(offsetof(SegmentHeader, state), std::uint32_t{0});
  EXPECT_PRED2(says, head.error(), "never finished");
  head.put(offsetof(SegmentHeader, count), std::uint64_t{99});
  EXPECT_PRED2(says, head.error(), "checksum");
  head.put(offsetof(SegmentHeader, layout_version), std::uint32_t{9});
  EXPECT_PRED2(says, head.error(), "asked a segment of layout version 1; found 9");
  head.put(offsetof(SegmentHeader, byte_order), std::uint32_t{0x0403'0201});
  EXPECT_PRED2(says, head.error(), "byte order 0x1020304; found 0x4030201");
  head.put(offsetof(SegmentHeader, magic), std::uint64_t{1});
  EXPECT_PRED2(says, head.error(), "asked a segment, which begins with");
}

TEST(SegmentHeader, WithAnyByteChangedIsAnError) {
  for (std::size_t i = 0; i < offsetof(SegmentHeader, state); ++i) {
    Head head;
    head.bytes[i] ^= std::byte{0x10};
    EXPECT_FALSE(head.check()) << "byte " << i;
  }
}

TEST(SegmentHeader, OfRandomBytesIsAnErrorAndNoCrash) {
  Rng random(20);
  for (int i = 0; i < 2000; ++i) {
    Head head;
    const std::size_t from =
        static_cast<std::size_t>(random.next() % offsetof(SegmentHeader, state));
    for (std::size_t at = from; at < head.bytes.size(); ++at) {
      head.bytes[at] = static_cast<std::byte>(random.next());
    }
    EXPECT_FALSE(head.check());
    EXPECT_FALSE(check_header("/a", std::span(head.bytes).first(from), 1 << 20));
  }
}

// Somebody who knows the checksum can still not make us look outside.
TEST(SegmentHeader, OfRandomNumbersUnderAGoodChecksumStaysInsideTheFile) {
  Rng random(21);
  for (int i = 0; i < 2000; ++i) {
    Head head;
    SegmentFacts facts = head.facts;
    const auto number = [&] { return random.next() >> (random.next() % 64); };
    facts.spec.payload_bytes = number();
    facts.spec.participants_max = static_cast<std::uint32_t>(number());
    facts.spec.count = number();
    facts.layout = {number(), number(), number()};
    if (random.next() % 2 == 0) {
      if (const auto layout = segment_layout(facts.spec)) facts.layout = *layout;
    }
    auto& header = *new (head.bytes.data()) SegmentHeader{};
    write_header(header, facts);
    header.state.store_relaxed(static_cast<std::uint32_t>(random.next() % 4));
    const std::uint64_t file_bytes = number();
    const auto read = head.check(file_bytes);
    if (!read) continue;
    EXPECT_LE(read->layout.total_bytes, file_bytes);
    EXPECT_LE(read->layout.payload_offset + read->spec.payload_bytes, read->layout.total_bytes);
    EXPECT_LE(read->layout.participants_offset + read->spec.participants_max * kSector,
              read->layout.payload_offset);
  }
}

TEST(SegmentHeader, ShowsForeignTextAsPrintable) {
  Head head;
  SegmentFacts facts = head.facts;
  facts.name = "a\nb\x80";
  facts.maker_program = std::string(500, 'x');
  auto& header = *new (head.bytes.data()) SegmentHeader{};
  write_header(header, facts);
  header.state.store_relaxed(1);
  const auto read = head.check();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, "a?b?");
  EXPECT_EQ(read->maker_program, std::string(63, 'x'));
}

TEST(SegmentSpec, MismatchesNameBothSides) {
  const auto error = [](const SegmentSpec& asked) {
    const auto same = check_spec("/a/prices", asked, board());
    return same ? std::string("no error") : same.error().message;
  };
  EXPECT_EQ(error(board()), "no error");
  SegmentSpec asked = board();
  asked.kind = "ring";
  EXPECT_PRED2(says, error(asked), "/a/prices: asked kind \"ring\"; found \"board\"");
  asked = board();
  asked.kind_version = 4;
  EXPECT_PRED2(says, error(asked), "asked version of the kind \"board\" 4; found 3");
  asked = board();
  asked.flavour = "round";
  EXPECT_PRED2(says, error(asked), "asked flavour \"round\"; found \"plain\"");
  asked = board();
  asked.type = {0x99, 24, 8, "Trade"};
  EXPECT_PRED2(says, error(asked),
               "asked elements of type Trade (24 bytes aligned to 8, hash "
               "0000000000000099); found Quote (16 bytes aligned to 8, hash "
               "0000000000001234)");
  asked = board();
  asked.stride = 128;
  EXPECT_PRED2(says, error(asked), "asked bytes from element to element 128; found 64");
  asked = board();
  asked.count = 101;
  EXPECT_PRED2(says, error(asked), "asked elements, at least 101; found 100");
  asked = board();
  asked.words[0] = 8;
  EXPECT_PRED2(says, error(asked), "number 0 of the kind \"board\" 8; found 7");
}

TEST(SegmentSpec, AsksForNoMoreThanItNames) {
  const SegmentSpec asked{.kind = "board", .kind_version = 3};
  EXPECT_TRUE(check_spec("/a", asked, board()));
}

TEST(SegmentSpec, ThatCannotBeIsAnError) {
  const auto error = [](void (*change)(SegmentSpec&)) {
    SegmentSpec spec = board();
    change(spec);
    const auto layout = segment_layout(spec);
    return layout ? std::string("no error") : layout.error().message;
  };
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.kind = ""; }), "the kind \"\"");
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.kind = "sixteen-letters-"; }), "at most 15");
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.flavour = "a b"; }), "the flavour");
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.payload_bytes = 0; }), "payload of 0 bytes");
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.payload_bytes = ~std::uint64_t{0}; }), "no size");
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.participants_max = 0; }), "0 participants");
  EXPECT_PRED2(says, error([](SegmentSpec& s) { s.participants_max = 5000; }), "1 to 4096");
}

TEST(SegmentLayout, PutsEachPartAtAPageOfItsOwn) {
  const auto layout = segment_layout(board());
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->participants_offset, 4096U);
  EXPECT_EQ(layout->payload_offset, 8192U);
  EXPECT_EQ(layout->total_bytes, 16384U);
}

}  // namespace
}  // namespace leat::core
