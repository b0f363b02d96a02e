// What      What a sanitizer that must be told of switches offers for that. Nothing in other builds.
// Limits    HWASan and MSan have no such interface; they are not supported.
// Source    sanitizer/common_interface_defs.h and tsan_interface.h, declared here so that no header
//           of a toolchain is needed.
#pragma once

#include <leat/base/sanitizers.hpp>

#include <cstddef>

#if LEAT_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* low, std::size_t bytes);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** low, std::size_t* bytes);
void __asan_unpoison_memory_region(const volatile void* low, std::size_t bytes);
void __lsan_register_root_region(const void* low, std::size_t bytes);
}
#endif

#if LEAT_TSAN
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
}
#endif
