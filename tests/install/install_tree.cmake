# Installs the library of BUILD into PREFIX, and checks that nothing of the build came along.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component library
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

file(GLOB_RECURSE texts ${PREFIX}/*.cmake ${PREFIX}/*.pc ${PREFIX}/*.hpp)
foreach(file IN LISTS texts)
  file(READ ${file} text)
  # The folders of the tree: its own path may be as short as /leat, and part of what is rightly there.
  # (leat::actor_safepoints asks for -fsanitize-coverage, which is no sanitizer.)
  foreach(foreign ${SOURCE}/src ${SOURCE}/build ${BUILD} -Werror -fsanitize= GTest)
    string(FIND "${text}" "${foreign}" at)
    if(NOT at EQUAL -1)
      message(SEND_ERROR "${file} mentions ${foreign}")
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE tests ${PREFIX}/*_test.* ${PREFIX}/*_fuzz.* ${PREFIX}/test_*)
if(tests)
  message(SEND_ERROR "tests were installed: ${tests}")
endif()
