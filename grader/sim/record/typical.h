/* typical.h - finds a launch's typical warp, so that a picture of one warp stands for all. */
#ifndef SIM_RECORD_TYPICAL_H
#define SIM_RECORD_TYPICAL_H

#include "sim/base/records.h"
#include "sim/exec/exec.h"

void typical_begin(void);
/* One instruction that lanes `executed` of a warp execute. */
void typical_step(const Warp *warp, uint32_t executed);
/* Sets the typical warp. Leaves warp 0 of block 0 if nothing ran. */
void typical_end(RecordedLaunch *to);

#endif
