"""Runs a command and prints, as one line of JSON, its exit code and the most memory it held.

A small process of its own: what the kernel reports as a child's peak starts from the size of the
process that started it.
"""

import json
import os
import resource
import sys


def main(command):
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status = os.waitpid(pid, 0)
    peak_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps({"exit_code": os.waitstatus_to_exitcode(status), "peak_bytes": peak_bytes}))


if __name__ == "__main__":
    main(sys.argv[1:])
