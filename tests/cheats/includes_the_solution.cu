// expect: build - includes the reference solution by a relative path
// lab: coalescing
// Known (exploit 23). Defence: every file that a build read is checked, and only those of the lab,
// of common/ and of the toolkit are allowed.
#include "../../../solutions/01_coalescing/2_lanes_along_features.cu"
