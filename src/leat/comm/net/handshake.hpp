// What      How two processes of a run come to trust a connection: who each is, that both run the same
//           program in the same cluster, and that both know the secret if there is one. A machine
//           without sockets: bytes in, bytes out. The bytes are in docs/protocols/frames.md.
// Shape     the higher process (client)                 the lower process (server)
//             hello  ---------------------------------->  a process of Leat, of this cluster?
//                    <----------------------------------  hello, with a proof
//             the same, and who proves it? proof  ----->  does it prove it? do the two agree?
//             do the two agree?  <----------------------  verdict: welcome, or why not
//           A stranger is told so in place of what should come next. What members of a run disagree
//           about is said only when both have proved that they are.
// Invariants
//   (1) Nothing is allocated that the bytes ask for: all parts have a size that is known before.
//   (2) Any bytes at all end in a connection or in a refusal with a reason.
//   (3) A proof is of this connection: both sides' nonces are in it. Without a secret it proves only
//       that the other side speaks this protocol.
// Limits    No secrecy: who can read the wire reads it, and who can write to it after the handshake
//           writes to it.
// Source    Ours. HMAC over both hellos, as in challenge and response.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <leat/comm/net/hmac.hpp>
#include <leat/comm/wire/record_types.hpp>

namespace leat::comm {

/// What a process says of itself and of the run it belongs to.
struct Identity {
  std::uint32_t process = 0;
  std::uint32_t processes = 1;
  std::uint32_t workers = 1;  // of each process
  std::uint32_t fabric = 0;   // what carries frames after the handshake
  std::string cluster;        // at most 64 bytes
  std::string program;        // which build, at most 64 bytes
  std::string program_name;   // for people, at most 64 bytes
  std::uint64_t nonce = 0;    // drawn for this process's run
  // What it can send as bytes, ascending. Of the other side: at most kTypesTold, without names.
  std::vector<RecordType> types{};
  std::uint64_t types_hash = 0;  // of all of them; of the other side as it says
};

inline constexpr std::size_t kTypesTold = 64;
inline constexpr std::size_t kHelloBytes = 272 + 8 * kTypesTold;
inline constexpr std::size_t kVerdictBytes = 264;

enum class Side : std::uint8_t { client, server };

class Handshake {
 public:
  /// `veto` says why a member that proved itself cannot be taken all the same; empty if it can.
  using Veto = std::function<std::string(const Identity& peer)>;
  Handshake(Side side, Identity self, std::vector<std::byte> secret, Veto veto);

  enum class State : std::uint8_t { going_on, welcome, refused };

  [[nodiscard]] State state() const noexcept { return state_; }
  /// Who the other side is. Requires: `welcome`.
  [[nodiscard]] const Identity& peer() const noexcept { return peer_; }
  /// Why it was refused, by whom. Requires: `refused`.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  /// Whether it was a member of the run that differs, or says so of this one: no stranger, and of no
  /// use to try again.
  [[nodiscard]] bool is_disagreement() const noexcept { return is_disagreement_; }

  /// Bytes that are to be written now; the caller takes them out.
  [[nodiscard]] std::vector<std::byte> take_output() { return std::exchange(output_, {}); }
  /// How many bytes are wanted next; 0 when it is over. No more are to be read: frames follow.
  [[nodiscard]] std::size_t wants() const noexcept;
  /// Brings what was read, at most `wants()`.
  void feed(std::span<const std::byte> bytes);

 private:
  void take_hello();
  void take_proof();
  void take_verdict();
  [[nodiscard]] std::string disagreement() const;
  [[nodiscard]] std::string types_only_here() const;
  void refuse(const std::string& reason, bool is_disagreement);
  void say_verdict(bool welcome, const std::string& reason);
  [[nodiscard]] Digest proof_of(Side whose) const;

  enum class Step : std::uint8_t { hello, proof, verdict, done };

  Side side_;
  Identity self_;
  Identity peer_;
  std::vector<std::byte> secret_;
  Veto veto_;
  State state_ = State::going_on;
  Step step_ = Step::hello;
  bool is_disagreement_ = false;
  std::string reason_;
  std::array<std::byte, kHelloBytes> own_hello_{};
  std::array<std::byte, kHelloBytes> peer_hello_{};
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
};

}  // namespace leat::comm
