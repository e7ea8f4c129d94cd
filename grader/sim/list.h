/* list.h - lists the devices that can be simulated. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include <stdbool.h>

/* Prints one line per simulated device of the folder. False: no description was found, which has
 * been reported. */
bool sim_list(const char *folder);

#endif
