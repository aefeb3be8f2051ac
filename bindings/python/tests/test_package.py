"""The built wheel, as a new user installs it."""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import dunnage
import pytest

HERE = Path(__file__).parents[1]
WHEELS = sorted(Path(os.environ.get("DUNNAGE_WHEELS", "no-folder")).glob("dunnage-*.whl"))


@pytest.mark.parametrize("wheel", WHEELS, ids=lambda path: path.name)
def test_the_readmes_first_example_runs_after_pip_install(wheel: Path, tmp_path: Path) -> None:
    readme = (HERE / "README.md").read_text()
    code, expected = re.findall(r"```python\n(.*?)```\n.*?```text\n(.*?)```", readme, re.DOTALL)[0]
    venv.create(tmp_path / "new", with_pip=True)
    python = tmp_path / "new" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    (tmp_path / "first.py").write_text(code)
    ran = subprocess.run([python, "first.py"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert ran.stdout == expected


def test_the_readmes_other_examples_run_and_print_what_they_say(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(HERE / "tests")  # which has trained.json
    scope: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
    assert len(examples) > 2
    for example in examples:
        exec(example, scope)
        printed = capsys.readouterr().out.splitlines()
        for stated in re.findall(r"print\(.*\)  # (.*)", example):
            assert printed.count(stated.removesuffix(", twice")) == 1 + stated.endswith(", twice"), printed
    assert isinstance(scope["table"], dunnage.ArrowTable)


def test_a_receiver_is_restored_with_what_messages_leave_out() -> None:
    properties = {"id": {"type": "string", "x-dunnage-known": "device"}, "n": {"type": "integer", "minimum": 0, "maximum": 100}}
    trained = dunnage.Schema(
        {
            "type": "object",
            "properties": properties,
            "required": ["id", "n"],
            "additionalProperties": False,
            "x-dunnage-slot": 24,
            "x-dunnage-statistics": "AYAlSmsBHQMGAQP+BgEA",
        }
    )
    sender, receiver = dunnage.Sender(trained), dunnage.Receiver(trained)
    receiver.decode(sender.encode({"id": "A", "n": 50}), device="A")
    sender.acknowledged(receiver.last or 0)
    with pytest.raises(dunnage.DecodeError, match="the ID of the device"):
        dunnage.Receiver(trained, references=receiver.references)
    restored = dunnage.Receiver(trained, references=receiver.references, device="A")
    assert restored.decode(sender.encode({"id": "A", "n": 51})) == {"id": "A", "n": 51}


def test_stubs_agree_with_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "dunnage", "--ignore-disjoint-bases"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_the_package_and_its_examples_pass_mypy() -> None:
    # pyarrow has no types.
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "examples", "python/dunnage"]
    ran = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
