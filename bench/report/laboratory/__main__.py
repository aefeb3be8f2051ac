"""python -m laboratory run [--full] [--verbose] [SUITE ...], python -m laboratory report"""

import argparse
import sys
from pathlib import Path

from rich.console import Console

from . import ROOT, page, pdf, runner, suites


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Returns the exit code: 1 if a suite failed, 2 for a mistake of the user."""
    parser = argparse.ArgumentParser(prog="laboratory", description="Runs the benchmarks, and builds their report.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run suites one after the other, then build the report")
    run.add_argument("--full", action="store_true", help="the long form of each suite")
    run.add_argument("--verbose", action="store_true", help="show what the commands print; their logs have it in any case")
    run.add_argument("suite", nargs="*", help="a suite of bench/suites.toml; all if there is none")
    commands.add_parser("report", help="build target/report from the existing results")
    given = parser.parse_args(arguments)
    try:
        return execute(given, ROOT / "bench/suites.toml", suites.Folders(), Console())
    except suites.UsageError as error:
        print(f"laboratory: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def execute(given: argparse.Namespace, file: Path, folders: suites.Folders, console: Console) -> int:
    """Runs a parsed command for the suites of a file."""
    every = suites.load(file)
    good = True
    if given.command == "run":
        form = "full" if given.full else "quick"
        chosen = suites.chosen(every, given.suite)
        for suite in chosen:
            if not suite.command(form):
                console.print(f"{suite.name} has no quick form; --full runs it", highlight=False)
        good = runner.Runner(folders, form, console, given.verbose).run(chosen)
    report(every, folders, console)
    return 0 if good else 1


def report(every: list[suites.Suite], folders: suites.Folders, console: Console) -> None:
    """Builds the report, and says where it is."""
    page.write(every, folders)
    html, printed = folders.report / "index.html", folders.report / "report.pdf"
    console.print(str(html), soft_wrap=True, highlight=False)
    problem = pdf.write(html.resolve(), printed)
    console.print(f"no PDF: {problem}" if problem else str(printed), soft_wrap=True, highlight=False)


if __name__ == "__main__":
    sys.exit(main())
