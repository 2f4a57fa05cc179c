"""The most memory that a process has held; run as a script, that of a bare interpreter."""

import subprocess
import sys


def peak_bytes() -> int:
    """The most memory that this process has held so far."""
    try:
        # Not ru_maxrss, which begins with that of the process which started this one.
        with open("/proc/self/status") as status:
            (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM:"))
        return 1024 * int(peak)
    except OSError:
        import resource

        largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return largest if sys.platform == "darwin" else 1024 * largest


def bare_interpreter_bytes() -> int:
    """What Python takes before anything of ours is imported."""
    command = [sys.executable, __file__]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


if __name__ == "__main__":
    print(peak_bytes())
