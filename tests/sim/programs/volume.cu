/* volume.cu - rays through a volume in a 3D texture, coloured by a table in a 1D texture, as volume
 * renderers do.
 *
 * expect: ok
 */
#include "check.h"

#include <cmath>
#include <cstring>
#include <vector>

enum { NX = 20, NY = 17, NZ = 12, SIDE = 32, STEPS = 40, COLOURS = 9 };

static __global__ void render(cudaTextureObject_t volume, cudaTextureObject_t colours, float4 *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float4 sum = make_float4(0, 0, 0, 0);

    for (int i = 0; i < STEPS; i++) {
        const float density =
            tex3D<float>(volume, (x + 0.5f) / SIDE, (y + 0.5f) / SIDE, (i + 0.5f) / STEPS);
        const float4 colour = tex1D<float4>(colours, density);
        const float share = colour.w * 0.1f * (1 - sum.w);
        sum.x += share * colour.x;
        sum.y += share * colour.y;
        sum.z += share * colour.z;
        sum.w += share;
    }
    out[y * SIDE + x] = sum;
}

static double clamped(const std::vector<unsigned char> &v, int x, int y, int z)
{
    x = x < 0 ? 0 : x >= NX ? NX - 1 : x;
    y = y < 0 ? 0 : y >= NY ? NY - 1 : y;
    z = z < 0 ? 0 : z >= NZ ? NZ - 1 : z;
    return v[(z * NY + y) * NX + x] / 255.0;
}

static double density_at(const std::vector<unsigned char> &v, double x, double y, double z)
{
    const double at[3] = { x * NX - 0.5, y * NY - 0.5, z * NZ - 0.5 };
    int i[3];
    double f[3], sum = 0;

    for (int d = 0; d < 3; d++)
        f[d] = at[d] - (i[d] = (int) floor(at[d]));
    for (int c = 0; c < 8; c++)
        sum += ((c & 1) ? f[0] : 1 - f[0]) * ((c & 2) ? f[1] : 1 - f[1]) *
               ((c & 4) ? f[2] : 1 - f[2]) *
               clamped(v, i[0] + (c & 1), i[1] + (c >> 1 & 1), i[2] + (c >> 2));
    return sum;
}

/* The transfer function is linear in the density, so its texture gives what this computes. */
static double alpha_at(const std::vector<unsigned char> &v, int column, int row)
{
    double sum = 0;

    for (int i = 0; i < STEPS; i++) {
        double place = density_at(v, (column + 0.5) / SIDE, (row + 0.5) / SIDE, (i + 0.5) / STEPS);
        place = place * COLOURS - 0.5; /* the texel is its index */
        place = place < 0 ? 0 : place > COLOURS - 1 ? COLOURS - 1 : place;
        sum += place / (COLOURS - 1) * 0.1 * (1 - sum);
    }
    return sum;
}

static cudaArray_t make_volume(const std::vector<unsigned char> &v)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaMemcpy3DParms copy = { 0 };
    cudaArray_t array;

    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(NX, NY, NZ)));
    copy.srcPtr = make_cudaPitchedPtr((void *) v.data(), NX, NX, NY);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(NX, NY, NZ);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureReadMode mode)
{
    cudaResourceDesc resource;
    cudaTextureDesc how;
    cudaTextureObject_t texture;

    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    memset(&how, 0, sizeof how);
    how.normalizedCoords = true;
    how.filterMode = cudaFilterModeLinear;
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = cudaAddressModeClamp;
    how.readMode = mode;
    OK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
    return texture;
}

int main()
{
    std::vector<unsigned char> v(NX * NY * NZ);
    std::vector<float4> out(SIDE * SIDE), table(COLOURS);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
    cudaArray_t colours;
    float4 *result;

    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                v[(z * NY + y) * NX + x] =
                    (unsigned char) (127 + 120 * sin(0.4 * x) * cos(0.3 * y + 0.5 * z));
    for (int i = 0; i < COLOURS; i++)
        table[i] = make_float4(1, 0.5f, 0.25f, i / (COLOURS - 1.0f));
    cudaArray_t volume = make_volume(v);
    OK(cudaMallocArray(&colours, &format, COLOURS));
    OK(cudaMemcpy2DToArray(colours, 0, 0, table.data(), COLOURS * sizeof(float4),
                           COLOURS * sizeof(float4), 1, cudaMemcpyHostToDevice));
    OK(cudaMalloc(&result, out.size() * sizeof(float4)));
    const cudaTextureObject_t densities = texture_of(volume, cudaReadModeNormalizedFloat);
    const cudaTextureObject_t transfer = texture_of(colours, cudaReadModeElementType);
    render<<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>(densities, transfer, result);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out.data(), result, out.size() * sizeof(float4), cudaMemcpyDeviceToHost));
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const float4 c = out[y * SIDE + x];
            CHECK(fabs(c.w - alpha_at(v, x, y)) < 0.01);
            CHECK(fabsf(c.x - c.w) < 1e-5f && fabsf(c.y - 0.5f * c.w) < 1e-5f);
        }
    OK(cudaDestroyTextureObject(densities));
    OK(cudaDestroyTextureObject(transfer));
    OK(cudaFreeArray(volume));
    OK(cudaFreeArray(colours));
    OK(cudaFree(result));
    puts("ok");
}
