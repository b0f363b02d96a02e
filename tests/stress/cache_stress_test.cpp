// Arrays, values, caches and slabs under writers and readers on real cores; all records prove
// themselves.
#include <leat/base/hash.hpp>
#include <leat/queue/cache/data_cache.hpp>
#include <leat/queue/cache/seqlock_array.hpp>
#include <leat/queue/cache/shared_value.hpp>
#include <leat/queue/cache/slab.hpp>

#include "payload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace leat::stress {
namespace {

using queue::Look;
using queue::Put;
using queue::Take;
using queue::Write;

constexpr std::uint64_t kRounds = 20'000;
static_assert((kRounds - 1) % 7 != 1 && (kRounds - 1) % 1'000 != 500);  // see SlabStress

// Runs `writers` to their end, and each of `readers` again and again meanwhile, and once after it: what
// is left at the end is seen under every schedule.
void run(const std::vector<std::function<void()>>& writers,
         const std::vector<std::function<void()>>& readers) {
  std::atomic<std::size_t> at_work{writers.size()};
  std::vector<std::thread> threads;
  for (const auto& writer : writers) {
    threads.emplace_back([&] {
      writer();
      at_work.fetch_sub(1);
    });
  }
  for (const auto& reader : readers) {
    threads.emplace_back([&] {
      for (bool last = false; !last;) {
        last = at_work.load() == 0;
        reader();
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

// An array of last values.

constexpr std::size_t kIndices = 3;

void write_rounds(queue::SeqlockArray<Payload>& array, std::uint64_t writer) {
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    while (array.write(i % kIndices, Payload::make(writer, i)) == Write::busy) {
    }
  }
}

struct Looks {
  std::uint64_t seen[kIndices] = {};
  std::uint64_t found = 0;

  void look(const queue::SeqlockArray<Payload>& array) {
    for (std::size_t index = 0; index < kIndices; ++index) {
      Payload payload;
      std::uint64_t version = 0;
      if (array.read(index, payload, &version) != Look::ok) continue;
      ASSERT_TRUE(payload.is_whole());
      ASSERT_EQ(payload.sequence % kIndices, index);
      ASSERT_GE(version, seen[index]);
      seen[index] = version;
      ++found;
    }
  }
};

TEST(SeqlockArrayStress, ScaffoldOnOneThread) {
  auto array = queue::SeqlockArray<Payload>::open({}, kIndices).value();
  Looks looks;
  looks.look(array);
  EXPECT_EQ(looks.found, 0U);
  write_rounds(array, 1);
  looks.look(array);
  EXPECT_EQ(looks.found, kIndices);
}

TEST(SeqlockArrayStress, ValuesAreWholeAndVersionsGrow) {
  auto array = queue::SeqlockArray<Payload>::open({}, kIndices).value();
  Looks looks[2];
  run({[&] { write_rounds(array, 1); }, [&] { write_rounds(array, 2); }},
      {[&] { looks[0].look(array); }, [&] { looks[1].look(array); }});
  std::uint64_t writes = 0;
  for (std::size_t index = 0; index < kIndices; ++index) writes += array.version(index);
  EXPECT_EQ(writes, 2 * kRounds);
  EXPECT_GT(looks[0].found, 0U);
}

TEST(SharedValueStress, LosesNoUpdate) {
  struct Sums {
    std::uint64_t up;
    std::uint64_t down;
  };
  auto value = queue::SharedValue<Sums>::open({}, {0, ~std::uint64_t{0}}).value();
  const auto update = [&] {
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      while (value.update([](Sums s) { return Sums{s.up + 1, s.down - 1}; }) == Write::busy) {
      }
    }
  };
  run({update, update}, {[&] {
        Sums sums{};
        const bool read = value.read(sums) == Look::ok;
        ASSERT_TRUE(!read || sums.down == ~sums.up);
      }});
  EXPECT_EQ(value.version(), 2 * kRounds + 1);
}

// A data cache: the board tells of the newest reference of each writer.

constexpr std::uint32_t kPayloadMax = 300;

std::size_t size_of(std::uint64_t i) { return 1 + mix64(i) % kPayloadMax; }

std::byte byte_of(std::uint64_t seed, std::size_t at) {
  return static_cast<std::byte>(mix64(seed * 1'024 + at / 8) >> at % 8 * 8);
}

struct Sent {
  queue::PayloadRef ref{};
  std::uint64_t seed = 0;
};

void fill(std::span<std::byte> into, std::uint64_t seed) {
  for (std::size_t at = 0; at < into.size(); ++at) into[at] = byte_of(seed, at);
}

bool proves(std::span<const std::byte> bytes, std::uint64_t seed) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != byte_of(seed, at)) return false;
  }
  return bytes.size() == size_of(seed);
}

void put_rounds(queue::DataCacheWriter writer, queue::SeqlockArray<Sent>& board, std::size_t self,
                std::uint64_t rounds) {
  std::byte payload[kPayloadMax];
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t seed = self * kRounds + i;
    const std::span bytes(payload, size_of(seed));
    fill(bytes, seed);
    Sent sent{.seed = seed};
    if (i % 5 == 4) static_cast<void>(writer.reserve(kPayloadMax));  // and drops it
    if (i % 3 == 0) {
      auto room = writer.reserve(kPayloadMax);
      if (!room) continue;
      for (std::size_t at = 0; at < bytes.size(); at += 37) {
        room->write(at, bytes.subspan(at, std::min<std::size_t>(37, bytes.size() - at)));
      }
      sent.ref = room->publish(bytes.size());
    } else if (writer.write(bytes, sent.ref) != Put::ok) {
      continue;
    }
    ASSERT_EQ(board.write(self, sent), Write::ok);
  }
}

void copy_payloads(const queue::DataCache& cache, const queue::SeqlockArray<Sent>& board,
                   std::uint64_t& whole) {
  for (std::size_t index = 0; index < board.size(); ++index) {
    Sent sent;
    if (board.read(index, sent) != Look::ok) continue;
    std::byte copy[kPayloadMax];
    const Take take = cache.read(sent.ref, copy);
    ASSERT_TRUE(take == Take::ok || take == Take::lapped);
    if (take != Take::ok) continue;
    ASSERT_TRUE(proves(std::span(copy, sent.ref.bytes), sent.seed));
    ++whole;
  }
}

TEST(DataCacheStress, CopiesAreOfOnePayloadUnderThreeWriters) {
  auto cache =
      queue::DataCache::open({}, {.capacity_bytes = 4'096, .payload_max = kPayloadMax}).value();
  auto board = queue::SeqlockArray<Sent>::open({}, 3).value();
  std::vector<std::function<void()>> writers;
  for (std::size_t self = 0; self < 3; ++self) {
    writers.emplace_back(
        [&, self] { put_rounds(cache.writer().value(), board, self, kRounds / 4); });
  }
  std::uint64_t whole[2] = {};
  run(writers, {[&] { copy_payloads(cache, board, whole[0]); },
                [&] { copy_payloads(cache, board, whole[1]); }});
  EXPECT_GT(whole[0] + whole[1], 0U);
}

TEST(DataCacheStress, ASoleWriterLapsItsReaders) {
  auto cache = queue::DataCache::open(
                   {}, {.capacity_bytes = 1'024, .payload_max = kPayloadMax, .writers = 1})
                   .value();
  auto board = queue::SeqlockArray<Sent>::open({}, 1).value();
  std::uint64_t whole = 0;
  run({[&] { put_rounds(cache.writer().value(), board, 0, kRounds / 2); }},
      {[&] { copy_payloads(cache, board, whole); }});
  EXPECT_GT(whole, 0U);
}

TEST(DataCacheStress, WhatIsReadInPlaceStays) {
  auto cache = queue::DataCache::open({}, {.capacity_bytes = 4'096,
                                           .payload_max = kPayloadMax,
                                           .use = queue::CacheUse::in_place})
                   .value();
  auto board = queue::SeqlockArray<Sent>::open({}, 2).value();
  std::vector<std::function<void()>> writers;
  for (std::size_t self = 0; self < 2; ++self) {
    writers.emplace_back([&, self] {
      auto writer = cache.writer().value();
      for (std::uint64_t i = 0; i < kRounds / 4;) {
        Sent sent{.seed = self * kRounds + i};
        auto room = writer.reserve(size_of(sent.seed));
        if (!room) continue;  // a reader stands there
        ++i;
        fill(room->bytes(), sent.seed);
        sent.ref = room->publish();
        ASSERT_EQ(board.write(self, sent), Write::ok);
      }
    });
  }
  std::vector<queue::DataCacheReader> readers;
  readers.push_back(cache.reader().value());
  readers.push_back(cache.reader().value());
  std::uint64_t whole[2] = {};
  const auto read = [&](std::size_t self) {
    for (std::size_t index = 0; index < 2; ++index) {
      Sent sent;
      if (board.read(index, sent) != Look::ok) continue;
      const Take take = readers[self].read(sent.ref, [&](std::span<const std::byte> bytes) {
        ASSERT_TRUE(proves(bytes, sent.seed));
        ++whole[self];
      });
      ASSERT_TRUE(take == Take::ok || take == Take::lapped);
    }
  };
  run(writers, {[&] { read(0); }, [&] { read(1); }});
  EXPECT_GT(whole[0] + whole[1], 0U);
}

// A slab: the board tells of the newest handle of each.

TEST(SlabStress, AHandleNamesItsObjectOrNothing) {
  struct Named {
    queue::SlabHandle handle{};
    std::uint64_t sequence = 0;
  };
  auto slab = queue::Slab<Payload>::open({}, queue::SlabKind::overwriting, 8).value();
  auto board = queue::SeqlockArray<Named>::open({}, 2).value();
  std::vector<std::function<void()>> writers;
  for (std::uint64_t self = 0; self < 2; ++self) {
    writers.emplace_back([&, self] {
      for (std::uint64_t i = 0; i < kRounds; ++i) {
        const queue::SlabHandle handle = slab.put(Payload::make(self, i));
        // Not in the last round: of both writers' last objects, the later one stays.
        if (i % 7 == 1) static_cast<void>(slab.erase(handle));
        if (i % 1'000 == 500) slab.clear();
        ASSERT_TRUE(handle);
        ASSERT_EQ(board.write(self, {handle, i}), Write::ok);
      }
    });
  }
  std::uint64_t there = 0;
  run(writers, {[&] {
        for (std::uint64_t self = 0; self < 2; ++self) {
          Named named;
          if (board.read(self, named) != Look::ok) continue;
          Payload payload;
          if (!slab.get(named.handle, payload)) continue;
          ASSERT_TRUE(payload.is_whole());
          ASSERT_EQ(payload.writer, self);
          ASSERT_EQ(payload.sequence, named.sequence);
          ++there;
        }
      }});
  EXPECT_GT(there, 0U);
}

}  // namespace
}  // namespace leat::stress
