#include <leat/tile/spine/config.hpp>

#include <leat/base/time/text.hpp>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

namespace leat::tile {
namespace {

/// Reads a table of which all keys must be known.
class Table {
 public:
  Table(const toml::table& table, std::string where, std::string path, std::optional<Error>& error)
      : table_(table), where_(std::move(where)), path_(std::move(path)), error_(error) {}

  void number(const char* key, std::optional<std::uint64_t>& to, std::uint64_t low,
              std::uint64_t high) {
    if (const auto found = integer(key, static_cast<std::int64_t>(low), clamp(high))) {
      to = static_cast<std::uint64_t>(*found);
    }
  }
  template <class T>
  void number(const char* key, std::optional<T>& to, std::int64_t low, std::int64_t high) {
    if (const auto found = integer(key, low, high)) to = static_cast<T>(*found);
  }
  void flag(const char* key, std::optional<bool>& to) {
    const toml::node* const node = take(key);
    if (node == nullptr) return;
    if (const auto value = node->value_exact<bool>()) {
      to = *value;
    } else {
      fail(*node, key, "true or false");
    }
  }
  template <class T>
  void text(const char* key, std::optional<T>& to) {
    const toml::node* const node = take(key);
    if (node == nullptr) return;
    if (const auto value = node->value_exact<std::string>()) {
      to = T(*value);
    } else {
      fail(*node, key, "a text");
    }
  }
  void duration(const char* key, std::optional<Nanos>& to) {
    const toml::node* const node = take(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    const auto parsed =
        value ? parse_duration(*value) : Result<Nanos>(Error{"a number without a unit"});
    if (parsed && *parsed >= Nanos{0}) {
      to = *parsed;
    } else {
      fail(*node, key, "a time, as in \"10ms\"");
    }
  }
  /// Calls `read(name, Table)` for each table in the table `key`.
  template <class Read>
  void tables(const char* key, Read&& read) {
    const toml::node* const node = take(key);
    if (node == nullptr) return;
    const toml::table* const all = node->as_table();
    if (all == nullptr) return fail(*node, key, "a table");
    for (const auto& [name, one] : *all) {
      const std::string path = std::string(key) + "." + std::string(name.str());
      const toml::table* const inner = one.as_table();
      if (inner == nullptr) return fail(one, path.c_str(), "a table");
      Table table(*inner, where_, path, error_);
      read(std::string(name.str()), table);
      table.done();
    }
  }
  template <class Read>
  void table(const char* key, Read&& read) {
    const toml::node* const node = take(key);
    if (node == nullptr) return;
    const toml::table* const inner = node->as_table();
    if (inner == nullptr) return fail(*node, key, "a table");
    Table one(*inner, where_, key, error_);
    read(one);
    one.done();
  }
  /// Whatever was not asked for is not known.
  void done() {
    for (const auto& [key, node] : table_) {
      if (known_.find("|" + std::string(key.str()) + "|") != std::string::npos) continue;
      std::string list = known_.substr(1, known_.size() - 2);
      for (std::size_t at = 0; (at = list.find("||", at)) != std::string::npos;) {
        list.replace(at, 2, ", ");
      }
      set(place(node) + "unknown key \"" + full(std::string(key.str())) +
          "\"; known here: " + list);
    }
  }
  void fail(const toml::node& node, const char* key, const std::string& expected) {
    set(place(node) + full(key) + " expects " + expected);
  }
  [[nodiscard]] const toml::node* find(const char* key) const { return table_.get(key); }

 private:
  static std::int64_t clamp(std::uint64_t high) {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    return high > static_cast<std::uint64_t>(kMost) ? kMost : static_cast<std::int64_t>(high);
  }
  const toml::node* take(const char* key) {
    known_ += "|" + std::string(key) + "|";
    return table_.get(key);
  }
  std::optional<std::int64_t> integer(const char* key, std::int64_t low, std::int64_t high) {
    const toml::node* const node = take(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= low && *value <= high) return value;
    fail(*node, key, "a number from " + std::to_string(low) + " to " + std::to_string(high));
    return std::nullopt;
  }
  [[nodiscard]] std::string full(const std::string& key) const {
    return path_.empty() || key.find('.') != std::string::npos ? key : path_ + "." + key;
  }
  [[nodiscard]] std::string place(const toml::node& node) const {
    const auto at = node.source().begin;
    return where_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
  }
  void set(std::string message) {
    if (!error_) error_ = Error{std::move(message)};
  }

  const toml::table& table_;
  std::string where_;
  std::string path_;
  std::optional<Error>& error_;
  std::string known_;
};

void read_tile(Table& table, TileConfig& to) {
  table.number("core", to.core, 0, 1 << 20);
  table.number("niceness", to.niceness, os::kNicenessMin, os::kNicenessMax);
  std::optional<std::string> policy;
  table.text("policy", policy);
  if (policy) {
    if (*policy == "fifo") {
      to.policy = RealTime::fifo;
    } else if (*policy == "round_robin") {
      to.policy = RealTime::round_robin;
    } else if (*policy == "none") {
      to.policy = RealTime::none;
    } else {
      table.fail(*table.find("policy"), "policy", "\"none\", \"fifo\" or \"round_robin\"");
    }
  }
  table.number("priority", to.priority, 0, 99);
  table.flag("strict_placement", to.strict_placement);
  table.duration("min_loop", to.min_loop);
  table.number("pauses", to.pauses, 0, 255);
  table.flag("yields", to.yields);
  table.flag("parks", to.parks);
  table.number("looks_before_park", to.looks_before_park, 0, 1'000'000);
  table.duration("stuck_after", to.stuck_after);
}

void read_recorder(Table& table, RecorderConfig& to) {
  table.text("folder", to.folder);
  table.number("segment_bytes", to.segment_bytes, 4096, std::uint64_t{1} << 40);
  table.text("sync", to.sync);
  if (to.sync && *to.sync != "none" && *to.sync != "each" && !parse_duration(*to.sync)) {
    table.fail(*table.find("sync"), "sync", "\"none\", \"each\" or a time, as in \"1s\"");
  }
  table.number("keep_bytes", to.keep_bytes, 1, std::numeric_limits<std::uint64_t>::max());
  table.duration("keep_for", to.keep_for);
}

}  // namespace

void TileConfig::apply(TileOptions& options) const {
  if (core) options.core = core;
  if (niceness) options.niceness = niceness;
  if (policy) options.real_time = *policy;
  if (priority) options.priority = *priority;
  if (strict_placement) options.strict_placement = *strict_placement;
  if (min_loop) options.min_loop = *min_loop;
  if (pauses) options.idle.pauses = *pauses;
  if (yields) options.idle.yields = *yields;
  if (parks) options.idle.parks = *parks;
  if (looks_before_park) options.idle.looks_before_park = *looks_before_park;
  if (stuck_after) options.stuck_after = stuck_after;
}

Result<SpineConfig> SpineConfig::parse(std::string_view text, const std::string& where) {
  const toml::parse_result parsed = toml::parse(text, where);
  if (!parsed) {
    const auto at = parsed.error().source().begin;
    return Error{where + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
                 std::string(parsed.error().description())};
  }
  SpineConfig config;
  std::optional<Error> error;
  Table top(parsed.table(), where, "", error);
  top.tables("channels", [&](const std::string& name, Table& table) {
    ChannelConfig& channel = config.channels[name];
    table.number("size", channel.size, 1, std::int64_t{1} << 30);
    table.number("mtu", channel.mtu, 1, std::int64_t{1} << 30);
  });
  top.tables("tiles",
             [&](const std::string& name, Table& table) { read_tile(table, config.tiles[name]); });
  top.table("recorder", [&](Table& table) { read_recorder(table, config.recorder); });
  top.done();
  if (error) return *std::move(error);
  return config;
}

Result<SpineConfig> SpineConfig::load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return Error{"configuration: asked to read " + file.string() +
                 "; found no file that can be read; name another, or none"};
  }
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse(text, file.string());
}

}  // namespace leat::tile
