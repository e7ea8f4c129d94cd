/* cache.h - finished builds, each a folder named by a hash of what went in. */
#ifndef BUILD_CACHE_H
#define BUILD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* All that decides a build: the source, and a text of flags, compilers, headers. */
typedef struct Recipe {
    char *source, *key;
    size_t source_bytes, key_bytes;
} Recipe;

/* The path of a recipe's entry, there or not. */
void cache_name(const char *cache, const Recipe *recipe, char *entry, size_t size);

/* True if the entry is there, whole, and of this very recipe. */
bool cache_find(const char *entry, const Recipe *recipe);

/* Makes an entry of `folder`, which lies in the cache and holds kernel.cu and kernel.so. Another
 * one of the same recipe is kept instead. False with errno set; the folder is then still there, as
 * it may be after true. */
bool cache_keep(const char *cache, const char *folder, const char *entry, const Recipe *recipe);

/* Removes the oldest entries until at most `entries` are left, and what killed builds left over. */
void build_trim(const char *cache, size_t entries);

#endif
