# What holds only when Leat is built for its own sake: where programs land, ccache, clang-tidy.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)  # target all_verify_interface_header_sets

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(LEAT_CCACHE ccache)
  mark_as_advanced(LEAT_CCACHE)
  if(LEAT_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${LEAT_CCACHE})
  endif()
endif()

if(LEAT_TIDY)
  find_program(LEAT_CLANG_TIDY NAMES clang-tidy-19 clang-tidy-18 clang-tidy-17 clang-tidy-16 REQUIRED)
  mark_as_advanced(LEAT_CLANG_TIDY)
  set(CMAKE_CXX_CLANG_TIDY ${LEAT_CLANG_TIDY} --quiet)
endif()
