/* main.h - `warpbook calc`: the calculators, which print their working. */
#ifndef CALC_MAIN_H
#define CALC_MAIN_H

/* argv[0] is the first word after `warpbook calc`. Returns the exit status: 0, or 2 for wrong
 * usage. */
int calc_run(int argc, char **argv);

#endif
