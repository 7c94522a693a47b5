"""The estimate of tokens against a real tokenizer (o200k_base): rather too many than too few."""

from __future__ import annotations

import csv
import io
import json
import random
import sys
from pathlib import Path

import bpe_openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kgot_core
from kgot_core.models.tokens import estimate_tokens

ENGLISH = """The harbour of Quillmouth was deepened twice in the nineteenth century, first under the engineer Edwin
Harcastle and then, after the storm of 1871, by a company from Rotterdam. Its lighthouse, rebuilt in 1903, can be seen
from thirty kilometres away. Although the fishing fleet has shrunk to eleven boats, the auction hall still opens at half
past four every morning except on Sundays; visitors are welcome, provided that they stand behind the yellow line."""
GERMAN = """Der Hafen wurde im neunzehnten Jahrhundert zweimal vertieft; die Hafenbehörde veröffentlichte darüber
ausführliche Untersuchungsberichte. Der Leuchtturm ist aus dreißig Kilometern Entfernung zu sehen, sofern die
Sichtverhältnisse es zulassen."""
CHINESE = (
    "知识图谱把信息表示为由实体和关系组成的三元组。通过不断加入新的事实，较小的语言模型也能够回答复杂的问题。"
    "这座城市位于河流的南岸，人口约为五十二万，以丝绸业和美食闻名。"
    "二十世纪初，电影的发明者曾在这里工作，他们的博物馆至今仍然对外开放。"
)
JAPANESE = (
    "知識グラフは、情報を実体と関係の三つ組として表します。新しい事実を少しずつ加えることで、"
    "小さな言語モデルでも難しい質問に答えられるようになります。"
    "この町は川の南側にあり、毎年秋に大きな祭りが開かれます。駅から港までは歩いて十五分ほどです。"
)
KOREAN = (
    "지식 그래프는 정보를 개체와 관계로 이루어진 세 쌍으로 나타냅니다. "
    "새로운 사실을 조금씩 더하면 작은 언어 모델도 어려운 질문에 답할 수 있습니다. "
    "이 도시는 강의 남쪽에 있으며 해마다 가을에 큰 축제가 열립니다. 역에서 항구까지는 걸어서 약 십오 분이 걸립니다."
)
CYPHER = """MERGE (f:Film {title: 'The Lantern', year: 1952})
MERGE (p:Person {name: 'Nora Vale', born: date('1921-04-09')})
MERGE (p)-[:ACTED_IN {role: 'the keeper', billing: 1}]->(f)
MATCH (p:Person)-[r:ACTED_IN]->(f:Film) WHERE f.year < 1960
RETURN p.name, count(f) AS films ORDER BY films DESC LIMIT 5"""
SPARQL = """PREFIX kg: <https://example.org/kg/>
INSERT DATA { kg:Lantern a kg:Film ; kg:title "The Lantern"@en ; kg:year 1952 ; kg:starring kg:Nora , kg:IdaMoss . }"""


def code() -> str:
    sources = sorted(Path(kgot_core.__file__).parent.glob("contracts/*.py"))
    return "\n".join(path.read_text(encoding="utf-8") for path in sources)


def rows() -> list[dict[str, object]]:
    draw = random.Random(7)
    names = ["Nora Vale", "Ida Moss", "Ola Brandt", "Edwin Harcastle", "Quillmouth", "Portello"]
    return [
        {
            "id": number,
            "name": draw.choice(names),
            "population": draw.randrange(10**6),
            "ratio": round(draw.random(), 4),
        }
        for number in range(60)
    ]


def table() -> str:
    target = io.StringIO()
    writer = csv.DictWriter(target, ["id", "name", "population", "ratio"])
    writer.writeheader()
    writer.writerows(rows())
    return target.getvalue()


SAMPLES = {
    "English": ENGLISH,
    "German": GERMAN,
    "Python": code(),
    "JSON": json.dumps(rows()),
    "indented JSON": json.dumps(rows(), indent=2),
    "CSV": table(),
    "Cypher": CYPHER,
    "SPARQL": SPARQL,
    "Chinese": CHINESE,
    "Japanese": JAPANESE,
    "Korean": KOREAN,
}


@pytest.fixture(scope="module")
def encoding() -> bpe_openai.Encoding:
    return bpe_openai.get_encoding("o200k_base")


@pytest.mark.parametrize("kind", SAMPLES)
def test_not_too_few_and_not_far_too_many(kind: str, encoding: bpe_openai.Encoding) -> None:
    text = SAMPLES[kind]
    ratio = estimate_tokens(text) / len(encoding.encode_ordinary(text))
    assert 0.95 <= ratio <= 1.5, f"{kind}: {ratio:.2f}"


def test_nothing_is_nothing() -> None:
    assert estimate_tokens("") == 0


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_not_fewer_tokens(first: str, second: str) -> None:
    both = estimate_tokens(first + " " + second)
    assert both >= estimate_tokens(first) - 1
    assert (both > 0) and both <= estimate_tokens(first) + estimate_tokens(second) + 4


@given(st.text(min_size=1, max_size=300))
def test_never_nothing_for_something_and_bounded(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= 3 * len(text)


def test_it_needs_no_tokenizer() -> None:
    assert "tiktoken" not in (estimate_tokens.__module__, *vars(sys.modules[estimate_tokens.__module__]))
