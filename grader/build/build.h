/* build.h - from a kernel.cu to a kernel.so, by nvcc, cached by all that went in. */
#ifndef BUILD_BUILD_H
#define BUILD_BUILD_H

#include "build/build_job.h"
#include "build/cache.h"
#include "base/tokens.h"

/* Builds, or finds it in the cache. The source is copied alone into a fresh folder, so no other
 * file of a submission is seen; the object is checked (audit.h) before it is linked; all is written
 * under a temporary name and renamed. A failed build is not cached. */
void build(const BuildJob *job, Build *result);

#endif
