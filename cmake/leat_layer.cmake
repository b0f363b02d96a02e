# leat_layer(<name>
#   DEPENDS leat::<layer>...   layers below; the layer diagram is the link graph
#   LIBS    <target>...        libraries from outside that its public headers need
#   HEADERS <file>...          public: installed, and each compiled alone in the preset clang: by its test,
#                              which includes it first (lint.tests sees to that), else by CMake
#   SOURCES <file>...
#   TESTS   <file>...          one GoogleTest program for all of them, test_<name>, label unit
#   FUZZ    <x_fuzz.cpp>...)   one program each; replays tests/corpus/x unless the preset has libFuzzer
#
# Makes the library leat_<name> with the alias leat::<name>. A layer without sources is an interface.

# Gives a target of our own the warnings of the preset; they never reach those who link to us.
function(leat_private_flags target)
  target_compile_options(${target} PRIVATE ${LEAT_WARNINGS})
  # g++ 12 takes the member of a std::variant that is not there for one that was not initialised, when
  # a move of the variant is inlined. The sanitizers and valgrind look at the same code.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-free-nonheap-object)
  endif()
  # It also notes, wherever a record on cache lines of its own is passed by value, what GCC 4.5 did.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-psabi)
  endif()
endfunction()

function(leat_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LIBS;HEADERS;SOURCES;TESTS;FUZZ")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "leat_layer(${name}): unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target leat_${name})

  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    leat_private_flags(${target})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    if(LEAT_TOGETHER)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
      # In a batch a file's helpers are seen by the next: a name of theirs is hidden by a variable there,
      # and g++ takes a type made of them for a header's. Presets that compile each alone look at both.
      target_compile_options(${target} PRIVATE -Wno-shadow
                             $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(leat::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS} ${arg_LIBS})
  set(tested_headers "")
  foreach(header IN LISTS arg_HEADERS)
    string(REGEX REPLACE "\\.hpp$" "_test.cpp" test ${header})
    if(test IN_LIST arg_TESTS)
      list(APPEND tested_headers ${header})
      list(REMOVE_ITEM arg_HEADERS ${header})
    endif()
  endforeach()
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${arg_HEADERS}
    FILE_SET tested_headers TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${tested_headers})
  set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
  if(LEAT_MODEL)  # every access to a leat::Atomic, also in headers, is scheduled
    target_compile_definitions(${target} ${scope} LEAT_MODEL=1)
  endif()

  set_property(GLOBAL APPEND PROPERTY LEAT_LAYERS ${target})
  install(TARGETS ${target} EXPORT leat_targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
          FILE_SET tested_headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)

  if(LEAT_BUILD_TESTS AND NOT LEAT_MODEL)
    if(arg_TESTS)
      leat_gtest(test_${name} LABEL unit PREFIX ${name} SOURCES ${arg_TESTS} LIBS leat::${name})
    endif()
    foreach(file IN LISTS arg_FUZZ)
      leat_fuzz(${file} LIBS leat::${name})
    endforeach()
  endif()
endfunction()
