/* list.h - what there is to simulate. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include <stdbool.h>

/* A line a device of the folder, on stdout, as it is simulated. False: there is none; said. */
bool sim_list(const char *folder);

#endif
