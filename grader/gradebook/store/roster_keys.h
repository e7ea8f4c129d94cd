/* roster_keys.h - finds members of a roster by id, e-mail address or alias. */
#ifndef GRADEBOOK_STORE_ROSTER_KEYS_H
#define GRADEBOOK_STORE_ROSTER_KEYS_H

#include "gradebook/import/roster.h"

enum { NO_MEMBER = -1, SEVERAL_MEMBERS = -2 };

typedef enum KeyKind { IS_NUMBER = 1, IS_EMAIL = 2, IS_ALIAS = 4 } KeyKind;

typedef struct Key {
    const char *text;
    KeyKind kind;
    int member;
} Key;

typedef struct Keys {
    Key *list;
    int count, capacity;
    char *aliases; /* storage */
} Keys;

void keys_open(Keys *keys, const Roster *roster);
void keys_close(Keys *keys);

/* Adds the member with this key to what was found before (NO_MEMBER at first): the same member, or
 * several. `kinds`: a set of KeyKind. */
int keys_find(const Keys *keys, int kinds, const char *text, int found);

#endif
