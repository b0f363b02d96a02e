#include <leat/comm/net/handshake.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <leat/base/rng.hpp>

namespace leat::comm {
namespace {

using State = Handshake::State;
using ByteVector = std::vector<std::byte>;

Identity member(std::uint32_t process) {
  Identity who;
  who.process = process;
  who.processes = 3;
  who.workers = 2;
  who.cluster = "leat";
  who.program = "abcd";
  who.program_name = "hello";
  who.nonce = 1000 + process;
  return who;
}
ByteVector secret(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Carries bytes both ways, `step` at a time, until neither has any.
void carry(Handshake& a, Handshake& b, std::size_t step) {
  ByteVector to_a;
  ByteVector to_b;
  for (bool moved = true; moved;) {
    moved = false;
    for (auto [from, to, wire] : {std::tuple{&a, &b, &to_b}, std::tuple{&b, &a, &to_a}}) {
      const auto said = from->take_output();
      wire->insert(wire->end(), said.begin(), said.end());
      while (!wire->empty() && to->wants() > 0) {
        const std::size_t count = std::min({step, wire->size(), to->wants()});
        to->feed(std::span(*wire).first(count));
        wire->erase(wire->begin(), wire->begin() + static_cast<std::ptrdiff_t>(count));
        moved = true;
      }
    }
  }
}

TEST(Handshake, WelcomesAMemberHoweverTheBytesAreCut) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    Handshake client(Side::client, member(2), secret("s3cr3t"), {});
    Handshake server(Side::server, member(0), secret("s3cr3t"), {});
    carry(client, server, step);
    ASSERT_EQ(client.state(), State::welcome) << client.reason();
    ASSERT_EQ(server.state(), State::welcome) << server.reason();
    EXPECT_EQ(client.peer().process, 0U);
    EXPECT_EQ(server.peer().process, 2U);
    EXPECT_EQ(server.peer().program_name, "hello");
    EXPECT_EQ(client.wants(), 0U);
  }
}

TEST(Handshake, TellsAStrangerFromAMemberThatDiffers) {
  struct Case {
    Identity client;
    std::string secret;
    const char* words;
    bool is_disagreement;
  };
  std::vector<Case> cases;
  const auto add = [&](const char* words, bool is_disagreement, auto change) {
    Case one{member(2), "s", words, is_disagreement};
    change(one);
    cases.push_back(one);
  };
  add("cluster", false, [](Case& c) { c.client.cluster = "other"; });
  add("secret", false, [](Case& c) { c.secret = "t"; });
  add("-w 3", true, [](Case& c) { c.client.workers = 3; });
  add("-n 4", true, [](Case& c) { c.client.processes = 4; });
  add("--fabric shm", true, [](Case& c) { c.client.fabric = 1; });
  add("as this one is", true, [](Case& c) { c.client.process = 0; });
  add("process 9 of 3", true, [](Case& c) { c.client.process = 9; });
  add("\"distinct\" of build ffff", true, [](Case& c) {
    c.client.program = "ffff";
    c.client.program_name = "distinct";
  });
  for (const Case& one : cases) {
    Handshake client(Side::client, one.client, secret(one.secret), {});
    Handshake server(Side::server, member(0), secret("s"), {});
    carry(client, server, 4096);
    EXPECT_EQ(client.state(), State::refused) << one.words;
    EXPECT_EQ(server.state(), State::refused) << one.words;
    // Who finds it says what it is; the other one hears of it only if it is a member.
    EXPECT_NE((server.reason() + client.reason()).find(one.words), std::string::npos)
        << server.reason();
    EXPECT_EQ(server.is_disagreement(), one.is_disagreement) << one.words;
    EXPECT_EQ(client.is_disagreement(), one.is_disagreement) << client.reason();
  }
}

// What two members with these types say to each other.
std::pair<std::string, std::string> refusals(std::vector<RecordType> here,
                                             std::vector<RecordType> there, const char* build) {
  Identity one = member(2);
  Identity other = member(0);
  one.types = std::move(here);
  other.types = std::move(there);
  other.program = build;
  Handshake client(Side::client, one, secret("s"), {});
  Handshake server(Side::server, other, secret("s"), {});
  carry(client, server, 4096);
  EXPECT_EQ(client.state(), server.state());
  return {client.reason(), server.reason()};
}

TEST(Handshake, EachSideNamesItsRecordTypesThatTheOtherLacks) {
  const std::vector<RecordType> old{{5, "Time"}, {10, "Order"}};
  const std::vector<RecordType> grown{{5, "Time"}, {20, "Order"}, {30, "Trade"}};
  EXPECT_EQ(refusals(old, old, "abcd"), std::pair(std::string(), std::string()));
  const auto same_program = refusals(old, grown, "abcd");
  EXPECT_NE(same_program.first.find("another way, Order"), std::string::npos) << same_program.first;
  EXPECT_NE(same_program.second.find("another way, Order, Trade"), std::string::npos)
      << same_program.second;
  EXPECT_NE(same_program.first.find("a library that they load"), std::string::npos);
  const auto other_build = refusals(old, grown, "ffff");
  EXPECT_NE(other_build.first.find("of build ffff"), std::string::npos) << other_build.first;
  EXPECT_NE(other_build.first.find("another way, Order"), std::string::npos) << other_build.first;
  EXPECT_EQ(refusals(old, old, "ffff").first.find("another way"), std::string::npos);
}

TEST(Handshake, SaysNothingOfTypesThatTheOtherHadNoRoomToTell) {
  std::vector<RecordType> many;
  for (std::uint64_t i = 1; i <= 2 * kTypesTold; ++i) {
    many.push_back({10 * i, "T" + std::to_string(i)});
  }
  EXPECT_EQ(refusals(many, many, "abcd").first, "");
  auto changed = many;
  changed.back().number += 1;  // beyond what is told
  const auto beyond = refusals(many, changed, "abcd");
  EXPECT_NE(beyond.first.find("other record types"), std::string::npos) << beyond.first;
  EXPECT_EQ(beyond.first.find("lacks"), std::string::npos) << beyond.first;
  changed.front().number += 1;
  EXPECT_NE(refusals(many, changed, "abcd").first.find("another way, T1"), std::string::npos);
}

TEST(Handshake, TakesAVetoForAnAnswer) {
  Handshake client(Side::client, member(2), {}, {});
  Handshake server(Side::server, member(0), {},
                   [](const Identity& peer) { return "no " + std::to_string(peer.process); });
  carry(client, server, 4096);
  EXPECT_EQ(server.state(), State::refused);
  EXPECT_EQ(server.reason(), "no 2");
  EXPECT_EQ(client.state(), State::refused);
  EXPECT_NE(client.reason().find("no 2"), std::string::npos);
}

TEST(Handshake, AProofIsOfItsOwnConnectionOnly) {
  // What a client said once is no proof to a server that drew another nonce.
  Handshake client(Side::client, member(2), secret("s"), {});
  Handshake server(Side::server, member(0), secret("s"), {});
  const auto hello = client.take_output();
  server.feed(hello);
  client.feed(server.take_output());
  const auto proof = client.take_output();
  Identity later = member(0);
  later.nonce = 77;
  Handshake another(Side::server, later, secret("s"), {});
  another.feed(hello);
  static_cast<void>(another.take_output());
  another.feed(proof);
  EXPECT_EQ(another.state(), State::refused);
  EXPECT_FALSE(another.is_disagreement());
}

TEST(Handshake, AnyBytesEndInARefusalOrTheWishForMore) {
  Rng rng(23);
  for (int round = 0; round < 5000; ++round) {
    const Side side = rng.below(2) == 0 ? Side::client : Side::server;
    Handshake handshake(side, member(side == Side::client ? 2 : 0), secret("s"), {});
    Handshake other(side == Side::client ? Side::server : Side::client,
                    member(side == Side::client ? 0 : 2), secret("s"), {});
    for (int turn = 0; turn < 6 && handshake.wants() > 0; ++turn) {
      auto said = other.take_output();
      if (said.empty() || rng.below(4) == 0) said.resize(1 + rng.below(1000));
      for (std::uint64_t n = rng.below(3); n > 0; --n) {
        said[rng.below(said.size())] = static_cast<std::byte>(rng.below(256));
      }
      said.resize(std::min(said.size(), handshake.wants()));
      handshake.feed(said);
      auto answer = handshake.take_output();
      answer.resize(std::min(answer.size(), other.wants()));
      if (!answer.empty()) other.feed(answer);
    }
    if (handshake.state() == State::refused) {
      EXPECT_FALSE(handshake.reason().empty());
    }
  }
}

}  // namespace
}  // namespace leat::comm
