/* audit.h - what a submission's object file may use: an allow-list of symbols. */
#ifndef BUILD_AUDIT_H
#define BUILD_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include "lab.h"

/* Reads the output of `readelf -SsrW` on the object: every undefined symbol must be allowed, the
 * lab's function must be defined and visible, and no code may run when the object is loaded or
 * unloaded. Otherwise returns false, with a sentence that begins with kernel.cu in `why`. */
bool audit_object(const char *readelf_output, const Lab *lab, char *why, size_t size);

#endif
