#include "stanza_reader.hpp"

#include <gtest/gtest.h>
#include <string>

namespace leat::tool {
namespace {

using Read = StanzaReader::Read;

TEST(StanzaReader, KeepsTheFieldsOfTheGraph) {
  StanzaReader reader(
      "Package: adduser\nVersion: 3.134\nInstalled-Size: 999\nDepends: passwd\n"
      "Pre-Depends: dpkg\nProvides: users\nStatus: install ok installed\n");
  Stanza stanza;
  ASSERT_EQ(reader.next(stanza), Read::stanza);
  EXPECT_EQ(stanza.package, "adduser");
  EXPECT_EQ(stanza.version, "3.134");
  EXPECT_EQ(stanza.depends, "passwd");
  EXPECT_EQ(stanza.pre_depends, "dpkg");
  EXPECT_EQ(stanza.provides, "users");
  EXPECT_EQ(stanza.status, "install ok installed");
  EXPECT_EQ(reader.next(stanza), Read::end);
}

TEST(StanzaReader, ForgetsTheFieldsOfTheStanzaBefore) {
  StanzaReader reader("Package: a\nDepends: b\n\n\n\nPackage: b\n");
  Stanza stanza;
  ASSERT_EQ(reader.next(stanza), Read::stanza);
  ASSERT_EQ(reader.next(stanza), Read::stanza);
  EXPECT_EQ(stanza.package, "b");
  EXPECT_EQ(stanza.depends, "");
  EXPECT_EQ(reader.next(stanza), Read::end);
}

TEST(StanzaReader, JoinsContinuationsOfKnownFieldsAndSkipsOthers) {
  StanzaReader reader(
      "Package: a\nDescription: words\n with Depends: in it\n .\n more\n"
      "Depends:\n b,\n\tc\nVersion: 1\n");
  Stanza stanza;
  ASSERT_EQ(reader.next(stanza), Read::stanza);
  EXPECT_EQ(stanza.depends, "b,\n\tc");
  EXPECT_EQ(stanza.version, "1");
}

TEST(StanzaReader, ReadsALastLineWithoutItsEnd) {
  StanzaReader reader("Package: a\r\nVersion: 2");
  Stanza stanza;
  ASSERT_EQ(reader.next(stanza), Read::stanza);
  EXPECT_EQ(stanza.package, "a");
  EXPECT_EQ(stanza.version, "2");
  EXPECT_EQ(reader.next(stanza), Read::end);
}

TEST(StanzaReader, FindsNothingInNothing) {
  Stanza stanza;
  EXPECT_EQ(StanzaReader("").next(stanza), Read::end);
  EXPECT_EQ(StanzaReader("\n\n \n").next(stanza), Read::end);
}

TEST(StanzaReader, NamesTheLineThatIsNoField) {
  StanzaReader reader("Package: a\n\nPackage: b\nrubbish\n");
  Stanza stanza;
  ASSERT_EQ(reader.next(stanza), Read::stanza);
  ASSERT_EQ(reader.next(stanza), Read::malformed);
  EXPECT_EQ(reader.line(), 4U);
  EXPECT_EQ(reader.found(), "rubbish");
}

TEST(StanzaReader, RefusesAStanzaWithoutAPackage) {
  StanzaReader reader("Version: 1\nDepends: b\n");
  Stanza stanza;
  EXPECT_EQ(reader.next(stanza), Read::malformed);
  EXPECT_EQ(reader.line(), 2U);
}

TEST(StanzaReader, RefusesAContinuationOfNothing) {
  StanzaReader reader("\n lost\n");
  Stanza stanza;
  EXPECT_EQ(reader.next(stanza), Read::malformed);
  EXPECT_EQ(reader.line(), 2U);
}

}  // namespace
}  // namespace leat::tool
