# SPDX-License-Identifier: BSL-1.0
# An overlay port that packages the source tree it lies in: vcpkg install weft --overlay-ports=<weft>/port
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release) # headers only

# A component exists when its packages are found, so hide those of the features that were not asked for.
vcpkg_check_features(OUT_FEATURE_OPTIONS hidden INVERTED_FEATURES
  report CMAKE_DISABLE_FIND_PACKAGE_fmt
  boost-graph CMAKE_DISABLE_FIND_PACKAGE_Boost)
if(NOT "io" IN_LIST FEATURES AND NOT "report" IN_LIST FEATURES)
  list(APPEND hidden -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
endif()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS
  -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_BENCHMARKS=OFF ${hidden}
  MAYBE_UNUSED_VARIABLES CMAKE_DISABLE_FIND_PACKAGE_fmt CMAKE_DISABLE_FIND_PACKAGE_Boost)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/weft)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
