// The litmus tests with fences, for accesses that are all relaxed unless a row says otherwise. Each
// row is complete, as in litmus_test.cpp.

#include "litmus.hpp"

#include <string>

#include <gtest/gtest.h>

#include <leat/base/atomic.hpp>

namespace leat {
namespace {

using namespace litmus;

enum class Fence { none, acquire, release, acq_rel, seq_cst };
constexpr Fence no = Fence::none;
constexpr Fence facq = Fence::acquire;
constexpr Fence frel = Fence::release;
constexpr Fence fboth = Fence::acq_rel;
constexpr Fence fsc = Fence::seq_cst;

void fence(Fence order) {
  switch (order) {
    case Fence::none:
      return;
    case Fence::acquire:
      return fence_acquire(edge{});
    case Fence::release:
      return fence_release(edge{});
    case Fence::acq_rel:
      return fence_acq_rel(edge{}, edge{});
    case Fence::seq_cst:
      return fence_seq_cst(edge{}, edge{});
  }
}

// SB: a fence between store and load helps only if it is seq_cst, and only on both sides; a seq_cst
// load or store of the other side is as good as a fence if both its accesses are.
Found store_buffering(Fence fence1, Fence fence2, Order store2 = rlx, Order load2 = rlx) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, rlx);
                     fence(fence1);
                     w.r1 = get(w.y, rlx);
                   },
                   [=](World& w) {
                     put(w.y, 1, store2);
                     fence(fence2);
                     w.r2 = get(w.x, load2);
                   }},
                  [](World& w) { return digits({w.r1, w.r2}); });
}

TEST(LitmusFence, StoreBuffering) {
  const Outcomes all{"00", "01", "10", "11"};
  EXPECT_EQ(store_buffering(no, no).outcomes, all);
  EXPECT_EQ(store_buffering(fboth, fboth).outcomes, all);
  EXPECT_EQ(store_buffering(fsc, fboth).outcomes, all);
  EXPECT_EQ(store_buffering(fsc, fsc).outcomes, without(all, {"00"}));
  EXPECT_EQ(store_buffering(fsc, no, sc, sc).outcomes, without(all, {"00"}));
  EXPECT_EQ(store_buffering(fsc, no, sc, acq).outcomes, all);
  EXPECT_EQ(store_buffering(fsc, no, rel, sc).outcomes, all);
  EXPECT_EQ(store_buffering(fboth, no, sc, sc).outcomes, all);
}

// MP: a release fence before the flag is stored, an acquire fence after it is loaded; or an ordered
// access on either side.
Found message_passing(Fence writer, Order flag_store, Order flag_load, Fence reader) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, rlx);
                     fence(writer);
                     put(w.y, 1, flag_store);
                   },
                   [=](World& w) {
                     w.r1 = get(w.y, flag_load);
                     fence(reader);
                     w.r2 = get(w.x, rlx);
                   }},
                  [](World& w) { return digits({w.r1, w.r2}); });
}

TEST(LitmusFence, MessagePassing) {
  const Outcomes all{"00", "01", "10", "11"};
  const Outcomes passed = without(all, {"10"});
  EXPECT_EQ(message_passing(no, rlx, rlx, no).outcomes, all);
  EXPECT_EQ(message_passing(frel, rlx, rlx, facq).outcomes, passed);
  EXPECT_EQ(message_passing(frel, rlx, acq, no).outcomes, passed);
  EXPECT_EQ(message_passing(no, rel, rlx, facq).outcomes, passed);
  EXPECT_EQ(message_passing(fsc, rlx, rlx, fsc).outcomes, passed);
  EXPECT_EQ(message_passing(fboth, rlx, rlx, fboth).outcomes, passed);
  // The wrong half, or one half only.
  EXPECT_EQ(message_passing(facq, rlx, rlx, frel).outcomes, all);
  EXPECT_EQ(message_passing(frel, rlx, rlx, frel).outcomes, all);
  EXPECT_EQ(message_passing(facq, rlx, rlx, facq).outcomes, all);
  EXPECT_EQ(message_passing(frel, rlx, rlx, no).outcomes, all);
  EXPECT_EQ(message_passing(no, rlx, rlx, facq).outcomes, all);
  EXPECT_EQ(message_passing(fsc, rlx, rlx, no).outcomes, all);
  EXPECT_EQ(message_passing(no, rlx, rlx, fsc).outcomes, all);
}

// A release fence covers every store behind it, an acquire fence every load before it.
TEST(LitmusFence, AFenceCoversMoreThanItsNeighbour) {
  const Found found = outcomes({[](World& w) {
                                  put(w.x, 1, rlx);
                                  fence(frel);
                                  put(w.y, 1, rlx);
                                  put(w.z, 1, rlx);
                                },
                                [](World& w) {
                                  w.r1 = get(w.z, rlx);
                                  w.r2 = get(w.y, rlx);
                                  fence(facq);
                                  w.r3 = get(w.x, rlx);
                                }},
                               [](World& w) { return digits({w.r1, w.r2, w.r3}); });
  EXPECT_EQ(found.outcomes, (Outcomes{"000", "001", "011", "101", "111"}));
}

// What comes behind a release fence is not carried by it; what is loaded behind an acquire fence is
// not acquired by it.
TEST(LitmusFence, AFenceCoversNothingOnItsOtherSide) {
  const Outcomes all{"00", "01", "10", "11"};
  const auto show = [](World& w) { return digits({w.r1, w.r2}); };
  EXPECT_EQ(outcomes({[](World& w) {
                        fence(frel);
                        put(w.x, 1, rlx);
                        put(w.y, 1, rlx);
                      },
                      [](World& w) {
                        w.r1 = get(w.y, acq);
                        w.r2 = get(w.x, rlx);
                      }},
                     show)
                .outcomes,
            all);
  EXPECT_EQ(outcomes({[](World& w) {
                        put(w.x, 1, rlx);
                        put(w.y, 1, rel);
                      },
                      [](World& w) {
                        fence(facq);
                        w.r1 = get(w.y, rlx);
                        w.r2 = get(w.x, rlx);
                      }},
                     show)
                .outcomes,
            all);
}

// A relaxed read-modify-write carries on what a store behind a release fence began.
TEST(LitmusFence, ReleaseSequencesBeginAtFencedStores) {
  const auto read_back = [](const Body& middle) {
    return outcomes({[](World& w) {
                       put(w.x, 1, rlx);
                       fence(frel);
                       put(w.y, 1, rlx);
                     },
                     [](World& w) {
                       w.r1 = get(w.y, rlx);
                       fence(facq);
                       w.r2 = get(w.x, rlx);
                     },
                     middle},
                    [](World& w) { return digits({w.r1, w.r2}); })
        .outcomes;
  };
  EXPECT_EQ(read_back([](World& w) { add(w.y, 2, rlx); }).count("30"), 0U);
  EXPECT_EQ(read_back([](World& w) { add(w.y, 2, rlx); }).count("31"), 1U);
  EXPECT_EQ(read_back([](World& w) {
              if (get(w.y, rlx) == 1) put(w.y, 3, rlx);
            }).count("30"),
            1U);
}

// IRIW: fences between the loads make the readers agree only if they are seq_cst.
Found independent_reads(Fence fence1, Fence fence2) {
  return outcomes({[](World& w) { put(w.x, 1, rlx); }, [](World& w) { put(w.y, 1, rlx); },
                   [=](World& w) {
                     w.r1 = get(w.x, rlx);
                     fence(fence1);
                     w.r2 = get(w.y, rlx);
                   },
                   [=](World& w) {
                     w.r3 = get(w.y, rlx);
                     fence(fence2);
                     w.r4 = get(w.x, rlx);
                   }},
                  [](World& w) { return digits({w.r1, w.r2, w.r3, w.r4}); });
}

TEST(LitmusFence, IndependentReadsOfIndependentWrites) {
  Outcomes all;
  for (int bits = 0; bits < 16; ++bits) {
    all.insert(digits({bits >> 3, (bits >> 2) & 1, (bits >> 1) & 1, bits & 1}));
  }
  EXPECT_EQ(independent_reads(no, no).outcomes, all);
  EXPECT_EQ(independent_reads(fboth, fboth).outcomes, all);
  EXPECT_EQ(independent_reads(fsc, fboth).outcomes, all);
  EXPECT_EQ(independent_reads(fsc, fsc).outcomes, without(all, {"1010"}));
}

// 2+2W.
Found two_plus_two_writes(Fence fence1, Fence fence2) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, rlx);
                     fence(fence1);
                     put(w.y, 2, rlx);
                   },
                   [=](World& w) {
                     put(w.y, 1, rlx);
                     fence(fence2);
                     put(w.x, 2, rlx);
                   }},
                  [](World& w) { return digits({get(w.x, rlx), get(w.y, rlx)}); });
}

TEST(LitmusFence, TwoPlusTwoWrites) {
  const Outcomes all{"11", "12", "21", "22"};
  EXPECT_EQ(two_plus_two_writes(no, no).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(frel, frel).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(fboth, fboth).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(fsc, fboth).outcomes, all);
  EXPECT_EQ(two_plus_two_writes(fsc, fsc).outcomes, without(all, {"11"}));
}

// R.
Found r_test(Fence fence1, Fence fence2) {
  return outcomes({[=](World& w) {
                     put(w.x, 1, rlx);
                     fence(fence1);
                     put(w.y, 1, rlx);
                   },
                   [=](World& w) {
                     put(w.y, 2, rlx);
                     fence(fence2);
                     w.r1 = get(w.x, rlx);
                   }},
                  [](World& w) { return digits({w.r1, get(w.y, rlx)}); });
}

TEST(LitmusFence, R) {
  const Outcomes all{"01", "02", "11", "12"};
  EXPECT_EQ(r_test(no, no).outcomes, all);
  EXPECT_EQ(r_test(frel, facq).outcomes, all);
  EXPECT_EQ(r_test(fboth, fboth).outcomes, all);
  EXPECT_EQ(r_test(frel, fsc).outcomes, all);
  EXPECT_EQ(r_test(fsc, fboth).outcomes, all);
  EXPECT_EQ(r_test(fsc, fsc).outcomes, without(all, {"02"}));
}

// S.
Found s_test(Fence writer, Fence reader) {
  return outcomes({[=](World& w) {
                     put(w.x, 2, rlx);
                     fence(writer);
                     put(w.y, 1, rlx);
                   },
                   [=](World& w) {
                     w.r1 = get(w.y, rlx);
                     fence(reader);
                     put(w.x, 1, rlx);
                   }},
                  [](World& w) { return digits({w.r1, get(w.x, rlx)}); });
}

TEST(LitmusFence, S) {
  const Outcomes all{"01", "02", "11", "12"};
  EXPECT_EQ(s_test(no, no).outcomes, all);
  EXPECT_EQ(s_test(frel, no).outcomes, all);
  EXPECT_EQ(s_test(frel, facq).outcomes, without(all, {"12"}));
  EXPECT_EQ(s_test(fsc, fsc).outcomes, without(all, {"12"}));
}

// LB: a promise is not kept through two synchronising fences.
Found load_buffering(Fence fence1, Fence fence2) {
  return outcomes(
      {[=](World& w) {
         w.r1 = get(w.x, rlx);
         fence(fence1);
         put(w.y, 1, rlx);
       },
       [=](World& w) {
         w.r2 = get(w.y, rlx);
         fence(fence2);
         put(w.x, 1, rlx);
       }},
      [](World& w) { return digits({w.r1, w.r2}); }, 2);
}

TEST(LitmusFence, LoadBuffering) {
  const Outcomes all{"00", "01", "10", "11"};
  const Outcomes ordered = without(all, {"11"});
  EXPECT_EQ(load_buffering(no, no).outcomes, all);
  EXPECT_EQ(load_buffering(facq, facq).outcomes, all);
  EXPECT_EQ(load_buffering(frel, frel).outcomes, all);
  EXPECT_EQ(load_buffering(fboth, no).outcomes, all);
  EXPECT_EQ(load_buffering(facq, frel).outcomes, ordered);
  EXPECT_EQ(load_buffering(fboth, fboth).outcomes, ordered);
  EXPECT_EQ(load_buffering(fsc, fsc).outcomes, ordered);
}

// A seqlock: what the fences of base/word_copy.hpp are there for. The stamp counts two per write,
// odd while one is under way; a copy whose stamp has not moved is whole.
Found seqlock(Fence writer, Fence reader) {
  return outcomes({[=](World& w) {
                     put(w.z, 1, rlx);
                     fence(writer);
                     put(w.x, 1, rlx);
                     put(w.y, 1, rlx);
                     put(w.z, 2, rel);
                   },
                   [=](World& w) {
                     w.r1 = get(w.z, acq);
                     w.r2 = get(w.x, rlx);
                     w.r3 = get(w.y, rlx);
                     fence(reader);
                     w.r4 = get(w.z, rlx);
                   }},
                  [](World& w) -> std::string {
                    if (w.r1 != w.r4 || w.r1 == 1) return "no copy";
                    return digits({w.r1, w.r2, w.r3});
                  });
}

TEST(LitmusFence, Seqlock) {
  EXPECT_EQ(seqlock(frel, facq).outcomes, (Outcomes{"no copy", "000", "211"}));
  const Outcomes torn{"no copy", "000", "001", "010", "011", "211"};
  EXPECT_EQ(seqlock(no, facq).outcomes, torn);
  EXPECT_EQ(seqlock(frel, no).outcomes, torn);
  EXPECT_EQ(seqlock(facq, frel).outcomes, torn);
}

}  // namespace
}  // namespace leat
