# SPDX-License-Identifier: BSL-1.0
# cmake --install: the headers and a package that find_package(weft [COMPONENTS ...]) and pkg-config find (the install
# component `development`), and the tools as weft-compare, weft-machine and weft-place
# where they are built (`tools`).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(TARGET weft_compiled OR TARGET weft_compare) # has libraries
  set(packages_dir "${CMAKE_INSTALL_LIBDIR}")
  set(every_architecture "")
else()
  set(packages_dir "${CMAKE_INSTALL_DATADIR}")
  set(every_architecture ARCH_INDEPENDENT)
endif()
set(package_dir "${packages_dir}/cmake/weft")
set(pkg_config_dir "${packages_dir}/pkgconfig")
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

# What the installed package must know of the components.
set(table "")
foreach(component IN LISTS weft_components)
  foreach(field IN ITEMS USES DEPENDS)
    if(weft_${component}_${field})
      list(JOIN weft_${component}_${field} " " value)
      string(APPEND table "set(_weft_${component}_${field} ${value})\n")
    endif()
  endforeach()
endforeach()
list(JOIN weft_components ", " installed_components)

# Folders of the prefix as pkg-config finds them from where its files lie, so that the prefix may be moved.
file(RELATIVE_PATH to_prefix "/prefix/${pkg_config_dir}" "/prefix")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
foreach(component IN LISTS weft_components)
  set(target weft_${component})
  set(module weft-${component})
  if(component STREQUAL "weft")
    set(target weft)
    set(module weft)
  endif()
  install(TARGETS ${target} ${weft_${component}_libraries} # what it links of ours, where that is compiled
    EXPORT weft-${component} FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}") # for users whose CMake does not know file sets: before 3.23
  install(EXPORT weft-${component} NAMESPACE weft:: FILE weft-${component}-targets.cmake DESTINATION "${package_dir}")

  list(TRANSFORM weft_${component}_USES PREPEND weft- OUTPUT_VARIABLE requires)
  list(TRANSFORM requires REPLACE "^weft-weft$" weft)
  list(APPEND requires ${weft_${component}_PKG_CONFIG})
  list(JOIN requires ", " requires)
  set(flags ${weft_${component}_FLAGS})
  set(libs ${weft_${component}_LIBS})
  if("MPI::MPI_CXX" IN_LIST weft_${component}_LINKS) # the module of pkg-config has another name for each MPI
    get_target_property(folders MPI::MPI_CXX INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(libraries MPI::MPI_CXX INTERFACE_LINK_LIBRARIES)
    foreach(folder IN LISTS folders)
      if(folder)
        list(APPEND flags "-I${folder}")
      endif()
    endforeach()
    list(TRANSFORM MPI_CXX_COMPILE_DEFINITIONS PREPEND -D OUTPUT_VARIABLE definitions)
    list(APPEND flags ${MPI_CXX_COMPILE_OPTIONS} ${definitions})
    if(libraries)
      list(APPEND libs ${libraries})
    endif()
    list(APPEND libs ${MPI_CXX_LINK_FLAGS})
  endif()
  list(JOIN flags " " flags)
  list(JOIN libs " " libs)
  if(weft_${component}_libraries)
    string(PREPEND libs "-L\${libdir} ")
  endif()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/${module}.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/@to_prefix@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: @module@
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires: @requires@
Cflags: -I${includedir} @flags@
Libs: @libs@
]])
  install(FILES "${PROJECT_BINARY_DIR}/${module}.pc" DESTINATION "${pkg_config_dir}")
endforeach()

configure_package_config_file(cmake/weftConfig.cmake.in "${PROJECT_BINARY_DIR}/weftConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ${every_architecture})
install(FILES "${PROJECT_BINARY_DIR}/weftConfig.cmake" "${PROJECT_BINARY_DIR}/weftConfigVersion.cmake"
  cmake/weftDependencies.cmake DESTINATION "${package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/weft")

# The tools, under names that leave /usr/bin/compare to others; with the licence of the charts that they embed.
set(cpack_components development)
foreach(tool IN ITEMS compare machine place)
  if(TARGET ${tool})
    install(PROGRAMS "$<TARGET_FILE:${tool}>" DESTINATION "${CMAKE_INSTALL_BINDIR}" RENAME weft-${tool} COMPONENT tools)
    set(cpack_components development tools)
  endif()
endforeach()
if("tools" IN_LIST cpack_components)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/weft-tools" COMPONENT tools)
  install(DIRECTORY data/echarts/ DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/weft-tools/echarts" COMPONENT tools
    FILES_MATCHING PATTERN "LICENSE*" PATTERN "NOTICE")
endif()

if(TARGET weft_compare) # embeds them, too
  install(DIRECTORY data/echarts/ DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/weft/echarts"
    FILES_MATCHING PATTERN "LICENSE*" PATTERN "NOTICE")
endif()

# cpack: an archive of everything, or Debian packages libweft-dev and weft-tools (cpack -G DEB).
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_NAME weft)
  set(CPACK_PACKAGE_CONTACT "the developers of weft")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  set(CPACK_COMPONENTS_ALL ${cpack_components})
  set(CPACK_GENERATOR TGZ)
  set(CPACK_VERBATIM_VARIABLES ON)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libweft-dev)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
  if(every_architecture)
    set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_ARCHITECTURE all)
  endif()
  set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME weft-tools)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
  include(CPack)
endif()
