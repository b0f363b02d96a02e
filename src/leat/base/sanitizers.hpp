// What      LEAT_ASAN, LEAT_TSAN: whether this build is under the address or the thread sanitizer,
//           1 or 0. g++ and clang say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define LEAT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAT_ASAN 1
#endif
#endif
#if !defined(LEAT_ASAN)
#define LEAT_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define LEAT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LEAT_TSAN 1
#endif
#endif
#if !defined(LEAT_TSAN)
#define LEAT_TSAN 0
#endif
