// expect: build - includes the reference solution by way of /proc/self/cwd
// lab: coalescing
// Which is one folder for the compiler, and another for whoever looks at the list of files:
// there, nothing is found, and what is gone was a temporary file. Known (exploit 23). Defence:
// names in /proc and /dev are refused as they are written.
#include "/proc/self/cwd/../../../solutions/01_coalescing/2_lanes_along_features.cu"
