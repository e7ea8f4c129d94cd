/* list.h - lists the devices that can be simulated. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include <stdbool.h>

/* Prints one line per simulated device of the folder. If it finds no description, it reports that
 * and returns false. */
bool sim_list(const char *folder);

#endif
