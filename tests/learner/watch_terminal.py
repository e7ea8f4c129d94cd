#!/usr/bin/env python3
"""watch_terminal.py COMMAND... < SCRIPT - runs a program on a pseudo terminal and follows a script:

  see SECONDS REGEX     waits until what the screen shows matches
  hide SECONDS REGEX    waits until it no longer matches
  raw SECONDS REGEX     the same for every byte that was printed since the start
  type TEXT             types it (Python escapes, such as \\x1b[B)
  run COMMAND           runs a shell command; PID is the program's process id
  resize ROWS COLUMNS
  signal NAME           sends SIGNAME to the program's process group
  state LETTERS         waits until /proc's state of the program is one of them (T: stopped)
  ends STATUS           waits until it has exited: its status, or minus the signal
  restored              the terminal's settings are those from before the program
  lasted MS             the last `see` or `hide` took at most so long

A step that fails prints what was there and ends the script with status 1. `see` looks at the last frame if the
program draws frames (ESC [ H ... ESC [ J), else at everything.
"""
import fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time

output = b''
took_ms = 0.0


def start(command):
    """A shell's part: the program leads a foreground process group in a session of its own, so it can stop."""
    master, slave = pty.openpty()
    resize(master, 24, 80)
    before = termios.tcgetattr(slave)
    told, tell = os.pipe()
    shell = os.fork()
    if not shell:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        program = os.fork()
        if not program:
            os.setpgid(0, 0)
            os.tcsetpgrp(slave, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            for fd in range(3):
                os.dup2(slave, fd)
            os.close(told)
            os.close(tell)
            os.execvp(command[0], command)
        os.write(tell, b'%d\n' % program)
        status = os.waitpid(program, 0)[1]
        os.write(tell, b'%d\n' % (-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)))
        os._exit(0)
    told = os.fdopen(told)
    return master, slave, before, told, int(told.readline())


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


def take(master, seconds):
    global output
    if select.select([master], [], [], seconds)[0]:
        output += os.read(master, 65536)


def frame():
    done = output.rfind(b'\x1b[J')
    at = output.rfind(b'\x1b[H', 0, done) if done >= 0 else -1
    return re.sub(rb'\x1b\[[0-9;]*[mKJ]', b'', output[at + 3:done] if at >= 0 else output).replace(b'\r', b'').decode(errors='replace')


def wait(master, seconds, true):
    global took_ms
    began = time.monotonic()
    while not true():
        if time.monotonic() > began + seconds:
            return False
        take(master, 0.02)
    took_ms = (time.monotonic() - began) * 1000
    return True


def stat(pid):
    try:
        with open('/proc/%d/stat' % pid) as file:
            return file.read().rsplit(')', 1)[1].split()[0]
    except OSError:
        return 'gone'


def step(word, rest, master, slave, before, told, pid):
    first, _, more = rest.partition(' ')
    if word == 'see':
        return wait(master, float(first), lambda: re.search(more, frame(), re.M))
    if word == 'hide':
        return wait(master, float(first), lambda: not re.search(more, frame(), re.M))
    if word == 'raw':
        return wait(master, float(first), lambda: re.search(more.encode().decode('unicode_escape').encode(), output))
    if word == 'type':
        return os.write(master, rest.encode().decode('unicode_escape').encode()) > 0
    if word == 'run':
        return subprocess.run(rest, shell=True, env=dict(os.environ, PID=str(pid))).returncode == 0
    if word == 'resize':
        resize(master, int(first), int(more))
        return True
    if word == 'signal':
        os.killpg(pid, signal.Signals['SIG' + rest])
        return True
    if word == 'state':
        return wait(master, 60, lambda: stat(pid) in rest)
    if word == 'ends':
        return wait(master, 60, lambda: stat(pid) in 'goneZ') and told.readline() == rest + '\n'
    if word == 'restored':
        return termios.tcgetattr(slave) == before
    if word == 'lasted':
        print('%.0f ms' % took_ms)
        return took_ms <= float(rest)
    raise SystemExit('unknown step: ' + word)


def main():
    master, slave, before, told, pid = start(sys.argv[1:])
    for line in sys.stdin:
        word, _, rest = line.rstrip('\n').partition(' ')
        if not word or word.startswith('#') or step(word, rest, master, slave, before, told, pid):
            continue
        print('step failed: %s' % line.rstrip('\n'))
        print(frame() if '\x1b[J' in output.decode(errors='replace') else output.decode(errors='replace')[-3000:])
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass
        sys.exit(1)


main()
