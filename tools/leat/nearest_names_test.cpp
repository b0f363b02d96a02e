#include "nearest_names.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <string>
#include <vector>

namespace leat::tool {
namespace {

DependencyGraph graph_of_names(const std::vector<std::string_view>& names) {
  std::vector<Package> packages;
  for (const std::string_view name : names) packages.push_back({name, "1", "", "", ""});
  std::ranges::sort(packages, {}, &Package::name);
  return graph_of_packages(packages);
}

TEST(MistakesBetween, CountsSingleMistakes) {
  EXPECT_EQ(mistakes_between("libc6", "libc6", 3), 0U);
  EXPECT_EQ(mistakes_between("libc", "libc6", 3), 1U);
  EXPECT_EQ(mistakes_between("lbic6", "libc6", 3), 1U);
  EXPECT_EQ(mistakes_between("libd6", "libc6", 3), 1U);
  EXPECT_EQ(mistakes_between("pearl-bas", "perl-base", 3), 2U);
  EXPECT_EQ(mistakes_between("", "abc", 3), 3U);
  EXPECT_EQ(mistakes_between("abc", "xyz", 2), 3U);
  EXPECT_EQ(mistakes_between("a", "abcdefgh", 2), 3U);
}

TEST(NearestNames, ComeNearestFirstThenByName) {
  const auto graph = graph_of_names({"perl-base", "perl", "pearl", "python3", "libperl5.36"});
  EXPECT_EQ(nearest_names(graph, "perll"), (std::vector<std::string>{"perl"}));
  EXPECT_EQ(nearest_names(graph, "perl-basse"), (std::vector<std::string>{"perl-base"}));
  EXPECT_EQ(nearest_names(graph, "pyth"), (std::vector<std::string>{"python3"}));
  EXPECT_TRUE(nearest_names(graph, "firefox").empty());
  EXPECT_TRUE(nearest_names(graph, "").empty());
}

TEST(UnknownName, IsAnsweredWithWhatIsNear) {
  const auto graph = graph_of_names({"libc6", "libc6-dev", "libcap2"});
  EXPECT_EQ(unknown_name_message(graph, "libc7", "package"),
            "no package is called \"libc7\". Did you mean libc6? Nothing was computed.");
  EXPECT_EQ(unknown_name_message(graph, "firefox", "node"),
            "no node is called \"firefox\". Nothing was computed.");
}

TEST(UnknownName, IsAnsweredWithWhoProvidesIt) {
  const std::vector<Package> packages{{"exim4", "1", "", "", "mta"},
                                      {"postfix", "1", "", "", "mta"}};
  EXPECT_EQ(unknown_name_message(graph_of_packages(packages), "mta", "package"),
            "\"mta\" is no package but a name that 2 packages provide. Name one of them: exim4 or "
            "postfix. Nothing was computed.");
}

}  // namespace
}  // namespace leat::tool
