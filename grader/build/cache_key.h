/* cache_key.h - what goes into a build: the source, and a key of all else that decides the result.
 */
#ifndef BUILD_CACHE_KEY_H
#define BUILD_CACHE_KEY_H

#include "build/build_context.h"

/* Reads the source, chooses what nvcc makes code for, finds the folders, and names the entry of the
 * cache. False: the context has failed. */
bool cache_key_make(BuildContext *context);

#endif
