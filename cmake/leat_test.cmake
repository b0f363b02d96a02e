# leat_test(<name> KIND <model|stress|property|crash|...> SOURCES <file>...
#           [LIBS <target>...] [TIMEOUT <seconds>] [ARGS <word>...])
#
# One GoogleTest program; its KIND is the label of its tests (`ctest -L stress`) and the start of their
# names. Tests of kind model exist only in the preset that builds the library over scheduled atomics,
# all others only outside it. LIBS is leat::leat unless given.

function(leat_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "KIND;TIMEOUT" "SOURCES;LIBS;ARGS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_KIND OR NOT arg_SOURCES)
    message(FATAL_ERROR "leat_test(${name}): want KIND and SOURCES; unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_KIND STREQUAL "model")
    set(wanted ${LEAT_MODEL})
  elseif(LEAT_MODEL)
    set(wanted OFF)
  else()
    set(wanted ON)
  endif()
  if(NOT wanted)
    return()
  endif()
  if(NOT arg_LIBS)
    set(arg_LIBS leat::leat)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  leat_gtest(${name} LABEL ${arg_KIND} PREFIX ${arg_KIND} TIMEOUT ${arg_TIMEOUT}
             SOURCES ${arg_SOURCES} LIBS ${arg_LIBS} ARGS ${arg_ARGS})
endfunction()

# The common part of unit and other tests: each TEST() is one entry of ctest, found when ctest starts.
function(leat_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;PREFIX;TIMEOUT" "SOURCES;LIBS;ARGS")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gtest_main)
  leat_private_flags(${name})
  if(arg_LABEL STREQUAL "unit" OR arg_LABEL STREQUAL "tutorial")
    target_compile_options(${name} PRIVATE ${LEAT_UNIT_FLAGS})
  endif()
  set(alone "")
  if(arg_LABEL STREQUAL "heavy")  # wants the whole machine
    set(alone RUN_SERIAL ON)
  endif()
  include(GoogleTest)
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    TEST_PREFIX ${LEAT_TEST_PREFIX}${arg_PREFIX}.
    EXTRA_ARGS ${arg_ARGS}
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} ${alone})
endfunction()

# leat_fuzz(<x_fuzz.cpp> LIBS <target>...): a file that defines LLVMFuzzerTestOneInput. Over libFuzzer
# it is a fuzzer; elsewhere a small main replays every file of tests/corpus/x, as a test with label fuzz.
function(leat_fuzz file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBS")
  cmake_path(GET file STEM name)
  string(REGEX REPLACE "_fuzz$" "" subject ${name})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/corpus/${subject})
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  leat_private_flags(${name})
  if(LEAT_FUZZER)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(command ${name} -runs=0 ${corpus})
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/corpus/replay_main.cpp)
    set(command ${name} ${corpus})
  endif()
  add_test(NAME ${LEAT_TEST_PREFIX}fuzz.${subject} COMMAND ${command})
  set_tests_properties(${LEAT_TEST_PREFIX}fuzz.${subject} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()

# leat_together(<target> <file>...): where LEAT_TOGETHER is on, these sources of the target are compiled
# as one file, which reads the headers once and makes the templates once. They share a namespace then:
# what one calls a helper, the others must not.
function(leat_together target)
  if(NOT LEAT_TOGETHER OR NOT TARGET ${target})
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  list(GET ARGN 0 group)
  string(MAKE_C_IDENTIFIER ${group} group)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()
