/* assemble.h - machine code for a program that holds none for the simulated device: the toolkit's
 * ptxas makes it from the program's PTX, as a driver would. */
#ifndef SIM_MACHINE_ASSEMBLE_H
#define SIM_MACHINE_ASSEMBLE_H

#include "sim/binary/fatbin.h"

/* Adds a cubin for `arch`, with a line table, to `fatbin`, made from its entry `ptx`. `ptxas` is
 * the path of that program; results are kept in the folder `cache`, which is created ("": they are
 * not kept). Returns false if ptxas is missing, refuses the PTX or takes longer than a minute;
 * `fatbin` is then unchanged, and counts of machine instructions are estimated. */
bool assemble(Fatbin *fatbin, const FatbinEntry *ptx, int arch, const char *ptxas,
              const char *cache);

#endif
