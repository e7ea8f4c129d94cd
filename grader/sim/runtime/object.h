/* object.h - user objects: data of the program that graphs use, and that is destroyed when the last
 * reference to it is gone. */
#ifndef SIM_RUNTIME_OBJECT_H
#define SIM_RUNTIME_OBJECT_H

#include <stdbool.h>

/* References that a graph, or a launch of it, has: a list, owned; NULL: none. */
typedef struct Held Held;

bool held_join(Held **to, const Held *from); /* adds references; false: out of memory */
void held_drop(Held **held);

/* At the end of a call: takes the objects that no one refers to any more; later, without the lock,
 * calls their destructors. */
struct UserObject;
struct UserObject *objects_take(void);
void objects_destroy(struct UserObject *gone);

#endif
