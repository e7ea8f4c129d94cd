/* stubs.h - the folder sealed/DEVICE/LAB-DIGEST, created once, which sandboxes show instead of
 * solutions/. */
#ifndef GRADEBOOK_RUN_STUBS_H
#define GRADEBOOK_RUN_STUBS_H

#include "gradebook/run/sandbox.h"

#include <stdint.h>

/* A digest of all inputs: the lab's files, common/, warpbook and the compiler. */
uint64_t stub_digest(const Sandbox *sandbox, const char *lab);

/* Sets the folder of a lab for a device; returns true if it exists and is complete. */
bool stub_find(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
               char *folder, size_t size);

/* Moves the folder `from` to its place, atomically. On failure, returns false and sets errno. */
bool stub_keep(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
               const char *from);

#endif
