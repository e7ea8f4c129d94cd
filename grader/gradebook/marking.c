/* marking.c - grades what is open: several gradings beside each other, one a device.
 *
 * A slot is a place where one warpbook runs. On each GPU one grades; on a simulated GPU, which is
 * each process's own, as many as wished. For real GPUs others build ahead, on all processors, so
 * that a GPU need not wait for a compiler. Before anything else a device must show that it can
 * grade: the starter of the first lab is graded on it, which also builds our references, seals them
 * (sealed.h) and tells which GPU it is; so it is for each other lab once. A device on which three
 * gradings in a row fail for reasons of the machine has to show it again, and is taken out of
 * service if it can't; so is one whose clock drifts (stations.h).
 *
 * Nothing here is remembered but in the database: whoever kills this program kills the gradings
 * that are under way, and no others.
 */
#include "marking.h"
#include "fence.h"
#include "stations.h"
#include "pace.h"
#include "queue.h"
#include "cgroup.h"
#include "sealed.h"
#include "stop.h"
#include "takeover.h"
#include "terms.h"
#include "../program.h"
#include "../util.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEEP_BYTES = 1 << 20,   /* of what a grading prints */
    FILE_BYTES = 512 << 20, /* that it may write into one file */
    ROW_OF_FAULTS = 3,
    GPU_WAIT_S = 24 * 3600, /* another grading may hold the GPU */
    AHEAD = 8,              /* builds under way or waiting for a GPU, for each of them */
};

typedef enum Doing { NOTHING, PREPARES, BUILDS, GRADES } Doing;

typedef struct Slot {
    Station *gpu; /* NULL: here only builds run */
    Doing doing;
    Program program;
    Task *task; /* NULL: it prepares `lab` */
    int lab;
    char folder[600]; /* its own, below work/ */
    char kernel[620]; /* path of the source being graded */
    char built[620];  /* where the build of its task is kept; "" */
} Slot;

typedef struct Marking {
    Store *store;
    const Cell *cell;
    const MarkingOptions *options;
    Queue queue;
    Station gpus[DEVICES];
    int gpu_count;
    uint64_t digest[LABS]; /* sealed_digest, once it was wanted */
    Slot slots[SLOTS];
    int slot_count;
    int waiting; /* GPUs that others hold */
    Fence fence;
    Cgroup cgroup;
    double looked_s;
    Pace pace;
} Marking;

/* ---- Devices ---- */

static void open_gpus(Marking *m)
{
    const MarkingOptions *o = m->options;

    for (int i = 0; i < o->device_count || i == 0; i++)
        station_open(&m->gpus[m->gpu_count++], o->device_count ? o->devices[i] : NULL);
}

static void add_slots(Marking *m, Station *gpu, int count)
{
    while (count-- > 0 && m->slot_count < SLOTS) {
        Slot *slot = &m->slots[m->slot_count];
        *slot = (Slot){ .gpu = gpu };
        PUT(slot->folder, "%s/work/%d", m->cell->store, m->slot_count);
        m->slot_count++;
    }
}

static int jobs_of(const Marking *m)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (m->options->jobs)
        return m->options->jobs;
    return processors > 0 && processors < SLOTS ? (int) processors : SLOTS;
}

static void take_out(Marking *m, Station *gpu, const char *why)
{
    gpu->out = true;
    pace_say(&m->pace, "Device %s is taken out of service: %s", gpu->label, why);
}

/* Is it ours alone? In trust every warpbook takes the lock itself. */
static bool have_lock(Marking *m, Station *gpu)
{
    if (gpu->simulated || m->cell->trusting || station_lock(gpu))
        return true;
    if (errno == EWOULDBLOCK || errno == EINTR) {
        m->waiting++;
        if (!gpu->told)
            pace_say(&m->pace, "Another grading is using device %s; waiting until it is done.",
                     gpu->label);
        gpu->told = true;
    } else {
        take_out(m, gpu, "the file that keeps two gradings on it apart cannot be opened");
    }
    return false;
}

static uint64_t digest_of(Marking *m, int lab)
{
    if (!m->digest[lab])
        m->digest[lab] = sealed_digest(m->cell, all_labs[lab].folder);
    return m->digest[lab];
}

/* The lab is ready on it if what its cells are shown is there, from now or an earlier run. */
static bool find_sealed(Marking *m, Station *gpu, int lab)
{
    char folder[1000];

    if (m->cell->trusting || gpu->prepared[lab])
        return gpu->prepared[lab];
    gpu->prepared[lab] = sealed_find(m->cell, gpu->uuid, all_labs[lab].folder, digest_of(m, lab),
                                     folder, sizeof folder);
    if (gpu->prepared[lab] && !(gpu->sealed[lab] = strdup(folder)))
        die("out of host memory");
    return gpu->prepared[lab];
}

/* Is it the device that the course names? */
static bool counts(Marking *m, Station *gpu, const Reading *reading)
{
    const Course *course = &m->store->course;
    const char *name = reading_get(reading, "device");
    char why[300];
    const char *simulated = strchr(gpu->label, ':') ? strchr(gpu->label, ':') + 1 : "teaching";

    if (course_device_counts(course, name, gpu->simulated ? simulated : NULL))
        return true;
    take_out(m, gpu,
             PUT(why, "it is %s%s, and the course counts what %s says (device = ...)", name,
                 gpu->simulated ? ", simulated" : "", course->device));
    return false;
}

/* Memory is shared by so many gradings beside each other. */
static void set_fence(Marking *m, int gradings)
{
    m->fence = fence_for(gradings);
    if (m->options->memory_bytes)
        m->fence.memory_bytes = m->options->memory_bytes;
}

/* It has shown that it can grade: which one is it, and how many gradings may run on it? */
static void meet_gpu(Marking *m, Station *gpu, const Reading *reading, const char *printed)
{
    bool again = gpu->uuid[0]; /* it only had to show it again */

    gpu->faults = 0;
    if (gpu->proved)
        return;
    gpu->proved = true;
    if (again)
        return;
    station_meet(gpu, reading, printed);
    if (!counts(m, gpu, reading))
        return;
    pace_say(&m->pace, "Grading on %s (%s).", reading_get(reading, "device"), gpu->label);
    if (gpu->simulated) {
        add_slots(m, gpu, jobs_of(m) - 1);
        set_fence(m, jobs_of(m));
        return;
    }
    for (Station *other = m->gpus; other < gpu; other++)
        if (!other->out && !strcmp(other->uuid, gpu->uuid))
            take_out(m, gpu, "it is the same GPU as another one of the list");
    for (int i = 0; i < m->slot_count; i++)
        if (!m->slots[i].gpu)
            return;
    add_slots(m, NULL, jobs_of(m));
}

/* ---- Starting ---- */

static bool start(Marking *m, Slot *slot, Doing doing, const Station *gpu, double limit_s)
{
    CellJob job = { .lab = all_labs[slot->lab].folder,
                    .kernel = slot->kernel,
                    .device = gpu->name,
                    .sealed = gpu->sealed[slot->lab],
                    .built = slot->built[0] ? slot->built : NULL,
                    .cc = doing == BUILDS ? gpu->cc : NULL,
                    .quick = m->options->quick,
                    .ours = doing == PREPARES,
                    .waits = !gpu->uuid[0] };
    char made[700];
    Words command = { 0 }, cell;
    char *terms = doing == GRADES ? terms_of(m->store, job.lab) : NULL; /* ours needs none */

    if (doing == PREPARES && !m->cell->trusting) {
        job.sealed = PUT(made, "%s/sealed", slot->folder);
        remove_tree(made);
        if (!make_folders(made))
            die("cannot write %s: %s", made, strerror(errno));
    }
    cgroup_begin(&m->cgroup, &m->fence, &command);
    cell_command(m->cell, &job, &cell);
    for (int i = 0; i < cell.count; i++)
        words_add(&command, cell.word[i]);
    if (program_start_with(&slot->program, terms, command.word, m->cgroup.environment.word,
                           m->cell->root, limit_s, KEEP_BYTES, FILE_BYTES))
        slot->doing = doing;
    words_free(&command);
    words_free(&cell);
    free(terms);
    return slot->doing != NOTHING;
}

/* Our starter of that lab: does the device grade at all? */
static void start_preparing(Marking *m, Slot *slot, int lab)
{
    Station *gpu = slot->gpu;

    slot->task = NULL;
    slot->lab = lab;
    slot->built[0] = 0;
    PUT(slot->kernel, "%s/solutions/%s/0_starter.cu", m->cell->root, all_labs[lab].folder);
    gpu->preparing[lab] = true;
    gpu->proving |= !gpu->proved;
    if (!start(m, slot, PREPARES, gpu, gpu->simulated ? m->options->limit_s : GPU_WAIT_S))
        take_out(m, gpu, slot->program.trouble);
}

static void __attribute__((noreturn)) cannot_write(const char *path)
{
    die("cannot write %s: %s; make room, and give the same command again: what was graded is kept",
        path, strerror(errno));
}

/* The source goes into a file of its own, which the grading is shown. */
static void write_kernel(Marking *m, Slot *slot)
{
    sqlite3_stmt *row =
        store_ask(m->store, "SELECT source FROM kernels WHERE id = ?", "i", slot->task->kernel);

    PUT(slot->kernel, "%s/kernel.cu", slot->folder);
    while (store_row(m->store, row))
        if (!make_folders(slot->folder) || !write_file(slot->kernel, sqlite3_column_blob(row, 0),
                                                       (size_t) sqlite3_column_bytes(row, 0)))
            cannot_write(slot->kernel);
}

/* A build that is graded in another cell than it was made in lies outside both. */
static void place_build(const Marking *m, Slot *slot, const Station *gpu)
{
    slot->built[0] = 0;
    if (gpu->simulated || m->cell->trusting)
        return;
    PUT(slot->built, "%s/work/built-%lld", m->cell->store, (long long) slot->task->kernel);
    if (!make_folders(slot->built))
        cannot_write(slot->built);
}

static void start_task(Marking *m, Slot *slot, Doing doing, Task *task, Station *gpu)
{
    const Watch *watch = m->options->watch;

    /* A build that went ahead has begun the attempt. */
    if (watch && !task->built && !watch->begins(watch->context, task)) {
        task->faults_left = 0;
        return;
    }
    slot->task = task;
    slot->lab = task->lab;
    task->running = true;
    place_build(m, slot, gpu);
    write_kernel(m, slot);
    if (!start(m, slot, doing, gpu, m->options->limit_s)) {
        task->running = false;
        take_out(m, gpu, slot->program.trouble);
    }
}

/* ---- What next? ---- */

static int gpus_in_service(const Marking *m)
{
    int count = 0;

    for (int i = 0; i < m->gpu_count; i++)
        count += !m->gpus[i].out;
    return count;
}

/* The next one for this device: those that the machine has failed come last, and rather elsewhere.
 * Of a real GPU's those that are built already; else a lab that is not prepared there yet. */
static Task *next_task(Marking *m, Station *gpu)
{
    bool others = gpus_in_service(m) > 1;
    Task *best = NULL;
    int best_rank = 0;

    for (int i = 0; i < m->queue.count; i++) {
        Task *task = &m->queue.tasks[i];
        bool prepared = gpu->proved && find_sealed(m, gpu, task->lab);
        int rank = 1 + 2 * task->faults_left + task->built;
        if (!task_open(task) || task->running || (!prepared && gpu->preparing[task->lab]) ||
            (others && task->failed_on[0] && !strcmp(task->failed_on, gpu->label)) ||
            (prepared && !gpu->simulated && !task->built))
            continue;
        if (rank > best_rank) {
            best = task;
            best_rank = rank;
        }
    }
    return best;
}

/* Gives the slot of a device something to do, if there is anything for it now. */
static void feed(Marking *m, Slot *slot)
{
    Station *gpu = slot->gpu;
    Task *task;

    if (gpu->out || (!gpu->proved && gpu->proving) || !(task = next_task(m, gpu)))
        return;
    if (gpu->uuid[0] && !have_lock(m, gpu))
        return;
    if (!gpu->proved || !gpu->prepared[task->lab])
        start_preparing(m, slot, task->lab);
    else
        start_task(m, slot, GRADES, task, gpu);
}

/* A real GPU on which that lab can be graded. */
static Station *gpu_to_build_for(Marking *m, int lab)
{
    for (int i = 0; i < m->gpu_count; i++) {
        Station *gpu = &m->gpus[i];
        if (!gpu->out && !gpu->simulated && gpu->proved && find_sealed(m, gpu, lab))
            return gpu;
    }
    return NULL;
}

/* Builds the next one, unless enough of them wait for a GPU. */
static void feed_builder(Marking *m, Slot *slot)
{
    int ahead = 0;

    for (int i = 0; i < m->queue.count; i++)
        ahead += task_open(&m->queue.tasks[i]) && m->queue.tasks[i].built;
    for (int i = 0; i < m->slot_count; i++)
        ahead += m->slots[i].doing == BUILDS;
    for (int i = 0; i < m->queue.count && ahead < AHEAD * gpus_in_service(m); i++) {
        Task *task = &m->queue.tasks[i];
        Station *gpu;
        if (!task_open(task) || task->running || task->built ||
            !(gpu = gpu_to_build_for(m, task->lab)))
            continue;
        start_task(m, slot, BUILDS, task, gpu);
        return;
    }
}

/* ---- Ending ---- */

static void end_preparing(Marking *m, Slot *slot, const Ended *ended)
{
    Station *gpu = slot->gpu;
    const char *lab = all_labs[slot->lab].folder;
    char why[1200], noise[300], made[700];

    gpu->preparing[slot->lab] = gpu->proving = false;
    if (!ended_graded(ended)) {
        gpu->proved = false;
        take_out(m, gpu, PUT(why, "it does not grade our own starter of %s: %s", lab, ended->why));
        return;
    }
    if (station_noisy(&ended->reading, noise, sizeof noise)) {
        gpu->proved = false;
        take_out(m, gpu, PUT(why, "nothing can be measured on it: %s, %s", lab, noise));
        return;
    }
    meet_gpu(m, gpu, &ended->reading, slot->program.out.text);
    station_drifts(gpu, slot->lab, &ended->reading, why, sizeof why);
    if (m->cell->trusting)
        gpu->prepared[slot->lab] = true;
    else if (!sealed_keep(m->cell, gpu->uuid, lab, digest_of(m, slot->lab),
                          PUT(made, "%s/sealed", slot->folder)))
        cannot_write(made);
}

static void keep(Marking *m, Slot *slot, const Station *gpu, const Ended *ended)
{
    const Watch *watch = m->options->watch;

    take_over(m->store, slot->task, gpu->label, &slot->program, ended);
    if (watch)
        watch->ended(watch->context, slot->task, gpu->label, &slot->program, ended);
}

/* What is known of a kernel that does not build is known for good, and no GPU need look at it. */
static void take_build(Marking *m, Slot *slot)
{
    Task *task = slot->task;
    const Station *gpu = gpu_to_build_for(m, task->lab);
    Program *program = &slot->program;
    size_t head = gpu ? strlen(gpu->head) : 0;
    char *whole;
    Ended ended;

    task->running = false;
    task->built = true; /* if it is not, its grading will say why */
    if (!gpu || !program->out.used || program->status || program->late)
        return;
    whole = xcalloc(1, head + program->out.used + 1);
    memcpy(whole, gpu->head, head);
    memcpy(whole + head, program->out.text, program->out.used);
    free(program->out.text);
    program->out.text = whole;
    ended_of(program, all_labs[task->lab].folder, &ended);
    if (ended_graded(&ended) && !strcmp(reading_get(&ended.reading, "verdict"), "build")) {
        keep(m, slot, gpu, &ended);
        task->number++;
        task->graded = true;
        pace_count(&m->pace, task->lab, now_s() - program->began_s);
        remove_tree(slot->built);
    }
    ended_free(&ended);
}

static void end_grading(Marking *m, Slot *slot, Ended *ended)
{
    Station *gpu = slot->gpu;
    Task *task = slot->task;
    char why[1000];

    if (ended_graded(ended) && station_noisy(&ended->reading, ended->why, sizeof ended->why))
        ended->outcome = "noisy";
    keep(m, slot, gpu, ended);
    task->running = false;
    task->number++;
    if (ended_graded(ended)) {
        task->graded = true;
        gpu->faults = 0;
        pace_count(&m->pace, task->lab, now_s() - slot->program.began_s);
        if (station_drifts(gpu, task->lab, &ended->reading, why, sizeof why))
            take_out(m, gpu, why);
    } else {
        task->faults_left--;
        PUT(task->failed_on, "%s", gpu->label);
        pace_fault(&m->pace, !task_open(task));
        if (++gpu->faults >= ROW_OF_FAULTS)
            gpu->proved = false;
    }
    if (slot->built[0] && !task_open(task))
        remove_tree(slot->built);
}

static void end(Marking *m, Slot *slot)
{
    Ended ended;

    if (slot->doing == BUILDS) {
        take_build(m, slot);
    } else {
        ended_of(&slot->program, all_labs[slot->lab].folder, &ended);
        if (slot->doing == GRADES)
            end_grading(m, slot, &ended);
        else
            end_preparing(m, slot, &ended);
        ended_free(&ended);
    }
    if (slot->task)
        unlink(slot->kernel);
    program_free(&slot->program);
    slot->doing = NOTHING;
}

/* ---- All of it ---- */

static void show_pace(Marking *m)
{
    int open[LABS] = { 0 }, grading = 0;

    for (int i = 0; i < m->queue.count; i++)
        open[m->queue.tasks[i].lab] += task_open(&m->queue.tasks[i]);
    for (int i = 0; i < m->slot_count; i++)
        grading += m->slots[i].gpu && !m->slots[i].gpu->out;
    pace_show(&m->pace, open, grading);
}

/* Another's lock is told by the warpbook that waits for it, which nobody sees. */
static void tell_waiting(Marking *m, Slot *slot)
{
    if (slot->doing != PREPARES || slot->gpu->told || !slot->program.errors.used ||
        !strstr(slot->program.errors.text, "waiting until it is done"))
        return;
    slot->gpu->told = true;
    pace_say(&m->pace, "Another grading is using device %s; waiting until it is done.",
             slot->gpu->label);
}

/* Ends what takes more than its share. */
static void look_after(Marking *m)
{
    if (now_s() - m->looked_s < 0.5)
        return;
    m->looked_s = now_s();
    for (int i = 0; i < m->slot_count; i++) {
        Slot *slot = &m->slots[i];
        const char *folder = slot->doing == BUILDS && slot->built[0] ? slot->built : NULL;
        char why[sizeof slot->program.trouble];
        if (slot->doing == NOTHING)
            continue;
        tell_waiting(m, slot);
        if (slot->program.pid &&
            fence_broken(&m->fence, slot->program.pid, folder, why, sizeof why)) {
            program_kill(&slot->program);
            PUT(slot->program.trouble, "%s", why);
        }
    }
}

static void feed_all(Marking *m)
{
    m->waiting = 0;
    for (int i = 0; i < m->slot_count; i++) {
        if (m->slots[i].doing != NOTHING)
            continue;
        if (m->slots[i].gpu)
            feed(m, &m->slots[i]);
        else
            feed_builder(m, &m->slots[i]);
    }
}

/* False once nothing runs and nothing can be started. */
static bool step(Marking *m)
{
    Program *programs[SLOTS];
    int running = 0;

    feed_all(m);
    for (int i = 0; i < m->slot_count; i++)
        if (m->slots[i].doing != NOTHING)
            programs[running++] = &m->slots[i].program;
    if (!running && !m->waiting)
        return false;
    if (m->waiting && !running)
        sleep_s(0.2);
    else
        program_wait(programs, running, m->waiting ? 0.2 : 0.5);
    look_after(m);
    for (int i = 0; i < m->slot_count; i++)
        if (m->slots[i].doing != NOTHING && program_over(&m->slots[i].program))
            end(m, &m->slots[i]);
    show_pace(m);
    return true;
}

static void kill_all(Marking *m)
{
    for (int i = 0; i < m->slot_count; i++)
        if (m->slots[i].doing != NOTHING)
            program_free(&m->slots[i].program);
}

Marked marking_run(Store *store, const Cell *cell, const MarkingOptions *options)
{
    Marking *m = xcalloc(1, sizeof *m);
    char work[600];
    Marked marked;
    bool open = false;

    *m = (Marking){ .store = store, .cell = cell, .options = options };
    cgroup_open(&m->cgroup, &cell->environment);
    remove_tree(PUT(work, "%s/work", cell->store)); /* of a run that was killed */
    queue_read(store, options->asked, options->only, &m->queue);
    for (int i = 0; options->watch && i < m->queue.count; i++)
        m->queue.tasks[i].faults_left = 1;
    pace_begin(&m->pace, m->queue.count);
    open_gpus(m);
    set_fence(m, m->gpu_count);
    for (int i = 0; i < m->gpu_count; i++)
        add_slots(m, &m->gpus[i], 1);
    while (!stop_asked() && step(m))
        ;
    kill_all(m);
    for (int i = 0; i < m->queue.count; i++)
        open |= task_open(&m->queue.tasks[i]);
    marked = stop_asked() ? MARKED_STOPPED : open ? MARKED_NO_DEVICE : MARKED_ALL;
    pace_end(&m->pace);
    for (int i = 0; i < m->gpu_count; i++)
        station_close(&m->gpus[i]);
    cgroup_close(&m->cgroup);
    remove_tree(work);
    queue_free(&m->queue);
    free(m);
    return marked;
}
