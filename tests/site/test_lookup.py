"""The error lookup: what was recorded and documented is found, other messages are not, and the browser's twin agrees."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.catalog.load import everything
from harness.checks.base import all_checks
from harness.errors import SiteError
from harness.site import lookup
from harness.site.text import LANGUAGES, Words
from tests.checks.test_recorded import NEEDS_BATCH, RECORDED, VARIES, load

SCRIPT = Path(lookup.__file__).parent / "theme" / "assets" / "lookup.js"
RECORDINGS = {f"{path.stem}-{name}": facts for path in sorted(RECORDED.glob("*.json")) for name, facts in load(path).items()
              if VARIES.get((path.stem, name), facts["code"]) != "A799" and name not in NEEDS_BATCH}
QUOTED = [(bug.id, message.line, message.text) for bug in everything() for message in bug.file.messages if message.text]
UNRELATED = [
    "", "   \n", "the weather is nice today", "ZeroDivisionError: division by zero", "KeyError: 'rate'", "KeyError: 'price'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'report.txt'", "NameError: name 'x' is not defined",
    "ModuleNotFoundError: No module named 'flask'", "SyntaxError: invalid syntax", "IndexError: list index out of range",
    "AttributeError: 'Invoice' object has no attribute 'total'", "TypeError: main() missing 1 required positional argument: 'path'",
    "django.db.utils.OperationalError: no such table: auth_user", "requests.exceptions.ConnectionError: HTTPSConnectionPool: Max retries",
    "Traceback (most recent call last):\n  File \"app.py\", line 3, in <module>\n    run()\nValueError: too old",
]
TRACEBACK = """\
---------------------------------------------------------------------------
\x1b[0;31mValueError\x1b[0m                                Traceback (most recent call last)
Cell \x1b[0;32mIn[7], line 1\x1b[0m
\x1b[0;32m----> 1\x1b[0m trainer.train()

File \x1b[0;32m/lib/transformers/data/data_collator.py:154\x1b[0m, in torch_default_data_collator(features)
    153         else:
--> 154             batch[k] = torch.tensor([f[k] for f in features])

\x1b[0;31mValueError\x1b[0m: expected sequence of length 31 at dim 1 (got 40)
"""
CHAINED = """\
Traceback (most recent call last):
  File "train.py", line 9, in <module>
KeyError: 'loss'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "train.py", line 11, in <module>
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.79 GiB

"""
PASTED = [*(facts["message"] for facts in RECORDINGS.values()), *(f"{facts['type']}: {facts['message']}" for facts in RECORDINGS.values()),
          *(text for _, _, text in QUOTED), *UNRELATED, TRACEBACK, CHAINED, "x" * 60_000 + " " + TRACEBACK]


@pytest.mark.parametrize("name", RECORDINGS)
def test_what_libraries_really_say_is_found(name: str) -> None:
    facts = RECORDINGS[name]
    for text in (facts["message"], f"{facts['type']}: {facts['message']}"):
        assert facts["code"] in [answer.code for answer in lookup.find(text)]


@pytest.mark.parametrize(("bug", "line", "text"), QUOTED)
def test_what_a_specimen_says_leads_to_it(bug: str, line: str, text: str) -> None:
    found = lookup.find(text)
    assert found[0].bugs[0] == bug, line
    assert found[0].code in {script.check for script in next(one for one in everything() if one.id == bug).file.scripts}


@pytest.mark.parametrize(("text", "code"), [
    ("Segmentation fault (core dumped)", "R603"), ("Fatal Python error: Segmentation fault\n\nThread 0x1 (most recent first):", "R603"),
    ("train.sh: line 3: 4711 Killed                  python train.py", "R601"), ("Killed", "R601")])
def test_what_a_shell_says_of_an_end_without_traceback(text: str, code: str) -> None:
    assert [answer.code for answer in lookup.find(text)] == [code]


@pytest.mark.parametrize("text", UNRELATED)
def test_other_messages_are_not_found(text: str) -> None:
    assert lookup.find(text) == []


def test_of_a_whole_traceback_the_last_exception_decides() -> None:
    assert lookup.find(TRACEBACK)[0] == lookup.Answer("B101", ("bug04",))
    assert lookup.find(CHAINED)[0] == lookup.Answer("R601", ("bug08",))
    # One that nothing is known of does not hide the one before it.
    assert lookup.find("KeyError: 'loss'\n\nDuring handling of the above exception, another exception occurred:\n\nRuntimeError: stopped")[
        0].bugs[0] == "bug01"
    assert lookup.find("a note\n" * 20_000 + "\nIndexError: Target 7 is out of bounds.")[0].bugs == ("bug06", "bug02")
    long = "ValueError: No gradients provided for any variable: ([" + "'weight:0', " * 9000 + "])"
    assert lookup.find(long)[0].bugs[0] == "bug01"


def test_at_most_three_and_the_more_specific_first() -> None:
    for text in PASTED:
        assert len(lookup.find(text)) <= lookup.MOST
    assert [answer.code for answer in lookup.find("DistilBertModel.forward() got an unexpected keyword argument 'labels'")][:2] == [
        "D102", "D101"]


@pytest.mark.parametrize("pattern", [r"a++", r"a{2}+b", r"(?>a)", r"(?i:a)", r"\Aa", r"a\Z", r"(?x)a", r"(a)(?(1)b)", r"[]a]", r"(?#a)"])
def test_what_javascript_does_not_know_is_an_error(pattern: str) -> None:
    with pytest.raises(SiteError, match="JavaScript"):
        lookup.to_javascript(pattern)


@pytest.mark.parametrize(("pattern", "source", "flags", "literal"), [
    (r"(?P<a>\w+) of (?P=a)", r"(?<a>\w+) of \k<a>", "", 4), (r"(?is)ab.*", r"ab.*", "is", 2), (r"a(?:bc|d)e?f", r"a(?:bc|d)e?f", "", 3),
    (r"a(?!bcd)e", r"a(?!bcd)e", "", 2), (r"\[x\] = [^\]]+", r"\[x\] = [^\]]+", "", 6), (r"(abc)?d{0,3}e*?f", r"(abc)?d{0,3}e*?f", "", 1),
    (r"one|three", r"one|three", "", 3)])
def test_a_pattern_in_javascript_and_its_weight(pattern: str, source: str, flags: str, literal: int) -> None:
    assert lookup.to_javascript(pattern) == (source, flags, literal)


def test_every_message_of_a_check_is_a_pattern_with_some_text() -> None:
    for check in all_checks():
        for pattern in check.messages:
            assert re.compile(pattern)
            assert lookup.to_javascript(pattern)[2] >= 3, (check.code, pattern)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_document_of_a_language(language: str) -> None:
    document = lookup.document(Words(language, {}))
    assert {entry["code"] for entry in document["patterns"]} == set(document["checks"])
    assert {bug for entry in document["patterns"] for bug in entry["bugs"]} <= set(document["bugs"])
    prefix = "../" if language == "en" else f"../{language}/"
    assert document["checks"]["L201"]["link"] == f"{prefix}checks/L201/"
    assert document["bugs"]["bug03"]["link"] == f"{prefix}bugs/bug03/"


def test_the_form_is_labelled_and_escaped() -> None:
    quoting = Words("it", {text: f'<{text}> "' for text in ("See it happen:", "Your error message, or the whole traceback")})
    text = lookup.html(quoting)
    assert 'data-index="lookup-it.json"' in text
    assert 'data-specimens="&lt;See it happen:&gt; &quot;"' in text
    assert re.search(r'<label for="([\w-]+)">', text)[1] == re.search(r'<textarea id="([\w-]+)"', text)[1]  # type: ignore[index]
    assert "aria-live" in text
    assert "<noscript>" in text
    assert "\n\n" not in text  # or Markdown would end the block


def test_the_script_makes_no_markup_of_text() -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", SCRIPT.read_text())


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_browsers_twin_agrees() -> None:
    runner = """
const lookup = require(process.argv[1]);
const { index, texts } = JSON.parse(require("fs").readFileSync(0, "utf8"));
index.patterns.forEach(({ pattern, flags }) => new RegExp(pattern, flags));
const compiled = lookup.compile(index);
console.log(JSON.stringify(texts.map((text) => lookup.find(text, compiled))));
"""
    given = json.dumps({"index": lookup.document(Words("en", {})), "texts": PASTED})
    done = subprocess.run(["node", "-e", runner, str(SCRIPT)], input=given, capture_output=True, text=True, timeout=120, check=True)
    for text, found in zip(PASTED, json.loads(done.stdout), strict=True):
        assert [(answer["code"], tuple(answer["bugs"])) for answer in found] == [
            (answer.code, answer.bugs) for answer in lookup.find(text)], text
