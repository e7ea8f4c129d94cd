/* main.h - `warpbook calc`: the calculators, with the working shown. */
#ifndef CALC_MAIN_H
#define CALC_MAIN_H

/* From the words behind `warpbook calc`; the status to exit with: 0 shown, 2 wrong usage. */
int calc_run(int argc, char **argv);

#endif
