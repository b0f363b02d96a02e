// A process that writes a log is killed (kill -9) at each step of writing, and at moments of no choice:
// the log is a readable prefix of what was written, without a record twice, with all that was synced; and
// who writes next goes on behind it.
//
// LEAT_KILLS=n kills about n processes in all.
#define LEAT_LOG_STEPS 1
#include <leat/base/hash.hpp>
#include <leat/core/segment/test_segments.hpp>
#include <leat/tile/record/log_reader.hpp>
#include <leat/tile/record/log_writer.hpp>
#include <leat/tile/record/step.hpp>
#include <leat/tile/record/value_store.hpp>

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <thread>

namespace leat::crash {
namespace {

using namespace leat::tile;

std::size_t kills_per_test() {
  const char* const kills = std::getenv("LEAT_KILLS");
  return kills == nullptr ? 12 : static_cast<std::size_t>(std::atoi(kills)) / 3;
}

/// What a child tells of itself, in memory that outlives it.
struct Told {
  std::atomic<std::uint64_t> appended{0};
  std::atomic<std::uint64_t> synced{0};
};
class SharedTold {
 public:
  SharedTold()
      : told_(new(::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0)) Told) {}
  ~SharedTold() { ::munmap(told_, sizeof(Told)); }
  SharedTold(const SharedTold&) = delete;
  SharedTold& operator=(const SharedTold&) = delete;
  Told* operator->() const { return told_; }

 private:
  Told* told_;
};

struct Payload {
  std::uint64_t number = 0;
  std::uint64_t proof = 0;
  std::array<std::uint64_t, 6> echo{};

  static Payload make(std::uint64_t number) {
    Payload payload{number, mix64(number + 1), {}};
    payload.echo.fill(payload.proof);
    return payload;
  }
};

LogOptions options_in(const std::filesystem::path& folder) {
  LogOptions options;
  options.folder = folder;
  options.sync = SyncPolicy::none;
  options.segment_bytes = 100'000;  // more than one entry of the index apart
  options.buffer_bytes = 4096;
  options.keep_bytes = 300'000;
  return options;
}

// Appends, and syncs now and then, for ever or until it is killed.
void write_for_ever(const std::filesystem::path& folder, const SharedTold& told) {
  auto writer = LogWriter::open(options_in(folder));
  if (!writer) ::_exit(3);
  for (;;) {
    const Payload payload = Payload::make(writer->next());
    const auto sequence = writer->append(static_cast<std::int64_t>(writer->next()), 7,
                                         std::as_bytes(std::span(&payload, 1)));
    if (!sequence) ::_exit(4);
    told->appended.store(*sequence + 1);
    if (*sequence % 37 == 0) {
      if (!writer->sync()) ::_exit(5);
      told->synced.store(writer->synced());
    }
  }
}

// The log is whole records in a row, each once, up to at least what was synced.
void check_log(const std::filesystem::path& folder, const SharedTold& told,
               std::string_view where) {
  auto reader = LogReader::open(folder);
  if (!reader) {
    ASSERT_EQ(told->synced.load(), 0U) << where << ": " << reader.error().message;
    return;
  }
  std::uint64_t next = reader->position();
  for (;;) {
    const auto record = reader->next();
    ASSERT_TRUE(record.has_value()) << where;
    if (!*record) break;
    ASSERT_FALSE((*record)->is_gap()) << where;
    ASSERT_EQ((*record)->sequence, next) << where;
    Payload payload;
    ASSERT_EQ((*record)->payload.size(), sizeof payload) << where;
    std::memcpy(&payload, (*record)->payload.data(), sizeof payload);
    ASSERT_EQ(payload.number, next) << where;
    for (const std::uint64_t each : payload.echo) ASSERT_EQ(each, mix64(next + 1)) << where;
    ++next;
  }
  EXPECT_GE(next, told->synced.load()) << "lost what was synced, after a death at " << where;
  EXPECT_LE(next, told->appended.load() + 1) << where;
}

struct Doom {
  std::string_view name;
  unsigned after = 0;
};
Doom doom;
const core::ChildProcess* doomed = nullptr;

void stop_there(const char* name) {
  if (doom.name != name || doom.after-- != 0) return;
  doomed->say('.');
  core::ChildProcess::wait_for_ever();
}

constexpr std::array<std::string_view, 10> kSteps{
    "log.made",    "log.headed",  "log.begun",  "log.buffered", "log.torn",
    "log.written", "log.indexed", "log.synced", "log.removing", "log.removed"};

TEST(LogCrash, AWriterIsKilledAtEachStepAndTheNextGoesOn) {
  const core::TestFolder folder;
  const SharedTold told;
  const std::size_t kills = std::max(kills_per_test(), 2 * kSteps.size());
  for (std::size_t round = 0; round < kills; ++round) {
    // Steps that come seldom are come to once; the others at different times.
    const std::string_view step = kSteps[round % kSteps.size()];
    const bool is_frequent = step == "log.buffered" || step == "log.torn" || step == "log.written";
    const Doom where{step, is_frequent ? static_cast<unsigned>(round / kSteps.size() % 7) : 0};
    core::ChildProcess child([&](const core::ChildProcess& self) {
      doom = where;
      doomed = &self;
      log_step = stop_there;
      write_for_ever(folder.path(), told);
    });
    ASSERT_EQ(child.listen(), '.') << "never came to " << step;
    child.kill();
    check_log(folder.path(), told, step);
    if (HasFatalFailure()) return;
  }
}

TEST(LogCrash, AWriterIsKilledAtMomentsOfNoChoice) {
  const core::TestFolder folder;
  const SharedTold told;
  std::uint64_t random = 12345;
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    random = mix64(random + 1);
    const std::uint64_t until = told->appended.load() + random % 2000;
    core::ChildProcess child(
        [&](const core::ChildProcess&) { write_for_ever(folder.path(), told); });
    while (told->appended.load() < until) std::this_thread::yield();
    child.kill();
    check_log(folder.path(), told, "no step");
    if (HasFatalFailure()) return;
  }
}

TEST(LogCrash, WhoSavesAValueIsKilledAndTheValueIsOneThatWasSaved) {
  const core::TestFolder folder;
  const SharedTold told;
  const ValueStore<std::string> store(folder.path());
  ASSERT_TRUE(store.save("v", std::string(5000, 'a')).has_value());
  std::uint64_t random = 99;
  for (std::size_t round = 0; round < kills_per_test(); ++round) {
    random = mix64(random + 1);
    const std::uint64_t until = told->appended.load() + random % 50;
    core::ChildProcess child([&](const core::ChildProcess&) {
      for (std::uint64_t i = 0;; ++i) {
        const char letter = static_cast<char>('a' + i % 26);
        if (!store.save("v", std::string(5000, letter))) ::_exit(3);
        told->appended.fetch_add(1);
      }
    });
    while (told->appended.load() < until) std::this_thread::yield();
    child.kill();
    const auto found = store.load("v");
    ASSERT_TRUE(found.has_value()) << found.error().message;
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->size(), 5000U);
    EXPECT_EQ((*found)->find_first_not_of((*found)->front()), std::string::npos);
  }
}

}  // namespace
}  // namespace leat::crash
