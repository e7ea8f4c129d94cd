/* suspicion.h - what no lab needs, in a kernel's text: for a human to look at. Decides nothing. */
#ifndef GRADEBOOK_IMPORT_SUSPICION_H
#define GRADEBOOK_IMPORT_SUSPICION_H

/* The `place`-th thing from 0, as part of a sentence ("it names /proc: ..."); NULL: no more. */
const char *suspicion(const char *source, int place);

#endif
