#include <leat/core/segment/listing.hpp>

#include <algorithm>
#include <system_error>
#include <tuple>
#include <utility>

namespace leat::core {
namespace {

Error unreadable(const std::filesystem::path& folder, const std::error_code& why) {
  return {folder.string() + ": asked which segments are there; found \"" + why.message() +
          "\"; name a folder that may be read"};
}

SegmentListing look_at(SegmentName name, std::uint64_t file_bytes) {
  SegmentListing listing{std::move(name), file_bytes};
  auto segment = Segment::observe(listing.name);
  if (!segment) {
    listing.facts = std::move(segment).error();
    return listing;
  }
  listing.facts = segment->facts();
  for (ParticipantFacts& one : segment->participants()) {
    const ParticipantLife life = segment->life(one.id);
    if (life != ParticipantLife::gone) listing.participants.push_back({std::move(one), life});
  }
  return listing;
}

Result<void> list_space(const std::filesystem::path& folder, const std::filesystem::path& base,
                        std::vector<SegmentListing>& found) {
  std::error_code failed;
  const std::string space = folder.filename();
  if (!check_segment_word("the namespace", space)) return {};
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    std::error_code gone;
    const std::string name = at->path().filename();
    if (!at->is_regular_file(gone) || !check_segment_word("the name", name)) continue;
    const std::uint64_t bytes = at->file_size(gone);
    if (!gone) found.push_back(look_at({name, space, base}, bytes));
  }
  // A folder that went while we looked has nothing in it.
  if (failed && failed != std::errc::no_such_file_or_directory) return unreadable(folder, failed);
  return {};
}

}  // namespace

bool SegmentListing::is_alive() const noexcept {
  return std::any_of(participants.begin(), participants.end(), [](const Participant& one) {
    return one.life == ParticipantLife::alive;
  });
}

Result<std::vector<SegmentListing>> list_segments(const std::filesystem::path& base,
                                                  const std::optional<std::string>& space) {
  std::vector<SegmentListing> found;
  if (space) {
    if (auto good = check_segment_word("the namespace", *space); !good) return good.error();
    if (auto listed = list_space(base / *space, base, found); !listed) return listed.error();
  } else {
    std::error_code failed;
    for (std::filesystem::directory_iterator at(base, failed), end; !failed && at != end;
         at.increment(failed)) {
      std::error_code gone;
      if (!at->is_directory(gone)) continue;
      if (auto listed = list_space(at->path(), base, found); !listed) return listed.error();
    }
    if (failed && failed != std::errc::no_such_file_or_directory) return unreadable(base, failed);
  }
  std::sort(found.begin(), found.end(), [](const SegmentListing& a, const SegmentListing& b) {
    return std::tie(a.name.space, a.name.name) < std::tie(b.name.space, b.name.name);
  });
  return found;
}

}  // namespace leat::core
