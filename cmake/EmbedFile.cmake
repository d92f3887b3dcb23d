# SPDX-License-Identifier: BSL-1.0
#[[
weft_embed_file(<target> <symbol> <file>)

Puts the bytes of <file> into <target>, which declares and calls

    std::string_view <symbol>();

<symbol> is a C++ identifier; <file> is relative to the current source directory. Call it in the directory that made the
target, which is built again when the file changes. The assembler reads the file (`.incbin`), so that a megabyte costs
no compile time: GCC and Clang on ELF platforms.
]]
function(weft_embed_file target symbol file)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "weft_embed_file: there is no target '${target}'; call add_executable or add_library first")
  endif()
  if(NOT symbol MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "weft_embed_file: '${symbol}' is not a C++ identifier")
  endif()
  get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${path}" OR IS_DIRECTORY "${path}")
    message(FATAL_ERROR "weft_embed_file: there is no file '${path}'")
  endif()
  if(MSVC OR APPLE OR WIN32)
    message(FATAL_ERROR "weft_embed_file needs GCC or Clang and an ELF platform such as Linux")
  endif()

  # Once for C++, once for the assembler.
  string(REPLACE "\\" "\\\\\\\\" escaped "${path}")
  string(REPLACE "\"" "\\\\\\\"" escaped "${escaped}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/embed/${target}.${symbol}.cpp")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT [[
// Made by weft_embed_file; do not edit.
#include <cstddef>
#include <string_view>

asm(".pushsection .rodata\n"
    ".balign 16\n"
    "weft_embed_@symbol@_first:\n"
    ".incbin \"@escaped@\"\n"
    "weft_embed_@symbol@_last:\n"
    ".byte 0\n"
    ".popsection\n"
    ".globl weft_embed_@symbol@_first\n"
    ".globl weft_embed_@symbol@_last\n"
    ".hidden weft_embed_@symbol@_first\n"
    ".hidden weft_embed_@symbol@_last\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const char weft_embed_@symbol@_first[];
__attribute__((visibility("hidden"))) extern const char weft_embed_@symbol@_last[];
}

std::string_view @symbol@();

std::string_view @symbol@() {
  return {weft_embed_@symbol@_first, static_cast<std::size_t>(weft_embed_@symbol@_last - weft_embed_@symbol@_first)};
}
]])
  # Link-time optimisation may move the assembly and the function into different units, where they lose each other.
  set_source_files_properties("${source}" PROPERTIES OBJECT_DEPENDS "${path}" COMPILE_OPTIONS "-fno-lto"
                                                     SKIP_LINTING ON)
  target_sources("${target}" PRIVATE "${source}")
endfunction()
