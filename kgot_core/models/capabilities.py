"""What a model or server was found not to offer, learnt at its first refusal."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgot_core.contracts.model import Completion
from kgot_core.graph.values import JsonValue
from kgot_core.models.faults import Facts


class Feature(enum.Enum):
    """Parts of a request that not every model takes."""

    SAMPLES = "samples"
    TEMPERATURE = "temperature"
    TOOLS = "tools"
    SCHEMA = "schema"
    LIMIT = "limit"
    ROLES = "roles"


_NOTICES: Mapping[Feature, str] = {
    Feature.SAMPLES: "gives one sample a request; several are asked one by one",
    Feature.TEMPERATURE: "takes no temperature; it samples at its own",
    Feature.TOOLS: "offers no tool calling; tools are described in the prompt and the choice is read from the text",
    Feature.SCHEMA: "takes no JSON schema; the schema is described in the prompt",
    Feature.LIMIT: "takes no limit of the reply's length; its own holds",
    Feature.ROLES: "takes only user and assistant messages in turn; messages are joined",
}

_MENTIONS: Mapping[Feature, re.Pattern[str]] = {
    Feature.LIMIT: re.compile(r"max_(completion_|output_|new_)?tokens|num_predict"),
    Feature.ROLES: re.compile(
        r"roles must alternate|system (role|message)s? (is |are )?not supported|unsupported role.{0,10}system",
        re.IGNORECASE,
    ),
    Feature.SCHEMA: re.compile(
        r"response_format|json_schema|json[ _]?schema|structured[ _-]?output|\bgrammar\b", re.IGNORECASE
    ),
    Feature.TOOLS: re.compile(r"\btools?\b|\btool_(choice|use)\b|\bfunctions?\b|function[ _-]call", re.IGNORECASE),
    Feature.TEMPERATURE: re.compile(r"\btemperature\b", re.IGNORECASE),
    Feature.SAMPLES: re.compile(
        r"(?<![\w.\\])n(?![\w.])"
        r"|(?i:\b(one|1|single|multiple|several) (completion )?(choices?|completions?|samples?|candidates?)\b)"
    ),
}
"""In the order in which a message is searched: the most telling first."""

_PARAMS: Mapping[str, Feature] = {
    "n": Feature.SAMPLES,
    "temperature": Feature.TEMPERATURE,
    "tools": Feature.TOOLS,
    "tool_choice": Feature.TOOLS,
    "functions": Feature.TOOLS,
    "response_format": Feature.SCHEMA,
    "format": Feature.SCHEMA,
    "max_tokens": Feature.LIMIT,
    "max_completion_tokens": Feature.LIMIT,
}
_LACKING = re.compile(
    r"support|requires?\b|allowed|unknown|unrecogni[sz]ed|unexpected|not implemented|disabled|must (be|alternate)",
    re.IGNORECASE,
)
_MOST_SILENT_OFFERS = 2
_KEYWORD = re.compile(r"unexpected keyword argument '(\w+)'")
_OTHER_FAULT = re.compile(r"tool_call_id|role ['\"]?tool|parsing tool call", re.IGNORECASE)
_TOO_LARGE = re.compile(r"too large|at most|less than|cannot exceed|maximum value", re.IGNORECASE)


def refused_feature(facts: Facts, sent: Collection[Feature]) -> Feature | None:
    """Tells which part of a request was refused, if the error says so.

    Args:
        facts: What the exception tells.
        sent: The parts that the request had.
    """
    keyword = _KEYWORD.search(facts.text)
    if keyword and "TypeError" in facts.names:
        return _of(_PARAMS.get(keyword[1]), sent)
    if facts.status in (400, 422):
        named = _PARAMS.get(re.split(r"[.\[]", facts.param)[0]) if facts.param else None
        if named in sent:
            return named
    elif facts.status not in (404, 424, 500, 501) or not _LACKING.search(facts.text):
        return None
    if _OTHER_FAULT.search(facts.text):
        return None
    return next((feature for feature, mark in _MENTIONS.items() if feature in sent and mark.search(facts.text)), None)


def too_large(facts: Facts) -> bool:
    """Tells whether a refused limit of the reply's length was only larger than the server allows."""
    return bool(_TOO_LARGE.search(facts.text))


def _of(feature: Feature | None, sent: Collection[Feature]) -> Feature | None:
    return feature if feature in sent else None


@dataclass
class Findings:
    """What is known of one model; belongs to one client and is shared by the runs that use it.

    Attributes:
        lacks: What the model does not offer.
        limit_names: Names under which the limit of the reply's length may be sent, the next one first.
        usage_missing: The server reports no token numbers.
        calls_tools: It called a tool, so it does see them.
        silent_offers: Offers of tools, one after another, to which it neither called nor named one.
    """

    lacks: set[Feature] = field(default_factory=set)
    limit_names: list[str] = field(default_factory=list)
    usage_missing: bool = False
    calls_tools: bool = False
    silent_offers: int = 0

    def to_json(self) -> dict[str, JsonValue]:
        """Gives the findings as JSON."""
        return {
            "lacks": [feature.value for feature in Feature if feature in self.lacks],
            "limit_names": list(self.limit_names),
            "usage_missing": self.usage_missing,
            "calls_tools": self.calls_tools,
            "silent_offers": self.silent_offers,
        }

    def take_in(self, known: Mapping[str, Any]) -> None:
        """Adds what was found out elsewhere, as :meth:`to_json` gave it; names that are not known here are skipped."""
        self.lacks |= {feature for feature in Feature if feature.value in known.get("lacks", ())}
        self.limit_names = [name for name in self.limit_names if name in known.get("limit_names", self.limit_names)]
        self.usage_missing = self.usage_missing or bool(known.get("usage_missing"))
        self.calls_tools = self.calls_tools or bool(known.get("calls_tools"))
        self.silent_offers = max(self.silent_offers, int(known.get("silent_offers", 0)))

    def miss(self, feature: Feature) -> str:
        """Records that a feature is missing.

        Returns:
            The notice for it, without the model's name; empty if it was known.
        """
        if feature in self.lacks:
            return ""
        self.lacks.add(feature)
        return _NOTICES[feature]

    def miss_limit(self, name: str, *, altogether: bool) -> str:
        """Records that the limit is not taken under a name, or, ``altogether``, not at all.

        Returns:
            The notice for it; empty while another name can be tried.
        """
        if altogether:
            self.limit_names.clear()
        elif name in self.limit_names:
            self.limit_names.remove(name)
        return "" if self.limit_names else self.miss(Feature.LIMIT)

    def miss_usage(self) -> str:
        """Records that token numbers are missing, and gives the notice the first time."""
        if self.usage_missing:
            return ""
        self.usage_missing = True
        return "reports no token numbers; they are estimated"

    def saw_offer(self, tools: Collection[str], completions: Collection[Completion]) -> str:
        """Learns from the answer to an offer of tools whether they were seen at all.

        A server whose template has no place for tools drops them without a word, and the model answers at random.

        Returns:
            The notice, once it is plain that they are not seen; else empty.
        """
        if self.calls_tools or Feature.TOOLS in self.lacks:
            return ""
        self.calls_tools = any(completion.tool_calls for completion in completions)
        named = any(name in completion.text for name in tools for completion in completions)
        self.silent_offers = 0 if self.calls_tools or named else self.silent_offers + 1
        return self.miss(Feature.TOOLS) if self.silent_offers >= _MOST_SILENT_OFFERS else ""
