"""Asks a model for a stage or a tool: journalled, counted, attributed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Protocol

from kgot_core.contracts.model import Completion, Message, Reply, Request, Role, ToolCallRequest
from kgot_core.contracts.task import Usage
from kgot_core.errors import CapReached, ContextOverflow, ModelError
from kgot_core.events import PARTS, ModelCalled, ModelRetried, Notice
from kgot_core.graph.values import JsonValue
from kgot_core.models.calling import estimate_prompt
from kgot_core.models.faults import NothingSaid
from kgot_core.run.caps import Budget
from kgot_core.run.record.journal import Journal

OVERFLOW = "the request does not fit into the model's context"
CAPPED = "a cap is reached"
# Requests in a row that a model may leave without a word.
MOST_SILENT = 3


class Client(Protocol):
    """What the run needs of a model; see :class:`kgot_core.models.client.ModelClient`."""

    @property
    def samples_at_once(self) -> bool:
        """Several samples come with one request, as far as is known."""

    @property
    def learned(self) -> Mapping[str, JsonValue]:
        """What was found out about the model since it was opened; empty where nothing was."""

    def learn(self, learned: Mapping[str, JsonValue]) -> None:
        """Takes in what was found out earlier."""

    async def ask(self, request: Request, n: int = 1, on_retry: Any = None) -> Reply:
        """Asks for ``n`` samples."""


class ModelDesk:
    """The run's models by role; a role without one uses that of ``graph``.

    Args:
        journal: The run's journal.
        clients: Models by role; empty for a replay.
        names: Model names by role, part of what is asked.
        budget: What the run may spend; a request beyond it is recorded as not made.
    """

    def __init__(
        self, journal: Journal, clients: Mapping[str, Client], names: Mapping[str, str], budget: Budget
    ) -> None:
        self._journal = journal
        self._clients = clients
        self._names = names
        self._budget = budget
        self._noticed = {event.text for _, event in journal.recorded.events(Notice)}
        self._silent = 0
        self._told: dict[int, Mapping[str, JsonValue]] = {}
        for _, event in journal.recorded.events(ModelCalled):
            client = self._client(event.role)
            if event.learned and client is not None:
                # A run that goes on knows what it knew.
                client.learn(event.learned)
                self._told[id(client)] = event.learned

    def samples_at_once(self, role: Role) -> bool:
        """Tells what is known of the role's model; in a replay always true."""
        client = self._client(role)
        return client is None or client.samples_at_once

    def _client(self, role: str) -> Client | None:
        return self._clients.get(role) or self._clients.get("graph")

    async def ask(self, step: str, stage: str, role: Role, request: Request, n: int = 1, tool: str = "") -> Reply:
        """Asks a role's model.

        Raises:
            CapReached: The run may not make it.
            ContextOverflow: The request is too long for the model.
            ModelError: The request failed for good.
        """
        asked = {"model": self._names.get(role) or self._names.get("graph", ""), **_request_to_json(request)}
        head = ModelCalled(
            stage=stage,
            role=role,
            part=PARTS.get(stage, "tool invocation"),
            parent=tool,
            messages=tuple(_message_to_json(message) for message in request.messages),
            tools=tuple(spec.name for spec in request.tools),
            samples=n,
        )
        done = await self._journal.call(ModelCalled, step, asked, lambda: self._make(step, role, request, n, head))
        if done.completions:
            self._silent = self._silent + 1 if _says_nothing(done) else 0
        if done.error:
            raise _error(done.error)
        return Reply(
            tuple(_completion_from_json(item) for item in done.completions),
            Usage(**done.usage),  # type: ignore[arg-type]
            done.model,
        )

    async def _make(self, step: str, role: Role, request: Request, n: int, head: ModelCalled) -> ModelCalled:
        client = self._client(role)
        assert client is not None, "a repeated run asks no model"
        done = await self._asked(step, client, request, n, head)
        if client.learned == self._told.get(id(client), {}):
            return done
        self._told[id(client)] = client.learned
        return replace(done, learned=client.learned)

    async def _asked(self, step: str, client: Client, request: Request, n: int, head: ModelCalled) -> ModelCalled:
        def on_retry(attempt: int, wait: float, cause: str) -> None:
            event = ModelRetried(stage=head.stage, attempt=attempt, wait=round(wait, 3), cause=cause)
            self._journal.emit(f"{step}/attempt-{attempt}", event)

        try:
            async with self._budget.request(estimate_prompt(request)):
                reply = await client.ask(request, n, on_retry=on_retry)
        except CapReached as error:
            return replace(head, error=f"{CAPPED}: {error}")
        except ContextOverflow as error:
            return replace(head, error=f"{OVERFLOW}: {error}")
        except NothingSaid as error:
            return self._silence(step, head, error)
        except ModelError as error:
            return replace(head, error=str(error))
        for text in reply.notices:
            self._notice_below(step, text)
        completions = tuple(_completion_to_json(item) for item in reply.completions)
        return replace(head, model=reply.model, completions=completions, usage=asdict(reply.usage))

    def _silence(self, step: str, head: ModelCalled, error: NothingSaid) -> ModelCalled:
        """Takes an empty reply for one that says nothing; a model that says nothing any more ends the run."""
        if self._silent >= MOST_SILENT:
            return replace(head, error=str(error), usage=asdict(error.usage))
        self._notice_below(step, str(error))
        return replace(head, completions=(_completion_to_json(Completion("")),), usage=asdict(error.usage))

    def _notice_below(self, step: str, text: str) -> None:
        if text not in self._noticed:
            self._noticed.add(text)
            self._journal.emit(f"{step}/notice-{len(self._noticed)}", Notice(text=text))


def _error(text: str) -> CapReached | ModelError:
    """Gives an error as events hold it."""
    if text.startswith(f"{CAPPED}: "):
        return CapReached(text.removeprefix(f"{CAPPED}: "))
    return ContextOverflow(text) if text.startswith(OVERFLOW) else ModelError(text)


def is_lost(event: ModelCalled) -> bool:
    """Tells whether a request failed for good, which ends a run; one that does not fit is sent again,
    shorter, and one beyond a cap was never sent."""
    return bool(event.error) and not event.error.startswith((OVERFLOW, CAPPED))


def _says_nothing(done: ModelCalled) -> bool:
    return not any(item["text"] or item["tool_calls"] for item in done.completions)


def _message_to_json(message: Message) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = {"author": message.author, "text": message.text}
    if message.tool_calls:
        data["tool_calls"] = [_call_to_json(call) for call in message.tool_calls]
    if message.tool_call_id:
        data["tool_call_id"] = message.tool_call_id
    if message.images:
        data["images"] = list(message.images)
    return data


def _request_to_json(request: Request) -> dict[str, JsonValue]:
    return {
        "messages": [_message_to_json(message) for message in request.messages],
        "tools": [
            {"name": spec.name, "description": spec.description, "parameters": dict(spec.parameters)}
            for spec in request.tools
        ],
        "schema": dict(request.schema) if request.schema else None,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }


def _call_to_json(call: ToolCallRequest) -> dict[str, JsonValue]:
    return {"name": call.name, "arguments": dict(call.arguments), "id": call.id}


def _completion_to_json(completion: Completion) -> dict[str, JsonValue]:
    return {
        "text": completion.text,
        "tool_calls": [_call_to_json(call) for call in completion.tool_calls],
        "truncated": completion.truncated,
    }


def _completion_from_json(data: Mapping[str, Any]) -> Completion:
    calls = tuple(ToolCallRequest(call["name"], call["arguments"], call["id"]) for call in data["tool_calls"])
    return Completion(data["text"], calls, data["truncated"])
