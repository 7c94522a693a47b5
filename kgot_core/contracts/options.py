"""How a task is to be run, and where an element of its graph came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kgot_core.contracts.task import AnswerFormat, JsonSchema

ExtractForm: TypeAlias = Literal["auto", "statements", "facts"]


@dataclass(frozen=True)
class LoopLimits:
    """The loop's parameters with the paper's meaning and defaults (B.1, B.2, B.3.2).

    Attributes:
        num_next_steps_decision: Votes on Solve or Enhance in each iteration.
        max_retrieve_query_retry: New queries after one that could not be used, for a Solve.
        max_query_fixing_retry: Repairs of one statement that fails (the paper's ``max_cypher_fixing_retry``).
        max_final_solution_parsing: Samples of the final parse.
        max_tool_retries: Retries of a tool call whose error may pass.
        max_iterations: Enhance rounds.
        max_llm_attempts: Attempts of one model request.
    """

    num_next_steps_decision: int = 5
    max_retrieve_query_retry: int = 3
    max_query_fixing_retry: int = 3
    max_final_solution_parsing: int = 3
    max_tool_retries: int = 6
    max_iterations: int = 7
    max_llm_attempts: int = 6


@dataclass(frozen=True)
class Caps:
    """What a run may spend; ``None`` sets no limit.

    Attributes:
        max_cost: US dollars of all model requests.
        max_tokens: Prompt and reply tokens of all model requests.
        deadline: Seconds of wall time.
        reserve: Share of each cap that is kept for the last answer: the rest spent, the run solves from what is there.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    deadline: float | None = None
    reserve: float = 0.15

    def __bool__(self) -> bool:
        return any(cap is not None for cap in (self.max_cost, self.max_tokens, self.deadline))


@dataclass(frozen=True)
class Cleaning:
    """How noise is taken out of the graph (paper, B.6).

    Attributes:
        when: ``solve``: before a Solve; ``round``: duplicates also after each round; ``never``.
        irrelevant: A model is asked before a Solve what the task does not need.
        similarity: Cosine of two nodes' texts from which they say the same; above 1: by name only.
    """

    when: Literal["never", "solve", "round"] = "never"
    irrelevant: bool = True
    similarity: float = 0.95


@dataclass(frozen=True)
class RunOptions:
    """How a task is to be run.

    Attributes:
        limits: The loop's parameters.
        answer_format: ``plain``: prose in the question's language; ``gaia``: the bare value.
        answer_schema: JSON schema of the answer's value, if one was asked for.
        extract_form: ``statements``, ``facts`` or ``auto``.
        extract_max_tokens: Limit of an extraction's reply, ``None`` leaves it to the model's settings.
        vote_temperature: Sampling temperature of votes.
        choose_tools_votes: Samples of the choice of tools.
        final_votes: Whole solutions of the task that the final choice is made from.
        abstain_below: Agreement, 0 to 1, below which an answer is not given; 0 gives every answer.
        result_tokens: Tokens of all tool results together in one request.
        caps: What the run may spend.
        check_sources: What a round writes is looked up in its sources.
        check_by_model: A model is asked about what is not found there, and what it rejects is removed.
        clean: How noise is taken out of the graph.
    """

    limits: LoopLimits = field(default_factory=LoopLimits)
    answer_format: AnswerFormat = "plain"
    answer_schema: JsonSchema | None = None
    extract_form: ExtractForm = "auto"
    extract_max_tokens: int | None = None
    vote_temperature: float = 0.7
    choose_tools_votes: int = 1
    final_votes: int = 1
    abstain_below: float = 0.0
    result_tokens: int = 12_000
    caps: Caps = field(default_factory=Caps)
    check_sources: bool = True
    check_by_model: bool = False
    clean: Cleaning = field(default_factory=Cleaning)


@dataclass(frozen=True)
class Origin:
    """Where an element came from.

    Attributes:
        sources: Steps of tool calls, ``task``, ``model``, or ``graph`` for what a given graph held.
        step: Place of the write in the run.
        iteration: Iteration of the write; 0 outside the loop.
        unsupported: Properties whose values do not stand in the sources: the model's own thought.
    """

    sources: tuple[str, ...]
    step: str
    iteration: int
    unsupported: tuple[str, ...] = ()
