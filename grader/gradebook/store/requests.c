/* requests.c - requests to grade a kernel again, each for a student, with its author. */
#include "gradebook/store/requests.h"
#include "gradebook/store/queue.h"

void requests_begin(Store *store)
{
    store_do(store, "CREATE TEMP TABLE IF NOT EXISTS wanted (kernel INTEGER PRIMARY KEY)", "");
    store_do(store, "DELETE FROM temp.wanted", "");
}

void requests_add(Store *store, int64_t kernel)
{
    store_do(store, "INSERT OR IGNORE INTO temp.wanted VALUES (?)", "i", kernel);
    store_do(store,
             "INSERT INTO regrades (kernel, after, at)"
             " SELECT p.kernel, p.attempts, datetime('now') FROM progress p"
             " WHERE p.kernel = ? AND NOT " SQL_OPEN,
             "i", kernel);
}

void requests_note(Store *store, int64_t person, const char *lab, int64_t kernel,
                   const char *author, const char *note)
{
    store_do(store,
             "INSERT INTO requests (at, author, person, lab, kernel, note)"
             " SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, key, ?2, ?3, ?4"
             " FROM temp.people WHERE id = ?5",
             "ttiti", author, lab, kernel, note, person);
}

sqlite3_stmt *requests_of(Store *store, int64_t person, const char *lab)
{
    return store_ask(store,
                     "SELECT r.at, r.author, r.note FROM requests r"
                     " JOIN temp.person_keys k ON k.key = r.person"
                     " WHERE k.person = ? AND r.lab = ? ORDER BY r.id",
                     "it", person, lab);
}
