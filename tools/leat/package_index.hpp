// What      The packages of this machine: found, read and parsed; of several versions of a name
//           only the newest is left.
// Protocol  The first of these that is there is the source, whole:
//           1. apt's lists, every file *_Packages, *_Packages.gz, .xz and .lz4 in
//           /var/lib/apt/lists
//              that is not empty;
//           2. the status file of dpkg, and of that only what is installed;
//           3. the sample that is built into the command.
//           A damaged file is an error and not a reason to try the next source: a ranking of half
//           of the packages looks like a ranking.
// Limits    Of two stanzas of equal version the first wins, files taken by name.
// Cost      50 MB of lz4 with 66 550 stanzas: about 0.2 s on one core; the texts are held whole.
#pragma once

#include "exit_code.hpp"

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leat::tool {

/// One package; the values are views into the texts of its index.
struct Package {
  std::string_view name;
  std::string_view version;
  std::string_view depends;
  std::string_view pre_depends;
  std::string_view provides;
};

enum class PackageSource { apt, dpkg, sample };

/// The packages by name, and the texts that they point into. Moving it keeps the views whole.
struct PackageIndex {
  PackageIndex() = default;
  PackageIndex(PackageIndex&&) = default;
  PackageIndex& operator=(PackageIndex&&) = default;

  PackageSource source = PackageSource::sample;
  std::string description;        // "apt index, 3 files", for the user
  std::size_t stanzas = 0;        // before versions were compared
  std::vector<Package> packages;  // one a name, in the order of their names
  std::vector<std::string> texts;
};

/// Where to look; the defaults are the machine's own.
struct PackagePlaces {
  std::filesystem::path apt_lists = "/var/lib/apt/lists";
  std::filesystem::path dpkg_status = "/var/lib/dpkg/status";
};

/// The apt lists in `directory` that can be read here, by name; empty if there is no directory.
[[nodiscard]] std::vector<std::filesystem::path> apt_lists_in(
    const std::filesystem::path& directory);

/// Finds the source and reads it.
///
/// Returns: a Failure `runtime` for a file that cannot be read, `data` for one that makes no sense.
[[nodiscard]] std::variant<PackageIndex, Failure> read_package_index(const PackagePlaces& places);

/// The text of the sample: stanzas of a Debian 12 index, cut to the five fields that count.
[[nodiscard]] std::string_view sample_packages() noexcept;

}  // namespace leat::tool
