/* text.h - formats numbers: whole numbers in full, others with four digits. */
#ifndef CALC_TEXT_H
#define CALC_TEXT_H

/* Each result remains valid for the next eight calls. */
const char *text_of(double x);
const char *percent_of(double share);
const char *bytes_of(double bytes);

const char *plural(double n); /* "s", or "" for one */

#endif
