"""Every event of a run as a frozen dataclass. A run is its event stream: all that is shown or resumed reads these.

An event's record is one JSON object ``{run, seq, at, step, kind, ...fields}``. Events whose class is a
:class:`CallEvent` are outside calls: they carry the hash of what was asked, and a repeated run is answered from them.
"""

from kgot_core.events.base import PARTS, SCHEMA_VERSION, CallEvent, Event
from kgot_core.events.calls import (
    CodeRan,
    GraphOpened,
    GraphQueried,
    GraphWritten,
    ModelCalled,
    OutsideCalled,
    TextsEmbedded,
    ToolCalled,
    ToolsOpened,
)
from kgot_core.events.course import (
    CapHit,
    IterationStarted,
    ModelRetried,
    Notice,
    RunFinished,
    RunResumed,
    RunStarted,
    SolveFailed,
    ToolRetried,
    ToolStarted,
    Voted,
)
from kgot_core.events.graph import (
    ElementRemoved,
    GraphState,
    SourcesChecked,
    StatementDropped,
    ValueReplaced,
)
from kgot_core.events.records import event_classes, from_record, request_hash, to_fields

__all__ = [
    "PARTS",
    "SCHEMA_VERSION",
    "CallEvent",
    "CapHit",
    "CodeRan",
    "ElementRemoved",
    "Event",
    "GraphOpened",
    "GraphQueried",
    "GraphState",
    "GraphWritten",
    "IterationStarted",
    "ModelCalled",
    "ModelRetried",
    "Notice",
    "OutsideCalled",
    "RunFinished",
    "RunResumed",
    "RunStarted",
    "SolveFailed",
    "SourcesChecked",
    "StatementDropped",
    "TextsEmbedded",
    "ToolCalled",
    "ToolRetried",
    "ToolStarted",
    "ToolsOpened",
    "ValueReplaced",
    "Voted",
    "event_classes",
    "from_record",
    "request_hash",
    "to_fields",
]
