"""The part of the sandbox suite on what a script reaches: the files it was given, and neither host nor network."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kgot_core.contracts.sandbox import CodeJob, SandboxSession
from kgot_core.testing.suite import Suite


class ReachTests(Suite):
    """What passes between a script and the host."""

    def test_files_go_in_read_only_and_come_back(self, session: SandboxSession, tmp_path: Path) -> None:
        given = tmp_path / "table-7.csv"
        given.write_text("city,é\nRome,1\n", encoding="utf-8")
        code = (
            "text = open('data.csv', encoding='utf-8').read()\nwith open('out.txt', 'w') as f: f.write(text.upper())\n"
            "import os\nos.mkdir('plots')\nwith open('plots/a.bin', 'wb') as f: f.write(b'\\x00\\xff')\n"
            "try:\n    open('data.csv', 'w')\n    print('written')\nexcept PermissionError:\n    print('refused')"
        )
        result = session.run(CodeJob(code, files={"data.csv": given}, collect=tmp_path / "new"))
        assert not result.error and result.output == "refused\n", "given files must be readable by name, not writable"
        assert result.files == ("out.txt", "plots/a.bin"), "new files, and only those, must come back, sorted"
        assert (tmp_path / "new/out.txt").read_text(encoding="utf-8") == "CITY,É\nROME,1\n"
        assert (tmp_path / "new/plots/a.bin").read_bytes() == b"\0\xff"
        again = session.run(CodeJob("import os\nos.listdir('.')"))
        assert again.value == "[]", "the working folder must be empty again for the next job"
        assert session.run(CodeJob("open('x', 'w').close()")).files == (), "without collect, files are dropped"

    def test_written_files_are_limited(self, session: SandboxSession, tmp_path: Path) -> None:
        code = "f = open('big', 'wb')\nwhile True:\n    f.write(b'x' * 100000)"
        result = session.run(CodeJob(code, collect=tmp_path))
        assert result.limit == "files" and not list(tmp_path.iterdir()), "file_mb must hold, named as limit 'files'"
        self.works(session)

    @pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "", ".bashrc", "nul", "a\nb"])
    def test_unsafe_names_are_refused(self, session: SandboxSession, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(ValueError):
            session.run(CodeJob("1", files={name: tmp_path / "file"}))

    def test_host_is_out_of_reach(
        self, session: SandboxSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret, target = tmp_path / "key.txt", tmp_path / "made-inside"
        secret.write_text("sk-file-8417")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-environment-5512")
        codes = (
            f"print(open({str(secret)!r}).read())",
            f"open({str(target)!r}, 'w').write('x')",
            "import os\nprint(os.environ.get('OPENAI_API_KEY'))",
            f"import os\nos.system('touch {target}')",
            f"[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'Popen'][0](['touch', '{target}'])",
        )
        for code in codes:
            result = session.run(CodeJob(code))
            for key in ("sk-file-8417", "sk-environment-5512"):
                assert key not in f"{result.output}{result.value}", f"the script read what is the host's: {code}"
        assert not target.exists(), "a script wrote outside of its working folder"

    def test_network_is_out_of_reach(self, session: SandboxSession) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.setblocking(False)
            port = server.getsockname()[1]
            code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)"
            assert session.run(CodeJob(code)).error, "a script must not reach a server of the host"
            with pytest.raises(BlockingIOError):
                server.accept()

    def works(self, session: SandboxSession) -> None:
        """Checks that the next job is not affected by the last."""
        result = session.run(CodeJob("print(double(21))"))
        assert (result.output, result.error) == ("42\n", ""), (
            "the job after a failed one must run as if nothing happened"
        )
