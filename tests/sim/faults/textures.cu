/* textures.cu - faults with CUDA arrays, textures and surfaces.
 *
 * case past_the_row
 *   reported: out of bounds @past_the_row
 *   says: cudaErrorIllegalAddress
 * case elements_for_bytes
 *   reported: misaligned @elements
 *   says: cudaErrorMisalignedAddress
 * case destroyed
 *   reported: use after free @fetch
 *   says: cudaErrorIllegalAddress
 * case no_object
 *   reported: forbidden @fetch
 *   says: cudaErrorIllegalAddress
 * case other_dimension
 *   reported: forbidden @fetch
 *   says: cudaErrorIllegalAddress
 * case array_freed
 *   reported: use after free @fetch
 *   says: cudaErrorIllegalAddress
 * case never_written
 *   reported: uninitialised @fetch
 * case copy_too_wide
 *   reported: out of bounds
 *   says: cudaErrorInvalidValue
 * case not_for_surfaces
 *   reported: forbidden
 *   says: cudaErrorInvalidValue
 * case odd_pointer
 *   reported: misaligned
 *   says: cudaErrorInvalidValue
 * case write_and_read
 *   reported: race @race_write
 *   reported: race @race_read
 * case leak
 *   reported: leak
 * case right
 */
#include "faults.h"

enum { SIDE = 32 };

static __global__ void fetch(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 0.5f) + 1; // @fetch
}

static __global__ void past_the_row(cudaSurfaceObject_t surface)
{
    surf2Dwrite(1.0f, surface, (int) (threadIdx.x + 1) * 4, 0); // @past_the_row
}

static __global__ void elements(cudaSurfaceObject_t surface)
{
    surf2Dwrite(1.0f, surface, (int) threadIdx.x, 0); // @elements
}

static __global__ void write_and_read(cudaSurfaceObject_t surface, float *out)
{
    surf2Dwrite((float) threadIdx.x, surface, (int) threadIdx.x * 4, 0);            // @race_write
    out[threadIdx.x] = surf2Dread<float>(surface, (int) (threadIdx.x ^ 32) * 4, 0); // @race_read
}

static cudaArray_t new_array(int width, unsigned flags)
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;

    cudaMallocArray(&array, &format, width, SIDE, flags);
    return array;
}

static void fill(cudaArray_t array, int from = 0)
{
    static float zeros[SIDE * SIDE];

    cudaMemcpy2DToArray(array, from * 4, 0, zeros, SIDE * 4, SIDE * 4, SIDE,
                        cudaMemcpyHostToDevice);
}

static cudaResourceDesc resource_of(cudaArray_t array)
{
    cudaResourceDesc resource;

    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    const cudaResourceDesc resource = resource_of(array);
    cudaSurfaceObject_t surface = 0;

    cudaCreateSurfaceObject(&surface, &resource);
    return surface;
}

static cudaTextureObject_t texture_of(const cudaResourceDesc *resource)
{
    cudaTextureDesc how;
    cudaTextureObject_t texture = 0;

    memset(&how, 0, sizeof how);
    cudaCreateTextureObject(&texture, resource, &how, NULL);
    return texture;
}

static cudaTextureObject_t texture_of(cudaArray_t array)
{
    const cudaResourceDesc resource = resource_of(array);

    return texture_of(&resource);
}

static cudaResourceDesc linear(float *at)
{
    cudaResourceDesc resource;

    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = at;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = 64;
    return resource;
}

int main(int argc, char **argv)
{
    static const Case cases[] = {
        { "past_the_row",
          [] {
              past_the_row<<<1, SIDE>>>(surface_of(new_array(SIDE, cudaArraySurfaceLoadStore)));
          } },
        { "elements_for_bytes",
          [] { elements<<<1, SIDE>>>(surface_of(new_array(SIDE, cudaArraySurfaceLoadStore))); } },
        { "destroyed",
          [] {
              cudaTextureObject_t texture = texture_of(new_array(SIDE, 0));
              cudaDestroyTextureObject(texture);
              fetch<<<1, SIDE>>>(texture, zeros<float>(SIDE));
          } },
        { "no_object", [] { fetch<<<1, SIDE>>>(0, zeros<float>(SIDE)); } },
        { "other_dimension",
          [] {
              const cudaResourceDesc line = linear(zeros<float>(64));
              fetch<<<1, SIDE>>>(texture_of(&line), zeros<float>(SIDE));
          } },
        { "array_freed",
          [] {
              cudaArray_t array = new_array(SIDE, 0);
              cudaTextureObject_t texture = texture_of(array);
              fill(array);
              cudaFreeArray(array);
              fetch<<<1, SIDE>>>(texture, zeros<float>(SIDE));
          } },
        { "never_written",
          [] { fetch<<<1, SIDE>>>(texture_of(new_array(SIDE, 0)), zeros<float>(SIDE)); } },
        { "copy_too_wide", [] { fill(new_array(SIDE - 1, 0)); } },
        { "not_for_surfaces", [] { surface_of(new_array(SIDE, 0)); } },
        { "odd_pointer",
          [] {
              const cudaResourceDesc line = linear(zeros<float>(64) + 1);
              texture_of(&line);
          } },
        { "write_and_read",
          [] {
              cudaArray_t array = new_array(64, cudaArraySurfaceLoadStore);
              fill(array);
              fill(array, SIDE);
              write_and_read<<<1, 64>>>(surface_of(array), zeros<float>(64));
          } },
        { "leak",
          [] {
              new_array(SIDE, 0);
              exit(puts("cudaSuccess") < 0);
          } },
        { "right",
          [] {
              cudaArray_t array = new_array(SIDE, 0);
              cudaTextureObject_t texture = texture_of(array);
              fill(array);
              fetch<<<1, SIDE>>>(texture, zeros<float>(SIDE));
              cudaDeviceSynchronize();
              cudaDestroyTextureObject(texture);
              cudaFreeArray(array);
          } },
    };

    return run_case(cases, argc, argv);
}
