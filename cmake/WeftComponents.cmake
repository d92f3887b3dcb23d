# SPDX-License-Identifier: BSL-1.0
# The targets that users link: weft::weft and one per optional component. They carry include folders, C++20 and
# their libraries, and nothing else.

find_package(range-v3 REQUIRED)
find_package(nlohmann_json 3.10 QUIET)
find_package(fmt QUIET)
find_package(Boost 1.70 QUIET)
find_package(TBB 2021 QUIET)
find_package(OpenMP QUIET COMPONENTS CXX)
find_package(Protobuf QUIET)
find_path(WEFT_ONNX_INCLUDE_DIR onnx/onnx_pb.h)
find_library(WEFT_ONNX_LIBRARY onnx)
find_library(WEFT_ONNX_PROTO_LIBRARY onnx_proto)
mark_as_advanced(WEFT_ONNX_INCLUDE_DIR WEFT_ONNX_LIBRARY WEFT_ONNX_PROTO_LIBRARY)
find_path(WEFT_HWLOC_INCLUDE_DIR hwloc.h)
find_library(WEFT_HWLOC_LIBRARY hwloc)
mark_as_advanced(WEFT_HWLOC_INCLUDE_DIR WEFT_HWLOC_LIBRARY)

# The components that exist in this build, in the order in which they depend on each other.
set(WEFT_COMPONENTS "")

# weft_component(<name> HEADERS <regex> DEPENDS <target>...): the target weft::<name> over the headers whose path
# below include/weft matches.
function(weft_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADERS" "DEPENDS")
  set(target weft_${name})
  if(name STREQUAL "weft")
    set(target weft)
  endif()
  set(include_dir "${PROJECT_SOURCE_DIR}/include")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${include_dir}/weft" "${include_dir}/weft/*.hpp")
  list(FILTER headers INCLUDE REGEX "${arg_HEADERS}")
  list(TRANSFORM headers PREPEND "${include_dir}/weft/")

  add_library(${target} INTERFACE)
  add_library(weft::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS "${include_dir}" FILES ${headers})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_link_libraries(${target} INTERFACE ${arg_DEPENDS})
  set(WEFT_COMPONENTS ${WEFT_COMPONENTS} ${name} PARENT_SCOPE)
endfunction()

weft_component(weft HEADERS "^(all|compiled|networks|problem)\\.hpp$|^(core|graph|platform|workload|cost|plan|partition|schedule|concurrency|bound|validate|refine|simulate|execute|throughput|solve)/"
  DEPENDS range-v3::range-v3)
if(nlohmann_json_FOUND)
  weft_component(io HEADERS "^io/" DEPENDS weft::weft nlohmann_json::nlohmann_json)
endif()
if(nlohmann_json_FOUND AND fmt_FOUND)
  weft_component(report HEADERS "^report/" DEPENDS weft::io fmt::fmt)
endif()
if(Boost_FOUND)
  weft_component(boost_graph HEADERS "^interop/boost_graph\\.hpp$" DEPENDS weft::weft Boost::headers)
endif()
if(TBB_FOUND)
  weft_component(onetbb HEADERS "^interop/onetbb\\.hpp$" DEPENDS weft::weft TBB::tbb)
endif()
if(OpenMP_CXX_FOUND)
  weft_component(openmp HEADERS "^interop/openmp\\.hpp$" DEPENDS weft::weft OpenMP::OpenMP_CXX)
endif()
if(WEFT_HWLOC_INCLUDE_DIR AND WEFT_HWLOC_LIBRARY) # has no package of its own for CMake
  weft_component(hwloc HEADERS "^interop/hwloc\\.hpp$" DEPENDS weft::weft hwloc)
endif()
if(nlohmann_json_FOUND)
  weft_component(tensorflow HEADERS "^interop/tensorflow" DEPENDS weft::io)
endif()
if(Protobuf_FOUND AND nlohmann_json_FOUND AND WEFT_ONNX_INCLUDE_DIR AND WEFT_ONNX_LIBRARY AND WEFT_ONNX_PROTO_LIBRARY)
  # Debian's libonnx has no package file; its headers ask for these two.
  weft_component(onnx HEADERS "^interop/onnx" DEPENDS weft::io onnx onnx_proto protobuf::libprotobuf)
  target_compile_definitions(weft_onnx INTERFACE ONNX_NAMESPACE=onnx ONNX_ML=1)
endif()
