/* ending.h - what has come of a warpbook that is over: a device proved, a build, a verdict. */
#ifndef ENDING_H
#define ENDING_H

#include "slots.h"

/* Its program is over: into the database with it, and the slot is free. */
void end_slot(Marking *m, Slot *slot);

#endif
