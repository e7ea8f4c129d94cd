// expect: build - an #error with the text of a machine error
// lab: ilp_tlp
// Like crashes_the_assembler.
#include "kernel.h"
#error Permission denied
