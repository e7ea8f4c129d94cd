// structures.cuh - structures that the host builds and kernels search: maps, a hash table, lists
// and a mesh.
#ifndef STRUCTURES_CUH
#define STRUCTURES_CUH

#include "problems.cuh"

// ---- Shortest paths between all places of small maps: a block per map ----

template <int PLACES> __global__ void shortest_paths(const int *roads, int *paths)
{
    __shared__ int d[PLACES * PLACES];

    for (int i = threadIdx.x; i < PLACES * PLACES; i += blockDim.x)
        d[i] = roads[i];
    for (int via = 0; via < PLACES; via++) {
        __syncthreads();
        for (int i = threadIdx.x; i < PLACES * PLACES; i += blockDim.x) {
            const int detour = d[i / PLACES * PLACES + via] + d[via * PLACES + i % PLACES];
            if (detour < d[i])
                d[i] = detour;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < PLACES * PLACES; i += blockDim.x)
        paths[i] = d[i];
}

typedef void PathsKernel(const int *roads, int *paths);

// One map, of 24, 40 or 80 places.
struct Map {
    int places;
    PathsKernel *kernel;
    std::vector<int> roads;
    int *droads, *paths;

    Map(Flow &flow, int number)
    {
        places = number % 18 == 0 ? 80 : number % 4 == 1 ? 40 : 24;
        kernel = places == 80   ? shortest_paths<80>
                 : places == 40 ? shortest_paths<40>
                                : shortest_paths<24>;
        roads = integers(places * places, 1000, 80 + number);
        for (int i = 0; i < places; i++)
            roads[i * (places + 1)] = 0;
        droads = flow.upload(roads);
        paths = flow.zeros<int>(places * places);
    }

    void issue(cudaStream_t stream) const
    {
        kernel<<<1, 256, 0, stream>>>(droads, paths);
    }

    void add_to(cudaGraph_t graph) const
    {
        const void *args[] = { &droads, &paths };
        cudaKernelNodeParams params = {};
        cudaGraphNode_t node;
        params.func = (void *) kernel;
        params.gridDim = dim3(1);
        params.blockDim = dim3(256);
        params.kernelParams = (void **) args;
        CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    }

    void check(Flow &flow) const
    {
        auto d = roads;
        for (int via = 0; via < places; via++)
            for (int i = 0; i < places * places; i++)
                d[i] = std::min(d[i], d[i / places * places + via] + d[via * places + i % places]);
        flow.expect_some(flow.download(paths, d.size()), d.size(), 7,
                         [&](size_t i) { return d[i]; });
    }
};

// ---- A hash table that the host fills ----

enum : unsigned { SLOTS = 1 << 20, NO_KEY = ~0u };

struct Slot {
    unsigned key, value;
};

__host__ __device__ inline unsigned slot_of(unsigned key)
{
    return key * 2654435761u >> 12;
}

// The first slot that has the key or is free.
__host__ __device__ inline unsigned probe(const Slot *table, unsigned key)
{
    unsigned at = slot_of(key);

    while (table[at].key != key && table[at].key != NO_KEY)
        at = (at + 1) % SLOTS;
    return at;
}

__global__ void probe_all(const Slot *table, const unsigned *keys, unsigned *values)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    values[i] = table[probe(table, keys[i])].value;
}

static void fill_table(Slot *table, int keys)
{
    std::fill(table, table + SLOTS, Slot{ NO_KEY, 0 });
    for (int i = 0; i < keys; i++) {
        const unsigned key = mix(i) >> 1;
        table[probe(table, key)] = { key, (unsigned) i + 1 };
    }
}

// ---- Linked lists, of which a thread walks one each ----

struct Item {
    const Item *next;
    int value;
};

__host__ __device__ inline int list_sum(const Item *item, int length)
{
    int total = 0;

    for (int i = 0; i < length; i++, item = item->next)
        total += item->value;
    return total;
}

__global__ void walk_lists(const Item *items, int *sums, int apart, int length)
{
    const int list = blockIdx.x * blockDim.x + threadIdx.x;

    sums[list] = list_sum(items + list * apart, length);
}

// ---- A small mesh: a managed struct points to managed arrays ----

struct Mesh {
    float2 *points;
    int3 *corners;
    float *areas;
    int triangles;
};

__host__ __device__ inline float area(const Mesh &mesh, int i)
{
    const int3 at = mesh.corners[i];
    const float2 a = mesh.points[at.x], b = mesh.points[at.y], c = mesh.points[at.z];

    return 0.5f * fabsf((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y));
}

__global__ void find_areas(const Mesh *mesh)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < mesh->triangles)
        mesh->areas[i] = area(*mesh, i);
}

static Mesh *make_mesh(Flow &flow, int points, int triangles)
{
    Mesh *mesh = flow.managed<Mesh>(1);
    const auto from = points_of(points, 102);
    const auto corners = integers(3 * triangles, points, 103);

    *mesh = { flow.managed<float2>(points), flow.managed<int3>(triangles),
              flow.managed<float>(triangles), triangles };
    std::copy(from.begin(), from.end(), mesh->points);
    for (int i = 0; i < triangles; i++)
        mesh->corners[i] = make_int3(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]);
    return mesh;
}

#endif
