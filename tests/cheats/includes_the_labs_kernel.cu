// expect: build - includes the kernel.cu in the lab's folder
// lab: coalescing
// The option -I makes that easy; the file is the starter, or another student's work. Known (exploit
// 23). Defence: only headers of a lab's folder and of common/ may be included.
#include <kernel.cu>
