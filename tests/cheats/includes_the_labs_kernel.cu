// expect: build - includes the kernel.cu that lies in the lab's folder
// lab: coalescing
// Which -I makes easy; it is the starter, or someone's work. Known (exploit 23). Defence: of a
// lab's folder and of common/ only headers may be included.
#include <kernel.cu>
