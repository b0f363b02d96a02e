#include <leat/comm/net/handshake.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <leat/base/check.hpp>
#include <leat/base/hash.hpp>

namespace leat::comm {

namespace {

// A hello: magic, version, what follows in the order of Identity; texts with a length byte; zeros. The
// server's is followed by its proof.
constexpr std::uint64_t kMagic = 0x4f4c4c454854414c;  // "LATHELLO"
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kTextBytes = 64;
// Room for a text with its length.
constexpr std::size_t kTextRoom = 72;
// A hash of all types of records, how many follow, and the numbers of these.
constexpr std::size_t kTypesAt = 40 + 3 * kTextRoom;
constexpr std::size_t kTypesNamed = 3;  // in a message
constexpr std::uint32_t kProcessesMax = 65536;

// A verdict: 8 bytes magic, whose last says which, then a text.
constexpr std::uint64_t kWelcome = 0x31454d4f434c4557;  // "WELCOME1"
constexpr std::uint64_t kRefused = 0x3153554645525f4c;  // "L_REFUS1"
constexpr std::size_t kReasonBytes = kVerdictBytes - 9;

template <class T>
void put(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}
template <class T>
T get(const std::byte* at) noexcept {
  T value{};
  std::memcpy(&value, at, sizeof value);
  return value;
}

void put_text(std::byte* at, const std::string& text, std::size_t most) noexcept {
  const std::size_t bytes = std::min({text.size(), most, std::size_t{255}});
  at[0] = static_cast<std::byte>(bytes);
  std::memcpy(at + 1, text.data(), bytes);
}
// Nothing if its length cannot be.
std::optional<std::string> get_text(const std::byte* at, std::size_t most) {
  const auto bytes = static_cast<std::size_t>(at[0]);
  if (bytes > most) return std::nullopt;
  std::string text(reinterpret_cast<const char*>(at + 1), bytes);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';  // it will be printed
  }
  return text;
}

std::array<std::byte, kHelloBytes> hello_of(const Identity& who) noexcept {
  std::array<std::byte, kHelloBytes> hello{};
  std::byte* const at = hello.data();
  put(at, kMagic);
  put(at + 8, kVersion);
  put(at + 12, who.process);
  put(at + 16, who.processes);
  put(at + 20, who.workers);
  put(at + 24, who.fabric);
  put(at + 28, std::uint32_t{0});
  put(at + 32, who.nonce);
  put_text(at + 40, who.cluster, kTextBytes);
  put_text(at + 40 + kTextRoom, who.program, kTextBytes);
  put_text(at + 40 + 2 * kTextRoom, who.program_name, kTextBytes);
  put(at + kTypesAt, who.types_hash);
  const std::size_t told = std::min(who.types.size(), kTypesTold);
  put(at + kTypesAt + 8, std::uint64_t{told});
  for (std::size_t i = 0; i < told; ++i) put(at + kTypesAt + 16 + 8 * i, who.types[i].number);
  return hello;
}
static_assert(kTypesAt + 16 + 8 * kTypesTold == kHelloBytes);

std::uint64_t hash_of(const std::vector<RecordType>& types) noexcept {
  std::uint64_t hash = types.size();
  for (const RecordType& type : types) hash = hash_combine(hash, type.number);
  return hash;
}

const char* fabric_name(std::uint32_t fabric) {
  return fabric == 0 ? "tcp" : fabric == 1 ? "shm" : "an unknown fabric";
}

}  // namespace

Handshake::Handshake(Side side, Identity self, std::vector<std::byte> secret, Veto veto)
    : side_(side), self_(std::move(self)), secret_(std::move(secret)), veto_(std::move(veto)) {
  self_.types_hash = hash_of(self_.types);
  own_hello_ = hello_of(self_);
  if (side_ == Side::client) output_.assign(own_hello_.begin(), own_hello_.end());
}

std::size_t Handshake::wants() const noexcept {
  std::size_t whole = 0;
  switch (step_) {
    case Step::hello:
      whole = side_ == Side::client ? kHelloBytes + sizeof(Digest) : kHelloBytes;
      break;
    case Step::proof:
      whole = sizeof(Digest);
      break;
    case Step::verdict:
      whole = kVerdictBytes;
      break;
    case Step::done:
      return 0;
  }
  // A verdict may come where a hello or a proof should; it begins with other words.
  if (input_.size() >= 8 && get<std::uint64_t>(input_.data()) == kRefused) whole = kVerdictBytes;
  return whole - std::min(whole, input_.size());
}

void Handshake::feed(std::span<const std::byte> bytes) {
  LEAT_CHECK(bytes.size() <= wants(), "more bytes than the handshake wants");
  input_.insert(input_.end(), bytes.begin(), bytes.end());
  if (step_ == Step::hello && input_.size() >= 8) {
    const auto magic = get<std::uint64_t>(input_.data());
    if (magic != kMagic && magic != kRefused) {
      refuse("it does not begin as a process of Leat does", false);
      return;
    }
  }
  if (step_ == Step::done || wants() != 0) return;
  if (get<std::uint64_t>(input_.data()) == kRefused) {
    take_verdict();
  } else if (step_ == Step::hello) {
    take_hello();
  } else if (step_ == Step::proof) {
    take_proof();
  } else {
    take_verdict();
  }
  if (step_ == Step::done) input_ = {};
}

void Handshake::take_hello() {
  const std::byte* const at = input_.data();
  std::copy_n(at, kHelloBytes, peer_hello_.begin());
  const auto version = get<std::uint32_t>(at + 8);
  if (version != kVersion) {
    refuse("it speaks version " + std::to_string(version) + " of this protocol, and this process " +
               std::to_string(kVersion),
           false);
    return;
  }
  peer_.process = get<std::uint32_t>(at + 12);
  peer_.processes = get<std::uint32_t>(at + 16);
  peer_.workers = get<std::uint32_t>(at + 20);
  peer_.fabric = get<std::uint32_t>(at + 24);
  peer_.nonce = get<std::uint64_t>(at + 32);
  const auto cluster = get_text(at + 40, kTextBytes);
  const auto program = get_text(at + 40 + kTextRoom, kTextBytes);
  const auto name = get_text(at + 40 + 2 * kTextRoom, kTextBytes);
  const auto types_told = get<std::uint64_t>(at + kTypesAt + 8);
  if (!cluster || !program || !name || peer_.processes > kProcessesMax || types_told > kTypesTold) {
    refuse("its hello makes no sense", false);
    return;
  }
  peer_.cluster = *cluster;
  peer_.program = *program;
  peer_.program_name = *name;
  peer_.types_hash = get<std::uint64_t>(at + kTypesAt);
  for (std::size_t i = 0; i < types_told; ++i) {
    peer_.types.push_back({get<std::uint64_t>(at + kTypesAt + 16 + 8 * i), {}});
  }
  if (peer_.cluster != self_.cluster) {
    refuse("it belongs to the cluster \"" + peer_.cluster + "\", and this process to \"" +
               self_.cluster + "\"",
           false);
    return;
  }
  if (side_ == Side::client) {
    Digest proof{};
    std::memcpy(proof.data(), at + kHelloBytes, sizeof proof);
    if (!same_digest(proof, proof_of(Side::server))) {
      refuse("it does not know the secret", false);
      return;
    }
  }
  input_.clear();
  const Digest proof = proof_of(side_);
  const auto bytes = std::as_bytes(std::span(proof));
  if (side_ == Side::server) output_.insert(output_.end(), own_hello_.begin(), own_hello_.end());
  output_.insert(output_.end(), bytes.begin(), bytes.end());
  step_ = side_ == Side::server ? Step::proof : Step::verdict;
}

void Handshake::take_proof() {
  Digest proof{};
  std::memcpy(proof.data(), input_.data(), sizeof proof);
  if (!same_digest(proof, proof_of(Side::client))) {
    refuse("it does not know the secret", false);
    return;
  }
  if (const std::string wrong = disagreement(); !wrong.empty()) {
    refuse(wrong, true);
    return;
  }
  say_verdict(true, {});
  step_ = Step::done;
  state_ = State::welcome;
}

void Handshake::take_verdict() {
  const auto magic = get<std::uint64_t>(input_.data());
  const bool has_proved = step_ == Step::verdict;
  step_ = Step::done;
  std::string wrong = has_proved ? disagreement() : std::string();
  if (magic == kWelcome && has_proved && wrong.empty()) {
    state_ = State::welcome;
    return;
  }
  state_ = State::refused;
  is_disagreement_ = has_proved;
  const auto text = get_text(input_.data() + 8, kReasonBytes);
  if (!wrong.empty()) {
    reason_ = std::move(wrong);
  } else if (magic == kRefused && text) {
    reason_ = "it refuses this process: " + *text;
  } else {
    reason_ = "its verdict makes no sense";
  }
}

// What two members of a run may not differ in; both are named.
std::string Handshake::disagreement() const {
  const auto differs = [](const std::string& what, const std::string& theirs,
                          const std::string& ours) {
    return "it has " + what + " " + theirs + ", and this process " + ours;
  };
  if (peer_.processes != self_.processes) {
    return differs("-n", std::to_string(peer_.processes), std::to_string(self_.processes));
  }
  if (peer_.process >= peer_.processes || peer_.process == self_.process) {
    return "it says that it is process " + std::to_string(peer_.process) + " of " +
           std::to_string(peer_.processes) +
           (peer_.process == self_.process ? ", as this one is" : "");
  }
  if ((side_ == Side::server) != (peer_.process > self_.process)) {
    return "process " + std::to_string(peer_.process) + " is on the wrong side";
  }
  if (peer_.workers != self_.workers) {
    return differs("-w", std::to_string(peer_.workers), std::to_string(self_.workers));
  }
  if (peer_.fabric != self_.fabric) {
    return differs("--fabric", fabric_name(peer_.fabric), fabric_name(self_.fabric));
  }
  if (peer_.program != self_.program) {
    return "it is another program: \"" + peer_.program_name + "\" of build " + peer_.program +
           ", and this process \"" + self_.program_name + "\" of build " + self_.program +
           types_only_here();
  }
  if (peer_.types_hash != self_.types_hash) {
    return "it has other record types than this process, though the programs are the same: a "
           "library "
           "that they load differs" +
           types_only_here();
  }
  return veto_ ? veto_(peer_) : std::string();
}

// Which types of this process the other one lacks, or encodes in another way. Each side names its own:
// the other one knows numbers only.
std::string Handshake::types_only_here() const {
  if (peer_.types_hash == self_.types_hash) return {};
  // Whose list was cut off may have those above its last one, too.
  const bool is_whole = peer_.types.size() < kTypesTold;
  std::string text;
  std::size_t count = 0;
  for (const RecordType& type : self_.types) {
    if (!is_whole && type.number > peer_.types.back().number) break;
    const bool there =
        std::any_of(peer_.types.begin(), peer_.types.end(),
                    [&](const RecordType& other) { return other.number == type.number; });
    if (there || ++count > kTypesNamed) continue;
    text += (text.empty() ? "" : ", ") + type.name;
  }
  if (count == 0) return {};
  if (count > kTypesNamed) text += " and " + std::to_string(count - kTypesNamed) + " more";
  return "; it lacks, or encodes in another way, " + text;
}

void Handshake::refuse(const std::string& reason, bool is_disagreement) {
  reason_ = reason;
  is_disagreement_ = is_disagreement;
  state_ = State::refused;
  step_ = Step::done;
  input_ = {};
  // A stranger is told nothing but that it is one.
  say_verdict(false, is_disagreement ? "process " + std::to_string(self_.process) + ": " + reason
                                     : "you are none of us");
}

void Handshake::say_verdict(bool welcome, const std::string& reason) {
  std::array<std::byte, kVerdictBytes> verdict{};
  put(verdict.data(), welcome ? kWelcome : kRefused);
  put_text(verdict.data() + 8, reason, kReasonBytes);
  output_.insert(output_.end(), verdict.begin(), verdict.end());
}

// Of everything both sides said, in the order in which they did, and of whose proof it is.
Digest Handshake::proof_of(Side whose) const {
  std::vector<std::byte> said;
  const auto& first = side_ == Side::client ? own_hello_ : peer_hello_;
  const auto& second = side_ == Side::client ? peer_hello_ : own_hello_;
  said.push_back(static_cast<std::byte>(whose));
  said.insert(said.end(), first.begin(), first.end());
  said.insert(said.end(), second.begin(), second.end());
  return hmac_sha256(secret_, said);
}

}  // namespace leat::comm
