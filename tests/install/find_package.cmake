# A stranger's project finds the package, compiles every installed header, links, and runs.
file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/stranger/ DESTINATION ${WORK}/stranger)

# A header that includes one which is not installed would go unseen in our own tree.
file(GLOB_RECURSE headers RELATIVE ${PREFIX}/include ${PREFIX}/include/leat/*.hpp)
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
file(WRITE ${WORK}/stranger/every_header.cpp ${headers})

execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK}/stranger -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=Debug
                        -DCMAKE_PREFIX_PATH=${PREFIX} -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/stranger COMMAND_ERROR_IS_FATAL ANY)
