#include <leat/comm/envelope.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

namespace leat::comm {
namespace {

/// A message that counts the envelopes it was made in.
struct Counted {
  Counted() { ++made; }
  ~Counted() { --made; }
  static inline int made = 0;
};

TEST(EnvelopePool, TakesWhatWasGivenBackBeforeItMakesAnother) {
  EnvelopePool<int> pool;
  Envelope<int>* const first = pool.take();
  Envelope<int>* const second = pool.take();
  EXPECT_NE(first, second);
  pool.give_back(first);
  EXPECT_EQ(pool.take(), first);
  pool.give_back(second);
  pool.give_back(first);
  const std::set<Envelope<int>*> again{pool.take(), pool.take()};
  EXPECT_EQ(again, (std::set<Envelope<int>*>{first, second}));
  for (Envelope<int>* envelope : again) pool.give_back(envelope);
}

TEST(EnvelopePool, AnEnvelopeKnowsItsHome) {
  EnvelopePool<int> here;
  EnvelopePool<int> there;
  Envelope<int>* const envelope = here.take();
  EXPECT_EQ(envelope->pool, &here);
  envelope->pool->give_back(envelope);
  EXPECT_EQ(here.take(), envelope);
  here.give_back(envelope);
}

TEST(EnvelopePool, KeepsWhatIsInsideAnEnvelope) {
  EnvelopePool<std::vector<int>> pool;
  auto* const envelope = pool.take();
  EXPECT_TRUE(envelope->message.empty());
  envelope->message.reserve(100);
  const int* const memory = envelope->message.data();
  pool.give_back(envelope);
  EXPECT_EQ(pool.take()->message.data(), memory);
  pool.give_back(envelope);
}

TEST(EnvelopePool, MakesNoMoreThanAreOutAtOnce) {
  {
    EnvelopePool<Counted> pool;
    for (int round = 0; round < 10; ++round) {
      std::vector<Envelope<Counted>*> out;
      for (int i = 0; i < 5; ++i) out.push_back(pool.take());
      for (auto* envelope : out) pool.give_back(envelope);
    }
    EXPECT_EQ(Counted::made, 5);
    pool.give_back(pool.take());  // one list holds some and the other the rest
  }
  EXPECT_EQ(Counted::made, 0);
}

TEST(EnvelopePool, GetsBackWhatSeveralThreadsReturn) {
  EnvelopePool<int> pool;
  std::vector<Envelope<int>*> out;
  for (int i = 0; i < 4000; ++i) out.push_back(pool.take());
  std::vector<std::thread> receivers;
  for (std::size_t part = 0; part < 4; ++part) {
    receivers.emplace_back([&pool, &out, part] {
      for (std::size_t i = part; i < out.size(); i += 4) pool.give_back(out[i]);
    });
  }
  for (auto& receiver : receivers) receiver.join();
  std::vector<Envelope<int>*> again;
  for (std::size_t i = 0; i < out.size(); ++i) again.push_back(pool.take());
  std::sort(out.begin(), out.end());
  std::sort(again.begin(), again.end());
  EXPECT_EQ(out, again);
  for (auto* envelope : again) pool.give_back(envelope);
}

}  // namespace
}  // namespace leat::comm
