"""`dev.py`: what it can do, and that its failures say what to do next."""

import ast
import importlib.util
import os
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "dev.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.fixture
def module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_alone_it_lists_what_it_can_do() -> None:
    done = dev()
    assert done.returncode == 0
    for command in ("dev.py run", "dev.py test", "dev.py sync"):
        assert command in done.stdout


def test_unknown_option_of_run_is_refused() -> None:
    assert dev("run", "--prot", "1").returncode == 2


def test_taken_port_says_what_to_type() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = dev("run", "--port", str(port))
    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stdout
    assert f"python3 dev.py run --port {port + 1}" in done.stdout


def test_impossible_port_says_what_to_type() -> None:
    done = dev("run", "--port", "70000")
    assert done.returncode == 1
    assert "python3 dev.py run --port" in done.stdout


def test_old_python_is_told_what_to_do(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "OLDEST", (99, 0))
    assert module.main() == 1
    said = capsys.readouterr().out
    assert "newer is needed" in said and "dev.py run" in said


def test_old_python_can_read_it() -> None:
    ast.parse((ROOT / "dev.py").read_text(), feature_version=(3, 6))


def test_missing_venv_module_says_what_to_install(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "ROOT", str(tmp_path))
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(module.Trouble, match=r"apt install python3\.\d+-venv"):
        module.uv()


def test_secret_key_is_made_once_and_is_its_owners_only(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "VAR", str(tmp_path / "var"))
    key = module.secret_key()
    assert len(key) >= 50
    assert module.secret_key() == key
    assert os.stat(tmp_path / "var" / "secret-key").st_mode & 0o077 == 0


def test_callers_settings_do_not_leak_into_ours(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWB_BEHIND_PROXY", "1")
    assert "AWB_BEHIND_PROXY" not in module.settings_environment()


def test_ci_runs_the_documented_command() -> None:
    path = ROOT / ".ci" / "run"
    assert os.access(path, os.X_OK)
    assert "python3 dev.py test" in path.read_text()


def test_step_that_stands_still_is_ended_and_counts_as_failed(
    module: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its children too: one that holds our pipe would keep us waiting after the step has ended."""
    script = "import subprocess, sys; print('begun', flush=True);"
    child = script + "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    for code in (f"{script} import time; time.sleep(60)", child):
        command = [sys.executable, "-c", code]
        name, failed, seconds, last = module.attempt("still", command, dict(os.environ), 1.0)
        assert (name, bool(failed)) == ("still", True)
        assert seconds < 15
        assert last == "ended after 1 s without an end. Before: begun"
    assert "begun" in capsys.readouterr().out


def test_step_says_its_last_line_and_its_code(module: ModuleType) -> None:
    command = [sys.executable, "-c", "print('one'); print('two'); raise SystemExit(3)"]
    _, code, _, last = module.attempt("step", command, dict(os.environ), 30.0)
    assert (code, last) == (3, "two")
