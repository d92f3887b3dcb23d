# SPDX-License-Identifier: BSL-1.0
# What only scripts/test.sh --all looks at: few changes break it, or it takes long.

# All headers in one source, in every build: with the next standard, and warnings beyond our own that projects which
# include the headers by path may ask for.
set(all_headers "")
foreach(component IN LISTS weft_components)
  get_target_property(headers weft::${component} HEADER_SET)
  # omp.h is g++'s
  if(NOT headers OR (component MATCHES "^(openmp|torch)$" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
    continue()
  endif()
  foreach(header IN LISTS headers)
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/include")
    string(APPEND all_headers "#include \"${header}\"\n")
  endforeach()
endforeach()
set(all_headers_source "${CMAKE_CURRENT_BINARY_DIR}/all_headers.cpp")
file(CONFIGURE OUTPUT "${all_headers_source}" CONTENT "${all_headers}")
add_library(weft_headers OBJECT "${all_headers_source}")
target_link_libraries(weft_headers PRIVATE weft_dev)
foreach(component IN LISTS weft_components)
  target_link_libraries(weft_headers PRIVATE weft::${component})
endforeach()
target_compile_features(weft_headers PRIVATE cxx_std_23)
set(clang_warnings -Wdouble-promotion -Wcomma -Wold-style-cast -Wcast-align -Wnon-virtual-dtor -Woverloaded-virtual
  -Wmissing-noreturn -Wshadow-all)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(weft_headers PRIVATE -O0 ${clang_warnings})
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(weft_headers PRIVATE -O0 -Wuseless-cast -Wdouble-promotion -Wold-style-cast -Wcast-align
    -Wnon-virtual-dtor -Woverloaded-virtual -Wlogical-op -Wduplicated-cond -Wduplicated-branches)
endif()

set(foreign_folders "") # of libraries whose headers are in none of the compiler's
foreach(target IN ITEMS MPI::MPI_CXX weft_foreign::starpu weft_foreign::starpu_mpi)
  if(TARGET ${target})
    get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
    foreach(folder IN LISTS folders)
      list(APPEND foreign_folders -isystem "${folder}")
    endforeach()
  endif()
endforeach()

# Every header compiles by itself.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND Python3_FOUND)
  add_test(NAME headers/alone COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/headers.py" --self-test
    "${CMAKE_CXX_COMPILER}" "${PROJECT_SOURCE_DIR}/include" "${all_headers_source}" ${foreign_folders})
  set_tests_properties(headers/alone PROPERTIES LABELS headers)
endif()

# With the newest clang that is there, beside the one that builds the tests: it may see more.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  find_program(WEFT_NEWER_CLANG NAMES clang++-21 clang++-20 clang++-19 clang++-18 clang++-17)
  mark_as_advanced(WEFT_NEWER_CLANG)
  if(WEFT_NEWER_CLANG)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/all_headers_for_clang.cpp")
    string(REGEX REPLACE "#include \"weft/interop/openmp[^\n]*\n" "" for_clang "${all_headers}")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${for_clang}")
    add_test(NAME headers/newer_clang COMMAND "${WEFT_NEWER_CLANG}" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic
      -Wconversion -Wsign-conversion -Wshadow ${clang_warnings} -Werror -DONNX_NAMESPACE=onnx -DONNX_ML=1
      -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX ${foreign_folders} -I "${PROJECT_SOURCE_DIR}/include" "${source}")
    set_tests_properties(headers/newer_clang PROPERTIES LABELS headers)
  else()
    message(STATUS "weft: the headers are not checked with a clang newer than 16; none is installed")
  endif()
endif()

# Runs under every network that SimGrid models, beside its.
if(TARGET weft_simgrid AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_executable(weft_simgrid_times simgrid/same_times.cpp)
  target_include_directories(weft_simgrid_times PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(weft_simgrid_times PRIVATE weft_dev weft_simgrid)
  weft_optimise(weft_simgrid_times 1)
  add_test(NAME simgrid/same_times COMMAND weft_simgrid_times)
elseif(NOT TARGET weft_simgrid)
  message(STATUS "weft: no test beside SimGrid, which is not installed")
endif()

add_executable(weft_odr_test odr/first.cpp odr/second.cpp)
target_link_libraries(weft_odr_test PRIVATE weft_dev)
add_test(NAME odr COMMAND weft_odr_test)

# Calibration on simulated clusters, whose links are known. All ranks are one thread, and the time is virtual.
if(weft_has_smpi AND TARGET calibrate_cluster AND Python3_FOUND AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  weft_smpi_program(calibrate_cluster_smpi "${PROJECT_SOURCE_DIR}/examples/calibrate_cluster.cpp"
    LIBRARIES weft::io CLI11::CLI11 fmt::fmt Threads::Threads)
  target_include_directories(calibrate_cluster_smpi PRIVATE "${PROJECT_SOURCE_DIR}/src")
  weft_optimise(calibrate_cluster_smpi 1)
  set(place "")
  if(TARGET place)
    set(place "$<TARGET_FILE:place>")
  endif()
  foreach(cluster IN ITEMS flat backbone racks hosts)
    add_test(NAME interop/mpi/smpi/${cluster} COMMAND Python3::Interpreter
      "${CMAKE_CURRENT_SOURCE_DIR}/interop/mpi/smpi.py" ${cluster} "${WEFT_SMPIRUN}"
      "$<TARGET_FILE:calibrate_cluster_smpi>" ${place})
    set_tests_properties(interop/mpi/smpi/${cluster} PROPERTIES LABELS "mpi;smpi")
  endforeach()
  # The executor there, against weft's simulator.
  weft_smpi_program(weft_network_step interop/mpi/network_step.cpp LIBRARIES Threads::Threads)
  target_include_directories(weft_network_step PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  weft_optimise(weft_network_step 1)
  set(steps_on_8 mnist_conv@4:data lstm@16:data)
  set(steps_on_64 lstm:spread inception_v3:heft bert_base:heft)
  set(steps_on_256 lstm:spread inception_v3:heft)
  foreach(ranks IN ITEMS 8 64 256)
    add_test(NAME interop/mpi/network_steps.${ranks} COMMAND Python3::Interpreter
      "${CMAKE_CURRENT_SOURCE_DIR}/interop/mpi/network_steps.py" "${WEFT_SMPIRUN}" "$<TARGET_FILE:weft_network_step>"
      ${ranks} ${steps_on_${ranks}})
    set_tests_properties(interop/mpi/network_steps.${ranks} PROPERTIES LABELS "mpi;smpi")
  endforeach()
elseif(NOT weft_has_smpi)
  message(STATUS "weft: no test of MPI programs on simulated clusters; they need SimGrid and MPI")
endif()

# No product is fused with a sum: the same seed, the same result on every processor.
if(Python3_FOUND AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_test(NAME fused COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/fused.py" "${CMAKE_CXX_COMPILER}"
    "${PROJECT_SOURCE_DIR}/include")
  set_tests_properties(fused PROPERTIES SKIP_RETURN_CODE 77)
endif()

# Wrong uses must be refused with a message that helps.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/compile_fail")
  set(flags "-std=c++20 -Wall -Wextra -I${PROJECT_SOURCE_DIR}/include")
  separate_arguments(flag_list NATIVE_COMMAND "${flags}")
  weft_collect(compile_fail_cases "compile_fail/*.cpp")
  # As they are, all of them in one source, each in a namespace of its own, compile without a word. What they include is
  # read before.
  set(includes "")
  set(twins "")
  foreach(case IN LISTS compile_fail_cases)
    file(STRINGS "${case}" case_includes REGEX "^#include")
    list(APPEND includes ${case_includes})
    string(MAKE_C_IDENTIFIER "${case}" name)
    string(APPEND twins "namespace ${name} {\n#include \"${CMAKE_CURRENT_SOURCE_DIR}/${case}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES includes)
  list(JOIN includes "\n" includes)
  file(CONFIGURE OUTPUT "${folder}/twins.cpp" CONTENT "${includes}\n${twins}" @ONLY)
  add_test(NAME compile_fail/twins
    COMMAND "${CMAKE_CXX_COMPILER}" ${flag_list} -Werror -fsyntax-only "${folder}/twins.cpp")
  # What most cases include is precompiled: it takes longer to read than the rest of a case.
  file(CONFIGURE OUTPUT "${folder}/common.hpp" @ONLY CONTENT [[
#include "weft/partition/hash.hpp"
#include "weft/platform/platform.hpp"
#include "weft/schedule/fifo.hpp"
#include "weft/simulate/simulator.hpp"
#include "weft/solve/pipeline.hpp"
#include "weft/workload/workload.hpp"
]])
  add_test(NAME compile_fail/common
    COMMAND "${CMAKE_CXX_COMPILER}" ${flag_list} -x c++-header "${folder}/common.hpp" -o "${folder}/common.hpp.gch")
  set_tests_properties(compile_fail/common PROPERTIES FIXTURES_SETUP weft_compile_fail)
  set_tests_properties(compile_fail/common compile_fail/twins PROPERTIES LABELS compile_fail)
  foreach(case IN LISTS compile_fail_cases)
    string(REPLACE ".cpp" "" name "${case}")
    set(common " -include ${folder}/common.hpp")
    if(name MATCHES "/old_") # of what the library says before anything else
      set(common "")
    endif()
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -D "CASE=${CMAKE_CURRENT_SOURCE_DIR}/${case}"
      -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "FLAGS=${flags}${common}"
      -D FIRST_ERROR=$<IF:$<STREQUAL:${CMAKE_CXX_COMPILER_ID},GNU>,-fmax-errors=1,-ferror-limit=1>
      -P "${CMAKE_CURRENT_SOURCE_DIR}/compile_fail/check.cmake")
    set_tests_properties(${name} PROPERTIES LABELS compile_fail FIXTURES_REQUIRED weft_compile_fail)
  endforeach()
endif()

add_test(NAME package/port COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}"
  -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/port" -D "GENERATOR=${CMAKE_GENERATOR}" -D "COMPILER=${CMAKE_CXX_COMPILER}"
  -P "${CMAKE_CURRENT_SOURCE_DIR}/package/port.cmake")
add_test(NAME package/conan COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}"
  -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/conan"
  -P "${CMAKE_CURRENT_SOURCE_DIR}/package/conan.cmake")
set_tests_properties(package/port package/conan PROPERTIES LABELS package
  SKIP_REGULAR_EXPRESSION "^skipped: ")

# Strangers' projects.
list(JOIN weft_components "," components)
foreach(from IN ITEMS package source)
  add_test(NAME consumer/${from} COMMAND ${CMAKE_COMMAND} -D FROM=${from} -D "SOURCE=${PROJECT_SOURCE_DIR}"
    -D "BUILD=${PROJECT_BINARY_DIR}" -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/consumer_${from}"
    -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "GENERATOR=${CMAKE_GENERATOR}" -D "COMPONENTS=${components}"
    -D "LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}"
    -D "HWLOC=${WEFT_LIBRARY_hwloc}"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/consumer/run.cmake")
  set_tests_properties(consumer/${from} PROPERTIES LABELS consumer)
endforeach()

if(TARGET weft::compare)
  add_test(NAME consumer/tools COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}"
    -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/consumer_tools" -D "COMPILER=${CMAKE_CXX_COMPILER}"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/consumer/tools.cmake")
  set_tests_properties(consumer/tools PROPERTIES LABELS consumer)
  add_test(NAME consumer/own_heuristic COMMAND ${CMAKE_COMMAND} -D "SOURCE=${PROJECT_SOURCE_DIR}"
    -D "BUILD=${PROJECT_BINARY_DIR}" -D "WORK=${CMAKE_CURRENT_BINARY_DIR}/consumer_own_heuristic"
    -D "COMPILER=${CMAKE_CXX_COMPILER}" -D "GENERATOR=${CMAKE_GENERATOR}"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/consumer/own_heuristic.cmake")
  set_tests_properties(consumer/own_heuristic PROPERTIES LABELS consumer)
endif()
