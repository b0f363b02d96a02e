#include "stanza_reader.hpp"

#include <cstring>

namespace leat::tool {
namespace {

struct KnownField {
  std::string_view name;
  std::string_view Stanza::* value;
};

constexpr KnownField kKnownFields[] = {
    {"Package", &Stanza::package},   {"Version", &Stanza::version},
    {"Depends", &Stanza::depends},   {"Pre-Depends", &Stanza::pre_depends},
    {"Provides", &Stanza::provides}, {"Status", &Stanza::status},
};

std::string_view Stanza::* field_named(std::string_view name) noexcept {
  // Nine lines of ten fail here.
  switch (name.empty() ? '\0' : name.front()) {
    case 'P':
    case 'V':
    case 'D':
    case 'S':
      break;
    default:
      return nullptr;
  }
  for (const KnownField& field : kKnownFields) {
    if (field.name == name) return field.value;
  }
  return nullptr;
}

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string_view StanzaReader::take_line() noexcept {
  const void* const end = std::memchr(text_.data(), '\n', text_.size());
  const std::size_t size =
      end == nullptr ? text_.size()
                     : static_cast<std::size_t>(static_cast<const char*>(end) - text_.data());
  found_ = text_.substr(0, size);
  text_.remove_prefix(end == nullptr ? size : size + 1);
  ++line_;
  return found_;
}

StanzaReader::Read StanzaReader::next(Stanza& stanza) noexcept {
  stanza = Stanza{};
  std::string_view Stanza::* open = nullptr;  // the known field that a continuation would belong to
  bool any = false;
  while (!text_.empty()) {
    const std::string_view line = take_line();
    const bool continues = !line.empty() && (line.front() == ' ' || line.front() == '\t');
    if (continues) {
      if (trim(line).empty()) {
        if (any) break;
        continue;
      }
      if (!any) return Read::malformed;
      if (open != nullptr) {
        const char* const start = (stanza.*open).data();
        const char* const end = line.data() + line.size();
        stanza.*open = trim({start, static_cast<std::size_t>(end - start)});
      }
      continue;
    }
    if (line.empty() || line == "\r") {
      if (any) break;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return Read::malformed;
    any = true;
    open = field_named(line.substr(0, colon));
    if (open != nullptr) {
      const std::string_view after = line.substr(colon + 1);
      const std::string_view value = trim(after);
      // An empty value still has a place, from which a continuation can go on.
      stanza.*open = value.empty() ? after.substr(0, 0) : value;
    }
  }
  if (!any) return Read::end;
  return stanza.package.empty() ? Read::malformed : Read::stanza;
}

}  // namespace leat::tool
