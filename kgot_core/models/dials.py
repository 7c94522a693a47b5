"""How one chat model takes what a request asks for: by which arguments, under which names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kgot_core.contracts.model import Message, Request
from kgot_core.contracts.task import JsonSchema
from kgot_core.models.capabilities import Feature, Findings
from kgot_core.models.convert import to_langchain, tool_to_openai
from kgot_core.models.wording import in_turns, with_schema, with_tools, without_empty

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

Family: TypeAlias = Literal["openai", "ollama", "other"]

_LIMIT_FIELDS = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
_OPENAI_HOSTS = ("api.openai.com", "openai.azure.com")


@dataclass(frozen=True)
class Bound:
    """One request, ready to be sent.

    Attributes:
        model: The model, or a copy with other parameters.
        messages: The messages.
        arguments: Keyword arguments of the call.
        sent: Features that the request uses and that may be refused.
        limit_name: Name under which the limit of the reply's length is sent, empty where none is.
    """

    model: BaseChatModel
    messages: list[BaseMessage]
    arguments: Mapping[str, Any]
    sent: frozenset[Feature]
    limit_name: str


@dataclass
class _Draft:
    """A request that is being put together.

    Attributes:
        arguments: Arguments of the call.
        fields: Parameters that a copy of the model carries.
        body: Parameters that langchain-openai would rename or refuse on their way.
        sent: Features that are used.
    """

    arguments: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    sent: set[Feature] = field(default_factory=set)


def family_of(model: BaseChatModel) -> Family:
    """Tells how a model takes its parameters, by the names of its classes."""
    names = {base.__name__ for base in type(model).__mro__}
    if "BaseChatOpenAI" in names:
        return "openai"
    return "ollama" if "ChatOllama" in names else "other"


def is_official(address: str) -> bool:
    """Tells whether an address is OpenAI's own service, or that of Azure."""
    return any(host in address for host in _OPENAI_HOSTS)


def first_findings(model: BaseChatModel, address: str) -> Findings:
    """Gives what is known of a model before its first request.

    A model of another family offers what it declares as a field of its own: ``n``, ``temperature``, a limit,
    ``response_format``.
    """
    family, declared = family_of(model), type(model).model_fields
    if family == "openai":
        names = ["max_tokens", "max_completion_tokens"]  # most other servers know only the older name
        if is_official(address):
            names.reverse()
        if getattr(
            model, "use_responses_api", None
        ):  # that API knows no number of samples and renames the limit itself
            return Findings({Feature.SAMPLES}, ["max_tokens"])
        return Findings(set(), names)
    if family == "ollama":
        return Findings({Feature.SAMPLES}, ["num_predict"])
    lacks = set()
    if "n" not in declared:
        lacks.add(Feature.SAMPLES)
    return Findings(lacks, [name for name in _LIMIT_FIELDS if name in declared][:1])


class Dials:
    """Binds requests to one model.

    Args:
        model: The model.
        findings: What is known of it; read at each request.
        temperature: Temperature where a request sets none.
        max_tokens: Limit of the reply where a request sets none.
        tools_prompt: Text that describes tools in the prompt; the core's own where empty.
    """

    def __init__(
        self,
        model: BaseChatModel,
        findings: Findings,
        temperature: float | None = None,
        max_tokens: int | None = None,
        tools_prompt: str = "",
    ) -> None:
        self._model = model
        self._family = family_of(model)
        self._responses = bool(getattr(model, "use_responses_api", None))
        self._findings = findings
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._tools_prompt = tools_prompt

    def bind(self, request: Request, n: int) -> Bound:
        """Makes one request ready to be sent.

        Raises:
            NotImplementedError: The model has no tool calling.
        """
        draft = _Draft()
        if n > 1:
            draft.arguments["n"] = n
            draft.sent.add(Feature.SAMPLES)
        self._add_temperature(request, draft)
        limit_name = self._add_limit(request, draft)
        model = self._model
        if request.tools and Feature.TOOLS not in self._findings.lacks:
            model, arguments = self._with_tools(request)
            draft.arguments.update(arguments)
            draft.sent.add(Feature.TOOLS)
        if request.schema is not None and self._takes_schema():
            self._add_schema(request.schema, draft)
            draft.sent.add(Feature.SCHEMA)
        if Feature.ROLES not in self._findings.lacks:
            draft.sent.add(Feature.ROLES)
        if draft.body:
            draft.arguments["extra_body"] = {**(getattr(model, "extra_body", None) or {}), **draft.body}
        if draft.fields:
            model = model.model_copy(update=draft.fields)
        messages = to_langchain(self._worded(request, Feature.SCHEMA in draft.sent))
        return Bound(model, messages, draft.arguments, frozenset(draft.sent), limit_name)

    def foreseen(self, request: Request) -> list[Feature]:
        """Lists what a request asks for and the model is known not to take before it was ever asked."""
        declared, missing = type(self._model).model_fields, []
        if request.temperature is not None and "temperature" not in declared:
            missing.append(Feature.TEMPERATURE)
        if request.schema is not None and self._family == "other" and "response_format" not in declared:
            missing.append(Feature.SCHEMA)
        return missing

    def _add_temperature(self, request: Request, draft: _Draft) -> None:
        temperature = self._temperature if request.temperature is None else request.temperature
        if Feature.TEMPERATURE in self._findings.lacks:
            if getattr(self._model, "temperature", None) is not None:
                draft.fields["temperature"] = None
        elif temperature is not None and "temperature" in type(self._model).model_fields:
            (draft.fields if self._family == "ollama" else draft.arguments)["temperature"] = temperature
            draft.sent.add(Feature.TEMPERATURE)

    def _add_limit(self, request: Request, draft: _Draft) -> str:
        limit = self._max_tokens if request.max_tokens is None else request.max_tokens
        if limit is None or not self._findings.limit_names:
            return ""
        name = self._findings.limit_names[0]
        draft.sent.add(Feature.LIMIT)
        if self._family == "openai" and not self._responses:
            draft.body[name] = limit
            if getattr(self._model, "max_tokens", None) is not None:
                draft.fields["max_tokens"] = None  # it would be sent under another name beside this one
        else:
            (draft.fields if self._family == "ollama" else draft.arguments)[name] = limit
        return name

    def _takes_schema(self) -> bool:
        if Feature.SCHEMA in self._findings.lacks:
            return False
        return self._family != "other" or "response_format" in type(self._model).model_fields

    def _with_tools(self, request: Request) -> tuple[BaseChatModel, Mapping[str, Any]]:
        from langchain_core.language_models import BaseChatModel
        from langchain_core.runnables import RunnableBinding

        bound: Any = self._model.bind_tools([tool_to_openai(tool) for tool in request.tools])
        arguments: dict[str, Any] = {}
        while isinstance(bound, RunnableBinding):
            arguments = {**bound.kwargs, **arguments}
            bound = bound.bound
        if not isinstance(bound, BaseChatModel):
            raise NotImplementedError("bind_tools gives no chat model")
        return bound, arguments

    def _add_schema(self, schema: JsonSchema, draft: _Draft) -> None:
        if self._family == "ollama":
            draft.arguments["format"] = dict(schema)
            return
        shape = {"name": "reply", "schema": dict(schema), "strict": _is_strict(schema)}
        wanted = {"type": "json_schema", "json_schema": shape}
        # As an argument it would be validated by the openai package, which raises on a reply that was cut off.
        in_body = self._family == "openai" and not self._responses
        (draft.body if in_body else draft.arguments)["response_format"] = wanted

    def _worded(self, request: Request, schema_sent: bool) -> Sequence[Message]:
        messages: Sequence[Message] = request.messages
        if Feature.TOOLS in self._findings.lacks:
            messages = with_tools(messages, request.tools, self._tools_prompt)
        if request.schema is not None and not schema_sent:
            messages = with_schema(messages, request.schema)
        messages = without_empty(messages)
        return in_turns(messages) if Feature.ROLES in self._findings.lacks else messages


def _is_strict(schema: object) -> bool:
    """Tells whether a schema keeps the rules of OpenAI's strict mode: every object closed, every property required."""
    if isinstance(schema, Mapping):
        if schema.get("type") == "object" or "properties" in schema:
            properties = schema.get("properties")
            if not isinstance(properties, Mapping) or schema.get("additionalProperties") is not False:
                return False
            if set(schema.get("required", ())) != set(properties):
                return False
        return all(map(_is_strict, schema.values()))
    return all(map(_is_strict, schema)) if isinstance(schema, list | tuple) else True
