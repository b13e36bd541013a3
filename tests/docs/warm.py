"""``assay`` without its start-up time, for the examples of the pages.

``warm.py serve SOCKET`` imports the libraries once and forks a child for each command line;
``warm.py run SOCKET ARGUMENTS`` sends it the arguments, folder, environment and standard streams of
one, and exits with its exit code.
"""

import json
import os
import socket
import sys

# What commands import only when they need it. It is imported here and never used, so that no thread
# of it is at work when a child is forked.
LAZY = (
    *("jinja2", "rich.console", "scipy.special", "scipy.stats", "polars", "matplotlib.figure"),
    *("matplotlib.backends.backend_svg", "matplotlib.backends.backend_pdf", "skops.io"),
)
# Modules that only other programs import.
OTHERS = ("__main__", "mlflow", "pytest_plugin")
LONGEST = 1 << 20


def serve(path: str) -> None:
    """Fork a child for each command line, until the process is ended."""
    from importlib import import_module
    from pkgutil import walk_packages

    import assay
    from assay.cli import main

    modules = [name for _, name, _ in walk_packages(assay.__path__, "assay.")]
    for name in (*LAZY, *modules):
        if name.rpartition(".")[2] not in OTHERS:
            import_module(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        print("ready", flush=True)
        while True:
            connection, _ = server.accept()
            payload, streams, *_ = socket.recv_fds(connection, LONGEST, 3)
            asked = json.loads(payload)
            child = os.fork()
            if not child:
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                os.chdir(asked["folder"])
                os.environ.clear()
                os.environ.update(asked["environment"])
                sys.argv = ["assay", *asked["arguments"]]
                code = main()
                sys.stdout.flush()
                os._exit(code)
            for stream in streams:
                os.close(stream)
            with connection:
                _, status = os.waitpid(child, 0)
                connection.send(str(os.waitstatus_to_exitcode(status)).encode())


def run(path: str, arguments: list[str]) -> int:
    """Run a command line there; its exit code, as a shell has it where a signal ended it."""
    folder = os.getcwd()  # noqa: PTH109 - pathlib takes longer to import
    asked = {"folder": folder, "environment": dict(os.environ), "arguments": arguments}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [json.dumps(asked).encode()], [0, 1, 2])
        code = int(connection.recv(16))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    sys.exit(run(sys.argv[2], sys.argv[3:]))
