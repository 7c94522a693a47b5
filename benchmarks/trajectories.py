"""Runs the standard trajectories against a scripted server on loopback and counts requests, tokens and time.

``Tn``: n Enhance rounds, then Solve. Every vote of the first n rounds says enhance, later ones solve. Each round calls
one tool (a model query), and the write that follows adds 6 nodes with four properties each and 5 edges with one. ``T7
forced``: every vote says enhance until the iteration limit.

Tokens are counted with the tokenizer o200k_base over tools, response schema and messages, each as JSON; ``n`` samples
of one request count once, in the reply tokens each. Billed tokens: a token in a prefix of 1,024 tokens or more that an
earlier request of the run sent byte for byte counts a quarter. ``seconds_at_0`` is the whole process with a server that
answers at once; ``seconds_at_200ms`` is from the first request to the last answer with a server that takes 0.2 s for
each.

``--voter`` puts all stages to another voter than ``majority``. With ``--dissent`` the third sample of each ballot says
otherwise than the rest, so that a judge has something to judge.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgot_core.testing.openai_server import OpenAIServer, Say

QUESTION = "In which year was the archive founded that keeps the letters of the architect of the oldest bridge?"
GOALS: Mapping[tuple[str, str], tuple[int, float, float]] = {
    ("T1", "query"): (7, 9_000, 6_000),
    ("T3", "query"): (15, 24_000, 12_500),
    ("T3", "direct"): (15, 24_000, 12_500),
    ("T7 forced", "query"): (31, 68_000, 28_000),
}
SHORTEST_CACHED = 1_024
PLACES = ("harbour", "station", "library", "garden", "tower", "market")


@dataclass(frozen=True)
class Trajectory:
    """What the votes say, and how the graph answers."""

    name: str
    rounds: int
    solver: str
    forced: bool = False


TRAJECTORIES = (
    Trajectory("T1", 1, "query"),
    Trajectory("T3", 3, "query"),
    Trajectory("T3", 3, "direct"),
    Trajectory("T7 forced", 7, "query", forced=True),
)


class Script:
    """Answers each kind of request; which kind it is stands in the request's own text."""

    def __init__(self, trajectory: Trajectory, dissent: bool = False) -> None:
        self._trajectory = trajectory
        self._dissent = dissent
        self._written = 0
        self._drawn: dict[tuple[str, int], Iterator[int]] = defaultdict(itertools.count)

    def __call__(self, payload: Mapping[str, Any], index: int) -> str | Say | list[str]:
        text = payload["messages"][-1]["content"]
        wanted = int(payload.get("n") or 1)
        if "Several attempts disagree" in text:
            right = "enhance" if self._missing else "(?:solve|1911)"
            chosen = re.findall(rf"<candidate number=.(\d+).>\s*{right}", text)
            return f"It follows from the graph.\nCHOICE: {chosen[0]}"
        if payload.get("tools"):
            question = f"What is known about the bridges of district {self._written + 1}?"
            return Say("", [("ask_llm", {"question": question})])
        if "Can the task be answered completely" in text:
            return self._samples("decide", wanted, self._vote(self._missing), self._vote(not self._missing))
        if "Write into the graph what the new information" in text:
            self._written += 1
            return write(self._written)
        if "Write one query" in text:
            return f"```python\n{QUERY}\n```"
        if "Answer the task from the graph" in text:
            return f"```\n1911\n```\nBASIS: {node(1, 0)}"
        if "You check whether a partial answer" in text:
            return "NO"
        if "You give the final answer" in text:
            parses = (f"VALUE: {year}\nThe archive was founded in {year}." for year in (1911, 1912))
            return self._samples("parse", wanted, *parses)
        return result(self._written + 1)

    @property
    def _missing(self) -> bool:
        return self._trajectory.forced or self._written < self._trajectory.rounds

    def _samples(self, stage: str, wanted: int, usual: str, other: str) -> list[str]:
        numbers = itertools.islice(self._drawn[stage, self._written], wanted)
        return [other if self._dissent and number == 2 else usual for number in numbers]

    def _vote(self, missing: bool) -> str:
        if missing:
            return f"ENHANCE\nThe bridges of district {self._written + 1} are not in the graph yet."
        if self._trajectory.solver == "direct":
            return f"SOLVE\nThe year is in the graph.\n```\n1911\n```\nBASIS: {node(1, 0)}"
        return f"SOLVE\nThe year is in the graph.\n```python\n{QUERY}\n```"


QUERY = 'result = [d["founded"] for n, d in G.nodes(data=True) if d.get("district") == 1][:1]'


def node(number: int, place: int) -> str:
    """Gives the key of a node of a round."""
    return f"{PLACES[place].title()} Bridge {number}"


def write(number: int) -> str:
    """Gives the statement of a round: 6 nodes with four properties, 5 edges with one."""
    lines = ["```python r1"]
    for place, word in enumerate(PLACES):
        key = node(number, place)
        lines.append(
            f'G.add_node("{key}", label="Bridge", name="{key}", district={number},'
            f' founded={1900 + 11 * number + place}, architect="{word.title()} Office {number}")'
        )
    for place in range(1, len(PLACES)):
        lines.append(
            f'G.add_edge("{node(number, 0)}", "{node(number, place)}", type="OLDER_THAN", years={place + number})'
        )
    return "\n".join([*lines, "```"])


def result(number: int) -> str:
    """Gives the text that the tool of a round returns."""
    return " ".join(
        f"The {node(number, place)} in district {number} was founded in {1900 + 11 * number + place} by"
        f" {word.title()} Office {number}; it is {place + number} years younger than the {node(number, 0)}."
        for place, word in enumerate(PLACES)
    )


def measure(trajectory: Trajectory, voting: str, voter: str, dissent: bool) -> dict[str, Any]:
    """Runs one trajectory twice: at once for tokens and process time, and with 0.2 s a request."""
    at_once, payloads = run(trajectory, voting, 0.0, voter, dissent)
    slow, _ = run(trajectory, voting, 0.2, voter, dissent)
    prompt, billed, cacheable = tokens(payloads)
    return {
        "trajectory": trajectory.name,
        "solver": trajectory.solver,
        "voting": voting,
        "voter": voter,
        "requests": len(payloads),
        "prompt_tokens": prompt,
        "billed_tokens": round(billed),
        "reply_tokens": round(at_once["reply_tokens"]),
        "cacheable_share": round(cacheable / prompt, 3),
        "seconds_at_0": round(at_once["process"], 2),
        "seconds_at_200ms": round(slow["model_phase"], 2),
    }


def run(
    trajectory: Trajectory, voting: str, delay: float, voter: str, dissent: bool
) -> tuple[dict[str, float], Sequence[Mapping[str, Any]]]:
    """Runs ``kgot run`` in a process of its own against the server."""
    import bpe_openai  # loads its tables, which those who take the trajectory alone do without

    refuse = ("n",) if voting == "sequential" else ()
    encoding = bpe_openai.get_encoding("o200k_base")
    script = Script(trajectory, dissent)
    with (
        OpenAIServer(script, refuse=refuse, delay=delay, count=lambda text: len(encoding.encode(text))) as server,
        tempfile.TemporaryDirectory() as out,
    ):
        options = {"models.graph.base_url": server.url, "backend": "networkx", "loop.max_iterations": 7}
        sets = [part for key, value in options.items() for part in ("--set", f"{key}={value}")]
        command = [sys.executable, "-m", "kgot_core", "run", QUESTION, "--model", "openai:scripted", "--quiet"]
        # The tools of the core alone: what else is installed would count as tokens of each request.
        command += ["--tool", "ask_llm", "--tool", "run_python_code"]
        command += ["--json", "--voter", voter, "--solver", trajectory.solver, "--out", out, *sets]
        env = {name: value for name, value in os.environ.items() if not name.startswith(("KGOT_", "OPENAI_"))}
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, cwd=out, env=env, check=False)
        process = time.perf_counter() - began
        if done.returncode or "1911" not in done.stdout:
            raise SystemExit(f"{trajectory.name} failed: {done.stdout}{done.stderr}")
        # The one request whose n is refused counts like every other.
        phase = max(entry.ended for entry in server.seen) - min(entry.started for entry in server.seen)
        replied = json.loads(done.stdout)["usage"]["output_tokens"]
        return {"process": process, "model_phase": phase, "reply_tokens": replied}, server.payloads


def tokens(payloads: Sequence[Mapping[str, Any]]) -> tuple[int, float, int]:
    """Counts prompt tokens, billed tokens, and those in a prefix that was sent before."""
    import bpe_openai

    encoding = bpe_openai.get_encoding("o200k_base")
    sent: list[str] = []
    prompt, billed, cacheable = 0, 0.0, 0
    for payload in payloads:
        parts = (payload.get("tools"), payload.get("response_format"), payload["messages"])
        text = "".join(json.dumps(part, ensure_ascii=False) for part in parts if part)
        size = len(encoding.encode(text))
        known = max((common(text, earlier) for earlier in sent), default=0)
        cached = len(encoding.encode(text[:known])) if known else 0
        cached = cached if cached >= SHORTEST_CACHED else 0
        prompt += size
        cacheable += cached
        billed += size - 0.75 * cached
        sent.append(text)
    return prompt, billed, cacheable


def common(left: str, right: str) -> int:
    """Gives the length of the common beginning of two texts."""
    size = min(len(left), len(right))
    return next((place for place in range(size) if left[place] != right[place]), size)


def main() -> None:
    """Prints the table, or rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one array of rows and nothing else")
    parser.add_argument("--only", help="measure trajectories whose name begins like this")
    parser.add_argument("--voter", action="append", help="the voter of all stages; may be repeated")
    parser.add_argument("--dissent", action="store_true", help="the third sample of each ballot says otherwise")
    given = parser.parse_args()
    chosen = [item for item in TRAJECTORIES if item.name.startswith(given.only or "")]
    rows = [
        measure(item, voting, voter, given.dissent)
        for item in chosen
        for voter in given.voter or ["majority"]
        for voting in ("one request", "sequential")
    ]
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"Question: {QUESTION}\nA write of a round:\n{write(1)}\nA tool's result:\n{result(1)}\n")
    numbers = ("requests", "prompt", "billed", "cached", "reply", "0 s", "0.2 s")
    print(f"{'':<10}{'solver':<8}{'voter':<11}{'voting':<12}" + "".join(f"{name:>9}" for name in numbers) + "  goal")
    for row in rows:
        requests, prompt, billed = GOALS[row["trajectory"], row["solver"]]
        print(
            f"{row['trajectory']:<10}{row['solver']:<8}{row['voter']:<11}{row['voting']:<12}{row['requests']:>9}"
            f"{row['prompt_tokens']:>9}{row['billed_tokens']:>9}{row['cacheable_share']:>9.2f}{row['reply_tokens']:>9}"
            f"{row['seconds_at_0']:>9.2f}{row['seconds_at_200ms']:>9.2f}"
            f"  {requests} requests, {prompt:.0f} prompt, {billed:.0f} billed"
        )


if __name__ == "__main__":
    main()
