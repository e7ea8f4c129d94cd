/* list.h - lists the devices that can be simulated. */
#ifndef SIM_LIST_H
#define SIM_LIST_H

#include <stdbool.h>

/* Prints one line per device of the folder, as it is simulated. False: no description found;
 * already reported. */
bool sim_list(const char *folder);

#endif
