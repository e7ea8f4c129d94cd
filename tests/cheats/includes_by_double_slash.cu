// expect: build - includes the reference solution by way of //proc/self/cwd
// lab: coalescing
// This is the same file as /proc/self/cwd/..., but the name begins differently. (Known, exploit
// 23.) Defence: a file outside the allowed folders is refused, whatever its name, and so is one
// that is not found; with Landlock the compiler cannot open it at all.
#include "//proc/self/cwd/../../../solutions/01_coalescing/2_lanes_along_features.cu"
