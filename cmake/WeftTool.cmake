# SPDX-License-Identifier: BSL-1.0
# weft::compare: the tool compare as a library, to which a program's main adds strategies
# (include/weft/tool/compare.hpp). It reads the models that this build has libraries for.

find_package(CLI11 QUIET)
find_package(fmt QUIET)
find_package(Threads REQUIRED)
if(NOT CLI11_FOUND OR NOT fmt_FOUND OR NOT TARGET weft::io OR NOT TARGET weft::report)
  return()
endif()

set(weft_tool_formats onnx pytorch stablehlo tensorflow) # components with a src/tool/<component>.cpp

# weft_tool_library(<target> <folder>): the sources in src/<folder> as a static library that shared ones may link.
function(weft_tool_library target folder)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp")
  foreach(component IN LISTS weft_tool_formats)
    if(NOT TARGET weft::${component})
      list(FILTER sources EXCLUDE REGEX "/${component}\\.cpp$")
    endif()
  endforeach()
  add_library(${target} STATIC ${sources})
  string(REGEX REPLACE "^weft_" "" name "${target}")
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
  target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:weft_dev>" "$<BUILD_INTERFACE:CLI11::CLI11>"
    "$<BUILD_INTERFACE:Threads::Threads>" "$<INSTALL_INTERFACE:${CMAKE_THREAD_LIBS_INIT}>" fmt::fmt)
  weft_optimise(${target} 1)
  weft_compile_in_batches(${target} ${sources})
endfunction()

# What compare and place share, with a table of the formats that src/tool/<component>.cpp defines.
weft_tool_library(weft_tool tool)
target_link_libraries(weft_tool PUBLIC weft::io weft::report)
set(weft_compare_USES io report)
set(formats "")
set(tables "")
foreach(component IN LISTS weft_tool_formats)
  if(TARGET weft::${component})
    target_link_libraries(weft_tool PRIVATE weft::${component})
    list(APPEND weft_compare_USES ${component})
    string(APPEND formats "file_format ${component}_format();\n")
    list(APPEND tables "${component}_format()")
  endif()
endforeach()
list(JOIN tables ", " tables)
file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/weft_file_formats.cpp" @ONLY CONTENT [[
#include "tool/formats.hpp"
namespace tool {
@formats@
const std::vector<file_format>& file_formats() {
  static const std::vector<file_format> formats{@tables@};
  return formats;
}
}
]])
target_sources(weft_tool PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/weft_file_formats.cpp")
if(TARGET weft_solvers)
  target_link_libraries(weft_tool PUBLIC weft_solvers)
endif()

if(NOT "compare" IN_LIST weft_tools)
  return()
endif()
weft_tool_library(weft_compare_library compare)
target_link_libraries(weft_compare_library PRIVATE weft_tool)
weft_embed_file(weft_compare_library weft_echarts_js "${PROJECT_SOURCE_DIR}/data/echarts/echarts.min.js")
if(NOT MSVC AND NOT WEFT_SANITIZE)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/compare/throughput.cpp"
    PROPERTIES COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O2>)
endif()

set(weft_compare_DEPENDS PACKAGE fmt)
set(weft_compare_PKG_CONFIG fmt)
set(weft_compare_LIBS -lweft_compare_library -lweft_tool)
set(weft_compare_libraries weft_compare_library weft_tool)
set(links weft_compare_library)
if(TARGET weft_solvers)
  list(APPEND links weft_solvers) # declares what it has, which a program's main need not compile
endif()
weft_add_component(compare LINKS ${links})
if(TARGET weft_solvers)
  list(APPEND weft_compare_USES compiled)
endif()
