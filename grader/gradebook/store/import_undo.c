/* import_undo.c - takes an import back, or lets it count again.
 *
 * No row of the import is removed: the views `latest` and `counting` leave it out (schema.h), so
 * that the imports before it count again.
 */
#include "gradebook/store/import_undo.h"
#include "gradebook/store/import_losses.h"

ImportState import_state(Store *store, int64_t import)
{
    if (!store_number(store, 0, "SELECT count(*) FROM imports WHERE id = ?", "i", import))
        return IMPORT_UNKNOWN;
    return store_number(store, 0, "SELECT count(*) FROM undone WHERE import = ?", "i", import)
               ? IMPORT_UNDONE
               : IMPORT_THERE;
}

bool import_undo(Store *store, const ImportUndo *request, char **losses, int *changed)
{
    store_do(store, "BEGIN IMMEDIATE", "");
    losses_begin(store);
    store_do(store,
             "INSERT INTO import_undos (import, undone, at, author, note)"
             " VALUES (?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, ?)",
             "iitt", request->import, (int64_t) request->undone, request->author, request->note);
    *losses = losses_since(store);
    *changed = losses_changed(store);
    if (*losses && !request->replace) {
        store_do(store, "ROLLBACK", "");
        return false;
    }
    store_do(store, "COMMIT", "");
    return true;
}
