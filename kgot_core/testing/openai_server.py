"""A scripted server on loopback that speaks the OpenAI protocol, faults included. Imports no model library.

A script is a function ``(payload, index)`` that gives what request number ``index`` (from 0, in order of arrival) is
answered with::

    with OpenAIServer(lambda payload, index: "Paris") as server:
        ...  # base URL server.url, requests seen server.seen

It gives a text, a :class:`Say`, a list of those (one for each sample), or a fault.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kgot_core.contracts.model import ModelSpec
from kgot_core.models.likeness import likeness_vector
from kgot_core.models.tokens import estimate_tokens
from kgot_core.testing.openai_http import Seen, State, listen
from kgot_core.testing.openai_wire import (
    Broken,
    Dropped,
    Fault,
    Hang,
    HttpError,
    NoChoices,
    Say,
    Script,
    ScriptResult,
    completion_body,
    embedding_body,
    prompt_text,
)

if TYPE_CHECKING:
    from http.server import ThreadingHTTPServer

__all__ = [
    "Broken",
    "Dropped",
    "Hang",
    "HttpError",
    "NoChoices",
    "OpenAIServer",
    "Say",
    "Script",
    "ScriptResult",
    "Seen",
]

Refusable: TypeAlias = Literal["n", "temperature", "tools", "response_format", "max_tokens", "max_completion_tokens"]

_MESSAGES: Mapping[str, str] = {
    "n": "Only one completion choice is allowed: 'n' must be 1",
    "temperature": "Unsupported value: 'temperature' does not support {value} with this model",
    "tools": "this model does not support tools",
    "response_format": "'response_format' of type 'json_schema' is not supported here",
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model",
    "max_completion_tokens": "Unknown parameter: 'max_completion_tokens'",
}


class OpenAIServer:
    """The server; a context manager.

    Args:
        script: What to answer; a text answers each request alike.
        models: Names that it lists.
        refuse: Parameters that it refuses with status 400.
        ignore_n: Give one choice whatever ``n`` is.
        key: Key that requests must bear; empty takes any.
        context_tokens: Longer prompts are refused with ``context_length_exceeded``.
        report_usage: Send token numbers.
        delay: Seconds that each chat request takes.
        count: Counts the tokens of a text.
        embed: Gives the vector of a text, or the fault with which a request for embeddings is answered.
    """

    def __init__(
        self,
        script: Script | str,
        *,
        models: Sequence[str] = ("scripted",),
        refuse: Sequence[Refusable] = (),
        ignore_n: bool = False,
        key: str = "",
        context_tokens: int | None = None,
        report_usage: bool = True,
        delay: float = 0.0,
        count: Callable[[str], int] = estimate_tokens,
        embed: Callable[[str], Sequence[float]] | HttpError = likeness_vector,
    ) -> None:
        self.script: Script = (lambda payload, index: script) if isinstance(script, str) else script
        self.models = tuple(models)
        self.refuse = tuple(refuse)
        self.ignore_n = ignore_n
        self.key = key
        self.context_tokens = context_tokens
        self.report_usage = report_usage
        self.delay = delay
        self.count = count
        self.embed = embed
        self.state = State(time.monotonic())
        self._http: ThreadingHTTPServer | None = None

    def __enter__(self) -> OpenAIServer:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The base URL, with ``/v1``."""
        if self._http is None:
            raise RuntimeError("the server is not running")
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def seen(self) -> list[Seen]:
        """Chat requests, in order of arrival."""
        with self.state.lock:
            return list(self.state.seen)

    @property
    def payloads(self) -> list[Mapping[str, Any]]:
        """Bodies of the chat requests, in order of arrival."""
        return [entry.payload for entry in self.seen]

    @property
    def embedded(self) -> list[Mapping[str, Any]]:
        """Bodies of the requests for embeddings, in order of arrival."""
        with self.state.lock:
            return list(self.state.embedded)

    @property
    def most_in_flight(self) -> int:
        """Chat requests that were being answered at the same time, at most."""
        return self.state.most_in_flight

    def spec(self, name: str = "scripted", **settings: Any) -> ModelSpec:
        """Names a model on this server, for ``models.<role>`` or a model client."""
        return ModelSpec("openai", name, {"base_url": self.url, "api_key": self.key or "loopback", **settings})

    def start(self) -> None:
        """Begins to answer, on a free port of 127.0.0.1."""
        self._http = listen(self)
        # A short poll, as closing waits for it.
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True, name="scripted-openai")
        thread.start()

    def close(self) -> None:
        """Ends the server and all requests that hang in it. Idempotent."""
        self.state.stop.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.server_close()
            self._http = None

    def answer(self, payload: Mapping[str, Any], index: int) -> Fault | dict[str, Any]:
        """Gives what a request is answered with: a refusal by the options above, a fault, or the body of an answer."""
        for name in self.refuse:
            if name in payload and not (name == "n" and payload[name] == 1):
                return HttpError(
                    400, _MESSAGES[name].format(value=payload[name]), param=name, code="unsupported_parameter"
                )
        tokens = self.count(prompt_text(payload))
        if self.context_tokens is not None and tokens > self.context_tokens:
            text = f"This model's maximum context length is {self.context_tokens} tokens, your messages have {tokens}"
            return HttpError(400, text, param="messages", code="context_length_exceeded")
        try:
            result = self.script(dict(payload), index)
            return result if isinstance(result, Fault) else self.body(payload, result)
        except Exception as error:  # shown to the client, so that a test fails with the cause
            return HttpError(400, f"the script failed: {type(error).__name__}: {error}")

    def body(self, payload: Mapping[str, Any], result: ScriptResult) -> dict[str, Any]:
        """Gives the body of a good answer."""
        body = completion_body(payload, result, ignore_n=self.ignore_n, count=self.count)
        if not self.report_usage:
            del body["usage"]
        return body

    def vectors(self, payload: Mapping[str, Any]) -> HttpError | dict[str, Any]:
        """Gives what a request for embeddings is answered with."""
        return self.embed if isinstance(self.embed, HttpError) else embedding_body(payload, self.embed)
