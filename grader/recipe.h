/* recipe.h - what goes into a build: the source, and a key of all else that decides the result. */
#ifndef RECIPE_H
#define RECIPE_H

#include "attempt.h"

/* Reads the source, chooses what nvcc makes code for, finds the folders, and names the entry of the
 * cache. False: the attempt has failed. */
bool recipe_make(Attempt *attempt);

#endif
