#!/bin/sh
# run.sh <test_actor>: runs a dozen tests under valgrind, which ends with 1 at the first wrong access or leak.
# Ends with 77, loudly, where there is no valgrind.
set -eu
if ! command -v valgrind >/dev/null; then
  echo "SKIPPED: no valgrind (./dev setup --with bench)"
  exit 77
fi
tests=Runtime.AnActorSpawnsAndJoinsAnother
tests=$tests:Runtime.YieldingActorsTakeTurns
tests=$tests:Runtime.JoinThrowsWhatTheActorThrew
tests=$tests:Runtime.DestroyedItEndsItsDaemons
tests=$tests:Fiber.KeepsItsExceptionInHandApartFromOthers
tests=$tests:Channel.ABound*
tests=$tests:Channel.WhatHappensWhenItIsFullIsTheMakersChoice
tests=$tests:Select.IsFairAmongThoseThatAreReady
tests=$tests:Simulation.TheSameSeedIsTheSameTrace
tests=$tests:Stowing.ComesAfterTheTimeThatWasSaidAndNotForWhoRanSince
tests=$tests:Time.ADeadlineEndsWhatWaitsAndIsInherited
tests=$tests:Threads/Sync.AMutexLetsOneInAtATimeAlsoWhileItWaits/0
tests=$tests:Threads/Sync.AConditionWakesWhoWaitsForIt/2
exec valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite \
  --errors-for-leak-kinds=definite --max-stackframe=1099511627776 "$1" --gtest_brief=1 \
  --gtest_filter="$tests"
