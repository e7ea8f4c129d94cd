/* build.h - builds kernel.so from kernel.cu with nvcc, cached by all inputs. */
#ifndef BUILD_BUILD_H
#define BUILD_BUILD_H

#include "build/build_job.h"
#include "build/cache.h"
#include "base/tokens.h"

/* Builds, or takes the build from the cache. Only the source is copied to a new folder, so no other
 * file of a submission can be read. The object is audited (audit.h) before it is linked. The folder
 * has a temporary name until it is complete. Failed builds are not cached. */
void build(const BuildJob *job, Build *result);

#endif
