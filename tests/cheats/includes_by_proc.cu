// expect: build - includes the reference solution by way of /proc/self/cwd
// lab: coalescing
// The compiler and the process that reads its list of files see different folders there. The latter
// finds no such file and assumes that it was a temporary file, now deleted. Known (exploit 23).
// Defence: names in /proc and /dev are refused as they are written.
#include "/proc/self/cwd/../../../solutions/01_coalescing/2_lanes_along_features.cu"
