// The litmus tests of the literature, for each memory order: the model checker must find exactly
// the outcomes that the C++20 memory model allows. Each row is complete: an outcome that is missing
// is a behaviour the checker cannot see, one too many is a false alarm.

#include "litmus.hpp"

#include <string>

#include <gtest/gtest.h>

#include <leat/base/atomic.hpp>

namespace leat {
namespace {

using namespace litmus;

// SB, store buffering: both threads miss the other's store. Only seq_cst on all four forbids it.
Found store_buffering(Order store1, Order load1, Order store2, Order load2) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, store1);
                     w.r1 = get(w.y, load1);
                   },
                   [=](World& w) {
                     put(w.y, 1, store2);
                     w.r2 = get(w.x, load2);
                   }},
                  [](World& w) { return digits({w.r1, w.r2}); });
}

TEST(Litmus, StoreBuffering) {
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(store_buffering(rlx, rlx, rlx, rlx).outcomes, all);
  EXPECT_EQ(store_buffering(rel, acq, rel, acq).outcomes, all);
  EXPECT_EQ(store_buffering(sc, sc, sc, sc).outcomes, without(all, {"00"}));
  EXPECT_EQ(store_buffering(sc, acq, sc, sc).outcomes, all);
  EXPECT_EQ(store_buffering(sc, sc, rel, sc).outcomes, all);
  EXPECT_EQ(store_buffering(sc, sc, rlx, rlx).outcomes, all);
}

// The same with a read-modify-write in place of each load: acquire and release do not help either.
Found store_buffering_rmw(Order store, Order rmw) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, store);
                     w.r1 = add(w.y, 2, rmw) & 1;
                   },
                   [=](World& w) {
                     put(w.y, 1, store);
                     w.r2 = add(w.x, 2, rmw) & 1;
                   }},
                  [](World& w) { return digits({w.r1, w.r2}); });
}

TEST(Litmus, StoreBufferingWithReadModifyWrites) {
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(store_buffering_rmw(rlx, rlx).outcomes, all);
  EXPECT_EQ(store_buffering_rmw(rel, acq).outcomes, all);
  EXPECT_EQ(store_buffering_rmw(sc, sc).outcomes, without(all, {"00"}));
}

// And with read-modify-writes only, on one word each: those are never stale.
TEST(Litmus, ReadModifyWritesOfOneWordAreNeverStale) {
  const Found found = outcomes(
      {[](World& w) { w.r1 = add(w.x, 1, rlx); }, [](World& w) { w.r2 = add(w.x, 1, rlx); },
       [](World& w) { w.r3 = add(w.x, 1, rlx); }},
      [](World& w) { return digits({w.r1, w.r2, w.r3, get(w.x, rlx)}); });
  EXPECT_EQ(found.outcomes, (Outcomes{"0123", "0213", "1023", "1203", "2013", "2103"}));
}

// MP, message passing: the flag is seen, the data is not.
Found message_passing(Order data_store, Order flag_store, Order flag_load, Order data_load) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, data_store);
                     put(w.y, 1, flag_store);
                   },
                   [=](World& w) {
                     w.r1 = get(w.y, flag_load);
                     w.r2 = get(w.x, data_load);
                   }},
                  [](World& w) { return digits({w.r1, w.r2}); });
}

TEST(Litmus, MessagePassing) {
  const Outcomes all{"00", "01", "10", "11"};
  const Outcomes passed = without(all, {"10"});
  EXPECT_EQ(message_passing(rlx, rlx, rlx, rlx).outcomes, all);
  EXPECT_EQ(message_passing(rlx, rel, rlx, rlx).outcomes, all);
  EXPECT_EQ(message_passing(rlx, rlx, acq, rlx).outcomes, all);
  EXPECT_EQ(message_passing(rlx, rel, acq, rlx).outcomes, passed);
  EXPECT_EQ(message_passing(rlx, sc, sc, rlx).outcomes, passed);
  EXPECT_EQ(message_passing(sc, sc, sc, sc).outcomes, passed);
  // seq_cst data do not make up for a relaxed flag: nothing orders the two threads in S.
  EXPECT_EQ(message_passing(sc, rlx, rlx, sc).outcomes, all);
  EXPECT_EQ(message_passing(sc, rel, acq, sc).outcomes, passed);
}

// A release sequence: a relaxed read-modify-write carries the release store on; a store does not.
TEST(Litmus, ReleaseSequence) {
  const auto show = [](World& w) { return digits({w.r1, w.r2}); };
  const Body writer = [](World& w) {
    put(w.x, 1, rlx);
    put(w.y, 1, rel);
  };
  const Body reader = [](World& w) {
    w.r1 = get(w.y, acq);
    w.r2 = get(w.x, rlx);
  };
  const Body adds = [](World& w) { add(w.y, 2, rlx); };
  const Body stores = [](World& w) {
    if (get(w.y, rlx) == 1) put(w.y, 3, rlx);
  };
  EXPECT_EQ(outcomes({writer, reader, adds}, show).outcomes.count("30"), 0U);
  EXPECT_EQ(outcomes({writer, reader, adds}, show).outcomes.count("31"), 1U);
  EXPECT_EQ(outcomes({writer, reader, stores}, show).outcomes.count("30"), 1U);
}

// LB, load buffering: both threads see the store that the other makes after its load.
Found load_buffering(Order load1, Order store1, Order load2, Order store2) {
  return outcomes(
      {[=](World& w) {
         w.r1 = get(w.x, load1);
         put(w.y, 1, store1);
       },
       [=](World& w) {
         w.r2 = get(w.y, load2);
         put(w.x, 1, store2);
       }},
      [](World& w) { return digits({w.r1, w.r2}); }, 2);
}

TEST(Litmus, LoadBuffering) {
  const Outcomes all{"00", "01", "10", "11"};
  const Outcomes ordered = without(all, {"11"});
  EXPECT_EQ(load_buffering(rlx, rlx, rlx, rlx).outcomes, all);
  EXPECT_EQ(load_buffering(acq, rlx, acq, rlx).outcomes, all);
  EXPECT_EQ(load_buffering(rlx, rel, rlx, rel).outcomes, all);
  EXPECT_EQ(load_buffering(acq, rel, rlx, rlx).outcomes, all);
  EXPECT_EQ(load_buffering(acq, rlx, rlx, rel).outcomes, ordered);
  EXPECT_EQ(load_buffering(rlx, rel, acq, rlx).outcomes, ordered);
  EXPECT_EQ(load_buffering(acq, rel, acq, rel).outcomes, ordered);
  EXPECT_EQ(load_buffering(sc, sc, sc, sc).outcomes, ordered);
}

// A value that only justifies itself comes from nowhere; the standard asks not to make it up.
TEST(Litmus, LoadBufferingMakesNoValuesUp) {
  const auto show = [](World& w) { return digits({w.r1, w.r2}); };
  EXPECT_EQ(outcomes({[](World& w) {
                        w.r1 = get(w.x, rlx);
                        put(w.y, w.r1, rlx);
                      },
                      [](World& w) {
                        w.r2 = get(w.y, rlx);
                        put(w.x, w.r2, rlx);
                      }},
                     show, 2)
                .outcomes,
            (Outcomes{"00"}));
  EXPECT_EQ(outcomes({[](World& w) {
                        w.r1 = get(w.x, rlx);
                        if (w.r1 == 1) put(w.y, 1, rlx);
                      },
                      [](World& w) {
                        w.r2 = get(w.y, rlx);
                        if (w.r2 == 1) put(w.x, 1, rlx);
                      }},
                     show, 2)
                .outcomes,
            (Outcomes{"00"}));
}

// IRIW, independent reads of independent writes: the readers disagree on which store came first.
Found independent_reads(Order store, Order load) {
  return outcomes({[=](World& w) { put(w.x, 1, store); }, [=](World& w) { put(w.y, 1, store); },
                   [=](World& w) {
                     w.r1 = get(w.x, load);
                     w.r2 = get(w.y, load);
                   },
                   [=](World& w) {
                     w.r3 = get(w.y, load);
                     w.r4 = get(w.x, load);
                   }},
                  [](World& w) { return digits({w.r1, w.r2, w.r3, w.r4}); });
}

TEST(Litmus, IndependentReadsOfIndependentWrites) {
  Outcomes all;
  for (int bits = 0; bits < 16; ++bits) {
    all.insert(digits({bits >> 3, (bits >> 2) & 1, (bits >> 1) & 1, bits & 1}));
  }
  EXPECT_EQ(independent_reads(rlx, rlx).outcomes, all);
  EXPECT_EQ(independent_reads(rel, acq).outcomes, all);
  EXPECT_EQ(independent_reads(sc, acq).outcomes, all);
  EXPECT_EQ(independent_reads(rel, sc).outcomes, without(all, {"1010"}));
  EXPECT_EQ(independent_reads(sc, sc).outcomes, without(all, {"1010"}));
}

// CoRR, coherence: two reads of one word never see two stores in both orders.
Found coherent_reads(Order store, Order load) {
  return outcomes({[=](World& w) { put(w.x, 1, store); },
                   [=](World& w) {
                     w.r1 = get(w.x, load);
                     w.r2 = get(w.x, load);
                   }},
                  [](World& w) { return digits({w.r1, w.r2}); });
}

TEST(Litmus, CoherenceOfReads) {
  for (const Order store : {rlx, rel, sc}) {
    for (const Order load : {rlx, acq, sc}) {
      EXPECT_EQ(coherent_reads(store, load).outcomes, (Outcomes{"00", "01", "11"}));
    }
  }
}

TEST(Litmus, TwoReadersAgreeOnTheOrderOfStoresToOneWord) {
  for (const Order order : {rlx, sc}) {
    const Found found =
        outcomes({[=](World& w) { put(w.x, 1, order); }, [=](World& w) { put(w.x, 2, order); },
                  [=](World& w) {
                    w.r1 = get(w.x, order);
                    w.r2 = get(w.x, order);
                  },
                  [=](World& w) {
                    w.r3 = get(w.x, order);
                    w.r4 = get(w.x, order);
                  }},
                 [](World& w) { return digits({w.r1, w.r2, w.r3, w.r4}); });
    EXPECT_EQ(found.outcomes.count("1221"), 0U);
    EXPECT_EQ(found.outcomes.count("2112"), 0U);
    EXPECT_EQ(found.outcomes.count("1212"), 1U);
    EXPECT_EQ(found.outcomes.count("2121"), 1U);
  }
}

// 2+2W: both words end with the store that its thread made first.
Found two_plus_two_writes(Order first, Order second) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, first);
                     put(w.y, 2, second);
                   },
                   [=](World& w) {
                     put(w.y, 1, first);
                     put(w.x, 2, second);
                   }},
                  [](World& w) { return digits({get(w.x, rlx), get(w.y, rlx)}); });
}

TEST(Litmus, TwoPlusTwoWrites) {
  const Outcomes all{"11", "12", "21", "22"};
  EXPECT_EQ(two_plus_two_writes(rlx, rlx).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(rel, rel).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(sc, rel).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(sc, sc).outcomes, without(all, {"11"}));
}

// R: the second store to y wins, and yet its thread does not see the store to x.
Found r_test(Order store_x, Order store_y1, Order store_y2, Order load) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, store_x);
                     put(w.y, 1, store_y1);
                   },
                   [=](World& w) {
                     put(w.y, 2, store_y2);
                     w.r1 = get(w.x, load);
                   }},
                  [](World& w) { return digits({w.r1, get(w.y, rlx)}); });
}

TEST(Litmus, R) {
  const Outcomes all{"01", "02", "11", "12"};
  EXPECT_EQ(r_test(rlx, rlx, rlx, rlx).outcomes, all);
  EXPECT_EQ(r_test(rlx, rel, rel, acq).outcomes, all);
  EXPECT_EQ(r_test(rel, rel, rel, acq).outcomes, all);
  EXPECT_EQ(r_test(sc, rel, sc, sc).outcomes, all);
  EXPECT_EQ(r_test(sc, sc, sc, acq).outcomes, all);
  EXPECT_EQ(r_test(sc, sc, sc, sc).outcomes, without(all, {"02"}));
}

// S: a load sees the flag, and its thread's store is nevertheless older than the one before the
// flag.
Found s_test(Order store_x, Order store_y, Order load, Order store) {
  return outcomes({[=](World& w) {
                     put(w.x, 2, store_x);
                     put(w.y, 1, store_y);
                   },
                   [=](World& w) {
                     w.r1 = get(w.y, load);
                     put(w.x, 1, store);
                   }},
                  [](World& w) { return digits({w.r1, get(w.x, rlx)}); });
}

TEST(Litmus, S) {
  const Outcomes all{"01", "02", "11", "12"};
  EXPECT_EQ(s_test(rlx, rlx, rlx, rlx).outcomes, all);
  EXPECT_EQ(s_test(rlx, rel, rlx, rlx).outcomes, all);
  EXPECT_EQ(s_test(rlx, rel, acq, rlx).outcomes, without(all, {"12"}));
  EXPECT_EQ(s_test(sc, sc, sc, sc).outcomes, without(all, {"12"}));
}

// WRC, write to read causality: what was seen before the flag is seen behind it.
Found causality(Order load, Order store, Order last) {
  return outcomes({[=](World& w) { put(w.x, 1, rlx); },
                   [=](World& w) {
                     w.r1 = get(w.x, load);
                     put(w.y, 1, store);
                   },
                   [=](World& w) {
                     w.r2 = get(w.y, last);
                     w.r3 = get(w.x, rlx);
                   }},
                  [](World& w) { return digits({w.r1, w.r2, w.r3}); });
}

TEST(Litmus, WriteToReadCausality) {
  EXPECT_EQ(causality(rlx, rlx, rlx).outcomes.count("110"), 1U);
  EXPECT_EQ(causality(rlx, rel, rlx).outcomes.count("110"), 1U);
  EXPECT_EQ(causality(rlx, rel, acq).outcomes.count("110"),
            0U);  // coherence travels along the edge
  EXPECT_EQ(causality(acq, rel, acq).outcomes.count("111"), 1U);
}

// Z6.U, the case for which C++20 weakened seq_cst: "happens before" through an edge that is not
// seq_cst itself does not order seq_cst operations.
TEST(Litmus, SeqCstFollowsOnlyTheStrongHappensBefore) {
  const auto z6u = [](Order flag) {
    return outcomes({[=](World& w) {
                       put(w.x, 1, sc);
                       put(w.y, 1, flag);
                     },
                     [=](World& w) {
                       w.r1 = add(w.y, 1, sc);
                       w.r2 = get(w.y, rlx);
                     },
                     [=](World& w) {
                       put(w.y, 3, sc);
                       w.r3 = get(w.x, sc);
                     }},
                    [](World& w) { return digits({w.r1, w.r2, w.r3}); })
        .outcomes.count("130");
  };
  EXPECT_EQ(z6u(rel), 1U);
  EXPECT_EQ(z6u(sc), 0U);
}

// A store that one thread is known to make before another's cannot come behind it.
TEST(Litmus, CoherenceOfWrites) {
  const Found found = outcomes({[](World& w) {
                                  put(w.x, 1, rlx);
                                  put(w.x, 2, rlx);
                                  put(w.y, 1, rel);
                                },
                                [](World& w) {
                                  w.r1 = get(w.y, acq);
                                  put(w.x, 3, rlx);
                                }},
                               [](World& w) { return digits({w.r1, get(w.x, rlx)}); });
  EXPECT_EQ(found.outcomes, (Outcomes{"02", "03", "13"}));
}

}  // namespace
}  // namespace leat
