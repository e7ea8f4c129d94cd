/* marking.c - grades what is open: several gradings beside each other, one a device.
 *
 * A slot is a place where one `warpbook grade` runs: one a GPU; on a simulated GPU, which is each
 * process's own, as many as wished. Before anything else a device must show that it can grade: the
 * starter of the first lab is graded on it, which also builds our references and tells which GPU it
 * is; so it is for each other lab once. A device on which three gradings in a row fail for reasons
 * of the machine has to show it again, and is taken out of service if it can't.
 *
 * Nothing here is remembered but in the database: whoever kills this program kills the gradings
 * that are under way, and no others.
 */
#include "marking.h"
#include "pace.h"
#include "queue.h"
#include "stop.h"
#include "takeover.h"
#include "../program.h"
#include "../util.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    KEEP_BYTES = 1 << 20,   /* of what a grading prints */
    FILE_BYTES = 512 << 20, /* that it may write into one file */
    ROW_OF_FAULTS = 3,
    GPU_WAIT_S = 24 * 3600, /* another grading may hold the GPU */
};

typedef struct Device {
    const char *name; /* NULL: warpbook's choice */
    char label[64];
    char uuid[80];
    bool simulated;
    bool proved, proving, out;
    int faults; /* in a row */
    bool prepared[LABS], preparing[LABS];
    int lock_fd;
} Device;

typedef struct Slot {
    Device *device;
    bool busy;
    Program program;
    Task *task; /* NULL: it prepares `lab` */
    int lab;
    char kernel[600]; /* path of the source being graded */
} Slot;

typedef struct Marking {
    Store *store;
    const Cell *cell;
    const MarkingOptions *options;
    Queue queue;
    Device devices[DEVICES];
    int device_count;
    Slot slots[SLOTS];
    int slot_count;
    Pace pace;
} Marking;

/* ---- Devices ---- */

static void open_devices(Marking *m)
{
    const MarkingOptions *o = m->options;

    for (int i = 0; i < o->device_count || i == 0; i++) {
        Device *device = &m->devices[m->device_count++];
        *device = (Device){ .name = o->device_count ? o->devices[i] : NULL, .lock_fd = -1 };
        PUT(device->label, "%s", device->name ? device->name : "this machine");
        device->simulated = device->name && !strncmp(device->name, "sim", 3);
    }
}

static void add_slots(Marking *m, Device *device, int count)
{
    while (count-- > 0 && m->slot_count < SLOTS)
        m->slots[m->slot_count++] = (Slot){ .device = device };
}

static int jobs_of(const Marking *m)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (m->options->jobs)
        return m->options->jobs;
    return processors > 0 && processors < SLOTS ? (int) processors : SLOTS;
}

static void take_out(Marking *m, Device *device, const char *why)
{
    device->out = true;
    pace_say(&m->pace, "Device %s is taken out of service: %s", device->label, why);
}

/* The lock that warpbook takes for a grading on its own: here it is held for all of them. */
static bool lock_device(Marking *m, Device *device)
{
    const char *folder = getenv("TMPDIR");
    char path[600], name[80] = "";
    bool told = false;

    for (size_t i = 0; device->uuid[i] && i + 1 < sizeof name; i++)
        name[i] = device->uuid[i] == '/' ? '_' : device->uuid[i];
    PUT(path, "%s/warpbook-%s.lock", folder && *folder ? folder : "/tmp", name);
    device->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (device->lock_fd < 0)
        device->lock_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    while (device->lock_fd >= 0 && flock(device->lock_fd, LOCK_EX | LOCK_NB) && !stop_asked()) {
        if (!told)
            pace_say(&m->pace, "Another grading is using device %s; waiting until it is done.",
                     device->label);
        told = true;
        sleep_s(0.2);
    }
    return device->lock_fd >= 0;
}

/* It has shown that it can grade: which one is it, and how many gradings may run on it? */
static void meet_device(Marking *m, Device *device, const Reading *reading)
{
    device->faults = 0;
    if (device->proved)
        return;
    device->proved = true;
    if (device->uuid[0]) /* it only had to show it again */
        return;
    PUT(device->uuid, "%s", reading_get(reading, "uuid"));
    device->simulated = *reading_get(reading, "simulated") != 0;
    pace_say(&m->pace, "Grading on %s (%s).", reading_get(reading, "device"), device->label);
    if (!device->name) /* from now on no other choice */
        device->name = device->simulated ? "sim" : "0";
    if (device->simulated) {
        add_slots(m, device, jobs_of(m) - 1);
        return;
    }
    for (Device *other = m->devices; other < device; other++)
        if (!other->out && !strcmp(other->uuid, device->uuid)) {
            take_out(m, device, "it is the same GPU as another one of the list");
            return;
        }
    /* In trust every warpbook takes the lock itself. */
    if (!m->cell->trusting && !lock_device(m, device))
        take_out(m, device, "the file that keeps two gradings on it apart cannot be opened");
}

/* ---- Starting ---- */

static bool start(Marking *m, Slot *slot, const char *kernel, double limit_s)
{
    CellJob job = { .lab = all_labs[slot->lab].folder,
                    .kernel = kernel,
                    .device = slot->device->name,
                    .quick = m->options->quick,
                    .ours = !slot->task,
                    .waits = !slot->device->uuid[0] };
    Words command;

    cell_command(m->cell, &job, &command);
    slot->busy = program_start(&slot->program, command.word, m->cell->environment.word,
                               m->cell->root, limit_s, KEEP_BYTES, FILE_BYTES);
    words_free(&command);
    return slot->busy;
}

/* Our starter of that lab: does the device grade at all? */
static void start_preparing(Marking *m, Slot *slot, int lab)
{
    char kernel[600];

    slot->task = NULL;
    slot->lab = lab;
    PUT(kernel, "%s/solutions/%s/0_starter.cu", m->cell->root, all_labs[lab].folder);
    slot->device->preparing[lab] = true;
    slot->device->proving |= !slot->device->proved;
    if (!start(m, slot, kernel, slot->device->simulated ? m->options->limit_s : GPU_WAIT_S))
        take_out(m, slot->device, slot->program.trouble);
}

/* The source goes into a file of its own, which the grading is shown. */
static void write_kernel(Marking *m, Slot *slot)
{
    sqlite3_stmt *row =
        store_ask(m->store, "SELECT source FROM kernels WHERE id = ?", "i", slot->task->kernel);
    char folder[600];

    PUT(folder, "%s/work/%d", m->cell->store, (int) (slot - m->slots));
    PUT(slot->kernel, "%s/kernel.cu", folder);
    while (store_row(m->store, row))
        if (!make_folders(folder) || !write_file(slot->kernel, sqlite3_column_blob(row, 0),
                                                 (size_t) sqlite3_column_bytes(row, 0)))
            die("cannot write %s: %s; make room, and give the same command again: what was graded "
                "is kept",
                slot->kernel, strerror(errno));
}

static void start_grading(Marking *m, Slot *slot, Task *task)
{
    const Watch *watch = m->options->watch;

    if (watch && !watch->begins(watch->context, task)) {
        task->faults_left = 0;
        return;
    }
    slot->task = task;
    slot->lab = task->lab;
    task->running = true;
    write_kernel(m, slot);
    if (!start(m, slot, slot->kernel, m->options->limit_s)) {
        task->running = false;
        take_out(m, slot->device, slot->program.trouble);
    }
}

static int devices_in_service(const Marking *m)
{
    int count = 0;

    for (int i = 0; i < m->device_count; i++)
        count += !m->devices[i].out;
    return count;
}

/* The next one for this device: those that the machine has failed come last, and rather elsewhere.
 */
static Task *next_task(Marking *m, const Device *device)
{
    bool others = devices_in_service(m) > 1;
    Task *best = NULL;

    for (int i = 0; i < m->queue.count; i++) {
        Task *task = &m->queue.tasks[i];
        if (!task_open(task) || task->running ||
            (others && task->failed_on[0] && !strcmp(task->failed_on, device->label)) ||
            (device->preparing[task->lab] && !device->prepared[task->lab]))
            continue;
        if (!best || task->faults_left > best->faults_left)
            best = task;
    }
    return best;
}

/* Gives the slot something to do, if there is anything for it now. */
static void feed(Marking *m, Slot *slot)
{
    Device *device = slot->device;
    Task *task;

    if (device->out || (!device->proved && device->proving) || !(task = next_task(m, device)))
        return;
    if (!device->proved || !device->prepared[task->lab])
        start_preparing(m, slot, task->lab);
    else
        start_grading(m, slot, task);
}

/* ---- Ending ---- */

static void end_preparing(Marking *m, Slot *slot, const Ended *ended)
{
    Device *device = slot->device;
    char why[1100];

    device->preparing[slot->lab] = device->proving = false;
    if (!ended_graded(ended)) {
        device->proved = false;
        take_out(m, device,
                 PUT(why, "it does not grade our own starter of %s: %s", all_labs[slot->lab].folder,
                     ended->why));
        return;
    }
    device->prepared[slot->lab] = true;
    store_do(m->store,
             "INSERT OR IGNORE INTO prepared (lab, device, at) VALUES (?, ?, datetime('now'))",
             "tt", all_labs[slot->lab].folder, device->label);
    meet_device(m, device, &ended->reading);
}

static void end_grading(Marking *m, Slot *slot, const Ended *ended)
{
    Device *device = slot->device;
    Task *task = slot->task;

    take_over(m->store, task, device->label, &slot->program, ended);
    if (m->options->watch)
        m->options->watch->ended(m->options->watch->context, task, device->label, &slot->program,
                                 ended);
    unlink(slot->kernel);
    task->running = false;
    task->number++;
    if (ended_graded(ended)) {
        task->graded = true;
        device->faults = 0;
        pace_count(&m->pace, task->lab, now_s() - slot->program.began_s);
        return;
    }
    task->faults_left--;
    PUT(task->failed_on, "%s", device->label);
    pace_fault(&m->pace, !task_open(task));
    if (++device->faults >= ROW_OF_FAULTS)
        device->proved = false;
}

static void end(Marking *m, Slot *slot)
{
    Ended ended;

    ended_of(&slot->program, all_labs[slot->lab].folder, &ended);
    if (slot->task)
        end_grading(m, slot, &ended);
    else
        end_preparing(m, slot, &ended);
    ended_free(&ended);
    program_free(&slot->program);
    slot->busy = false;
}

/* ---- All of it ---- */

static void count_open(Marking *m)
{
    int open[LABS] = { 0 };

    for (int i = 0; i < m->queue.count; i++)
        open[m->queue.tasks[i].lab] += task_open(&m->queue.tasks[i]);
    pace_show(&m->pace, open, m->slot_count);
}

/* False once nothing runs and nothing can be started. */
static bool step(Marking *m)
{
    Program *programs[SLOTS];
    int running = 0;

    for (int i = 0; i < m->slot_count; i++)
        if (!m->slots[i].busy)
            feed(m, &m->slots[i]);
    for (int i = 0; i < m->slot_count; i++)
        if (m->slots[i].busy)
            programs[running++] = &m->slots[i].program;
    if (!running)
        return false;
    program_wait(programs, running, 0.5);
    for (int i = 0; i < m->slot_count; i++)
        if (m->slots[i].busy && program_over(&m->slots[i].program))
            end(m, &m->slots[i]);
    count_open(m);
    return true;
}

static void kill_all(Marking *m)
{
    for (int i = 0; i < m->slot_count; i++)
        if (m->slots[i].busy) {
            program_free(&m->slots[i].program);
            m->slots[i].busy = false;
        }
}

/* What other runs have already prepared on a device of that name. */
static void remember_prepared(Marking *m)
{
    for (int d = 0; d < m->device_count; d++)
        for (int lab = 0; lab < LABS && all_labs[lab].folder; lab++)
            m->devices[d].prepared[lab] =
                store_number(m->store, 0,
                             "SELECT count(*) FROM prepared WHERE lab = ? AND device = ?", "tt",
                             all_labs[lab].folder, m->devices[d].label) > 0;
}

Marked marking_run(Store *store, const Cell *cell, const MarkingOptions *options)
{
    Marking *m = xcalloc(1, sizeof *m);
    char work[600];
    Marked marked;
    bool open = false;

    *m = (Marking){ .store = store, .cell = cell, .options = options };
    queue_read(store, options->asked, options->only, &m->queue);
    for (int i = 0; options->watch && i < m->queue.count; i++)
        m->queue.tasks[i].faults_left = 1;
    pace_begin(&m->pace, m->queue.count);
    open_devices(m);
    remember_prepared(m);
    for (int i = 0; i < m->device_count; i++)
        add_slots(m, &m->devices[i], 1);
    while (!stop_asked() && step(m))
        ;
    kill_all(m);
    for (int i = 0; i < m->queue.count; i++)
        open |= task_open(&m->queue.tasks[i]);
    marked = stop_asked() ? MARKED_STOPPED : open ? MARKED_NO_DEVICE : MARKED_ALL;
    pace_end(&m->pace);
    for (int i = 0; i < m->device_count; i++)
        if (m->devices[i].lock_fd >= 0)
            close(m->devices[i].lock_fd);
    remove_tree(PUT(work, "%s/work", cell->store));
    queue_free(&m->queue);
    free(m);
    return marked;
}
