/* stubs.h - what sandboxes show in place of solutions/: sealed/DEVICE/LAB-DIGEST, made once. */
#ifndef GRADEBOOK_RUN_STUBS_H
#define GRADEBOOK_RUN_STUBS_H

#include "gradebook/run/sandbox.h"

#include <stdint.h>

/* A digest of all inputs: the lab's files, common/, warpbook and the compiler. */
uint64_t stub_digest(const Sandbox *sandbox, const char *lab);

/* The folder of a lab for a device; true if it exists, complete. */
bool stub_find(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
               char *folder, size_t size);

/* Moves the folder `from` to its place, atomically. False with errno set. */
bool stub_keep(const Sandbox *sandbox, const char *uuid, const char *lab, uint64_t digest,
               const char *from);

#endif
