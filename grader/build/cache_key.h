/* cache_key.h - the inputs of a build: the source, and a key of everything else that determines the
 * result. */
#ifndef BUILD_CACHE_KEY_H
#define BUILD_CACHE_KEY_H

#include "build/build_context.h"

/* Reads the source, chooses the architectures, finds the folders, and names the entry in the cache.
 * Returns false if the context has failed. */
bool cache_key_make(BuildContext *context);

#endif
