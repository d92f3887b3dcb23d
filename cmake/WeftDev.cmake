# SPDX-License-Identifier: BSL-1.0
# Flags for developing weft itself. Nothing here reaches users: weft_dev is never exported.

set(WEFT_SANITIZE "" CACHE STRING "Sanitizers for tests, examples and benchmarks: 'address,undefined', 'thread' or empty")
option(WEFT_CCACHE "Compile through ccache if it is installed" ON)

add_library(weft_dev INTERFACE)
target_link_libraries(weft_dev INTERFACE weft::weft)
if(MSVC)
  target_compile_options(weft_dev INTERFACE /W4 /permissive-)
else()
  target_compile_options(weft_dev INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
    # g++ 12 sees overlaps in `"text" + std::string` that are not there (GCC bug 105651, fixed in 13).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
if(WEFT_SANITIZE)
  target_compile_options(weft_dev INTERFACE
    "-fsanitize=${WEFT_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(weft_dev INTERFACE "-fsanitize=${WEFT_SANITIZE}")
endif()

if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WEFT_CCACHE_PROGRAM ccache)
  mark_as_advanced(WEFT_CCACHE_PROGRAM)
  if(WEFT_CCACHE_PROGRAM)
    # The sloppiness is what ccache's manual asks for with precompiled headers.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${WEFT_CCACHE_PROGRAM}")
  endif()
endif()

if(EXISTS "${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake")
  include("${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake")
endif()
