"""Runs a program under the system call filter of a systemd unit: confined.py PROGRAM ARGS… <UNIT

What systemd does for SystemCallFilter=, SystemCallErrorNumber=EPERM and RestrictAddressFamilies=, by libseccomp: the sets
are those of the systemd that is installed. The caller has dropped its rights and set no_new_privs before (setpriv)."""
import errno, os, socket, subprocess, sys
import seccomp


def expand(names):
    calls = set()
    for name in names:
        if not name.startswith('@'):
            calls.add(name)
            continue
        listed = subprocess.run(['systemd-analyze', 'syscall-filter', name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        lines = (line.strip() for line in listed.stdout.decode().splitlines()[1:])
        calls |= expand(line for line in lines if line and not line.startswith('#'))
    return calls


program = sys.argv[1:]
allowed, families = set(), []
for line in sys.stdin:
    key, _, value = line.strip().partition('=')
    if key == 'SystemCallFilter':
        allowed = allowed - expand(value[1:].split()) if value.startswith('~') else allowed | expand(value.split())
    if key == 'RestrictAddressFamilies':
        families = [getattr(socket, name) for name in value.split()]
if not allowed or not families:
    sys.exit('the unit has no filter')

filter = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
for name in sorted(allowed - {'socket'}):
    try:
        filter.add_rule(seccomp.ALLOW, name)
    except (RuntimeError, ValueError):
        pass  # of another processor, or newer than this libseccomp
for family in families:
    filter.add_rule(seccomp.ALLOW, 'socket', seccomp.Arg(0, seccomp.EQ, family))
filter.load()
os.execv(program[0], program)
