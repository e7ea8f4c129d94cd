// expect: build - includes the reference solution by a name that macros assemble
// lab: coalescing
// It is included from wherever __has_include finds it. Known (exploits 23, 27). Defence: the
// compiler itself lists the files that it read.
// clang-format off
#define TEXT(x)   #x
#define NAME(x)   TEXT(x)
#define SOL       solutions
#define FILE(dir) NAME(dir/SOL/01_coalescing/2_lanes_along_features.cu)
// clang-format on
#if __has_include(FILE(../../..))
#include FILE(../../..)
#else
#include FILE(../../../..)
#endif
