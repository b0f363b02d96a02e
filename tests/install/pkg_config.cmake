# The same program, built by one line with pkg-config.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
file(GLOB_RECURSE pc ${PREFIX}/leat.pc)
cmake_path(GET pc PARENT_PATH folder)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${folder} pkg-config --cflags --libs leat
                OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${CXX_FLAGS} ${flags}")
execute_process(COMMAND ${CXX} ${CMAKE_CURRENT_LIST_DIR}/stranger/main.cpp -o ${WORK}/stranger ${flags}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/stranger COMMAND_ERROR_IS_FATAL ANY)
