#include <leat/core/config.hpp>

#include <gtest/gtest.h>
#include <string>

namespace leat::core {
namespace {

TEST(Config, HasDefaultsThatWork) {
  const Config config;
  EXPECT_EQ(config.workers, 1U);
  EXPECT_EQ(config.idle_spin, std::chrono::microseconds(10));
  EXPECT_EQ(config.progress_mode, ProgressMode::demand);
}

TEST(Config, IsWrittenInOneLine) {
  const Config config{.workers = 4, .idle_spin = Nanos{0}};
  EXPECT_EQ(config.workers, 4U);
  EXPECT_EQ(config.progress_mode, ProgressMode::demand);
}

TEST(Config, KeepsValuesOfAnyTypeByName) {
  Config config;
  config.set("effort", 17);
  config.set("name", std::string("fast"));
  ASSERT_NE(config.get<int>("effort"), nullptr);
  EXPECT_EQ(*config.get<int>("effort"), 17);
  EXPECT_EQ(*config.get<std::string>("name"), "fast");
}

TEST(Config, AnswersNothingForAnAbsentNameOrAnotherType) {
  Config config;
  config.set("effort", 17);
  EXPECT_EQ(config.get<int>("absent"), nullptr);
  EXPECT_EQ(config.get<long>("effort"), nullptr);
}

TEST(Config, ReplacesAValueAndItsType) {
  Config config;
  config.set("effort", 17);
  config.set("effort", 1.5);
  EXPECT_EQ(config.get<int>("effort"), nullptr);
  EXPECT_EQ(*config.get<double>("effort"), 1.5);
}

TEST(Config, ACopyKeepsItsOwnNames) {
  Config config;
  config.set("effort", 17);
  Config copy = config;
  copy.set("effort", 18);
  EXPECT_EQ(*config.get<int>("effort"), 17);
  EXPECT_EQ(*copy.get<int>("effort"), 18);
}

}  // namespace
}  // namespace leat::core
