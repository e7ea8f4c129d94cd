/* suspects.h - values that a warp has loaded from unwritten memory, until it is known whether they
 * matter. */
#ifndef SIM_CHECK_SUSPECTS_H
#define SIM_CHECK_SUSPECTS_H

#include "sim/exec/access.h"

/* The lane's element has unwritten bytes; bit i of `missing` is byte i of the whole access. False:
 * it cannot be followed, and must be reported now. */
bool suspects_add(const Access *x, int lane, int element, uint64_t missing);

/* Lanes in which a register holds unwritten bytes as they were loaded. */
uint32_t suspects_copied(const Warp *warp, int reg);

/* Observer.follow */
void suspects_follow(Warp *warp, const Step *step, uint32_t mask);

/* written.c: reports the read of a lane. */
void written_report(const Access *x, int lane, uint64_t missing);

#endif
