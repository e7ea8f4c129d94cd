// libraries.cuh - libraries: fines, books borrowed together, shelves, waiting readers.
#ifndef BLIND_LIBRARIES_CUH
#define BLIND_LIBRARIES_CUH

#include "blind.cuh"

#include <climits>

// ---- Fines of late loans, which grow on the days when the library is open: day by day, or by a
// table of how many days were open before each day ----

enum { LIBRARY_LOANS = 150000, LIBRARY_DAYS = 1536 };

// A bit per day: open.
__constant__ uint32_t library_open[LIBRARY_DAYS / 32];

__host__ __device__ inline bool library_is_open(const uint32_t *open, int day)
{
    return open[day / 32] >> day % 32 & 1;
}

// A loan: the day it was due, the day of its return, the cents per day.
__host__ __device__ inline int library_fine(const uint32_t *open, int4 loan)
{
    int fine = 0, late = 0;
    for (int day = loan.x + 1; day <= loan.y; day++)
        if (library_is_open(open, day)) {
            late++;
            fine += late <= 7 ? loan.z : late <= 30 ? 2 * loan.z : 3 * loan.z;
        }
    return fine;
}

__global__ void library_fines_days_kernel(const int4 *loans, const uint32_t *, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < LIBRARY_LOANS)
        out[i] = library_fine(library_open, loans[i]);
}

// before[day]: how many days up to `day` were open.
__global__ void library_fines_table_kernel(const int4 *loans, const uint32_t *open, int *out)
{
    __shared__ unsigned short before[LIBRARY_DAYS];
    for (int day = threadIdx.x; day < LIBRARY_DAYS; day += blockDim.x) {
        int count = __popc(open[day / 32] & ~0u >> (31 - day % 32));
        for (int word = 0; word < day / 32; word++)
            count += __popc(open[word]);
        before[day] = count;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < LIBRARY_LOANS;
         i += gridDim.x * blockDim.x) {
        const int4 loan = loans[i];
        const int late = before[loan.y] - before[loan.x];
        out[i] = loan.z * (late + max(late - 7, 0) + max(late - 30, 0));
    }
}

static void library_fines(Run &run, bool table)
{
    const std::vector<uint32_t> v = words(LIBRARY_LOANS, 22020), w = words(LIBRARY_DAYS, 22021);
    std::vector<int4> loans(LIBRARY_LOANS);
    std::vector<uint32_t> open(LIBRARY_DAYS / 32);
    for (int i = 0; i < LIBRARY_LOANS; i++) {
        const int due = v[i] % 1000, late = (v[i] >> 10) % 16 ? v[i] >> 14 & 63 : v[i] >> 14 & 511;
        loans[i] = { due, due + late, 5 + (int) (v[i] >> 29), 0 };
    }
    for (int day = 0; day < LIBRARY_DAYS; day++)
        open[day / 32] |= (day % 7 != 6 && w[day] % 12) ? 1u << day % 32 : 0u;
    CHECK(cudaMemcpyToSymbol(library_open, open.data(), sizeof library_open));
    const int4 *from = run.upload(loans);
    const uint32_t *days = run.upload(open);
    int *to = run.zeros<int>(LIBRARY_LOANS);
    run.measure([=] {
        if (table)
            library_fines_table_kernel<<<120, 256>>>(from, days, to);
        else
            library_fines_days_kernel<<<blocks_for(LIBRARY_LOANS, 128), 128>>>(from, days, to);
    });
    run.expect_all(
        run.output(to, LIBRARY_LOANS),
        [&](size_t i) { return library_fine(open.data(), loans[i]); }, 0);
}

static void library_fines_days(Run &run)
{
    library_fines(run, false);
}

static void library_fines_table(Run &run)
{
    library_fines(run, true);
}

// ---- Which subjects are borrowed together: all pairs of a reader's loans. A few readers borrow
// much. A thread per reader, or a warp ----

enum { LIBRARY_READERS = 6000, LIBRARY_SUBJECTS = 192 };

__host__ __device__ inline int library_cell(int a, int b)
{
    return a < b ? a * LIBRARY_SUBJECTS + b : b * LIBRARY_SUBJECTS + a;
}

__global__ void library_together_thread_kernel(const unsigned char *subjects, const int *first,
                                               int *counts)
{
    const int reader = blockIdx.x * blockDim.x + threadIdx.x;
    if (reader >= LIBRARY_READERS)
        return;
    const int end = first[reader + 1];
    for (int i = first[reader]; i < end; i++)
        for (int k = i + 1; k < end; k++)
            atomicAdd(&counts[library_cell(subjects[i], subjects[k])], 1);
}

__global__ void library_together_warp_kernel(const unsigned char *subjects, const int *first,
                                             int *counts)
{
    const int reader = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (reader >= LIBRARY_READERS)
        return;
    const int end = first[reader + 1];
    for (int i = first[reader]; i < end; i++)
        for (int k = i + 1 + threadIdx.x % 32; k < end; k += 32)
            atomicAdd(&counts[library_cell(subjects[i], subjects[k])], 1);
}

static void library_together(Run &run, bool warp)
{
    const std::vector<uint32_t> v = words(LIBRARY_READERS, 22022);
    std::vector<int> first(1, 0);
    for (int i = 0; i < LIBRARY_READERS; i++)
        first.push_back(first[i] + (int) (v[i] % 19 + (v[i] / 32 % 150 ? 0 : v[i] >> 25)));
    const std::vector<int> draws = integers(first.back(), LIBRARY_SUBJECTS, 22023);
    const std::vector<unsigned char> subjects(draws.begin(), draws.end());
    const int count = LIBRARY_SUBJECTS * LIBRARY_SUBJECTS;
    const unsigned char *from = run.upload(subjects);
    const int *df = run.upload(first);
    int *to = run.zeros<int>(count);
    run.measure(
        [=] {
            if (warp)
                library_together_warp_kernel<<<blocks_for(LIBRARY_READERS * 32, 128), 128>>>(
                    from, df, to);
            else
                library_together_thread_kernel<<<blocks_for(LIBRARY_READERS, 64), 64>>>(from, df,
                                                                                        to);
        },
        [=] { CHECK(cudaMemset(to, 0, count * sizeof(int))); });
    std::vector<int> wanted(count);
    for (int reader = 0; reader < LIBRARY_READERS; reader++)
        for (int i = first[reader]; i < first[reader + 1]; i++)
            for (int k = i + 1; k < first[reader + 1]; k++)
                wanted[library_cell(subjects[i], subjects[k])]++;
    run.expect_all(
        run.output(to, count), [&](size_t i) { return wanted[i]; }, 0);
}

static void library_together_thread(Run &run)
{
    library_together(run, false);
}

static void library_together_warp(Run &run)
{
    library_together(run, true);
}

// ---- Books of many rooms onto shelves: each book onto the first shelf with space. The space that
// is left in a local array, or in shared memory ----

enum { LIBRARY_ROOMS = 20480, LIBRARY_BOOKS = 60, LIBRARY_SHELVES = 32, LIBRARY_SHELF = 150 };

// Shelf s is at spaces[s * stride]. x: shelves in use, y: a sum over them.
__host__ __device__ inline int2 library_place(const unsigned char *widths, int room, int *spaces,
                                              int stride)
{
    int used = 0, sum = 0;
    for (int book = 0; book < LIBRARY_BOOKS; book++) {
        const int width = widths[book * LIBRARY_ROOMS + room];
        int s = 0;
        while (s < used && spaces[s * stride] < width)
            s++;
        if (s == used) {
            spaces[s * stride] = LIBRARY_SHELF;
            used++;
        }
        spaces[s * stride] -= width;
    }
    for (int s = 0; s < used; s++)
        sum += (s + 1) * spaces[s * stride];
    return { used, sum };
}

__global__ void library_shelves_local_kernel(const unsigned char *widths, int2 *out)
{
    int spaces[LIBRARY_SHELVES];
    const int room = blockIdx.x * blockDim.x + threadIdx.x;
    out[room] = library_place(widths, room, spaces, 1);
}

__global__ void library_shelves_shared_kernel(const unsigned char *widths, int2 *out)
{
    __shared__ int spaces[LIBRARY_SHELVES * 64];
    const int room = blockIdx.x * blockDim.x + threadIdx.x;
    out[room] = library_place(widths, room, spaces + threadIdx.x, 64);
}

static void library_shelves(Run &run, void (*kernel)(const unsigned char *, int2 *))
{
    const std::vector<uint32_t> v = words(LIBRARY_ROOMS * LIBRARY_BOOKS, 22024);
    std::vector<unsigned char> widths(v.size());
    for (size_t i = 0; i < v.size(); i++)
        widths[i] = 8 + v[i] % 25 + (v[i] / 32) % 37;
    const unsigned char *from = run.upload(widths);
    int2 *to = run.zeros<int2>(LIBRARY_ROOMS);
    run.measure([=] { kernel<<<LIBRARY_ROOMS / 64, 64>>>(from, to); });
    const std::vector<int2> got = run.output(to, LIBRARY_ROOMS);
    for (int room = 0; room < LIBRARY_ROOMS; room += 3) {
        int spaces[LIBRARY_BOOKS];
        const int2 wanted = library_place(widths.data(), room, spaces, 1);
        run.expect(wanted.x <= LIBRARY_SHELVES, 1, 0);
        run.expect(got[room].x, wanted.x, 0);
        run.expect(got[room].y, wanted.y, 0);
    }
}

static void library_shelves_local(Run &run)
{
    library_shelves(run, library_shelves_local_kernel);
}

static void library_shelves_shared(Run &run)
{
    library_shelves(run, library_shelves_shared_kernel);
}

// ---- How long readers wait for a title, a copy per lane of a warp. The popular titles are first:
// warps take titles in turn, or blocks draw four titles at once ----

enum { LIBRARY_TITLES = 3000, LIBRARY_WAIT_BLOCKS = 96 };

// A request: days since the one before in the low byte, days of reading above.
__device__ inline int library_wait(const unsigned short *requests, int2 part, int copies)
{
    const int lane = threadIdx.x % 32;
    int back = lane < copies ? 0 : INT_MAX, day = 0, waited = 0;
    for (int first = part.x; first < part.y; first += 32) {
        const int own = first + lane < part.y ? requests[first + lane] : 0;
        const int count = min(part.y - first, 32);
        for (int k = 0; k < count; k++) {
            const int request = __shfl_sync(~0u, own, k);
            day += request & 255;
            const int earliest = __reduce_min_sync(~0u, back), begin = max(day, earliest);
            const int copy = __ffs(__ballot_sync(~0u, back == earliest)) - 1;
            if (lane == copy)
                back = begin + (request >> 8);
            waited += begin - day;
        }
    }
    return waited;
}

struct LibraryQueues {
    const unsigned short *requests;
    const int *first, *copies;
};

__device__ inline void library_wait_for(LibraryQueues queues, int title, int *out)
{
    const int2 part = { queues.first[title], queues.first[title + 1] };
    const int waited = library_wait(queues.requests, part, queues.copies[title]);
    if (threadIdx.x % 32 == 0)
        out[title] = waited;
}

__global__ void library_wait_turns_kernel(LibraryQueues queues, int *out, int *)
{
    const int warps = gridDim.x * blockDim.x / 32;
    for (int title = (blockIdx.x * blockDim.x + threadIdx.x) / 32; title < LIBRARY_TITLES;
         title += warps)
        library_wait_for(queues, title, out);
}

__global__ void library_wait_tickets_kernel(LibraryQueues queues, int *out, int *next)
{
    __shared__ int ticket;
    for (;;) {
        if (threadIdx.x == 0)
            ticket = atomicAdd(next, 4);
        __syncthreads();
        const int title = ticket + threadIdx.x / 32;
        __syncthreads();
        if (title >= LIBRARY_TITLES) // a multiple of 4: true for all warps or for none
            return;
        library_wait_for(queues, title, out);
    }
}

static int library_wait_host(const unsigned short *requests, int count, int copies)
{
    std::vector<int> back(copies, 0);
    int day = 0, waited = 0;
    for (int k = 0; k < count; k++) {
        day += requests[k] & 255;
        auto earliest = std::min_element(back.begin(), back.end());
        const int begin = std::max(day, *earliest);
        *earliest = begin + (requests[k] >> 8);
        waited += begin - day;
    }
    return waited;
}

static void library_waits(Run &run, void (*kernel)(LibraryQueues, int *, int *))
{
    std::vector<int> first(1, 0), copies;
    for (int i = 0; i < LIBRARY_TITLES; i++) {
        first.push_back(first[i] + 8 + 1400 / (1 + i / 12));
        copies.push_back(1 + std::min(31, 200 / (1 + i / 6)));
    }
    const std::vector<uint32_t> v = words(first.back(), 22025);
    std::vector<unsigned short> requests(v.size());
    for (size_t i = 0; i < v.size(); i++)
        requests[i] = v[i] % 3 + (3 + v[i] / 8 % 40) * 256;
    const LibraryQueues queues = { run.upload(requests), run.upload(first), run.upload(copies) };
    int *to = run.zeros<int>(LIBRARY_TITLES), *next = run.zeros<int>(1);
    run.measure([=] { kernel<<<LIBRARY_WAIT_BLOCKS, 128>>>(queues, to, next); },
                [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, LIBRARY_TITLES),
        [&](size_t i) {
            return library_wait_host(&requests[first[i]], first[i + 1] - first[i], copies[i]);
        },
        0);
}

static void library_wait_turns(Run &run)
{
    library_waits(run, library_wait_turns_kernel);
}

static void library_wait_tickets(Run &run)
{
    library_waits(run, library_wait_tickets_kernel);
}

#endif
