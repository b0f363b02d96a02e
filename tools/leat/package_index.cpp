#include "package_index.hpp"

#include "debian_version.hpp"
#include "decode.hpp"
#include "quote.hpp"
#include "stanza_reader.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

namespace leat::tool {
namespace {

namespace fs = std::filesystem;

/// "want ok state": only the state says whether the package is there.
bool is_installed(std::string_view status) noexcept {
  const std::size_t blank = status.rfind(' ');
  const std::string_view state =
      blank == std::string_view::npos ? status : status.substr(blank + 1);
  return state == "installed" || state == "triggers-awaited" || state == "triggers-pending";
}

std::variant<std::string, Failure> text_of_file(const fs::path& path, Encoding encoding) {
  auto bytes = read_bytes(path);
  if (!bytes) {
    return Failure{ExitCode::runtime,
                   path.string() + ": cannot be read: " + bytes.error().message +
                       ". Give an edge list with --input FILE instead. Nothing was computed."};
  }
  auto text = decode(*std::move(bytes), encoding);
  if (!text) {
    return Failure{ExitCode::data, path.string() + ": " + text.error().message +
                                       ". Fetch it again (apt update). Nothing was computed."};
  }
  return *std::move(text);
}

/// Appends the stanzas of `text`, all or only those that are installed.
std::optional<Failure> append_packages(std::string_view text, const std::string& file,
                                       bool only_installed, std::vector<Package>& packages) {
  StanzaReader reader(text);
  Stanza stanza;
  while (true) {
    switch (reader.next(stanza)) {
      case StanzaReader::Read::stanza:
        if (only_installed && !is_installed(stanza.status)) break;
        packages.push_back(
            {stanza.package, stanza.version, stanza.depends, stanza.pre_depends, stanza.provides});
        break;
      case StanzaReader::Read::malformed:
        return Failure{ExitCode::data,
                       file + ":" + std::to_string(reader.line()) +
                           ": expected a package stanza (lines \"Field: value\", one of them "
                           "Package), found " +
                           quote(reader.found()) + ". Nothing was computed."};
      case StanzaReader::Read::end:
        return std::nullopt;
    }
  }
}

/// Leaves the newest version of each name, in the order of names; of equal versions the first.
void keep_newest(std::vector<Package>& packages) {
  // By name, then by place. (std::stable_sort of libstdc++ 12 does not compile cleanly in clang.)
  std::vector<std::size_t> places(packages.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, [&packages](std::size_t a, std::size_t b) {
    const int order = packages[a].name.compare(packages[b].name);
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<Package> kept;
  kept.reserve(packages.size());
  for (const std::size_t place : places) {
    const Package& package = packages[place];
    if (kept.empty() || kept.back().name != package.name) {
      kept.push_back(package);
    } else if (compare_versions(kept.back().version, package.version) < 0) {
      kept.back() = package;
    }
  }
  packages = std::move(kept);
}

}  // namespace

std::vector<fs::path> apt_lists_in(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    const std::string name = path.filename().string();
    const auto has_ending = [&name](std::string_view ending) {
      return std::string_view(name).ends_with(ending);
    };
    constexpr std::string_view kEndings[] = {"_Packages", "_Packages.gz", "_Packages.xz",
                                             "_Packages.lz4"};
    if (!std::ranges::any_of(kEndings, has_ending)) continue;
    std::error_code unknown;
    if (!fs::is_regular_file(path, unknown) || fs::file_size(path, unknown) == 0) continue;
    found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

std::variant<PackageIndex, Failure> read_package_index(const PackagePlaces& places) {
  PackageIndex index;
  std::vector<std::pair<fs::path, Encoding>> files;
  std::error_code ignored;
  if (const auto lists = apt_lists_in(places.apt_lists); !lists.empty()) {
    index.source = PackageSource::apt;
    index.description =
        "apt index, " + std::to_string(lists.size()) + (lists.size() == 1 ? " file" : " files");
    for (const fs::path& path : lists) {
      files.emplace_back(
          path, encoding_of_extension(path.extension().string()).value_or(Encoding::plain));
    }
  } else if (fs::is_regular_file(places.dpkg_status, ignored) &&
             fs::file_size(places.dpkg_status, ignored) != 0) {
    index.source = PackageSource::dpkg;
    index.description = "installed packages, from dpkg";
    files.emplace_back(places.dpkg_status, Encoding::plain);
  } else {
    index.description = "sample that comes with leat";
  }

  // Views into short strings move with them: no text may move once it has been parsed.
  index.texts.reserve(files.size() + 1);
  for (const auto& [path, encoding] : files) {
    auto text = text_of_file(path, encoding);
    if (auto* failure = std::get_if<Failure>(&text)) return std::move(*failure);
    index.texts.push_back(std::get<std::string>(std::move(text)));
  }
  const bool only_installed = index.source == PackageSource::dpkg;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (auto failure = append_packages(index.texts[i], files[i].first.string(), only_installed,
                                       index.packages)) {
      return *std::move(failure);
    }
  }
  if (index.source == PackageSource::sample) {
    if (auto failure = append_packages(sample_packages(), "sample", false, index.packages)) {
      return *std::move(failure);
    }
  }
  if (index.packages.empty()) {
    return Failure{ExitCode::data, files.front().first.string() +
                                       ": holds no package. Fetch the index (apt update) or give "
                                       "an edge list with --input FILE. Nothing was computed."};
  }
  index.stanzas = index.packages.size();
  keep_newest(index.packages);
  return index;
}

}  // namespace leat::tool
