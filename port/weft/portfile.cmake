# SPDX-License-Identifier: BSL-1.0
# An overlay port that packages the source tree it lies in:
#   vcpkg install weft --classic --overlay-ports=<weft>/port --binarysource=clear
# vcpkg hashes this folder only: after changes elsewhere, `vcpkg remove weft` first. scripts/recipes.sh makes the port
# of a release.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release) # header-only

set(components ${FEATURES}) # a component each, and the core
list(REMOVE_ITEM components core)
list(PREPEND components weft)
list(JOIN components "," components)
string(REPLACE "-" "_" components "${components}")

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    "-DWEFT_COMPONENTS=${components}"
    -DWEFT_BUILD_BENCHMARKS=OFF
    -DWEFT_BUILD_EXAMPLES=OFF
    -DWEFT_BUILD_TESTS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/weft)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/licenses")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
