"""Evaluates its argument, then runs a program for each line of input: folder and variables, separated by tabs.
The program is example.py in the folder; its output goes to the file `output` there. Prints each exit code."""

import os
import runpy
import sys

exec(sys.argv[1], {})
for line in sys.stdin:
    folder, *variables = line.rstrip("\n").split("\t")
    pid = os.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(each.split("=", 1) for each in variables)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open("output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        runpy.run_path("example.py", run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # The cleanup of the modules takes longer than a program.
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
