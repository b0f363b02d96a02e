# leat_program(<name> SOURCES <file>... [LIBS <target>...] [OUTPUT_NAME <file>])
#
# A program of our own (tool, example, bench) in <build>/bin, with the preset's warnings.
# LIBS is leat::leat unless given.

function(leat_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME" "SOURCES;LIBS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "leat_program(${name}): want SOURCES; unknown words: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LIBS)
    set(arg_LIBS leat::leat)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBS})
  leat_private_flags(${name})
  target_compile_options(${name} PRIVATE ${LEAT_UNIT_FLAGS})
  if(arg_OUTPUT_NAME)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT_NAME})
  endif()
endfunction()
