#include <leat/core/segment/spec.hpp>

#include <leat/core/segment/header.hpp>
#include <leat/core/segment/name.hpp>
#include <leat/core/segment/participants.hpp>

#include <cstdio>

namespace leat::core {
namespace {

Error impossible(const std::string& asked, const std::string& found, const std::string& next) {
  return {"segment: asked " + asked + "; found " + found + "; " + next};
}

std::string type_text(const SegmentType& type) {
  if (type.hash == 0) return "plain bytes";
  std::array<char, 17> hash{};
  std::snprintf(hash.data(), hash.size(), "%016llx", static_cast<unsigned long long>(type.hash));
  return type.name + " (" + std::to_string(type.bytes) + " bytes aligned to " +
         std::to_string(type.align) + ", hash " + hash.data() + ")";
}

Result<void> check_short_word(const char* what, const std::string& text) {
  if (auto good = check_segment_word(what, text); !good) return good;
  if (text.size() <= 15) return {};
  return impossible(std::string(what) + " \"" + text + "\"",
                    std::to_string(text.size()) + " characters", "write at most 15");
}

}  // namespace

Result<SegmentLayout> segment_layout(const SegmentSpec& spec) {
  if (auto good = check_short_word("the kind", spec.kind); !good) return std::move(good).error();
  if (!spec.flavour.empty()) {
    if (auto good = check_short_word("the flavour", spec.flavour); !good) {
      return std::move(good).error();
    }
  }
  if (spec.payload_bytes == 0 || spec.payload_bytes > std::uint64_t{1} << 48) {
    return impossible("a payload of " + std::to_string(spec.payload_bytes) + " bytes",
                      "a number that is no size", "ask for 1 to 2^48");
  }
  if (spec.participants_max == 0 || spec.participants_max > kParticipantsMax) {
    return impossible(std::to_string(spec.participants_max) + " participants",
                      "a number that is none", "ask for 1 to " + std::to_string(kParticipantsMax));
  }
  const auto to_page = [](std::uint64_t bytes) {
    return (bytes + kSegmentPage - 1) / kSegmentPage * kSegmentPage;
  };
  SegmentLayout layout;
  layout.participants_offset = to_page(sizeof(SegmentHeader));
  layout.payload_offset =
      to_page(layout.participants_offset + std::uint64_t{spec.participants_max} * kSector);
  layout.total_bytes = to_page(layout.payload_offset + spec.payload_bytes);
  return layout;
}

Error segment_mismatch(const std::string& where, const std::string& thing, const std::string& asked,
                       const std::string& found) {
  return {where + ": asked " + thing + " " + asked + "; found " + found +
          "; join with what is there, choose another name, or replace it on purpose"};
}

Result<void> check_spec(const std::string& where, const SegmentSpec& asked,
                        const SegmentSpec& found) {
  const auto differ = [&](const std::string& thing, const std::string& ours,
                          const std::string& theirs) {
    return segment_mismatch(where, thing, ours, theirs);
  };
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  if (asked.kind != found.kind) return differ("kind", quoted(asked.kind), quoted(found.kind));
  if (asked.kind_version != found.kind_version) {
    return differ("version of the kind " + quoted(asked.kind), number(asked.kind_version),
                  number(found.kind_version));
  }
  if (!asked.flavour.empty() && asked.flavour != found.flavour) {
    return differ("flavour", quoted(asked.flavour), quoted(found.flavour));
  }
  const SegmentType& type = asked.type;
  if ((type.hash != 0 && type.hash != found.type.hash) ||
      (type.bytes != 0 && type.bytes != found.type.bytes) ||
      (type.align != 0 && type.align != found.type.align)) {
    return differ("elements of type", type_text(type), type_text(found.type));
  }
  if (asked.stride != 0 && asked.stride != found.stride) {
    return differ("bytes from element to element", number(asked.stride), number(found.stride));
  }
  if (asked.count > found.count) {
    return differ("elements, at least", number(asked.count), number(found.count));
  }
  for (std::size_t i = 0; i < asked.words.size(); ++i) {
    if (asked.words[i] != 0 && asked.words[i] != found.words[i]) {
      return differ("number " + std::to_string(i) + " of the kind " + quoted(asked.kind),
                    number(asked.words[i]), number(found.words[i]));
    }
  }
  return {};
}

}  // namespace leat::core
