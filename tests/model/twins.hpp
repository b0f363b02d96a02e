// What      How the model tests of this folder ask: the real thing holds in every execution within
// the
//           bounds, and each broken twin fails in some.
#pragma once

#include <leat/base/model/explore.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace leat::model {

using Body = std::function<void(Run&)>;

inline void expect_holds(const Body& body, const Options& options = {}) {
  const Result result = explore(options, body);
  EXPECT_TRUE(result.ok) << result.failure;
  EXPECT_EQ(result.complete, options.sampling.executions == 0)
      << "not all of it was looked at: " << result.executions;
  testing::Test::RecordProperty("executions", std::to_string(result.executions));
}

/// `what` names the twin, `words` are of the failure that it is caught by: not any other will do.
inline void expect_fails(const std::string& what, const Body& body, const Options& options,
                         const std::string& words) {
  const Result result = explore(options, body);
  EXPECT_FALSE(result.ok) << what << " should fail, and did not in " << result.executions
                          << " executions. " << result.failure;
  EXPECT_NE(result.failure.substr(0, result.failure.find('\n')).find(words), std::string::npos)
      << what << " should fail by: " << words << "\n"
      << result.failure;
}

/// Each edge, weakened by itself, makes the test fail by `words`.
inline void expect_needs_edges(const Body& body, const std::vector<std::string>& edges,
                               const std::string& words, Options options = {}) {
  for (const std::string& edge : edges) {
    options.weaken = {edge};
    expect_fails("weakened " + edge, body, options, words);
  }
}

/// Each mutant, by itself, makes the test fail by `words`.
inline void expect_catches(const Body& body, const std::vector<std::string>& mutants,
                           const std::string& words, Options options = {}) {
  for (const std::string& mutant : mutants) {
    options.mutants = {mutant};
    expect_fails("mutant " + mutant, body, options, words);
  }
}

inline constexpr const char* kStuck = "deadlock";
inline constexpr const char* kRace = "data race";
inline constexpr const char* kUnbuilt = "its construction by";
inline constexpr const char* kGone = "after its end";

}  // namespace leat::model
