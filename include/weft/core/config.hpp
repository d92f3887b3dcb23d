// SPDX-License-Identifier: BSL-1.0
/// Every macro of the library that outlives its header: the version and the precondition check. Two are for the build
/// alone: the CMake target weft::compiled defines `WEFT_COMPILED_LINEAR` and `WEFT_COMPILED_TABULATED`, which say that
/// the solvers of these problems are in a library (compiled.hpp).
#pragma once

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
