// blind.cu - runs launches of the blind set: kernels of the kinds that users write, to which the
// model of the simulated GPU was never fitted.
//
//     blind --list                         `NAME FAMILY STATE` of each launch
//     blind [--times N] [NAME...]          runs these launches, or all; prints `launch NAME
//     CHECKSUM LAUNCHES`;
//                                          with --times, after a warm-up, also the median of N
//                                          event times and the distance of their quartiles, in us
//     blind --profile [NAME...]            for profilers: a warm-up, then between cudaProfilerStart
//     and Stop a
//                                          marker whose grid is the line's number, and the launch
//
// Exit status 1: a result differs from the host's.
#include "airports.cuh"
#include "algebra.cuh"
#include "arcade.cuh"
#include "archives.cuh"
#include "atomics.cuh"
#include "auctions.cuh"
#include "audio.cuh"
#include "bakeries.cuh"
#include "ballots.cuh"
#include "bands.cuh"
#include "bicycles.cuh"
#include "biology.cuh"
#include "bridges.cuh"
#include "brooks.cuh"
#include "bytes.cuh"
#include "canals.cuh"
#include "castles.cuh"
#include "cellars.cuh"
#include "cells.cuh"
#include "chances.cuh"
#include "ciphers.cuh"
#include "circuits.cuh"
#include "climate.cuh"
#include "clouds.cuh"
#include "codecs.cuh"
#include "codes.cuh"
#include "cohorts.cuh"
#include "columnar.cuh"
#include "columns.cuh"
#include "contests.cuh"
#include "contours.cuh"
#include "control.cuh"
#include "couplings.cuh"
#include "crystals.cuh"
#include "dairies.cuh"
#include "dense.cuh"
#include "deserts.cuh"
#include "drawing.cuh"
#include "embed.cuh"
#include "engines.cuh"
#include "envelopes.cuh"
#include "evolving.cuh"
#include "experts.cuh"
#include "falconries.cuh"
#include "fabric.cuh"
#include "ferries.cuh"
#include "fields.cuh"
#include "finance.cuh"
#include "folds.cuh"
#include "forges.cuh"
#include "friends.cuh"
#include "gardens.cuh"
#include "genes.cuh"
#include "glaciers.cuh"
#include "glyphs.cuh"
#include "grammars.cuh"
#include "graphs.cuh"
#include "grids.cuh"
#include "guards.cuh"
#include "harbours.cuh"
#include "harvests.cuh"
#include "hives.cuh"
#include "hospitals.cuh"
#include "idioms.cuh"
#include "image.cuh"
#include "inns.cuh"
#include "integers.cuh"
#include "irregular.cuh"
#include "islands.cuh"
#include "junctions.cuh"
#include "kitchens.cuh"
#include "lattices.cuh"
#include "layers.cuh"
#include "learning.cuh"
#include "leaves.cuh"
#include "ledgers.cuh"
#include "lessons.cuh"
#include "letters.cuh"
#include "libraries.cuh"
#include "lighthouses.cuh"
#include "linear.cuh"
#include "locks.cuh"
#include "lookup.cuh"
#include "looms.cuh"
#include "losses.cuh"
#include "machines.cuh"
#include "mains.cuh"
#include "maps.cuh"
#include "marathons.cuh"
#include "markets.cuh"
#include "matching.cuh"
#include "matrices.cuh"
#include "meshes.cuh"
#include "messages.cuh"
#include "mills.cuh"
#include "models.cuh"
#include "mosaics.cuh"
#include "museums.cuh"
#include "nearest.cuh"
#include "network.cuh"
#include "norms.cuh"
#include "numbers.cuh"
#include "numerals.cuh"
#include "numeric.cuh"
#include "optics.cuh"
#include "orbitals.cuh"
#include "orchards.cuh"
#include "orchestras.cuh"
#include "packing.cuh"
#include "packs.cuh"
#include "painters.cuh"
#include "parcels.cuh"
#include "pastures.cuh"
#include "patterns.cuh"
#include "photo.cuh"
#include "photons.cuh"
#include "physics.cuh"
#include "planets.cuh"
#include "plasma.cuh"
#include "probes.cuh"
#include "prompts.cuh"
#include "puppets.cuh"
#include "puzzles.cuh"
#include "quakes.cuh"
#include "quants.cuh"
#include "qubits.cuh"
#include "queries.cuh"
#include "queues.cuh"
#include "radars.cuh"
#include "radio.cuh"
#include "ragged.cuh"
#include "ranges.cuh"
#include "ratings.cuh"
#include "records.cuh"
#include "reefs.cuh"
#include "relaxing.cuh"
#include "rendering.cuh"
#include "residues.cuh"
#include "retouch.cuh"
#include "riddles.cuh"
#include "rigid.cuh"
#include "rings.cuh"
#include "risks.cuh"
#include "rivers.cuh"
#include "robots.cuh"
#include "routes.cuh"
#include "scales.cuh"
#include "scanners.cuh"
#include "scenes.cuh"
#include "science.cuh"
#include "searching.cuh"
#include "sensors.cuh"
#include "sequences.cuh"
#include "serials.cuh"
#include "series.cuh"
#include "serving.cuh"
#include "sets.cuh"
#include "shading.cuh"
#include "shapes.cuh"
#include "sheets.cuh"
#include "signals.cuh"
#include "solvers.cuh"
#include "sorting.cuh"
#include "space.cuh"
#include "stadiums.cuh"
#include "stars.cuh"
#include "stencils.cuh"
#include "stores.cuh"
#include "streaming.cuh"
#include "styles.cuh"
#include "sums.cuh"
#include "surveys.cuh"
#include "swaths.cuh"
#include "tables.cuh"
#include "tabular.cuh"
#include "terrain.cuh"
#include "texts.cuh"
#include "theatres.cuh"
#include "tides.cuh"
#include "tissue.cuh"
#include "tokens.cuh"
#include "towers.cuh"
#include "tracking.cuh"
#include "training.cuh"
#include "trees.cuh"
#include "tunnels.cuh"
#include "units.cuh"
#include "video.cuh"
#include "vineyards.cuh"
#include "vision.cuh"
#include "visits.cuh"
#include "vocabularies.cuh"
#include "voices.cuh"
#include "weather.cuh"
#include "wells.cuh"
#include "windows.cuh"
#include "worlds.cuh"

#include <cstring>

static const struct {
    const char *family, *state, *name;
    void (*run)(Run &run);
} cases[] = {
#define CASE(family, state, name) { #family, #state, #name, name },
#include "cases.def"
};

static bool is_wanted(const char *name, char **wanted, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, wanted[i]))
            return true;
    return count == 0;
}

// False: the result is wrong.
static bool run_case(const char *name, void (*call)(Run &), Mode mode, int number, int repeats)
{
    Run run(mode, number, repeats);

    call(run);
    printf("launch %s %08x %d", name, run.checksum, run.launches);
    if (mode == TIMED)
        printf(" %.3f %.3f", run.median_us, run.spread_us);
    printf("\n");
    fflush(stdout);
    if (run.wrong || !run.checked)
        fprintf(stderr, "%s: %zu of %zu values differ from the host's\n", name, run.wrong,
                run.checked);
    return run.checked && !run.wrong;
}

int main(int argc, char **argv)
{
    Mode mode = ONCE;
    int number = 0, repeats = 0, at = 1;
    bool right = true;

    if (at < argc && !strcmp(argv[at], "--list")) {
        for (const auto &c : cases)
            printf("%s %s %s\n", c.name, c.family, c.state);
        return 0;
    }
    if (at < argc && !strcmp(argv[at], "--profile")) {
        mode = PROFILED;
        at++;
    } else if (at + 1 < argc && !strcmp(argv[at], "--times")) {
        mode = TIMED;
        repeats = std::max(1, atoi(argv[at + 1]));
        at += 2;
    }
    for (const auto &c : cases)
        if (is_wanted(c.name, argv + at, argc - at))
            right &= run_case(c.name, c.run, mode, ++number, repeats);
    if (!number)
        fprintf(stderr, "blind: no such launch (see --list)\n");
    else
        printf("done %d\n", number);
    return number && right ? 0 : 1;
}
