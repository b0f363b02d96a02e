#include <leat/tile/record/recorder.hpp>

namespace leat::tile {

Result<LogOptions> configured(LogOptions log, const RecorderConfig& config) {
  if (config.folder) log.folder = *config.folder;
  if (config.segment_bytes) log.segment_bytes = *config.segment_bytes;
  if (config.keep_bytes) log.keep_bytes = *config.keep_bytes;
  if (config.keep_for) log.keep_for = *config.keep_for;
  if (!config.sync) return log;
  if (*config.sync == "none") {
    log.sync = SyncPolicy::none;
  } else if (*config.sync == "each") {
    log.sync = SyncPolicy::each;
  } else {
    const auto every = parse_duration(*config.sync);
    if (!every) return every.error();
    log.sync = SyncPolicy::interval;
    log.sync_every = *every;
  }
  return log;
}

}  // namespace leat::tile
