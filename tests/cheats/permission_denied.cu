// expect: build - an #error with words of a machine's fault
// lab: ilp_tlp
// As crashes_the_assembler.
#include "kernel.h"
#error Permission denied
