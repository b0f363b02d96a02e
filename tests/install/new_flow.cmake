# What ./dev new writes builds against the installed tree as it stands, and counts words.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${SOURCE}/dev new my_flow WORKING_DIRECTORY ${WORK} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/my_flow -B ${WORK}/my_flow/build -G Ninja
                        -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/my_flow/build COMMAND_ERROR_IS_FATAL ANY)

# The order in which workers print is theirs; what they print is not.
file(WRITE ${WORK}/input.txt "to be or not to be\n\nthat is the question\n")
set(expected "2 be;1 is;1 not;1 or;1 question;1 that;1 the;2 to")
foreach(workers 1 2 3)
  execute_process(COMMAND ${WORK}/my_flow/build/my_flow -w ${workers} INPUT_FILE ${WORK}/input.txt
                  OUTPUT_VARIABLE printed TIMEOUT 60 COMMAND_ERROR_IS_FATAL ANY)
  string(STRIP "${printed}" printed)
  string(REPLACE "\n" ";" lines "${printed}")
  list(TRANSFORM lines REPLACE "^([0-9]+) (.*)$" "\\2 \\1")
  list(SORT lines)
  list(TRANSFORM lines REPLACE "^(.*) ([0-9]+)$" "\\2 \\1")
  if(NOT lines STREQUAL expected)
    message(FATAL_ERROR "with ${workers} workers, expected ${expected}, got ${lines}")
  endif()
endforeach()
