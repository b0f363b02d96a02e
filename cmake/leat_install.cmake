# Installs the exported targets, the files find_package(leat) reads, and leat.pc.

include(CMakePackageConfigHelpers)

set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/leat)
install(EXPORT leat_targets NAMESPACE leat:: DESTINATION ${config_dir} COMPONENT library)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/leat-config.cmake.in
  ${PROJECT_BINARY_DIR}/leat-config.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/leat-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/leat-config.cmake ${PROJECT_BINARY_DIR}/leat-config-version.cmake
        DESTINATION ${config_dir} COMPONENT library)

# The way from leat.pc up to the prefix, so that an installed tree may be moved.
file(RELATIVE_PATH LEAT_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)

# pkg-config wants the archives in link order: a layer before those it builds on.
get_property(layers GLOBAL PROPERTY LEAT_LAYERS)
set(LEAT_PC_LIBS "")
foreach(layer IN LISTS layers)
  get_target_property(type ${layer} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(PREPEND LEAT_PC_LIBS "-l${layer} ")
  endif()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/leat.pc.in ${PROJECT_BINARY_DIR}/leat.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/leat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
