# SPDX-License-Identifier: BSL-1.0
# Flags for developing weft itself. Nothing here reaches users: weft_dev is never exported.

set(WEFT_SANITIZE "" CACHE STRING
  "Sanitizers for tests, examples and benchmarks: 'address,undefined', 'thread' or empty")
option(WEFT_CCACHE "Compile through ccache if it is installed" ON)

option(WEFT_ONLY_CHECK
  "Compilers only look for errors and warnings; what they would make are empty files (needs g++ or clang, and Ninja)"
  OFF)
if(WEFT_ONLY_CHECK)
  set(CMAKE_CXX_COMPILE_OBJECT "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE>"
    "<CMAKE_COMMAND> -E touch <OBJECT>")
  foreach(rule IN ITEMS LINK_EXECUTABLE CREATE_STATIC_LIBRARY CREATE_SHARED_LIBRARY CREATE_SHARED_MODULE)
    set(CMAKE_CXX_${rule} "<CMAKE_COMMAND> -E touch <TARGET>")
  endforeach()
endif()

add_library(weft_dev INTERFACE)
target_link_libraries(weft_dev INTERFACE weft::weft)
if(MSVC)
  target_compile_options(weft_dev INTERFACE /W4 /permissive-)
else()
  target_compile_options(weft_dev INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
    # At -O3, g++ 12 sees overflows and overlaps in inlined std::string that are not there (GCC bugs 105329, 105651).
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>")
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
if(WEFT_SANITIZE)
  target_compile_definitions(weft_dev INTERFACE WEFT_SANITIZED) # for tests whose rounds take far longer then
  target_compile_options(weft_dev INTERFACE
    "-fsanitize=${WEFT_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(WEFT_SANITIZE MATCHES "address.*undefined")
    # Checks of every access to a member: a null pointer is found by the address sanitizer as well, and what is read
    # from bytes is copied from them.
    target_compile_options(weft_dev INTERFACE -fno-sanitize=null,alignment)
  endif()
  target_link_options(weft_dev INTERFACE "-fsanitize=${WEFT_SANITIZE}")
  if(WEFT_SANITIZE MATCHES "address" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    # At a fixed address; else millions of pointers are relocated whenever a test starts, which takes half a second.
    target_link_options(weft_dev INTERFACE -no-pie)
  endif()
endif()

if(WEFT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WEFT_CCACHE_PROGRAM ccache)
  mark_as_advanced(WEFT_CCACHE_PROGRAM)
  if(WEFT_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${WEFT_CCACHE_PROGRAM}")
  endif()
endif()

# oneDNN, for the kernels of examples/train_step.cpp; without its package file, which asks for OpenCL's headers.
find_path(WEFT_DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp)
find_library(WEFT_DNNL_LIBRARY dnnl)
mark_as_advanced(WEFT_DNNL_INCLUDE_DIR WEFT_DNNL_LIBRARY)
if(WEFT_DNNL_INCLUDE_DIR AND WEFT_DNNL_LIBRARY AND TARGET OpenMP::OpenMP_CXX)
  add_library(weft_dnnl INTERFACE)
  target_include_directories(weft_dnnl SYSTEM INTERFACE "${WEFT_DNNL_INCLUDE_DIR}")
  target_link_libraries(weft_dnnl INTERFACE "${WEFT_DNNL_LIBRARY}" OpenMP::OpenMP_CXX)
endif()

# Everything that ctest runs under the label `threads`.
add_custom_target(weft_thread_tests)

# weft_link_components(<target>): links every optional component of this build.
function(weft_link_components target)
  foreach(component IN ITEMS views io report boost_graph)
    if(TARGET weft::${component})
      target_link_libraries(${target} PRIVATE weft::${component})
    endif()
  endforeach()
endfunction()

set(WEFT_BATCH 1 CACHE STRING
  "Sources of a target compiled as one: more make a whole build quicker on few cores, a rebuild after a change slower")

# weft_compile_in_batches(<target> <source>...): compiles WEFT_BATCH of these sources of the target as one. CMake leaves
# out those that have options of their own.
function(weft_compile_in_batches target)
  list(LENGTH ARGN sources)
  if(NOT WEFT_BATCH GREATER 1 OR sources LESS 2)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(batch 0)
  set(onnx_batch 0) # apart, since ONNX's headers set macros
  foreach(source IN LISTS ARGN) # what sets macros stays alone
    file(STRINGS "${source}" macros REGEX "^ *# *define " LIMIT_COUNT 1)
    file(STRINGS "${source}" onnx REGEX "^ *# *include .*onnx" LIMIT_COUNT 1)
    if(NOT macros)
      set(kind batch)
      if(onnx)
        set(kind onnx_batch)
      endif()
      math(EXPR number "${${kind}} / ${WEFT_BATCH}")
      math(EXPR ${kind} "${${kind}} + 1")
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${kind}_${number})
    endif()
  endforeach()
endfunction()

# weft_optimise(<target> <level>): of a release build; what runs shortly is not worth the compiler's time.
function(weft_optimise target level)
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
  endif()
endfunction()

# weft_link_compiled(<target>): links the solvers of instances, where they are built; without, the target compiles them
# itself.
function(weft_link_compiled target)
  if(TARGET weft_solvers)
    target_link_libraries(${target} PRIVATE weft_solvers)
  endif()
endfunction()

# SimGrid, beside which a test and a benchmark run the simulator.
find_path(WEFT_SIMGRID_INCLUDE simgrid/s4u.hpp)
find_library(WEFT_SIMGRID_LIBRARY simgrid)
mark_as_advanced(WEFT_SIMGRID_INCLUDE WEFT_SIMGRID_LIBRARY)
if(WEFT_SIMGRID_INCLUDE AND WEFT_SIMGRID_LIBRARY)
  add_library(weft_simgrid INTERFACE)
  target_include_directories(weft_simgrid SYSTEM INTERFACE "${WEFT_SIMGRID_INCLUDE}")
  target_link_libraries(weft_simgrid INTERFACE "${WEFT_SIMGRID_LIBRARY}")
endif()

# weft_link_interop(<target> <source>...): links the components of foreign libraries whose headers the sources include.
function(weft_link_interop target)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source)
    file(STRINGS "${source}" includes REGEX "^ *# *include +[<\"](weft/interop|google/protobuf)/")
    foreach(component IN ITEMS gzip onetbb openmp hwloc clp mpi starpu starpu_mpi onnx pytorch stablehlo tensorflow
        torch)
      if(TARGET weft::${component} AND includes MATCHES "weft/interop/${component}")
        target_link_libraries(${target} PRIVATE weft::${component})
      endif()
    endforeach()
    if(includes MATCHES "google/protobuf/")
      target_link_libraries(${target} PRIVATE protobuf::libprotobuf)
    endif()
  endforeach()
endfunction()

# weft_lacks_component(<source> <variable>): whether a source lies with or includes headers of an optional component
# that is not in this build.
function(weft_lacks_component source variable)
  cmake_path(ABSOLUTE_PATH source)
  file(STRINGS "${source}" includes REGEX "^ *# *include +[<\"](weft|google/protobuf|nlohmann)/")
  list(APPEND includes "${source}")
  set(missing "")
  if(NOT TARGET weft::io AND includes MATCHES "weft/io/|test/io/|nlohmann/")
    list(APPEND missing io)
  endif()
  foreach(component IN ITEMS views report)
    if(NOT TARGET weft::${component} AND includes MATCHES "weft/${component}[./]|test/${component}/")
      list(APPEND missing ${component})
    endif()
  endforeach()
  foreach(library IN ITEMS boost_graph gzip onetbb openmp hwloc clp mpi starpu starpu_mpi onnx pytorch stablehlo
      tensorflow torch)
    if(NOT TARGET weft::${library} AND includes MATCHES "weft/interop/${library}")
      list(APPEND missing ${library})
    endif()
  endforeach()
  if(NOT TARGET protobuf::libprotobuf AND includes MATCHES "google/protobuf/")
    list(APPEND missing protobuf)
  endif()
  set(${variable} FALSE PARENT_SCOPE)
  if(missing MATCHES "^(openmp|torch)$" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # clang brings an OpenMP runtime of its own, which oneDNN as Debian builds it does not use
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    message(STATUS "weft: ${source} is built with g++ only, whose OpenMP runtime it needs")
    set(${variable} TRUE PARENT_SCOPE)
    return()
  endif()
  if(missing STREQUAL "torch") # tests do without it
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    message(STATUS "weft: ${source} is not built, as there is no libtorch")
    set(${variable} TRUE PARENT_SCOPE)
    return()
  endif()
  if(missing)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    message(STATUS "weft: ${source} is left out; it needs the components: ${missing}")
    set(${variable} TRUE PARENT_SCOPE)
  endif()
endfunction()

if(EXISTS "${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake")
  include("${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake")
endif()
