// expect: build - includes the reference solution by a relative path
// lab: coalescing
// Known (exploit 23). Defence: every file that a build read is looked at, and only the lab's,
// common's and the toolkit's are allowed.
#include "../../../solutions/01_coalescing/2_lanes_along_features.cu"
