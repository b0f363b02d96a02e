#include <leat/base/type_name.hpp>

#include <gtest/gtest.h>
#include <cstdint>
#include <vector>

namespace leat {

struct Plain {};

namespace {

struct Hidden {};

TEST(TypeName, SpellsTheType) {
  EXPECT_EQ(type_name<int>(), "int");
  EXPECT_EQ(type_name<double>(), "double");
  EXPECT_EQ(type_name<Plain>(), "leat::Plain");
  EXPECT_EQ(type_name<const Plain&>().substr(0, 5), "const");
  EXPECT_NE(type_name<std::vector<Plain>>().find("vector<leat::Plain"), std::string_view::npos);
}

TEST(TypeHash, TellsTypesApartAtCompileTime) {
  static_assert(type_hash<int>() == fnv1a("int"));
  static_assert(type_hash<std::uint32_t>() != type_hash<std::uint64_t>());
  static_assert(type_hash<Plain>() != type_hash<const Plain>());
}

TEST(TypeId, IsEqualForOneTypeAndDiffersForTwo) {
  EXPECT_EQ(type_id<Hidden>(), type_id<Hidden>());
  EXPECT_NE(type_id<Hidden>(), type_id<Plain>());
  EXPECT_NE(type_id<Hidden>(), TypeId{});
}

}  // namespace
}  // namespace leat
