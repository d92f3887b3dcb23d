# SPDX-License-Identifier: BSL-1.0
# cmake --install: headers, licence, and a package that find_package(weft [COMPONENTS io report boost_graph onetbb openmp hwloc onnx tensorflow compiled]) finds.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET weft_compiled) # has libraries
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")
  set(every_architecture "")
else()
  set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/weft")
  set(every_architecture ARCH_INDEPENDENT)
endif()
foreach(component IN LISTS WEFT_COMPONENTS)
  set(target weft_${component})
  if(component STREQUAL "weft")
    set(target weft)
  endif()
  install(TARGETS ${target} ${weft_${component}_libraries} # what it links of ours, where that is compiled
    EXPORT weft-${component} FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT weft-${component} NAMESPACE weft:: FILE weft-${component}-targets.cmake DESTINATION "${package_dir}")
endforeach()

configure_package_config_file(cmake/weftConfig.cmake.in "${PROJECT_BINARY_DIR}/weftConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ${every_architecture})
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  DESTINATION "${package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/weft")
