// What      Recorder<S, "quotes">: a tile that writes a channel down as it comes, with its stamps; what it
//           came too late for is marked in the log, in its place.
// Shape     Payloads of records are Envelope<T>, as in the ring; their stamps the time of publishing.
// Protocol  scope.add(Recorder<Market, "quotes">(options), {.name = "recorder"}); or add_recorders, for
//           all channels of a spine that are declared .persist, a folder each below one.
// Limits    In a channel that is not reliable a burst of more than its size while the disk is busy is
//           lost, and marked. `.reliable_reader` of a reliable channel makes its producers wait.
//           A disk that says no is a failure of the tile.
#pragma once

#include <leat/base/identity.hpp>
#include <leat/base/time/text.hpp>
#include <leat/tile/record/log_writer.hpp>
#include <leat/tile/spine/spine_scope.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace leat::tile {

struct RecorderOptions {
  LogOptions log{};
  /// Where it begins: with the next message, or with the oldest that is still there.
  queue::StartAt start{};
  /// Whether producers wait for it; of a reliable channel.
  bool reliable_reader = false;
  /// Messages a pass, so that the tile looks at its command in between.
  std::size_t messages_per_pass = 4096;
};

template <class S, ChannelName kName>
class Recorder {
  using C = ChannelAt<S, internal::channel_named<S, kName>()>;
  using Record = typename C::Record;

 public:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}

  bool try_init(Adapter<S>& tile) {
    LogOptions& log = options_.log;
    log.stream = C::kName;
    log.type = layout_hash<Record>();
    log.type_name = std::string(type_name<Record>());
    log.payload_bytes = sizeof(Record);
    writer_.emplace(checked(LogWriter::open(log)));
    wall_of_steady_ = wall_now().ns - tile.now().count();
    tile.template subscribe<kName>({.start = options_.start, .reliable = options_.reliable_reader});
    return true;
  }

  void loop(Adapter<S>& tile) {
    auto& consumer = tile.template consumer_of<kName>();
    PrivateCopy<Record> copy;
    std::size_t taken = 0;
    for (; taken < options_.messages_per_pass; ++taken) {
      const queue::Pull got = consumer.try_pop(*copy.place());
      if (got == queue::Pull::ok) {
        write(copy.value(), tile.pass_began());
      } else if (got == queue::Pull::lost) {
        const std::uint64_t lost = consumer.loss().count;
        tile.template note_lost<kName>(lost);
        static_cast<void>(checked(writer_->gap(wall_of_steady_ + tile.pass_began().count(), lost)));
      } else {
        break;
      }
    }
    if (taken > 0) {
      tile.note_consumed(taken);
      tile.mark_work();
    } else if (pending_) {
      // Nothing more for now: readers see what there is.
      check(writer_->flush());
      pending_ = false;
    }
    pending_ = pending_ || taken > 0;
    check(writer_->tick(tile.pass_began()));
  }

  void teardown(Adapter<S>&) {
    if (writer_) check(writer_->sync());
  }

 private:
  void write(const Record& record, Nanos now) {
    const std::int64_t stamp = wall_of_steady_ + record.stamp.published(now).count();
    static_cast<void>(checked(
        writer_->append(stamp, layout_hash<Record>(), std::as_bytes(std::span(&record, 1)))));
  }
  template <class T>
  static T checked(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }
  static void check(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error().message);
  }

  RecorderOptions options_;
  std::optional<LogWriter> writer_;
  std::int64_t wall_of_steady_ = 0;
  bool pending_ = false;
};

/// What a configuration says of recorders, over what the program says. Errors: no time.
[[nodiscard]] Result<LogOptions> configured(LogOptions log, const RecorderConfig& config);

/// Adds a recorder for each channel that is declared .persist; each writes into `<folder>/<channel>`.
///
/// Returns: how many. Errors: UsageError if the configuration cannot be.
template <class S>
std::size_t add_recorders(SpineScope<S>& scope, const RecorderOptions& options,
                          TileOptions tile = {}) {
  auto log = configured(options.log, scope.spine().options().config.recorder);
  if (!log) throw UsageError("recorder", "to record", log.error().message, "correct it");
  std::size_t added = 0;
  [&]<std::size_t... kIndices>(std::index_sequence<kIndices...>) {
    const auto add = [&]<std::size_t kIndex>(std::integral_constant<std::size_t, kIndex>) {
      using C = ChannelAt<S, kIndex>;
      if constexpr (C::kOptions.persist) {
        RecorderOptions one = options;
        one.log = *log;
        one.log.folder /= std::string(C::kName);
        TileOptions its = tile;
        its.name = ("rec-" + std::string(C::kName)).substr(0, kTileNameMax);
        scope.add(Recorder<S, C::kNameText>(std::move(one)), std::move(its), false);
        ++added;
      }
    };
    (add(std::integral_constant<std::size_t, kIndices>{}), ...);
  }(std::make_index_sequence<kChannels<S>>());
  return added;
}

}  // namespace leat::tile
