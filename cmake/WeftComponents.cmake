# SPDX-License-Identifier: BSL-1.0
# The targets that users link: weft::weft and one per optional component. They carry include folders, C++20 and
# their libraries, and nothing else. Each is declared once, at the end of this file: the installed package and its
# pkg-config files are made of that, and the recipes for package managers and the headers are held against it.

set(WEFT_COMPONENTS "" CACHE STRING
  "Components to make, such as 'io;report', and those they use; an error if one cannot be made. Empty: all that can")
include("${CMAKE_CURRENT_LIST_DIR}/weftDependencies.cmake")

set(weft_declared "")  # every component, each after those that it uses
set(weft_components "") # those of this build

# weft_declare(<name> [HEADERS <regex>] ...): a component; it is made of the headers whose path below include/weft
# matches. The rest is optional:
#   USES <component>...         components whose headers it includes
#   DEPENDS ...                 what it needs of others, as weft_find_dependencies takes it
#   LINKS <target>...           what of that it links
#   DEFINES <macro>...          macros that its libraries ask for
#   INCLUDES <prefix>...        how the paths of the foreign headers begin that it includes
#   PKG_CONFIG <module>...      the same for pkg-config, where it is known there
#   FLAGS <flag>..., LIBS <flag>...  and otherwise what compiling and linking take, besides MPI
function(weft_declare name)
  set(weft_declared ${weft_declared} ${name} PARENT_SCOPE)
  set(lists USES DEPENDS LINKS DEFINES INCLUDES PKG_CONFIG FLAGS LIBS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADERS" "${lists}")
  foreach(field IN LISTS lists ITEMS HEADERS)
    set(weft_${name}_${field} "${arg_${field}}" PARENT_SCOPE)
  endforeach()
endfunction()

# weft_add_component(<name> [LINKS <target>...]): the target weft::<name>.
function(weft_add_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS")
  set(target weft_${name})
  if(name STREQUAL "weft")
    set(target weft)
  endif()
  set(include_dir "${PROJECT_SOURCE_DIR}/include")
  set(headers "")
  if(weft_${name}_HEADERS)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${include_dir}/weft" "${include_dir}/weft/*.hpp")
    list(FILTER headers INCLUDE REGEX "${weft_${name}_HEADERS}")
    list(TRANSFORM headers PREPEND "${include_dir}/weft/")
    if(NOT headers)
      return()
    endif()
  endif()

  add_library(${target} INTERFACE)
  add_library(weft::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS "${include_dir}" FILES ${headers})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_compile_definitions(${target} INTERFACE ${weft_${name}_DEFINES})
  list(TRANSFORM weft_${name}_USES PREPEND weft:: OUTPUT_VARIABLE others)
  target_link_libraries(${target} INTERFACE ${others} ${arg_LINKS})
  set(weft_components ${weft_components} ${name} PARENT_SCOPE)
endfunction()

# Makes the declared components: those that are wanted, or all that can be.
macro(weft_make_components)
  string(REPLACE "," ";" wanted "${WEFT_COMPONENTS}")
  list(JOIN weft_declared ", " declared)
  foreach(name IN LISTS wanted)
    if(name STREQUAL "compiled")
      message(FATAL_ERROR "weft: WEFT_COMPONENTS names 'compiled', which WEFT_BUILD_COMPILED=ON makes")
    elseif(NOT name IN_LIST weft_declared)
      message(FATAL_ERROR "weft: WEFT_COMPONENTS names '${name}', which is none of: ${declared}")
    endif()
  endforeach()
  if(NOT wanted)
    set(wanted ${weft_declared})
  endif()
  list(APPEND wanted weft)
  list(REVERSE weft_declared)
  foreach(name IN LISTS weft_declared)
    if(name IN_LIST wanted)
      list(APPEND wanted ${weft_${name}_USES})
    endif()
  endforeach()
  list(REVERSE weft_declared)
  foreach(name IN LISTS weft_declared)
    if(NOT name IN_LIST wanted)
      continue()
    endif()
    weft_find_dependencies(missing ${weft_${name}_DEPENDS})
    foreach(other IN LISTS weft_${name}_USES)
      if(NOT TARGET weft::${other} AND NOT missing)
        set(missing "the component '${other}'")
      endif()
    endforeach()
    if(NOT missing)
      weft_add_component(${name} LINKS ${weft_${name}_LINKS})
    elseif(WEFT_COMPONENTS)
      message(FATAL_ERROR "weft: the component '${name}' needs ${missing}, which was not found; install it, or leave "
        "'${name}' out of WEFT_COMPONENTS")
    endif()
  endforeach()
endmacro()

string(JOIN "|" weft_folders core ops graph platform workload cost model plan partition schedule concurrency bound
  validate allocate refine simulate execute throughput evaluate objective shard solve parallel planner tool)
string(JOIN "|" weft_umbrellas all concurrency execute instance models networks owning_problem parallel planner problem
  shard)
weft_declare(weft HEADERS "^(${weft_umbrellas})\\.hpp$|^(${weft_folders})/")
weft_declare(views HEADERS "^views(\\.hpp$|/)" USES weft
  DEPENDS PACKAGE range-v3 TARGET range-v3::range-v3 FOREIGN range_v3 HEADER range/v3/version.hpp
  LINKS weft_foreign::range_v3 INCLUDES range/v3/)
weft_declare(io HEADERS "^io/" USES views
  DEPENDS PACKAGE nlohmann_json 3.10 LINKS nlohmann_json::nlohmann_json INCLUDES nlohmann/ PKG_CONFIG nlohmann_json)
weft_declare(report HEADERS "^report/" USES views)
weft_declare(boost_graph HEADERS "^interop/boost_graph\\.hpp$" USES weft
  DEPENDS PACKAGE Boost 1.70 LINKS Boost::headers INCLUDES boost/)
weft_declare(onetbb HEADERS "^interop/onetbb\\.hpp$" USES weft
  DEPENDS PACKAGE TBB 2021 LINKS TBB::tbb INCLUDES oneapi/tbb/ PKG_CONFIG tbb)
weft_declare(openmp HEADERS "^interop/openmp\\.hpp$" USES weft
  DEPENDS PACKAGE OpenMP COMPONENTS CXX LINKS OpenMP::OpenMP_CXX INCLUDES omp.h FLAGS -fopenmp LIBS -fopenmp)
weft_declare(hwloc HEADERS "^interop/hwloc\\.hpp$" USES weft
  DEPENDS FOREIGN hwloc HEADER hwloc.h LIBRARIES hwloc LINKS weft_foreign::hwloc INCLUDES hwloc.h PKG_CONFIG hwloc)
weft_declare(gzip HEADERS "^interop/gzip\\.hpp$" USES weft
  DEPENDS PACKAGE ZLIB LINKS ZLIB::ZLIB INCLUDES zlib.h PKG_CONFIG zlib)
weft_declare(clp HEADERS "^interop/clp\\.hpp$" USES weft
  DEPENDS FOREIGN clp HEADER coin/Clp_C_Interface.h coin-or/Clp_C_Interface.h LIBRARIES Clp
  LINKS weft_foreign::clp INCLUDES coin/ coin-or/ PKG_CONFIG clp)
weft_declare(mpi HEADERS "^interop/mpi(\\.hpp$|/)" USES weft
  DEPENDS PACKAGE MPI COMPONENTS CXX LINKS MPI::MPI_CXX
  DEFINES OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX # the C++ bindings, which are no part of MPI any more
  INCLUDES mpi.h sys/ unistd.h poll.h sched.h FLAGS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX) # and what MPI::MPI_CXX says
weft_declare(starpu HEADERS "^interop/starpu(\\.hpp$|/)" USES weft
  DEPENDS FOREIGN starpu HEADER starpu.h FOLDER starpu/1.3 LIBRARIES starpu-1.3
  LINKS weft_foreign::starpu INCLUDES starpu.h PKG_CONFIG starpu-1.3)
weft_declare(starpu_mpi HEADERS "^interop/starpu_mpi\\.hpp$" USES starpu
  DEPENDS PACKAGE MPI COMPONENTS CXX FOREIGN starpu_mpi HEADER starpu_mpi.h FOLDER starpu/1.3 LIBRARIES starpumpi-1.3
  LINKS weft_foreign::starpu_mpi MPI::MPI_CXX DEFINES OMPI_SKIP_MPICXX # the C++ bindings, no part of MPI any more
  INCLUDES mpi.h starpu.h starpu_mpi.h PKG_CONFIG starpumpi-1.3 FLAGS -DOMPI_SKIP_MPICXX)
weft_declare(tensorflow HEADERS "^interop/tensorflow(\\.hpp$|/)" USES io)
weft_declare(stablehlo HEADERS "^interop/stablehlo(\\.hpp$|/)" USES io)
weft_declare(pytorch HEADERS "^interop/pytorch(\\.hpp$|/)" USES io
  DEPENDS FOREIGN libzip HEADER zip.h LIBRARIES zip LINKS weft_foreign::libzip INCLUDES zip.h nlohmann/
  PKG_CONFIG libzip)
weft_declare(torch HEADERS "^interop/torch(\\.hpp$|/)" USES pytorch openmp
  DEPENDS FOREIGN torch HEADER ATen/core/dispatch/Dispatcher.h LIBRARIES torch torch_cpu c10
  LINKS weft_foreign::torch INCLUDES ATen/ torch/ omp.h nlohmann/ LIBS -ltorch -ltorch_cpu -lc10)
weft_declare(onnx HEADERS "^interop/onnx(\\.hpp$|/)" USES io
  DEPENDS PACKAGE Protobuf FOREIGN onnx HEADER onnx/onnx_pb.h LIBRARIES onnx onnx_proto
  LINKS weft_foreign::onnx protobuf::libprotobuf
  DEFINES ONNX_NAMESPACE=onnx ONNX_ML=1 # the headers ask for these two
  INCLUDES onnx/ nlohmann/ PKG_CONFIG protobuf FLAGS -DONNX_NAMESPACE=onnx -DONNX_ML=1 LIBS -lonnx -lonnx_proto)
weft_make_components()
