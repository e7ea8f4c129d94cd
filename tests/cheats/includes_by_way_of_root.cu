// expect: build - includes the reference solution by way of the root and /proc
// lab: coalescing
// The relative name leads from the build's folder up to the root, and down again by /proc. (Known,
// exploit 23.) Defence: a file outside the allowed folders is refused, whatever its name, and so is
// one that is not found; with Landlock the compiler cannot open it at all.
#include "../../../../../../../../../../../../proc/self/cwd/../../../solutions/01_coalescing/2_lanes_along_features.cu"
