"""What a test process finds around it: threads, temporary folder, signals, network.

``conftest`` imports this before anything loads NumPy, because BLAS and OpenMP read
their number of threads once; OpenBLAS and MKL know OpenMP's variable.
"""

import os
import shutil
import signal
import tempfile

MEMORY_FOLDER = "/dev/shm"
ROOM = 4 << 30  # bytes; the whole suite needs less than one


def threads_per_worker(n_cores, n_workers):
    """Threads of a process, so that all workers together have one for each core."""
    return max(1, n_cores // n_workers)


def share_cores():
    """Limit the threads of this process and of those that it starts."""
    n_workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    n_threads = threads_per_worker(os.cpu_count() or 1, n_workers)
    # A worker inherits what the process that started it had for itself.
    most = int(os.environ.get("OMP_NUM_THREADS", n_threads))
    os.environ["OMP_NUM_THREADS"] = str(min(most, n_threads))


def has_room(folder):
    """Whether temporary files fit into a folder; that of a container is often tiny."""
    is_usable = os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
    return is_usable and shutil.disk_usage(folder).free >= ROOM


def keep_files_in_memory():
    """Put temporary files where removing one does not wait for a disk.

    Fits over blocks write and remove small files by the thousand.
    """
    if "TMPDIR" not in os.environ and has_room(MEMORY_FOLDER):
        os.environ["TMPDIR"] = tempfile.tempdir = MEMORY_FOLDER


def hear_interrupts():
    """Let interrupts through to child processes.

    A job in the background of a script ignores SIGINT, and its children would inherit
    that. What has a handler starts with the default.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def refuse_network(patch):
    """Let no test download a data set; where there is no network that takes minutes."""
    from localsvm.data._readers import _openml as _reader
    from localsvm.data._sets import _openml

    def refuse(*args, **kwargs):
        raise OSError("tests do not use the network")

    for module in (_openml, _reader):
        patch.setattr(module, "fetch_openml", refuse)


share_cores()
keep_files_in_memory()
