/* suspicion.h - reports words in a kernel that no lab needs, for a human to check; changes no
 * verdict. */
#ifndef GRADEBOOK_IMPORT_SUSPICION_H
#define GRADEBOOK_IMPORT_SUSPICION_H

/* The finding number `place` from 0, as part of a sentence ("it names /proc: ..."); NULL: no more.
 */
const char *suspicion(const char *source, int place);

#endif
