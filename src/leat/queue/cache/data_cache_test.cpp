#include <leat/queue/cache/data_cache.hpp>

#include <leat/base/rng.hpp>
#include <leat/base/usage_error.hpp>
#include <leat/core/segment/test_segments.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace leat::queue {
namespace {

using Bytes = std::vector<std::byte>;

Bytes payload(std::size_t size, std::uint64_t seed) {
  Bytes made(size);
  Rng rng(seed);
  for (std::byte& each : made) each = static_cast<std::byte>(rng.next());
  return made;
}

DataCache cache_of(std::uint64_t capacity, std::uint32_t payload_max,
                   CacheUse use = CacheUse::copies, std::uint32_t readers = 4,
                   std::uint32_t writers = 2) {
  return DataCache::open({}, {.capacity_bytes = capacity,
                              .payload_max = payload_max,
                              .use = use,
                              .writers = writers,
                              .readers = readers})
      .value();
}

Bytes copy_of(const DataCache& cache, const PayloadRef& ref, Take expected = Take::ok) {
  Bytes into(ref.bytes);
  EXPECT_EQ(cache.read(ref, into), expected);
  return into;
}

TEST(DataCache, BringsAPayloadOfEverySizeBack) {
  DataCache cache = cache_of(16'384, 4'096);
  DataCacheWriter writer = cache.writer().value();
  for (std::size_t size = 0; size <= 4'096; ++size) {
    const Bytes given = payload(size, size);
    PayloadRef ref;
    ASSERT_EQ(writer.write(given, ref), Put::ok);
    Bytes got(size);
    ASSERT_EQ(cache.read(ref, got), Take::ok) << size;
    ASSERT_EQ(got, given) << size;
  }
}

TEST(DataCache, RefusesMoreThanThePayloadMax) {
  DataCache cache = cache_of(1'024, 100);
  DataCacheWriter writer = cache.writer().value();
  PayloadRef ref;
  EXPECT_EQ(writer.write(payload(101, 1), ref), Put::too_large);
  EXPECT_EQ(writer.write(payload(100, 1), ref), Put::ok);
  Put why{};
  EXPECT_FALSE(writer.reserve(101, &why));
  EXPECT_EQ(why, Put::too_large);
}

TEST(DataCache, APayloadOfNothingIsAPayload) {
  DataCache cache = cache_of(64, 64);
  DataCacheWriter writer = cache.writer().value();
  PayloadRef ref;
  ASSERT_EQ(writer.write({}, ref), Put::ok);
  EXPECT_EQ(ref.bytes, 0U);
  EXPECT_EQ(cache.read(ref, {}), Take::ok);
}

TEST(DataCache, APayloadNeverCrossesTheEnd) {
  DataCache cache = cache_of(256, 192);
  DataCacheWriter writer = cache.writer().value();
  PayloadRef first;
  PayloadRef second;
  ASSERT_EQ(writer.write(payload(190, 1), first), Put::ok);
  ASSERT_EQ(writer.write(payload(190, 2), second), Put::ok);
  EXPECT_EQ(first.position, 0U);
  EXPECT_EQ(second.position, 256U);
  copy_of(cache, first, Take::lapped);
  EXPECT_EQ(copy_of(cache, second), payload(190, 2));
}

TEST(DataCache, SaysLappedOfWhatWasOverwrittenAndNothingElse) {
  DataCache cache = cache_of(1'024, 64);
  DataCacheWriter writer = cache.writer().value();
  std::deque<PayloadRef> refs;
  for (std::uint64_t i = 0; i < 100; ++i) {
    PayloadRef ref;
    ASSERT_EQ(writer.write(payload(64, i), ref), Put::ok);
    refs.push_back(ref);
  }
  for (std::size_t i = 0; i < 100; ++i) {
    if (i < 84) {
      copy_of(cache, refs[i], Take::lapped);
    } else {
      EXPECT_EQ(copy_of(cache, refs[i]), payload(64, i)) << i;
    }
  }
}

TEST(DataCache, KeepsAsMuchAsDataCacheBytesPromises) {
  constexpr std::uint64_t kDepth = 20;
  constexpr std::uint32_t kMost = 700;
  DataCache cache = cache_of(data_cache_bytes(kDepth, 2, kMost), kMost);
  DataCacheWriter writer = cache.writer().value();
  std::deque<std::pair<PayloadRef, std::uint64_t>> sent;
  Rng rng(5);
  for (std::uint64_t i = 0; i < 500; ++i) {
    EXPECT_TRUE(writer.reserve(kMost));
    EXPECT_TRUE(writer.reserve(1 + rng.below(kMost)));
    PayloadRef ref;
    ASSERT_EQ(writer.write(payload(1 + rng.below(kMost), i), ref), Put::ok);
    sent.emplace_back(ref, i);
    // Two of three were dropped.
    while (sent.size() > kDepth / 3) {
      const auto [oldest, seed] = sent.front();
      ASSERT_EQ(copy_of(cache, oldest), payload(oldest.bytes, seed)) << i;
      sent.pop_front();
    }
  }
  EXPECT_EQ(data_cache_bytes(~std::uint64_t{0}, 1, 64), 0U);
  EXPECT_EQ(data_cache_bytes(1, 0, 1), 256U);
}

TEST(DataCache, IsFilledPieceByPiece) {
  DataCache cache = cache_of(4'096, 1'000);
  DataCacheWriter writer = cache.writer().value();
  const Bytes given = payload(999, 3);
  for (const std::size_t piece : {1U, 3U, 7U, 8U, 9U, 100U}) {
    auto room = writer.reserve(1'000);
    ASSERT_TRUE(room);
    EXPECT_EQ(room->size(), 1'000U);
    for (std::size_t at = 0; at < given.size(); at += piece) {
      const std::size_t n = std::min(piece, given.size() - at);
      room->write(at, std::span(given).subspan(at, n));
    }
    EXPECT_THROW(room->write(1'000, std::span(given).first(1)), UsageError);
    EXPECT_THROW(static_cast<void>(room->publish(1'001)), UsageError);
    EXPECT_THROW(static_cast<void>(room->bytes()), UsageError);
    EXPECT_THROW(static_cast<void>(writer.reserve(1)), UsageError);
    const PayloadRef ref = room->publish(999);
    EXPECT_EQ(copy_of(cache, ref), given) << piece;
    EXPECT_THROW(room->write(0, std::span(given).first(1)), UsageError);
  }
}

TEST(DataCache, AnAbandonedReservationIsOverwrittenLikeAnything) {
  DataCache cache = cache_of(256, 64);
  DataCacheWriter writer = cache.writer().value();
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(writer.reserve(64));
    PayloadRef ref;
    ASSERT_EQ(writer.write(payload(64, i), ref), Put::ok);
    EXPECT_EQ(copy_of(cache, ref), payload(64, i));
  }
}

TEST(DataCache, AWriterLeavesOutWhatAnotherHasNotPublished) {
  DataCache cache = cache_of(256, 64);
  DataCacheWriter slow = cache.writer().value();
  DataCacheWriter fast = cache.writer().value();
  EXPECT_FALSE(cache.writer());
  auto room = slow.reserve(64);
  ASSERT_TRUE(room);
  for (std::uint64_t i = 0; i < 20; ++i) {
    PayloadRef ref;
    ASSERT_EQ(fast.write(payload(64, i), ref), Put::ok);
    room->write(0, payload(64, 1'000));  // late, and over nobody's payload
    EXPECT_EQ(copy_of(cache, ref), payload(64, i));
  }
  copy_of(cache, room->publish(), Take::lapped);
}

TEST(DataCache, ASoleWriterIsTheOnlyOne) {
  DataCache cache = cache_of(256, 64, CacheUse::copies, 0, 1);
  DataCacheWriter writer = cache.writer().value();
  EXPECT_FALSE(cache.writer());
  for (std::uint64_t i = 0; i < 20; ++i) {
    PayloadRef ref;
    ASSERT_EQ(writer.write(payload(64, i), ref), Put::ok);
    EXPECT_EQ(copy_of(cache, ref), payload(64, i));
    auto room = writer.reserve(1);
    EXPECT_THROW(static_cast<void>(writer.reserve(1)), UsageError);
  }
}

TEST(DataCache, ReadsNoByteOutsideWhateverTheReferenceSays) {
  DataCache cache = cache_of(1'024, 256);
  DataCacheWriter writer = cache.writer().value();
  PayloadRef good;
  ASSERT_EQ(writer.write(payload(256, 1), good), Put::ok);
  Bytes into(1 << 16);
  const auto take = [&](std::uint64_t position, std::uint32_t bytes) {
    return cache.read({.position = position, .bytes = bytes}, into);
  };
  EXPECT_EQ(take(1, 10), Take::impossible);   // no beginning of a payload
  EXPECT_EQ(take(0, 257), Take::impossible);  // more than there may be
  EXPECT_EQ(take(0, ~std::uint32_t{0}), Take::impossible);
  EXPECT_EQ(take(960, 256), Take::impossible);  // across the end
  EXPECT_EQ(take(256, 64), Take::impossible);   // not reserved yet
  EXPECT_EQ(take(192, 128), Take::impossible);  // in part
  EXPECT_EQ(take(~std::uint64_t{63}, 64), Take::impossible);
  EXPECT_EQ(cache.read(good, std::span(into).first(255)), Take::too_small);
  EXPECT_EQ(cache.read(good, into), Take::ok);
  Rng rng(9);
  for (int i = 0; i < 20'000; ++i) {
    static_cast<void>(take(rng.next() >> rng.below(64), static_cast<std::uint32_t>(rng.next())));
  }
}

TEST(DataCache, RefusesImpossibleOptions) {
  const auto error = [](const DataCacheOptions& options) {
    const auto cache = DataCache::open({}, options);
    return cache ? std::string("none") : cache.error().message;
  };
  EXPECT_NE(error({.capacity_bytes = 1 << 20}).find("a payload_max of 0"), std::string::npos);
  EXPECT_NE(error({.capacity_bytes = 64, .payload_max = 65}).find("a payload_max of 65"),
            std::string::npos);
  EXPECT_NE(error({.capacity_bytes = 1, .payload_max = 1}).find("a capacity"), std::string::npos);
  EXPECT_NE(error({.capacity_bytes = ~std::uint64_t{0}, .payload_max = 1}).find("take fewer"),
            std::string::npos);
  EXPECT_NE(error({.payload_max = 1, .use = CacheUse::in_place, .readers = 0}).find("1 to 4096"),
            std::string::npos);
  EXPECT_NE(error({.payload_max = 1, .writers = 0}).find("writers of 0"), std::string::npos);
}

TEST(DataCacheInPlace, ReadsInPlaceWhatWasFilledInPlace) {
  DataCache cache = cache_of(1'024, 256, CacheUse::in_place);
  DataCacheWriter writer = cache.writer().value();
  DataCacheReader reader = cache.reader().value();
  const Bytes given = payload(200, 4);
  auto room = writer.reserve(256);
  ASSERT_TRUE(room);
  std::copy(given.begin(), given.end(), room->bytes().begin());
  bool called = false;
  EXPECT_EQ(
      reader.read(room->publish(200),
                  [&](std::span<const std::byte> bytes) {
                    called = true;
                    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), given.begin(), given.end()));
                  }),
      Take::ok);
  EXPECT_TRUE(called);
  EXPECT_THROW(static_cast<void>(cache.read({}, {})), UsageError);
}

TEST(DataCacheInPlace, LeavesOutWhatIsHeld) {
  DataCache cache = cache_of(512, 64, CacheUse::in_place);
  DataCacheWriter writer = cache.writer().value();
  DataCacheReader reader = cache.reader().value();
  PayloadRef ref;
  ASSERT_EQ(writer.write(payload(64, 1), ref), Put::ok);
  ASSERT_EQ(writer.write(payload(64, 2), ref), Put::ok);
  std::span<const std::byte> held;
  ASSERT_EQ(reader.hold(ref, held), Take::ok);
  for (std::uint64_t i = 0; i < 100; ++i) {
    PayloadRef other;
    ASSERT_EQ(writer.write(payload(64, 100 + i), other), Put::ok);
    EXPECT_NE(other.position % 512, ref.position % 512);
  }
  EXPECT_EQ(Bytes(held.begin(), held.end()), payload(64, 2));
  reader.give_back();
  EXPECT_EQ(reader.hold(ref, held), Take::lapped);
}

TEST(DataCacheInPlace, SaysHeldWhenAllIs) {
  DataCache cache = cache_of(128, 64, CacheUse::in_place, 2);
  DataCacheWriter writer = cache.writer().value();
  DataCacheReader one = cache.reader().value();
  DataCacheReader two = cache.reader().value();
  EXPECT_FALSE(cache.reader());
  PayloadRef first;
  PayloadRef second;
  ASSERT_EQ(writer.write(payload(64, 1), first), Put::ok);
  ASSERT_EQ(writer.write(payload(64, 2), second), Put::ok);
  std::span<const std::byte> bytes;
  ASSERT_EQ(one.hold(first, bytes), Take::ok);
  ASSERT_EQ(two.hold(second, bytes), Take::ok);
  PayloadRef none;
  EXPECT_EQ(writer.write(payload(1, 3), none), Put::held);
  two.give_back();
  EXPECT_EQ(writer.write(payload(64, 3), none), Put::ok);
  EXPECT_EQ(none.position % 128, 64U);
}

TEST(DataCacheInPlace, AHoldOfADeadProcessIsTakenBack) {
  const core::TestFolder folder;
  const auto where = [&](Opening opening) {
    return Where{.name = {.name = "cache", .base = folder.path()}, .opening = opening};
  };
  const DataCacheOptions options{
      .capacity_bytes = 64, .payload_max = 64, .use = CacheUse::in_place, .readers = 1};
  DataCache cache = DataCache::open(where(Opening::create), options).value();
  DataCacheWriter writer = cache.writer().value();
  PayloadRef ref;
  ASSERT_EQ(writer.write(payload(64, 1), ref), Put::ok);
  core::ChildProcess child([&](const core::ChildProcess& me) {
    DataCache mine = DataCache::open(where(Opening::join), options).value();
    DataCacheReader reader = mine.reader().value();
    std::span<const std::byte> bytes;
    if (reader.hold(ref, bytes) != Take::ok) return 1;
    me.say('l');
    core::ChildProcess::wait_for_ever();
  });
  ASSERT_EQ(child.listen(), 'l');
  PayloadRef none;
  EXPECT_EQ(writer.write(payload(64, 2), none), Put::held);
  EXPECT_EQ(cache.segment().reap(), 0U);  // it lives
  EXPECT_EQ(child.kill(), -1);
  EXPECT_EQ(cache.segment().reap(), 1U);
  EXPECT_EQ(writer.write(payload(64, 2), none), Put::ok);
  EXPECT_TRUE(cache.reader());
}

TEST(DataCache, AWriterThatDiesLeavesItsBytesToTheNext) {
  const core::TestFolder folder;
  const auto where = [&](Opening opening) {
    return Where{.name = {.name = "cache", .base = folder.path()}, .opening = opening};
  };
  DataCache cache =
      DataCache::open(where(Opening::create), {.capacity_bytes = 128, .payload_max = 64}).value();
  DataCacheWriter writer = cache.writer().value();
  core::ChildProcess child([&](const core::ChildProcess& me) {
    DataCache mine = DataCache::open(where(Opening::join), {}).value();
    DataCacheWriter dying = mine.writer().value();
    auto room = dying.reserve(64);
    if (!room) return 1;
    room->write(0, payload(32, 1));
    me.say('r');
    core::ChildProcess::wait_for_ever();
  });
  ASSERT_EQ(child.listen(), 'r');
  EXPECT_EQ(child.kill(), -1);
  PayloadRef ref;
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(writer.write(payload(64, i), ref), Put::ok);
    EXPECT_EQ(ref.position % 128, 64U) << "the dead one's bytes";
    EXPECT_EQ(copy_of(cache, ref), payload(64, i));
  }
  EXPECT_EQ(cache.segment().reap(), 1U);
  ASSERT_EQ(writer.write(payload(64, 77), ref), Put::ok);
  EXPECT_EQ(ref.position % 128, 0U);
  EXPECT_EQ(copy_of(cache, ref), payload(64, 77));
}

TEST(DataCache, IsSharedByName) {
  const core::TestFolder folder;
  const auto where = [&](Opening opening) {
    return Where{.name = {.name = "cache", .base = folder.path()}, .opening = opening};
  };
  DataCache one =
      DataCache::open(where(Opening::create), {.capacity_bytes = 4'096, .payload_max = 512})
          .value();
  DataCacheWriter writer = one.writer().value();
  DataCache two = DataCache::open(where(Opening::join), {}).value();
  DataCache looker = DataCache::open(where(Opening::observe), {}).value();
  EXPECT_EQ(two.capacity_bytes(), 4'096U);
  EXPECT_EQ(two.payload_max(), 512U);
  PayloadRef ref;
  ASSERT_EQ(writer.write(payload(500, 1), ref), Put::ok);
  EXPECT_EQ(copy_of(two, ref), payload(500, 1));
  EXPECT_EQ(copy_of(looker, ref), payload(500, 1));
  EXPECT_FALSE(DataCache::open(where(Opening::join), {.use = CacheUse::in_place}));
  EXPECT_FALSE(DataCache::open(where(Opening::join), {.payload_max = 100}));
}

}  // namespace
}  // namespace leat::queue
