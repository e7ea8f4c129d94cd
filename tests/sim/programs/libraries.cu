/* libraries.cu - code that a program loads while it runs, by the runtime's own calls: PTX in memory
 * and in a file, its kernels and variables, and what cannot be loaded.
 *
 * expect: ok
 * stderr-any: broken images are reported
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char code[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 5;\n"
    ".visible .const .align 4 .u32 table[4] = { 1, 2, 3, 4 };\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_by_all = 9;\n"
    ".extern .shared .align 4 .b8 scratch[];\n"
    ".visible .entry add(.param .u64 x, .param .u32 n)\n{\n"
    ".reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [x];\nld.param.u32 %r1, [n];\n"
    "ld.global.u32 %r2, [counter];\nld.const.u32 %r3, [table+12];\n"
    "add.u32 %r4, %r1, %r2;\nadd.u32 %r4, %r4, %r3;\nst.global.u32 [%rd1], %r4;\nret;\n}\n"
    ".func helper()\n{\nret;\n}\n"
    ".visible .entry nothing()\n{\nret;\n}\n";

static int run(cudaKernel_t kernel, int n)
{
    int *x, result = 0;

    OK(cudaMalloc(&x, sizeof *x));
    void *arguments[] = { &x, &n };
    OK(cudaLaunchKernel((const void *) kernel, dim3(1), dim3(1), arguments, 0, 0));
    OK(cudaMemcpy(&result, x, sizeof result, cudaMemcpyDeviceToHost));
    OK(cudaFree(x));
    return result;
}

static cudaLibrary_t load(const char *image)
{
    cudaLibrary_t library;

    OK(cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
    return library;
}

static void kernels(cudaLibrary_t library)
{
    cudaKernel_t kernel, all[3] = {};
    unsigned count = 0;
    const char *name;

    OK(cudaLibraryGetKernel(&kernel, library, "add"));
    CHECK(run(kernel, 10) == 19);
    OK(cudaLibraryGetKernelCount(&count, library));
    CHECK(count == 2);
    OK(cudaLibraryEnumerateKernels(all, 1, library));
    CHECK(all[0] && !all[1]);
    OK(cudaLibraryEnumerateKernels(all, 3, library));
    CHECK(all[0] && all[1] && !all[2] && (all[0] == kernel || all[1] == kernel));
    OK(cudaFuncGetName(&name, kernel));
    CHECK(!strcmp(name, "add"));
    EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "none"));
    EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "helper"));
    EXPECT(cudaErrorInvalidValue, cudaLibraryGetKernel(NULL, library, "add"));
    EXPECT(cudaErrorInvalidValue, cudaLibraryGetKernel(&kernel, library, NULL));
    EXPECT(cudaErrorInvalidResourceHandle, cudaLibraryGetKernel(&kernel, NULL, "add"));
    EXPECT(cudaErrorInvalidResourceHandle,
           cudaLibraryGetKernel(&kernel, (cudaLibrary_t) all, "add"));
    EXPECT(cudaErrorInvalidValue, cudaLibraryEnumerateKernels(NULL, 1, library));
    EXPECT(cudaErrorInvalidValue, cudaLibraryGetKernelCount(NULL, library));
    (void) cudaGetLastError();
}

static void variables(cudaLibrary_t library)
{
    void *at = NULL;
    size_t bytes = 0;
    int value = 0;
    cudaKernel_t kernel;

    OK(cudaLibraryGetGlobal(&at, &bytes, library, "counter"));
    CHECK(bytes == 4);
    OK(cudaMemcpy(&value, at, sizeof value, cudaMemcpyDeviceToHost));
    CHECK(value == 5);
    value = 100;
    OK(cudaMemcpy(at, &value, sizeof value, cudaMemcpyHostToDevice));
    OK(cudaLibraryGetKernel(&kernel, library, "add"));
    CHECK(run(kernel, 10) == 114);
    OK(cudaLibraryGetGlobal(NULL, &bytes, library, "table"));
    CHECK(bytes == 16);
    OK(cudaLibraryGetManaged(&at, NULL, library, "shared_by_all"));
    CHECK(*(int *) at == 9);
    EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetManaged(&at, &bytes, library, "counter"));
    EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(&at, &bytes, library, "none"));
    EXPECT(cudaErrorInvalidValue, cudaLibraryGetGlobal(NULL, NULL, library, "counter"));
    EXPECT(cudaErrorInvalidValue, cudaLibraryGetGlobal(&at, &bytes, library, NULL));
    (void) cudaGetLastError();
}

static void attributes(cudaLibrary_t library)
{
    const cudaFuncAttribute dynamic = cudaFuncAttributeMaxDynamicSharedMemorySize;
    cudaFuncAttributes of_kernel;
    cudaKernel_t kernel;

    OK(cudaLibraryGetKernel(&kernel, library, "nothing"));
    OK(cudaKernelSetAttributeForDevice(kernel, dynamic, 60000, 0));
    OK(cudaFuncGetAttributes(&of_kernel, (const void *) kernel));
    CHECK(of_kernel.maxDynamicSharedSizeBytes == 60000);
    OK(cudaLaunchKernel((const void *) kernel, dim3(1), dim3(32), NULL, 60000, 0));
    OK(cudaDeviceSynchronize());
    EXPECT(cudaErrorInvalidDevice, cudaKernelSetAttributeForDevice(kernel, dynamic, 60000, 1));
    EXPECT(cudaErrorInvalidValue,
           cudaKernelSetAttributeForDevice(kernel, (cudaFuncAttribute) 99, 1, 0));
    (void) cudaGetLastError();
}

static void write(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");

    CHECK(file && fwrite(bytes, 1, count, file) == count && !fclose(file));
}

static cudaError_t load_file(cudaLibrary_t *library, const char *path)
{
    return cudaLibraryLoadFromFile(library, path, NULL, NULL, 0, NULL, NULL, 0);
}

// Files may be damaged: too short for what they say, or no code at all.
static void files()
{
    char path[] = "/tmp/libraries_XXXXXX", log[200] = "?";
    const unsigned fatbin[4] = { 0xba55ed50, 0x00100001, 1 << 20, 0 };
    const unsigned wrapper[6] = { 0x466243b1, 1, 64, 0, 0, 0 };
    cudaLibrary_t library;
    cudaKernel_t kernel;
    cudaJitOption options[] = { cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes };
    void *values[] = { log, (void *) sizeof log };
    int file = mkstemp(path);

    CHECK(file >= 0);
    close(file);
    write(path, code, sizeof code - 1);
    OK(load_file(&library, path));
    OK(cudaLibraryGetKernel(&kernel, library, "add"));
    CHECK(run(kernel, 1) == 10);
    OK(cudaLibraryUnload(library));

    write(path, fatbin, sizeof fatbin);
    EXPECT(cudaErrorInvalidKernelImage, load_file(&library, path));
    write(path, fatbin, 6);
    EXPECT(cudaErrorInvalidKernelImage, load_file(&library, path));
    write(path, wrapper, sizeof wrapper);
    EXPECT(cudaErrorInvalidKernelImage, load_file(&library, path));
    write(path, "", 0);
    EXPECT(cudaErrorInvalidKernelImage, load_file(&library, path));
    write(path, "\177ELF and more", 13);
    EXPECT(cudaErrorNoKernelImageForDevice, load_file(&library, path));
    write(path, code, sizeof code - 8);
    EXPECT(cudaErrorInvalidPtx,
           cudaLibraryLoadFromFile(&library, path, options, values, 2, NULL, NULL, 0));
    CHECK(log[0] && log[0] != '?' && (size_t) values[1] == strlen(log) + 1);
    unlink(path);
    EXPECT(cudaErrorFileNotFound, load_file(&library, path));
    EXPECT(cudaErrorInvalidValue, load_file(&library, NULL));
    (void) cudaGetLastError();
}

static void wrong()
{
    cudaLibrary_t library;

    EXPECT(cudaErrorInvalidValue, cudaLibraryLoadData(NULL, code, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT(cudaErrorInvalidValue,
           cudaLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT(cudaErrorInvalidValue,
           cudaLibraryLoadData(&library, code, NULL, NULL, 2, NULL, NULL, 0));
    EXPECT(cudaErrorInvalidValue,
           cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 1));
    EXPECT(cudaErrorInvalidPtx,
           cudaLibraryLoadData(&library, "no code", NULL, NULL, 0, NULL, NULL, 0));
    EXPECT(cudaErrorInvalidResourceHandle, cudaLibraryUnload(NULL));
    (void) cudaGetLastError();
}

int main()
{
    cudaLibrary_t library = load(code), second = load(code);
    cudaKernel_t kernel;

    kernels(library);
    variables(library);
    attributes(library);
    OK(cudaLibraryGetKernel(&kernel, second, "add")); // has variables of its own
    CHECK(run(kernel, 10) == 19);
    OK(cudaLibraryUnload(library));
    EXPECT(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));
    (void) cudaGetLastError();
    CHECK(run(kernel, 11) == 20);
    OK(cudaLibraryUnload(second));
    files();
    wrong();
    puts("ok");
}
