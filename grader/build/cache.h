/* cache.h - finished builds, each a folder named by a hash of what went in. */
#ifndef BUILD_CACHE_H
#define BUILD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* The inputs of a build: the source, and a text of flags, compilers and headers. */
typedef struct Recipe {
    char *source, *key;
    size_t source_bytes, key_bytes;
} Recipe;

/* The path of a recipe's entry, which may not exist. */
void cache_name(const char *cache, const Recipe *recipe, char *entry, size_t size);

/* True if the entry exists, is complete, and has exactly this recipe. */
bool cache_find(const char *entry, const Recipe *recipe);

/* Makes an entry of `folder`, which lies in the cache and holds kernel.cu and kernel.so. An
 * existing entry of the same recipe is kept instead, and `folder` stays. On failure `folder` stays,
 * too; returns false with errno set. */
bool cache_keep(const char *cache, const char *folder, const char *entry, const Recipe *recipe);

/* Removes the oldest entries until at most `entries` are left, and the folders of killed builds. */
void build_trim(const char *cache, size_t entries);

#endif
