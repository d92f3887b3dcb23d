// SPDX-License-Identifier: BSL-1.0
/// Every macro of the library that outlives its header: the version, the precondition check, and what explains a
/// concept that does not hold; and the check of the compiler and its standard. One macro is for the build alone: the
/// CMake target weft::compiled defines `WEFT_COMPILED`, which says that what searches is in a library (instance.hpp).
#pragma once

// Every header comes here before anything else, so that what is too old says so, and nothing else: a header that does
// not exist ends the compilation, which #error alone does not.
#if defined(__clang__) ? __clang_major__ < 16 && !defined(__apple_build_version__) : __GNUC__ < 12 && !defined(_MSC_VER)
#error "weft: this compiler is too old; g++ 12 and clang 16 are the first that will do"
#include <newer-compiler>
#elif __cplusplus < 202002L && !defined(_MSC_VER)
#error "weft: this is not C++20; give the compiler -std=c++20, or in CMake target_link_libraries(... weft::weft)"
#include <newer-standard>
#endif

#include <cassert>

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

/// Checks a precondition. Define it before including weft to plug in your own handler;
/// by default it is `assert`, so it costs nothing under NDEBUG.
#ifndef WEFT_ASSERT
#ifdef NDEBUG
#define WEFT_ASSERT(...) static_cast<void>(sizeof((__VA_ARGS__) ? 1 : 0)) // not evaluated, but its names count as used
#else
#define WEFT_ASSERT(...) assert((__VA_ARGS__))
#endif
#endif

/// For the reasons of a concept (core/explained.hpp): `call` can be made, with `params`, and gives what satisfies
/// `requirement`. What is there, but returns something else, is not said to be missing.
#define WEFT_DETAIL_HAS(when, params, call, requirement, whose, member, result, page)                                  \
  static_assert(!(when) || requires params { call; },                                                                  \
                "weft: this " whose " lacks " member " const, " result "; see docs/concepts/" page ".md");             \
  WEFT_DETAIL_RETURNS(when, params, call, requirement, whose, member, result, page)
#define WEFT_DETAIL_RETURNS(when, params, call, requirement, whose, member, result, page)                              \
  static_assert(!(when) || !requires params { call; } || requires params { { call } -> requirement; },                 \
                "weft: " member " of this " whose " does not return " result "; see docs/concepts/" page ".md")
