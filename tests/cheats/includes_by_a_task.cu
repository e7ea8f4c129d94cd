// expect: build - includes the reference solution by way of /proc/thread-self/cwd
// lab: coalescing
// (Known, exploit 23.)
// Defence: what does not lie below an allowed folder is refused, whatever it is called, and what is
// not found counts as that; where the kernel has Landlock, the compiler itself cannot open it.
#include "/./proc/thread-self/cwd/../../../solutions/01_coalescing/2_lanes_along_features.cu"
