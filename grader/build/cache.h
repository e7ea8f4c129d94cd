/* cache.h - finished builds, each in a folder named after a hash of its inputs. */
#ifndef BUILD_CACHE_H
#define BUILD_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* The inputs of a build: the source, and a text with flags, compilers and headers. */
typedef struct Recipe {
    char *source, *key;
    size_t source_bytes, key_bytes;
} Recipe;

/* The path of a recipe's entry, which need not exist. */
void cache_name(const char *cache, const Recipe *recipe, char *entry, size_t size);

/* True if the entry exists, is complete, and has exactly this recipe. */
bool cache_find(const char *entry, const Recipe *recipe);

/* Turns `folder`, which is in the cache and contains kernel.cu and kernel.so, into an entry. If
 * the recipe already has an entry, that entry is kept and `folder` stays. On failure, returns false
 * with errno set, and `folder` also stays. */
bool cache_keep(const char *cache, const char *folder, const char *entry, const Recipe *recipe);

/* Removes the oldest entries until at most `entries` are left, and the folders of killed builds. */
void build_trim(const char *cache, size_t entries);

#endif
