"""A server: processes in the server's namespace, their processor time and their memory."""

import os
import signal
import subprocess
import time
from pathlib import Path

from . import SERVER, Failure
from .network import Network

START_SECONDS, STOP_SECONDS = 60, 15


class Server:
    """Processes of one server, started in `folder`, which also has their log."""

    def __init__(self, network: Network, folder: Path):
        self.network, self.folder = network, folder
        self.processes: list[subprocess.Popen] = []
        self.log = (folder / "server.log").open("w", encoding="utf-8")

    def start(self, command: list, environment: dict | None = None) -> subprocess.Popen:
        """Starts a program of the server."""
        process = subprocess.Popen(
            [*self.network.enter(), *map(str, command)], cwd=self.folder, env={**os.environ, **(environment or {})}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, start_new_session=True,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def wait_for_line(self, process: subprocess.Popen) -> str:
        """The next line that a program prints: how the programs in `peers` say that they listen, or answer."""
        line = process.stdout.readline().strip()
        if not line:
            raise Failure(f"the server has ended: {self.last_lines()}")
        return line

    def wait_for_port(self, port: int, kind: str = "tcp") -> None:
        """Waits until something listens on a port."""
        end = time.monotonic() + START_SECONDS
        state = {"tcp": " 0A ", "udp": " 07 "}[kind]
        while time.monotonic() < end:
            for family in ("", "6"):
                command = [*self.network.enter(), "cat", f"/proc/self/net/{kind}{family}"]
                table = subprocess.run(command, check=False, capture_output=True, text=True).stdout
                if any(f":{port:04X} " in line.split(state)[0] for line in table.splitlines() if state in line):
                    return
            if ended := [process for process in self.processes if process.poll() is not None]:
                raise Failure(f"{ended[0].args[3]} ended with {ended[0].returncode}: {self.last_lines()}")
            time.sleep(0.05)
        raise Failure(f"nothing listens on {SERVER}:{port} after {START_SECONDS} s: {self.last_lines()}")

    def last_lines(self) -> str:
        """The end of the log."""
        self.log.flush()
        return " / ".join(Path(self.log.name).read_text(errors="replace").splitlines()[-4:])

    def cpu(self) -> float:
        """Seconds for which the server's living threads have run. More exact than /proc/PID/stat, which counts hundredths of a second."""
        nanoseconds = 0
        for process in self._tree():
            for thread in Path(f"/proc/{process}/task").glob("*/schedstat"):
                nanoseconds += int(thread.read_text().split()[0])
        return nanoseconds / 1e9

    def memory(self) -> int:
        """Bytes of memory (PSS: shared pages count in parts)."""
        kilobytes = 0
        for process in self._tree():
            lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
            kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return kilobytes * 1024

    def stop(self) -> None:
        """Ends all programs of the server."""
        for process in reversed(self.processes):
            self._signal(process, signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            self._signal(process, signal.SIGKILL)
            process.wait()
        self.log.close()

    @staticmethod
    def _signal(process: subprocess.Popen, number: int) -> None:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass

    def _tree(self) -> list[int]:
        parents = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass
        tree = [process.pid for process in self.processes if process.pid in parents]
        for pid in tree:
            tree += [child for child, parent in parents.items() if parent == pid]
        return tree
