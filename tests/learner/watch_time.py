#!/usr/bin/env python3
"""watch_time.py BUILD LAB KERNEL [TIMES] [DEVICE] - measures make watch with the real compiler and device.

Saves KERNEL, a little different each time, and prints the seconds from the save until the compiler is done, all results
are checked, the first speed is known, and the result is on the screen; and the milliseconds from the key h to its hint
while the kernel is graded. Works in a copy of the workbook. For fewer cores: taskset -c 0,1 tests/learner/watch_time.py ...
"""
import os, pty, re, select, shutil, sys, tempfile, time

build, lab, kernel = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
times = int(sys.argv[4]) if len(sys.argv) > 4 else 3
device = sys.argv[5] if len(sys.argv) > 5 else 'sim'
text = open(kernel).read()
copy = tempfile.mkdtemp()
for folder in ('common', 'labs', 'solutions', 'grader/sim/devices'):
    shutil.copytree(folder, os.path.join(copy, folder))
os.chdir(copy)
target = next(os.path.join('labs', name, 'kernel.cu') for name in sorted(os.listdir('labs')) if lab in name)
os.environ.update(WARPBOOK_BUILD=build, TERM='xterm')

watch, terminal = pty.fork()
if not watch:
    os.execv(os.path.join(build, 'warpbook'), ['warpbook', 'watch', lab, '--device', device])


def until(pattern, limit_s=120):
    """Waits for a frame of the screen that matches; returns its time."""
    seen = b''
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            seen += os.read(terminal, 65536)
            if re.search(pattern, seen.rsplit(b'\x1b[H', 1)[-1], re.S):
                return time.monotonic()
    sys.exit('not seen: %s\n%s' % (pattern, seen[-3000:].decode(errors='replace')))


def save(number):
    with open(target + '.new', 'w') as file:
        file.write('%s\n/* %d %f */ __device__ int mark_%d;\n' % (text, number, time.time(), time.time_ns()))
    os.rename(target + '.new', target)
    return time.monotonic()


RESULT = rb'^[^\n]*(pass|close|slow|correct|wrong|unsafe|stray|crash|timeout|build|not started)(\x1b\[0m)?\x1b\[K'
until(RESULT)
print('load   compiled   checked   first speed   result   (s)   key, ms')
for number in range(times):
    load = os.getloadavg()[0]
    began = save(number)
    marks = [until(p) - began for p in (rb'compiles', rb'(?<!\d)(\d+) of \1 cases right', rb'% of the reference|Next', RESULT)]
    time.sleep(0.5)
    save(number + times)
    until(rb'compiles')
    typed = time.monotonic()
    os.write(terminal, b'h')
    key_ms = (until(rb'Hint \d|Your last grading|You passed') - typed) * 1000
    os.write(terminal, b'\n')
    until(RESULT)
    print('%4.1f   %8.2f   %7.2f   %11.2f   %6.2f         %7.0f' % (load, *marks, key_ms), flush=True)
os.write(terminal, b'q')
os.waitpid(watch, 0)
shutil.rmtree(copy)
