# SPDX-License-Identifier: BSL-1.0
# Runs the port with stand-ins for vcpkg's functions, with a few features; then what it installed must be these.
# cmake -D SOURCE=... -D WORK=... -D GENERATOR=... -D COMPILER=... -P port.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result)
    message(FATAL_ERROR "${ARGV}\nfailed (${result}):\n${output}")
  endif()
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run(${CMAKE_COMMAND} -S "${arg_SOURCE_PATH}" -B "${WORK}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
  run(${CMAKE_COMMAND} --build "${WORK}/build" --target install)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(COPY ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()

set(PORT weft)
set(CURRENT_PACKAGES_DIR "${WORK}/packages")

# installs(<features> <expected>): the port with these features installs these components.
function(installs features expected)
  set(FEATURES ${features})
  file(REMOVE_RECURSE "${WORK}")
  include("${SOURCE}/port/weft/portfile.cmake")
  file(GLOB targets RELATIVE "${CURRENT_PACKAGES_DIR}/share/weft" "${CURRENT_PACKAGES_DIR}/share/weft/*-targets.cmake")
  list(TRANSFORM targets REPLACE "^weft-(.*)-targets\\.cmake$" "\\1")
  if(NOT targets STREQUAL expected)
    message(SEND_ERROR "the port with ${features} has the components ${targets} instead of ${expected}")
  endif()
  foreach(path IN ITEMS share/weft/usage share/weft/LICENSE share/weft/weftConfig.cmake include/weft/all.hpp)
    if(NOT EXISTS "${CURRENT_PACKAGES_DIR}/${path}")
      message(SEND_ERROR "the port with ${features} lacks ${path}")
    endif()
  endforeach()
endfunction()

installs("core" "weft") # whatever else this machine has
installs("core;boost-graph;report;views" "boost_graph;report;views;weft")
