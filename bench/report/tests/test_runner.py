"""Suites that are shell commands: a failure is reported with its reason, and does not stop the others."""

import io
import json
import shlex

import pytest
import samples
from laboratory import ROOT, __main__, suites
from laboratory.runner import Runner
from laboratory.suites import Suite, UsageError
from rich.console import Console

SIZES = [
    samples.line("good", "host", payload, format, "dunnage", "encode", "bytes", size, "bytes")
    for payload, sizes in (("a", (100, 40, 50)), ("b", (10, 9, 2)))
    for format, size in zip(("json", "cbor", "packed"), sizes, strict=True)
]
RATES = [samples.line("good", "64 connections", "a", format, "dunnage", "ingest", "rps", rps, "1/s") for format, rps in (("json", 10), ("cbor", 30))]


def suite(name, command, **more):
    return Suite(name, name, more.pop("programs", ["sh"]), {"quick": 1, "full": 2}, ["sh", "-c", command], ["sh", "-c", command], **more)


def writing(folders, name, lines):
    """A command that writes these records."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return f"mkdir -p {folders.results}; printf %s {shlex.quote(text)} > {folders.results}/{name}.jsonl; echo done"


@pytest.fixture
def run(folders):
    """Runs suites; returns whether all were well, and what was printed."""

    def run(*all_suites, form="quick", verbose=False):
        output = io.StringIO()
        console = Console(file=output, width=200)
        good = Runner(folders, form, console, verbose).run(list(all_suites))
        return good, output.getvalue()

    return run


def test_a_good_suite_has_a_line_with_its_rows_and_the_best_formats(folders, run):
    good, output = run(suite("good", writing(folders, "good", SIZES + RATES)))
    assert good
    # cbor: (0.4 * 0.9) ** 0.5 = 0.6 of JSON; packed: (0.5 * 0.2) ** 0.5 = 0.32.
    assert "good        8 rows  bytes: packed  ingest rps: CBOR\n" in output
    assert "good: about 1 s; 1 s left in all" in output
    run_of = suites.read_runs(folders)["good"]
    assert (run_of.state, run_of.form, run_of.ok_form, run_of.reason) == ("ok", "quick", "quick", "")
    assert run_of.at.endswith("Z") and run_of.ok_at == run_of.at


def test_every_kind_of_failure_is_reported_and_the_others_run(folders, run):
    bad_line = SIZES[0] | {"suite": "bad", "record": 7}
    good, output = run(
        suite("failing", "echo first; echo the reason >&2; exit 3"),
        suite("missing", "true", programs=["no-such-program", "/no/such/file"]),
        suite("bad", writing(folders, "bad", [bad_line])),
        suite("silent", "true"),
        suite("good", writing(folders, "good", SIZES)),
    )
    assert not good
    runs = suites.read_runs(folders)
    assert {name: run.state for name, run in runs.items()} == {
        "failing": "failed", "missing": "missing", "bad": "broken", "silent": "broken", "good": "ok",
    }  # fmt: skip
    assert runs["failing"].reason == "the command ended with exit code 3; its last lines:\nfirst\nthe reason"
    assert runs["missing"].reason == "this machine does not have no-such-program, /no/such/file"
    assert runs["bad"].reason.endswith("bad.jsonl:1: record: version 7; this program reads version 1")
    assert runs["silent"].reason == "the command wrote no bench/results/silent.jsonl"
    assert "good        6 rows" in output and "missing     missing: this machine does not have" in output
    assert (folders.results / "logs/failing.log").read_text() == "first\nthe reason\n"


def test_a_missing_program_alone_is_no_failure(run):
    good, _ = run(suite("missing", "true", programs=["no-such-program"]))
    assert good


def test_a_failed_run_keeps_the_date_of_the_last_good_one(folders, run):
    run(suite("good", writing(folders, "good", SIZES)))
    first = suites.read_runs(folders)["good"]
    run(suite("good", "exit 1"))
    second = suites.read_runs(folders)["good"]
    assert second.state == "failed" and second.ok_at == first.ok_at and second.ok_seconds == first.ok_seconds


def test_the_last_duration_replaces_the_expected_one(folders, run):
    command = suite("good", writing(folders, "good", SIZES))
    run(command)
    runs = suites.read_runs(folders)
    runs["good"].ok_seconds["quick"] = 77
    suites.write_runs(folders, runs)
    assert "good: about 77 s; 77 s left in all" in run(command)[1]
    assert "good: about 2 s" in run(command, form="full")[1]


def test_verbose_shows_the_output(folders, run):
    assert "done\n" not in run(suite("good", writing(folders, "good", SIZES)))[1]
    assert "done\n" in run(suite("good", writing(folders, "good", SIZES)), verbose=True)[1]


def test_an_unknown_suite_is_named(capsys):
    with pytest.raises(UsageError, match="there is no suite nonsense; there are host, pson-paper, "):
        suites.chosen(suites.load(ROOT / "bench/suites.toml"), ["nonsense"])
    assert __main__.main(["run", "nonsense"]) == 2
    assert "laboratory: there is no suite nonsense" in capsys.readouterr().err


def test_yardsticks_are_no_candidates(folders, run):
    lines = [line | {"library": library, "value": line["value"] * factor} for line in RATES for library, factor in (("dunnage", 1), ("probe", 9))]
    assert "ingest rps: CBOR\n" in run(suite("good", writing(folders, "good", lines), yardsticks=["probe"]))[1]


def test_a_terminal_shows_the_time_left(folders):
    output = io.StringIO()
    console = Console(file=output, width=120, force_terminal=True)
    Runner(folders, "quick", console).run([suite("good", writing(folders, "good", SIZES) + "; sleep 0.3"), suite("silent", "sleep 0.3")])
    assert "left," in output.getvalue() and "in all" in output.getvalue()
