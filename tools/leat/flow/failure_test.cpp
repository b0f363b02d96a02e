#include "flow/failure.hpp"

#include <leat/dataflow.hpp>

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace leat::tool::flow {
namespace {

namespace df = leat::dataflow;

TEST(ErrorOf, NamesTheWorkerAndTheOperatorThatThrew) {
  core::Config config;
  config.workers = 3;
  const auto outcome = df::execute(config, [](df::Worker& worker) {
    worker.dataflow([](auto& scope) {
      df::to_stream(scope, std::vector{1}) |
          df::exchange([](int) { return 2; }).named("to the last") |
          df::map([](int number) {
            if (number == 1) throw std::runtime_error("no ones");
            return number;
          }).named("refuse ones") |
          df::inspect([](int) {});
    });
  });
  ASSERT_FALSE(outcome.ok());
  const std::string message = error_of(outcome).message;
  EXPECT_EQ(message.find("worker 2, operator \"refuse ones\" (failure_test.cpp:"), 0U) << message;
  EXPECT_NE(message.find("): no ones"), std::string::npos) << message;
}

}  // namespace
}  // namespace leat::tool::flow
