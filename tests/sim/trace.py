"""trace.py TRACE [REPORT] - checks a trace of the simulated GPU (docs/simulator-time.md, section Trace).

The JSON is read strictly; on each track slices are balanced and times do not decrease; a warp's waits and its issued
cycles are all of its time; the last block of a launch ends when the launch does; with REPORT, the cycles of the
launches are those of the report. Prints what is wrong."""
import collections
import json
import sys


def no_constant(text):
    raise ValueError(f"not JSON: {text}")


def members(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key occurs twice: {pairs}"
    return dict(pairs)


def tracks_of(events):
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "be":
            tracks[event["cat"], event["id"]].append(event)
    return tracks


def check_track(name, track):
    open_slices = []
    for before, event in zip([track[0]] + track, track):
        assert event["ts"] >= before["ts"], f"{name}: time runs backwards"
        if event["ph"] == "b":
            open_slices.append(event)
        else:
            begin = open_slices.pop()
            begin["end"] = event["ts"]
    assert not open_slices, f"{name}: {len(open_slices)} slices without an end"


def check_warps(tracks, of_sm_0):
    whole = 0
    for (category, name), track in tracks.items():
        if category != "warp":
            continue
        for event in [event for event in track if event["ph"] == "b" and "issued" in event["args"]]:
            waits = [wait for wait in track if wait["ph"] == "b" and "line" in wait["args"]
                     and event["ts"] <= wait["ts"] and wait["end"] <= event["end"] + 1e-6]
            if event["args"]["waits"] != "shown":
                assert not waits or len(track) > 2, f"{name}: waits that are said to be left out"
                continue
            whole += 1
            took = event["args"]["issued"] + sum(wait["args"]["cycles"] for wait in waits)
            assert took == event["args"]["cycles"], f"{name}: {took} of {event['args']['cycles']} cycles"
    assert whole or not of_sm_0, "no warp has its waits"


def check(trace, report):
    tracks = tracks_of(trace["traceEvents"])
    for name, track in tracks.items():
        check_track(name, track)
    check_warps(tracks, True)
    kernels = [event for event in trace["traceEvents"] if event.get("cat") == "engine" and "cycles" in event.get("args", {})]
    ends = collections.defaultdict(float)
    for event in trace["traceEvents"]:
        if event.get("cat") == "block" and event["ph"] == "b":
            ends[event["args"]["launch"]] = max(ends[event["args"]["launch"]], event["end"])
    lost = trace["otherData"]
    for kernel in kernels:
        number = kernel["args"]["launch"]
        if number in ends and not lost["lost_blocks"] and kernel["args"]["blocks"] == kernel["args"]["timed_blocks"]:
            assert abs(ends[number] - kernel["end"]) < 2e-3, f"launch {number} ends at {kernel['end']}, its blocks at {ends[number]}"
    if report:
        cycles = sum(record["time"]["cycles"] for record in report if record["record"] == "kernel")
        assert abs(cycles - sum(kernel["args"]["cycles"] for kernel in kernels)) <= len(kernels), f"the report has {cycles} cycles"
    assert kernels, "no kernel"


with open(sys.argv[1]) as file:
    trace = json.load(file, object_pairs_hook=members, parse_constant=no_constant)
report = [json.loads(line) for line in open(sys.argv[2])] if len(sys.argv) > 2 else None
check(trace, report)
