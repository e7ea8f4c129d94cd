/* command.h - `warpbook draw`: pictures of a kernel, as SVG or as text. */
#ifndef DRAW_COMMAND_H
#define DRAW_COMMAND_H

/* argv[0] is the first word after `draw`. Returns the program's exit status. */
int draw_run(int argc, char **argv);

#endif
