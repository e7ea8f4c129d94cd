/* import_undo.h - takes an import back, or lets it count again. */
#ifndef GRADEBOOK_STORE_IMPORT_UNDO_H
#define GRADEBOOK_STORE_IMPORT_UNDO_H

#include "gradebook/store/store.h"

typedef struct ImportUndo {
    int64_t import;
    bool undone; /* false: it counts again */
    const char *note, *author;
    bool replace; /* students may become missing */
} ImportUndo;

typedef enum ImportState { IMPORT_UNKNOWN, IMPORT_THERE, IMPORT_UNDONE } ImportState;

ImportState import_state(Store *store, int64_t import);

/* Adds the row in one transaction. *losses: import_losses.h; the caller frees. If there are losses
 * and `replace` is false, returns false and stores nothing. *changed: the results that are now
 * those of another submission. */
bool import_undo(Store *store, const ImportUndo *request, char **losses, int *changed);

#endif
