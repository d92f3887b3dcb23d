# SPDX-License-Identifier: BSL-1.0
# weft::compiled: weft::weft, and solvers of common types of problems compiled once (include/weft/compiled.hpp). It is
# made of a library per type, so that what needs one of them does not wait for the other.

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/compiled/*.cpp")
set(weft_compiled_libraries "")
foreach(problem IN ITEMS linear tabulated)
  set(library weft_compiled_${problem})
  add_library(${library} STATIC ${sources})
  add_library(weft::compiled_${problem} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME compiled_${problem} POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${library} PUBLIC weft::weft)
  string(TOUPPER ${problem} upper)
  target_compile_definitions(${library} PUBLIC WEFT_COMPILED_${upper}
    PRIVATE WEFT_COMPILED_PROBLEM=weft::compiled::${problem})
  if(NOT MSVC)
    target_compile_options(${library} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O2>)
  endif()
  if(TARGET weft_dev)
    target_compile_options(${library} PRIVATE $<TARGET_PROPERTY:weft_dev,INTERFACE_COMPILE_OPTIONS>)
    weft_compile_in_batches(${library} ${sources})
  endif()
  list(APPEND weft_compiled_libraries ${library})
endforeach()
set(weft_compiled_LIBS ${weft_compiled_libraries})
list(TRANSFORM weft_compiled_LIBS PREPEND -l)
set(weft_compiled_FLAGS -DWEFT_COMPILED_LINEAR -DWEFT_COMPILED_TABULATED)
set(weft_compiled_USES weft)
weft_add_component(compiled LINKS ${weft_compiled_libraries})
