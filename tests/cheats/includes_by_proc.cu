// expect: build - includes the reference solution by way of /proc/self/cwd
// lab: coalescing
// That folder is one for the compiler and another one for the process that reads the list of files.
// That process finds no such file and takes it for a temporary file that was deleted. Known
// (exploit 23). Defence: names in /proc and /dev are refused as they are written.
#include "/proc/self/cwd/../../../solutions/01_coalescing/2_lanes_along_features.cu"
