// SPDX-License-Identifier: BSL-1.0
// expect: weft: this compiler is too old
#ifdef WEFT_COMPILE_FAIL
#ifdef __clang__
#undef __clang_major__
#define __clang_major__ 15
#else
#undef __GNUC__
#define __GNUC__ 11
#endif
#endif
#include "weft/core/sort.hpp"
