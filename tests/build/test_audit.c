/* test_audit.c - what an object may contain and which files a build may read, case by case. */
#include "build/audit.h"
#include "build/audit_files.h"
#include "rows.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Lab lab = { .function = "transpose", .symbols = { "cudaMemcpyAsync" } };

/* Rows of readelf -SsrW: a section with its size, and a symbol. */
#define SECTION(name, size)                                                                        \
    "  [13] " name "       PROGBITS      0000000000000000 004278 " size " 08  WA  0   0  8\n"
#define ROW(type, bind, visibility, section, name)                                                 \
    "    19: 0000000000000260    97 " type "    " bind " " visibility "    " section " " name "\n"
#define RELOCATIONS(name, count)                                                                   \
    "Relocation section '" name "' at offset 0x2080 contains " count ":\n"
#define USE(name)                                                                                  \
    "000000000000000c  0000003400000004 R_X86_64_PLT32         0000000000000000 " name " - 4\n"
#define WORD(name)                                                                                 \
    "0000000000000008  0000003400000001 R_X86_64_64            0000000000000000 " name " + 0\n"
#define U(name) ROW("NOTYPE", "GLOBAL", "DEFAULT", "UND", name)
#define T(name) ROW("FUNC", "GLOBAL", "DEFAULT", "5", name)
#define GOOD                                                                                       \
    SECTION(".init_array", "000008")                                                               \
    "     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND \n"                                \
    "     2: 0000000000000000     0 SECTION LOCAL  DEFAULT    1 .text\n" T("transpose")
#define LONE SECTION(".init_array", "000008")

static const struct {
    const char *listing, *says; /* "": allowed */
} objects[] = {
    { GOOD, "" },
    { GOOD U("cudaLaunchKernel") U("__cudaPushCallConfiguration") U("printf") U("sqrtf"), "" },
    { GOOD "     2: 0000000000000000     0 SECTION LOCAL  DEFAULT    1 \n", "" },
    { GOOD U("cudaMemcpyAsync"), "" }, /* the lab allows it */
    { GOOD ROW("NOTYPE", "WEAK  ", "DEFAULT", "UND", "fork"), "uses `fork`: kernel.cu launches" },
    { GOOD U("cudaMalloc"), "uses `cudaMalloc`: kernel.cu must not allocate memory" },
    { GOOD U("_Znwm"), "uses `operator new`: kernel.cu must not allocate memory" },
    { GOOD U("cudaMemcpy"), "uses `cudaMemcpy`: the data is already on the device" },
    { GOOD U("cudaDeviceSynchronize"), "the grader times and synchronises" },
    { GOOD U("cudaEventRecord"), "the grader times and synchronises" },
    { GOOD U("clock_gettime"), "the grader times and synchronises" },
    { GOOD U("_ZNSt6chrono3_V212steady_clock3nowEv"),
      "uses `std::chrono::_V2::steady_clock::now`: the grader times" },
    { GOOD U("cudaStreamCreate"), "the default stream" },
    { GOOD U("cudaStreamSynchronize"), "the grader times and synchronises" },
    { GOOD U("cudaGraphLaunch"), "the default stream" },
    { GOOD U("execve"), "must not start or stop processes" },
    { GOOD U("system"), "must not start or stop processes" },
    { GOOD U("dlsym"), "must not load other code" },
    { GOOD U("simForget"), "labs may not call" },
    { GOOD U("simMark"), "labs may not call" },
    { GOOD U("fopen"), "must not read or write files" },
    { GOOD U("_ZSt4cout"), "uses `std::cout`: use printf" },
    { GOOD U("cublasSgeam"), "not to call a library" },
    { GOOD U("cuLaunchKernel"), "the CUDA runtime, not the driver" },
    { GOOD U("cudaProfilerStart"), "does not allow that CUDA call" },
    { GOOD U("cudaLaunchKernelX"),
      "does not allow that CUDA call" }, /* begins with an allowed name, but is not one */
    { GOOD U("__cudaRegisterManagedVar"), "not on __managed__ variables" },
    /* For a __device__ function that is neither static nor inline, nvcc 13 writes a body on the
     * host. */
    { GOOD T("_Z3addff") U("exit"), "" },
    { GOOD U("_exit"), "uses `_exit`" },
    { GOOD U("_Z6helperi"), "uses `helper`, which it does not define" },
    { GOOD U("_ZN4tile4loadEPKf"), "uses `tile::load`, which it does not define" },
    { GOOD U("fork@GLIBC_2.2.5"), "uses `fork@GLIBC_2.2.5`" },
    { GOOD U("time_me"), "uses `time_me`, which it does not define" },
    { GOOD T("cudaEventRecord"), "defines `cudaEventRecord`, a name that belongs to CUDA" },
    { GOOD T("custom_copy"), "" },
    { LONE, "does not define `transpose`" },
    { LONE U("transpose"), "does not define `transpose`" },
    { LONE T("transpose_kernel"), "does not define `transpose`" },
    { LONE T("_Z9transposePfS_ii"), "not the one that kernel.h declares" },
    { LONE ROW("FUNC", "LOCAL ", "DEFAULT", "5", "_ZL9transposePfPKfii"), "remove `static`" },
    { LONE ROW("FUNC", "GLOBAL", "HIDDEN ", "5", "transpose"), "without including \"kernel.h\"" },
    { LONE ROW("OBJECT", "GLOBAL", "DEFAULT", "5", "transpose"), "not as a function" },
    { LONE T("_Z9transposePfS_ii") T("transpose"), "" }, /* a helper of the same name */
    { GOOD SECTION(".init_array.00101", "000008"), "when it is loaded" },
    { SECTION(".init_array", "000010") T("transpose"), "when it is loaded" },
    { GOOD RELOCATIONS(".rela.init_array", "1 entry"), "" },
    { GOOD RELOCATIONS(".rela.init_array", "2 entries"), "a relocation in .init_array" },
    { GOOD RELOCATIONS(".rela.init_array.00101", "2 entries"), "a relocation in .init_array" },
    { GOOD RELOCATIONS(".rela.text", "22 entries"), "" },
    { GOOD USE("__cudaRegisterFatBinary") USE("__cudaRegisterFatBinaryEnd"), "" },
    { GOOD USE("__cudaRegisterFatBinary") USE("__cudaRegisterFatBinary"), "registers GPU code" },
    { GOOD USE("__cudaRegisterFatBinary") WORD("__cudaRegisterFatBinary"), "registers GPU code" },
    { GOOD SECTION(".preinit_array", "000008"), "when it is loaded" },
    { GOOD SECTION(".ctors.65435", "000008"), "when it is loaded" },
    { GOOD SECTION(".init", "000008"), "when it is loaded" },
    { GOOD SECTION(".fini_array", "000008"), "when it is unloaded" },
    { GOOD SECTION(".rela.dyn", "000018"),
      "creates a section `.rela.dyn`" }, /* written by the linker */
    { GOOD SECTION(".gnu.lto_.inline", "000018"), "creates a section `.gnu.lto_.inline`" },
    { GOOD SECTION(".rela.init_array", "000018") SECTION(".text._Z3addff", "000018"), "" },
    { GOOD SECTION(".init_array. x", "000008"),
      "a section with a name that compilers do not create" },
    { GOOD ROW("FUNC", "GLOBAL", "DEFAULT", "OS [0xff20]", "f"), "compilers do not create" },
    { GOOD ROW("IFUNC", "GLOBAL", "HIDDEN ", "1", "pick"), "`pick` is an indirect function" },
    { GOOD ROW("<OS specific>: 11", "GLOBAL", "DEFAULT", "UND", "fork"),
      "compilers do not create" },
    { "", "does not define `transpose`" },
};

/* If the lab provides the launch, the object contains a stub of the kernel under a C++ name. */
static const struct {
    const char *listing, *says;
} given[] = {
    { LONE T("_Z16transpose_kernelPfPKfii"), "" },
    { LONE ROW("FUNC", "GLOBAL", "HIDDEN ", "5", "_Z16transpose_kernelPfPKfii"), "" },
    { LONE ROW("FUNC", "LOCAL ", "DEFAULT", "5", "_ZL16transpose_kernelPfPKfii"),
      "remove `static`" },
    { LONE, "does not define `transpose_kernel`" },
    { LONE T("transpose"), "defines `transpose`, but this lab provides the launch" },
    { LONE T("_Z16transpose_kernelPfPKfii") T("_Z9transposePfPKfii"),
      "this lab provides the launch" },
    { LONE T("_Z16transpose_kernelPfPKfii") ROW("FUNC", "LOCAL ", "DEFAULT", "5", "transpose"),
      "this lab provides the launch" },
};

static void a_given_launch_stays(void)
{
    Lab launches = lab;
    char why[600];

    launches.launches = 128;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        why[0] = 0;
        bool good = audit_object(given[i].listing, &launches, why, sizeof why);
        if (good != !given[i].says[0] || !strstr(why, given[i].says))
            FAIL_SAYING("row %zu: %s, wanted %s", i, why, given[i].says);
    }
}

static void objects_are_judged(void)
{
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        char why[600] = "";
        bool good = audit_object(objects[i].listing, &lab, why, sizeof why);
        if (good != !objects[i].says[0] || !strstr(why, objects[i].says) ||
            (!good && strncmp(why, "kernel.cu ", 10)))
            FAIL_SAYING("row %zu: %s, wanted %s", i, why, objects[i].says);
    }
}

/* @ is the test's folder; the root is @/lab. */
static const struct {
    const char *rule, *says;
} rules[] = {
    { "kernel.o : kernel.cu", "" },
    { "kernel.o: kernel.cu \\\n    @/lab/kernel.h\n", "" },
    { "kernel.o : kernel.cu \\\n @/lab/a\\ b/blank.h \\\n @/lab/kernel.h \\\n", "" },
    { "kernel.o : kernel.cu @/lab/../lab/kernel.h", "" },
    { "kernel.o : kernel.cu \\\r\n @/lab/kernel.h\r\n", "" },
    { "kernel.o : tmpxft_gone.cpp ./ccgone.s kernel.cu", "" },          /* no longer exists */
    { "kernel.o : /tmp/ccgone.s kernel.cu", "includes /tmp/ccgone.s" }, /* may have been anything */
    { "kernel.o : kernel.cu @/gone/other.h", "includes @/gone/other.h" },
    { "kernel.o : kernel.cu ../gone.h", "includes ../gone.h" },
    { "kernel.o : kernel.cu ./deep/../gone.h", "includes ./deep/../gone.h" },
    { "kernel.o : kernel.cu /etc/passwd", "includes /etc/passwd: a lab may include" },
    { "kernel.o : kernel.cu \\\n @/lab/kernel.h \\\n @/other.h", "includes @/other.h:" },
    { "kernel.o : kernel.cu @/lab/../other.h", "includes @/other.h:" },
    { "kernel.o : kernel.cu ../other.h", "includes @/other.h:" }, /* from kernel.cu's folder */
    { "kernel.o : kernel.cu @/lab/link.h", "includes /etc/passwd:" },
    { "kernel.o : kernel.cu @/lab_two/kernel.h", "includes @/lab_two/kernel.h:" },
    { "kernel.o : kernel.cu /", "includes /:" },
    { "kernel.o : kernel.cu @/lab/cub/cub.cuh", "includes cub, a library: the task is to write" },
    { "kernel.o : kernel.cu @/lab/cublas_v2.h", "includes cublas_v2.h, a library" },
    { "kernel.o : kernel.cu @/lab/cubist.h", "" },
    { "kernel.o : kernel.cu /proc/self/cwd/other.h", "includes /proc/self/cwd/other.h" },
    { "kernel.o : kernel.cu //proc/self/cwd/other.h", "includes //proc/self/cwd/other.h" },
    { "kernel.o : kernel.cu /./proc/self/cwd/other.h", "includes /./proc/self/cwd/other.h" },
    { "kernel.o : kernel.cu /usr/../proc/self/cwd/other.h", "includes /usr/../proc/self" },
    { "kernel.o : kernel.cu @/../../proc/self/cwd/other.h", "includes @/../../proc/self" },
    { "kernel.o : kernel.cu /dev/fd/../cwd/other.h", "includes /dev/fd/../cwd/other.h" },
    { "kernel.o : kernel.cu //proc/self/root@/lab/kernel.h", "includes //proc/self/root" },
    { "kernel.o : kernel.cu /dev/zero", "includes /dev/zero" },
    { "kernel.o : kernel.cu @/lab/kernel.cu", "includes @/lab/kernel.cu" }, /* not a header */
    { "kernel.o : kernel.cu @/build/kernel.cudafe1.stub.c", "" }, /* the compiler made it */
    { "kernel.o : kernel.cu @/build/deeper/notes.h", "includes @/build/deeper/notes.h" },
    { "", "did not report which files" },
};

/* The same for the line markers of a preprocessed source. */
static const struct {
    const char *text, *says;
} markers[] = {
    { "", "" },
    { "# 1 \"kernel.cu\"\nint x;\n# 1 \"<built-in>\" 1\n# 2 \"kernel.cu\" 2\n", "" },
    { "# 1 \"@/lab/kernel.h\" 1\nint f(void);\n", "" },
    { "int x;\n# 1 \"@/other.h\" 1 3\n", "includes @/other.h" },
    { "# 1 \"@/lab/a b/blank.h\" 1", "" },
    { "# 1 \"@/other\\.h\" 1\n", "includes @/other.h" }, /* unescaped */
    { "# 1 \"../other.h\" 1\n", "includes @/other.h" },
    { "# 7 \"@/other.h\"\n", "" }, /* #line only sets the position; no file is read */
    { "char *s = \"# 1\";\n#pragma unroll\n# 1 \"\n# 1", "" },
};

static char folder[] = "/tmp/warpbook-test-XXXXXX";

/* Replaces each @ in a text with the test's folder. The caller frees the result. */
static char *at_folder(const char *text)
{
    char *filled = xmalloc(strlen(text) * sizeof folder + 1), *out = filled;

    for (; *text; text++)
        out += *text == '@' ? sprintf(out, "%s", folder) : sprintf(out, "%c", *text);
    *out = 0;
    return filled;
}

static void make_files(void)
{
    static const char *const files[] = { "@/lab/cub/cub.cuh",     "@/lab/cublas_v2.h",
                                         "@/lab/cubist.h",        "@/lab/kernel.h",
                                         "@/lab/a b/blank.h",     "@/other.h",
                                         "@/lab_two/kernel.h",    "@/build/kernel.cu",
                                         "@/lab/kernel.cu",       "@/build/kernel.cudafe1.stub.c",
                                         "@/build/deeper/notes.h" };
    char *link = at_folder("@/lab/link.h");

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = at_folder(files[i]), *slash = strrchr(path, '/');
        *slash = 0;
        CU_ASSERT_FATAL(make_folders(path));
        *slash = '/';
        CU_ASSERT_FATAL(write_file(path, "", 0));
        free(path);
    }
    CU_ASSERT_FATAL(symlink("/etc/passwd", link) == 0);
    free(link);
}

static void files_are_judged(void)
{
    char *source, *root;

    CU_ASSERT_FATAL(mkdtemp(folder) != NULL);
    make_files();
    source = at_folder("@/build/kernel.cu");
    root = at_folder("@/lab");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        char why[600] = "", *rule = at_folder(rules[i].rule);
        char *says = at_folder(rules[i].says);
        bool good = audit_includes(rule, source, (const char *[]){ root, NULL }, why, sizeof why);
        if (good != !says[0] || !strstr(why, says))
            FAIL_SAYING("row %zu: %s, wanted %s", i, why, says);
        free(rule);
        free(says);
    }
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++) {
        char why[600] = "", *text = at_folder(markers[i].text);
        char *says = at_folder(markers[i].says);
        bool good = audit_markers(text, source, (const char *[]){ root, NULL }, why, sizeof why);
        if (good != !says[0] || !strstr(why, says))
            FAIL_SAYING("marker %zu: %s, wanted %s", i, why, says);
        free(text);
        free(says);
    }
    free(source);
    free(root);
    remove_tree(folder);
}

CU_SuiteInfo test_audit = {
    "audit",
    .pTests = (CU_TestInfo[]){ { "an object is refused for what it holds", objects_are_judged },
                               { "a given launch stays", a_given_launch_stays },
                               { "a build is refused for what it read", files_are_judged },
                               CU_TEST_INFO_NULL },
};
