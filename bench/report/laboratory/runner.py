"""Runs suites one after the other, and records how each run ended."""

import os
import signal
import subprocess
import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from . import ROOT, best, query, record
from .suites import Folders, Run, Suite, read_runs, write_runs

# How many lines of its log explain a failure.
LAST_LINES = 15


class Runner:
    """Runs suites in one form: quick or full. `root` is the folder in which commands run."""

    def __init__(self, folders: Folders, form: str, console: Console, verbose: bool = False, root: Path = ROOT):
        self.folders, self.form, self.console, self.verbose, self.root = folders, form, console, verbose, root
        self.runs = read_runs(folders)

    def run(self, suites: list[Suite]) -> bool:
        """Runs the suites that have this form. Returns whether none of them failed."""
        suites = [suite for suite in suites if suite.command(self.form)]
        expected = {suite.name: self._expected(suite) for suite in suites}
        with Clock(self.console, sum(expected.values())) as clock:
            for suite in suites:
                clock.start(suite.name, expected[suite.name])
                self.runs[suite.name] = run = self._run(suite, clock)
                write_runs(self.folders, self.runs)
                clock.finish(suite.name, run)
        for suite in suites:
            self.console.print(self.line(suite), soft_wrap=True, highlight=False, markup=False)
        return all(self.runs[suite.name].state in ("ok", "missing") for suite in suites)

    def _expected(self, suite: Suite) -> float:
        last = self.runs.get(suite.name)
        return (last.ok_seconds if last else {}).get(self.form, suite.seconds[self.form])

    def _run(self, suite: Suite, clock: "Clock") -> Run:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        run = Run("ok", self.form, now, 0)
        if last := self.runs.get(suite.name):
            run.ok_at, run.ok_form, run.ok_seconds = last.ok_at, last.ok_form, dict(last.ok_seconds)
        if missing := suite.missing():
            run.state, run.reason = "missing", f"this machine does not have {', '.join(missing)}"
            return run
        begin, before = time.monotonic(), self._stamp(suite)
        code, last_lines = self._execute(suite, clock)
        run.seconds = round(time.monotonic() - begin, 1)
        if code != 0:
            run.state, run.reason = "failed", f"{_ended(code)}; its last lines:\n{last_lines}"
        elif problem := self._problem(suite, before):
            run.state, run.reason = "broken", problem
        else:
            run.ok_at, run.ok_form, run.ok_seconds[self.form] = now, self.form, run.seconds
        return run

    def _results(self, suite: Suite) -> Path:
        return self.folders.results / f"{suite.name}.jsonl"

    def _stamp(self, suite: Suite) -> int:
        path = self._results(suite)
        return path.stat().st_mtime_ns if path.exists() else 0

    def _problem(self, suite: Suite, before: int) -> str:
        """What is wrong with the results of a run that succeeded; empty if nothing is."""
        if self._stamp(suite) == before:
            return f"the command wrote no bench/results/{suite.name}.jsonl"
        _, errors = record.read(self._results(suite))
        more = f" (and {len(errors) - 1} more bad lines)" if len(errors) > 1 else ""
        return errors[0] + more if errors else ""

    def _execute(self, suite: Suite, clock: "Clock") -> tuple[int, str]:
        """Runs the command. Returns its exit code and the last lines of its log."""
        logs = self.folders.results / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        last = deque(maxlen=LAST_LINES)
        with open(logs / f"{suite.name}.log", "w", encoding="utf-8") as log:
            try:
                # A process group of its own, so that an interrupt ends the servers of a suite, too.
                process = subprocess.Popen(
                    suite.command(self.form), cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                return 127, str(error)
            try:
                for line in process.stdout:
                    log.write(line)
                    log.flush()
                    last.append(line.rstrip())
                    if self.verbose:
                        clock.print(line.rstrip())
                return process.wait(), "\n".join(last)
            except BaseException:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
                raise

    def line(self, suite: Suite) -> str:
        """What a suite has to say in one line: its rows and the best format per metric, or why there are none."""
        run = self.runs[suite.name]
        if run.state != "ok":
            return f"{suite.name:<11} {run.state}: {run.reason}"
        records, _ = record.read(self._results(suite))
        ranks = [f"{name}: {query.name(rank.format, rank.library)}" for name, rank in best.winners(records, suite.yardsticks)]
        return f"{suite.name:<11} {len(records)} rows  {'  '.join(ranks)}".rstrip()


class Clock:
    """Shows the suites and the time left: a bar on a terminal, otherwise a line per suite."""

    def __init__(self, console: Console, total: float):
        self.console, self.left = console, total
        self.bar = Progress(TextColumn("{task.description}"), BarColumn(), Left(), console=console, transient=True, disable=not console.is_terminal)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_) -> None:
        self.bar.stop()

    def start(self, name: str, seconds: float) -> None:
        """A suite that is expected to take so many seconds begins."""
        self.left -= seconds
        self.task = self.bar.add_task(name, total=seconds, after=self.left)
        if not self.console.is_terminal:
            self.print(f"{name}: about {duration(seconds)}; {duration(seconds + self.left)} left in all")

    def finish(self, name: str, run: Run) -> None:
        """A suite has ended."""
        self.bar.remove_task(self.task)
        self.print(f"{name}: {run.state} after {duration(run.seconds)}")

    def print(self, line: str) -> None:
        """Prints a line above the bar."""
        self.bar.console.print(line, highlight=False, markup=False, soft_wrap=True)


class Left(ProgressColumn):
    """The time left of the suite and of all suites."""

    def render(self, task: Task) -> Text:
        """The column's text."""
        mine = max(task.total - (task.elapsed or 0), 0)
        return Text(f"{duration(mine)} left, {duration(mine + task.fields['after'])} in all")


def duration(seconds: float) -> str:
    """Such as `45 s` or `12 min`."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _ended(code: int) -> str:
    return f"the command ended with exit code {code}" if code >= 0 else f"the command was ended by {signal.Signals(-code).name}"
