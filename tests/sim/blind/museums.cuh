// museums.cuh - what cameras see, tours of visitors, pigments of paintings, loans of works.
#ifndef BLIND_MUSEUMS_CUH
#define BLIND_MUSEUMS_CUH

#include "blind.cuh"

// ---- How many cameras see each place of a floor, by walks from camera to place: walls in bytes in
// global memory, or in bits in shared memory ----

enum { MUSEUM_SIDE = 160, MUSEUM_ROW = MUSEUM_SIDE / 32, MUSEUM_CAMERAS = 24 };

__constant__ int2 museum_cameras[MUSEUM_CAMERAS];

struct MuseumBytes {
    const unsigned char *walls;

    __host__ __device__ bool operator()(int x, int y) const
    {
        return walls[y * MUSEUM_SIDE + x];
    }
};

struct MuseumBits {
    const uint32_t *walls;

    __device__ bool operator()(int x, int y) const
    {
        return walls[y * MUSEUM_ROW + x / 32] >> x % 32 & 1;
    }
};

// Steps of one place along the longer axis, with 16 bits behind the point.
template <class Walls> __host__ __device__ bool museum_sees(Walls wall, int2 camera, int x, int y)
{
    const int dx = x - camera.x, dy = y - camera.y;
    const int steps = max(max(dx, -dx), max(dy, -dy));
    if (!steps)
        return true;
    const int sx = dx * 65536 / steps, sy = dy * 65536 / steps;
    int px = camera.x * 65536 + 32768, py = camera.y * 65536 + 32768;
    for (int k = 1; k < steps; k++) {
        px += sx;
        py += sy;
        if (wall(px >> 16, py >> 16))
            return false;
    }
    return true;
}

template <class Walls>
__host__ __device__ int museum_watched(Walls wall, const int2 *cameras, int x, int y)
{
    int count = 0;
    if (!wall(x, y))
        for (int k = 0; k < MUSEUM_CAMERAS; k++)
            count += museum_sees(wall, cameras[k], x, y);
    return count;
}

__global__ void museum_cameras_bytes_kernel(const unsigned char *walls, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * MUSEUM_SIDE + x] = museum_watched(MuseumBytes{ walls }, museum_cameras, x, y);
}

__global__ void museum_cameras_bits_kernel(const uint32_t *walls, int *out)
{
    __shared__ uint32_t copy[MUSEUM_SIDE * MUSEUM_ROW];
    for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < MUSEUM_SIDE * MUSEUM_ROW;
         i += blockDim.x * blockDim.y)
        copy[i] = walls[i];
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * MUSEUM_SIDE + x] = museum_watched(MuseumBits{ copy }, museum_cameras, x, y);
}

// Rooms of 20 by 20 places, with a wide door in each wall, and some show-cases.
static std::vector<unsigned char> museum_walls(const std::vector<int> &cases)
{
    std::vector<unsigned char> walls(MUSEUM_SIDE * MUSEUM_SIDE);
    for (int y = 0; y < MUSEUM_SIDE; y++)
        for (int x = 0; x < MUSEUM_SIDE; x++)
            walls[y * MUSEUM_SIDE + x] = (x % 20 == 0 && (y % 20 < 4 || y % 20 > 15)) ||
                                         (y % 20 == 0 && (x % 20 < 4 || x % 20 > 15)) ||
                                         cases[y * MUSEUM_SIDE + x] == 0;
    return walls;
}

static void museum_camera(Run &run, bool bits)
{
    const int n = MUSEUM_SIDE * MUSEUM_SIDE;
    const std::vector<unsigned char> walls = museum_walls(integers(n, 90, 21540));
    const std::vector<int> draws = integers(MUSEUM_CAMERAS * 2, MUSEUM_SIDE, 21541);
    std::vector<uint32_t> words(n / 32);
    std::vector<int2> cameras(MUSEUM_CAMERAS);
    for (int i = 0; i < n; i++)
        words[i / 32] |= (uint32_t) walls[i] << i % 32;
    for (int k = 0; k < MUSEUM_CAMERAS; k++)
        cameras[k] = { draws[2 * k], draws[2 * k + 1] };
    CHECK(cudaMemcpyToSymbol(museum_cameras, cameras.data(), sizeof museum_cameras));
    const unsigned char *dw = run.upload(walls);
    const uint32_t *db = run.upload(words);
    int *to = run.zeros<int>(n);
    run.measure([=] {
        const dim3 block(32, 4), grid(MUSEUM_SIDE / 32, MUSEUM_SIDE / 4);
        if (bits)
            museum_cameras_bits_kernel<<<grid, block>>>(db, to);
        else
            museum_cameras_bytes_kernel<<<grid, block>>>(dw, to);
    });
    run.expect_all(
        run.output(to, n),
        [&](size_t i) {
            return museum_watched(MuseumBytes{ walls.data() }, cameras.data(), i % MUSEUM_SIDE,
                                  i / MUSEUM_SIDE);
        },
        0);
}

static void museum_cameras_bytes(Run &run)
{
    museum_camera(run, false);
}

static void museum_cameras_bits(Run &run)
{
    museum_camera(run, true);
}

// ---- Tours of visitors, who always go to the work that they like best for its distance: a thread
// per visitor, or a warp, in which a lane holds two works ----

enum { MUSEUM_VISITORS = 16384, MUSEUM_WORKS = 64, MUSEUM_STOPS = 20 };

__constant__ int2 museum_places[MUSEUM_WORKS];

__host__ __device__ inline int museum_walk(int2 a, int2 b)
{
    const int x = a.x - b.x, y = a.y - b.y;
    return max(x, -x) + max(y, -y);
}

// The larger, the better; equal ones differ by the work's number.
__host__ __device__ inline uint32_t museum_wish(int2 at, int2 place, int liking, int work)
{
    return (uint32_t) (4096 + 2 * liking - museum_walk(at, place)) * MUSEUM_WORKS + work;
}

// x: how long the way is, y: how much the visitor likes the works, weighted by their order.
__host__ __device__ inline int2 museum_tour(const unsigned char *likings, const int2 *places)
{
    unsigned long long seen = 0;
    int2 at = { 0, 0 }, sum = { 0, 0 };
    for (int stop = 0; stop < MUSEUM_STOPS; stop++) {
        uint32_t best = 0;
        for (int k = 0; k < MUSEUM_WORKS; k++)
            if (!(seen >> k & 1))
                best = max(best, museum_wish(at, places[k], likings[k], k));
        const int work = best % MUSEUM_WORKS;
        seen |= 1ull << work;
        sum.x += museum_walk(at, places[work]);
        sum.y += likings[work] * (MUSEUM_STOPS - stop);
        at = places[work];
    }
    return sum;
}

__global__ void museum_tour_thread_kernel(const unsigned char *likings, int2 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = museum_tour(likings + i * MUSEUM_WORKS, museum_places);
}

__global__ void museum_tour_warp_kernel(const unsigned char *likings, const int2 *places, int2 *out)
{
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const int2 a = places[lane], b = places[lane + 32];
    const int like_a = likings[i * MUSEUM_WORKS + lane];
    const int like_b = likings[i * MUSEUM_WORKS + lane + 32];
    bool seen_a = false, seen_b = false;
    int2 at = { 0, 0 }, sum = { 0, 0 };
    for (int stop = 0; stop < MUSEUM_STOPS; stop++) {
        const uint32_t wish_a = seen_a ? 0 : museum_wish(at, a, like_a, lane);
        const uint32_t wish_b = seen_b ? 0 : museum_wish(at, b, like_b, lane + 32);
        const int work = __reduce_max_sync(~0u, max(wish_a, wish_b)) % MUSEUM_WORKS;
        seen_a |= work == lane;
        seen_b |= work == lane + 32;
        const int2 place = work < 32 ? a : b;
        const int2 next = { __shfl_sync(~0u, place.x, work % 32),
                            __shfl_sync(~0u, place.y, work % 32) };
        sum.x += museum_walk(at, next);
        sum.y += __shfl_sync(~0u, work < 32 ? like_a : like_b, work % 32) * (MUSEUM_STOPS - stop);
        at = next;
    }
    if (!lane)
        out[i] = sum;
}

static void museum_tours(Run &run, bool warp)
{
    const std::vector<int> draws = integers(MUSEUM_WORKS * 2, 1000, 21543);
    const std::vector<int> likes = integers((size_t) MUSEUM_VISITORS * MUSEUM_WORKS, 256, 21544);
    const std::vector<unsigned char> likings(likes.begin(), likes.end());
    std::vector<int2> places(MUSEUM_WORKS);
    for (int k = 0; k < MUSEUM_WORKS; k++)
        places[k] = { draws[2 * k], draws[2 * k + 1] };
    CHECK(cudaMemcpyToSymbol(museum_places, places.data(), sizeof museum_places));
    const unsigned char *from = run.upload(likings);
    const int2 *dp = run.upload(places);
    int2 *to = run.zeros<int2>(MUSEUM_VISITORS);
    run.measure([=] {
        if (warp)
            museum_tour_warp_kernel<<<MUSEUM_VISITORS / 8, 256>>>(from, dp, to);
        else
            museum_tour_thread_kernel<<<MUSEUM_VISITORS / 128, 128>>>(from, to);
    });
    const std::vector<int2> got = run.output(to, MUSEUM_VISITORS);
    for (int i = 0; i < MUSEUM_VISITORS; i += 3) {
        const int2 wanted = museum_tour(&likings[i * MUSEUM_WORKS], places.data());
        run.expect(got[i].x, wanted.x, 0);
        run.expect(got[i].y, wanted.y, 0);
    }
}

static void museum_tour_thread(Run &run)
{
    museum_tours(run, false);
}

static void museum_tour_warp(Run &run)
{
    museum_tours(run, true);
}

// ---- How far the spectrum of each point of a painting is from the nearest of 16 pigments: spectra
// lie together, or each band is a plane ----

enum { MUSEUM_POINTS = 160000, MUSEUM_BANDS = 24, MUSEUM_PIGMENTS = 16 };

__constant__ float museum_pigments[MUSEUM_PIGMENTS * MUSEUM_BANDS];

template <class T>
__host__ __device__ inline T museum_nearest(const T *spectrum, const float *paint)
{
    T best = 1e9;
    for (int p = 0; p < MUSEUM_PIGMENTS; p++) {
        T sum = 0;
        for (int band = 0; band < MUSEUM_BANDS; band++) {
            const T apart = spectrum[band] - paint[p * MUSEUM_BANDS + band];
            sum += apart * apart;
        }
        best = sum < best ? sum : best;
    }
    return sqrt(best);
}

// The value of band b at point i is at spectra[i * point + b * band].
template <int POINT, int BAND>
__global__ void museum_pigment_kernel(const float *spectra, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float spectrum[MUSEUM_BANDS];
#pragma unroll
    for (int band = 0; band < MUSEUM_BANDS; band++)
        spectrum[band] = spectra[i * POINT + band * BAND];
    out[i] = museum_nearest(spectrum, museum_pigments);
}

static void museum_pigment(Run &run, bool planes)
{
    const std::vector<float> pigments = floats(MUSEUM_PIGMENTS * MUSEUM_BANDS, 21546, 0, 1);
    const size_t n = (size_t) MUSEUM_POINTS * MUSEUM_BANDS;
    const std::vector<float> rows = floats(n, 21547, 0, 1);
    std::vector<float> turned(n);
    for (size_t i = 0; i < n; i++)
        turned[i % MUSEUM_BANDS * MUSEUM_POINTS + i / MUSEUM_BANDS] = rows[i];
    CHECK(cudaMemcpyToSymbol(museum_pigments, pigments.data(), sizeof museum_pigments));
    const float *from = run.upload(planes ? turned : rows);
    float *to = run.zeros<float>(MUSEUM_POINTS);
    run.measure([=] {
        if (planes)
            museum_pigment_kernel<1, MUSEUM_POINTS><<<MUSEUM_POINTS / 128, 128>>>(from, to);
        else
            museum_pigment_kernel<MUSEUM_BANDS, 1><<<MUSEUM_POINTS / 128, 128>>>(from, to);
    });
    run.expect_all(
        run.output(to, MUSEUM_POINTS),
        [&](size_t i) {
            double spectrum[MUSEUM_BANDS];
            std::copy_n(&rows[i * MUSEUM_BANDS], MUSEUM_BANDS, spectrum);
            return museum_nearest(spectrum, pigments.data());
        },
        1e-5, 11);
}

static void museum_pigment_rows(Run &run)
{
    museum_pigment(run, false);
}

static void museum_pigment_planes(Run &run)
{
    museum_pigment(run, true);
}

// ---- For how many days two loans of one work overlap, summed by artist. A few artists are in
// demand: warps take every 2112th artist, or draw tickets ----

enum { MUSEUM_ARTISTS = 9000, MUSEUM_LOANERS = 264 };

// A loan: work, first day, last day.
__host__ __device__ inline int museum_overlap(int4 a, int4 b)
{
    const int days = min(a.z, b.z) - max(a.y, b.y) + 1;
    return a.x == b.x && days > 0 ? days : 0;
}

__device__ inline void museum_artist(const int *starts, const int4 *loans, int artist, int *out)
{
    const int lane = threadIdx.x % 32, end = starts[artist + 1];
    int days = 0;
    for (int i = starts[artist]; i < end; i++) {
        const int4 loan = loans[i];
        for (int k = i + 1 + lane; k < end; k += 32)
            days += museum_overlap(loan, loans[k]);
    }
    days = __reduce_add_sync(~0u, days);
    if (!lane)
        out[artist] = days;
}

__global__ void museum_loans_turns_kernel(const int *starts, const int4 *loans, int *out, int *)
{
    const int warps = gridDim.x * blockDim.x / 32;
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32; i < MUSEUM_ARTISTS; i += warps)
        museum_artist(starts, loans, i, out);
}

__global__ void museum_loans_tickets_kernel(const int *starts, const int4 *loans, int *out,
                                            int *next)
{
    for (;;) {
        int artist = 0;
        if (threadIdx.x % 32 == 0)
            artist = atomicAdd(next, 1);
        artist = __shfl_sync(~0u, artist, 0);
        if (artist >= MUSEUM_ARTISTS)
            return;
        museum_artist(starts, loans, artist, out);
    }
}

static void museum_loans(Run &run, bool tickets)
{
    const std::vector<int> draws = integers(MUSEUM_ARTISTS, 1800, 21548);
    std::vector<int> starts(1, 0);
    for (int i = 0; i < MUSEUM_ARTISTS; i++)
        starts.push_back(starts[i] + (draws[i] < 20 ? 200 + 30 * draws[i] : draws[i] % 60));
    const std::vector<uint32_t> v = words(starts.back(), 21549);
    std::vector<int4> loans(starts.back());
    for (size_t i = 0; i < loans.size(); i++) {
        const int first = v[i] % 8192;
        loans[i] = { (int) (v[i] >> 29), first, first + 20 + (int) (v[i] >> 16) % 256, 0 };
    }
    const int *ds = run.upload(starts);
    const int4 *dl = run.upload(loans);
    int *to = run.zeros<int>(MUSEUM_ARTISTS), *next = run.zeros<int>(1);
    run.measure(
        [=] {
            if (tickets)
                museum_loans_tickets_kernel<<<MUSEUM_LOANERS, 256>>>(ds, dl, to, next);
            else
                museum_loans_turns_kernel<<<MUSEUM_LOANERS, 256>>>(ds, dl, to, next);
        },
        [=] { CHECK(cudaMemset(next, 0, sizeof(int))); });
    run.expect_all(
        run.output(to, MUSEUM_ARTISTS),
        [&](size_t artist) {
            int days = 0;
            for (int i = starts[artist]; i < starts[artist + 1]; i++)
                for (int k = i + 1; k < starts[artist + 1]; k++)
                    days += museum_overlap(loans[i], loans[k]);
            return days;
        },
        0);
}

static void museum_loans_turns(Run &run)
{
    museum_loans(run, false);
}

static void museum_loans_tickets(Run &run)
{
    museum_loans(run, true);
}

#endif
