/* test_sim_assemble.c - machine code made by ptxas: here by scripts that stand for it. */
#include "sim/machine/assemble.h"
#include "base/text.h"
#include "base/util.h"

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], ptxas[100], cache[100];
static FatbinEntry text = { FATBIN_PTX, 80, 0, (char *) ".version 8.0", 12 };

/* A ptxas that executes these commands of a shell: $5 is the result's name, $6 the PTX's. */
static void stand_in(const char *commands)
{
    FILE *file;

    unlink(ptxas);
    file = fopen(ptxas, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "#!/bin/sh\n%s\n", commands);
    fclose(file);
    CU_ASSERT_EQUAL(chmod(ptxas, 0700), 0);
}

static void begin(const char *commands)
{
    PUT(folder, "/tmp/test_sim_assemble.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    PUT(ptxas, "%s/ptxas", folder);
    PUT(cache, "%s/cache", folder);
    stand_in(commands);
}

static void end(void)
{
    char command[200];

    CU_ASSERT_EQUAL(system(PUT(command, "rm -rf %s", folder)), 0);
}

static int files_kept(void)
{
    DIR *files = opendir(cache);
    int count = 0;

    for (struct dirent *entry; files && (entry = readdir(files));)
        count += *entry->d_name != '.';
    if (files)
        closedir(files);
    return count;
}

/* The options that ptxas gets, and its result. */
static void a_cubin_is_added(void)
{
    Fatbin fatbin = { 0 };

    begin("{ echo $1 $3; cat $6; } > $5");
    CU_ASSERT_TRUE_FATAL(assemble(&fatbin, &text, 90, ptxas, cache));
    CU_ASSERT_EQUAL(fatbin.count, 1);
    CU_ASSERT_EQUAL(fatbin.entries[0].kind, FATBIN_ELF);
    CU_ASSERT_EQUAL(fatbin.entries[0].arch, 90);
    CU_ASSERT_STRING_EQUAL(fatbin.entries[0].bytes, "-arch=sm_90 -lineinfo\n.version 8.0");
    CU_ASSERT_EQUAL(files_kept(), 1);
    fatbin_free(&fatbin);
    end();
}

/* Each result is kept under its PTX, architecture and ptxas. */
static void it_is_made_once(void)
{
    Fatbin fatbin = { 0 };
    FatbinEntry other = { FATBIN_PTX, 80, 0, (char *) ".version 8.1", 12 };

    begin("echo run >> $(dirname $0)/runs; echo code > $5");
    for (int i = 0; i < 3; i++)
        CU_ASSERT_TRUE(assemble(&fatbin, &text, 90, ptxas, cache));
    CU_ASSERT_EQUAL(files_kept(), 1);
    CU_ASSERT_TRUE(assemble(&fatbin, &text, 80, ptxas, cache));
    CU_ASSERT_TRUE(assemble(&fatbin, &other, 90, ptxas, cache));
    CU_ASSERT_EQUAL(files_kept(), 3);
    stand_in("echo newer code > $5");
    CU_ASSERT_TRUE(assemble(&fatbin, &text, 90, ptxas, cache));
    CU_ASSERT_STRING_EQUAL(fatbin.entries[fatbin.count - 1].bytes, "newer code\n");
    fatbin_free(&fatbin);
    end();
}

/* No cubin, and nothing left behind. */
static void failures_change_nothing(void)
{
    static const char *const commands[] = { "exit 1", "kill -9 $$", "rm $6" };
    Fatbin fatbin = { 0 };

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        begin(commands[i]);
        CU_ASSERT_FALSE(assemble(&fatbin, &text, 90, ptxas, cache));
        CU_ASSERT_EQUAL(files_kept(), 0);
        CU_ASSERT_FALSE(assemble(&fatbin, &text, 90, "/nowhere/ptxas", cache));
        CU_ASSERT_FALSE(assemble(&fatbin, &text, 90, ptxas, "/nowhere/cache"));
        end();
    }
    CU_ASSERT_EQUAL(fatbin.count, 0);
}

/* Without a folder nothing is kept; a full fat binary stays as it is. */
static void nothing_need_be_kept(void)
{
    Fatbin fatbin = { 0 };

    begin("echo code > $5; echo $5 > $(dirname $0)/where");
    CU_ASSERT_TRUE(assemble(&fatbin, &text, 90, ptxas, ""));
    CU_ASSERT_STRING_EQUAL(fatbin.entries[0].bytes, "code\n");
    char where[200], *said = read_file(PUT(where, "%s/where", folder), 1000, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(said);
    *strrchr(said, '/') = 0;
    CU_ASSERT_NOT_EQUAL(access(said, F_OK), 0);
    free(said);
    fatbin_free(&fatbin);
    fatbin.count = FATBIN_ENTRIES;
    CU_ASSERT_FALSE(assemble(&fatbin, &text, 90, ptxas, ""));
    end();
}

CU_SuiteInfo test_sim_assemble = {
    .pName = "sim_assemble",
    .pTests =
        (CU_TestInfo[]){
            { "a cubin is added", a_cubin_is_added },
            { "it is made once", it_is_made_once },
            { "failures change nothing", failures_change_nothing },
            { "nothing need be kept", nothing_need_be_kept },
            CU_TEST_INFO_NULL,
        },
};
