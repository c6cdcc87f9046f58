"""The documents say what the program does: commands run, tables agree with the code, links lead on."""

from __future__ import annotations

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main

from sheets_host import cli
from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.purse import Fault
from sheets_host.game.rulings import SWITCHES
from sheets_host.tabs.layout import ENTRY_TABS, HOST_TABS, TITLES
from sheets_host.tabs.settings import NAMES
from tests.command import here, run

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "sheets_host"
README: Final = ROOT / "README.md"
DOCUMENTS: Final = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
)
PARSER: Final[Any] = typer.main.get_command(cli.app)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def rows(path: Path, *headers: str) -> list[list[str]]:
    """Return the body of every table that has these headers, cells without their backticks' edges."""
    found: list[list[str]] = []
    inside = False
    for line in text_of(path).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif tuple(cells) == headers:
            inside = True
        elif inside and not set(line) <= set("|-"):
            found.append(cells)
    assert found, f"{path.name} has no table {headers}"
    return found


def code(text: str) -> list[str]:
    """Return what stands between backticks in a cell or in sentences."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"(?m)^```[^`]*^```$", "", text))


def blocks(path: Path, kind: str = "") -> list[str]:
    """Return the fenced blocks of a kind, their indent taken off."""
    pattern = rf"^( *)```{kind}\n(.*?)^\1```$"
    found = re.findall(pattern, text_of(path), re.MULTILINE | re.DOTALL)
    return [
        "\n".join(line.removeprefix(indent) for line in body.splitlines()) for indent, body in found
    ]


def type_in(workbook: Path, cell: str, bid: float) -> None:
    """Type a bid as a player does, with another program."""
    import openpyxl

    book = openpyxl.load_workbook(workbook)
    book["Bids"][cell] = bid
    book.save(workbook)


def options(verb: str) -> set[str]:
    """Return a verb's long options, but for --help."""
    return {
        name
        for parameter in PARSER.commands[verb].params
        for name in parameter.opts
        if name.startswith("--")
    } - {"--help"}


# --- commands ----------------------------------------------------------------------------------


def commands() -> Iterator[Any]:
    for path in DOCUMENTS:
        for block in blocks(path):
            for line in block.splitlines():
                if line.startswith("sheets-host "):
                    yield pytest.param(line, id=f"{path.stem}: {line[12:50]}")
    for path in DOCUMENTS:
        for line in re.findall(r"`(sheets-host [a-z][^`]*)`", text_of(path)):
            yield pytest.param(line, id=f"{path.stem}, in a sentence: {line[12:50]}")


@pytest.mark.parametrize("line", tuple(commands()))
def test_command__is_one_that_the_parser_takes(line: str) -> None:
    verb, *words = shlex.split(line)[1:]
    assert verb in PARSER.commands
    if not words or "--help" in words:  # the verb alone, named in a sentence
        return
    PARSER.commands[verb].make_context(verb, words)


def test_commands_table__names_every_verb_with_its_options() -> None:
    table = {
        code(command)[0].split()[0]: set(code(named))
        for command, named, _ in rows(README, "Command", "Options", "What it does")
    }
    assert table == {verb: options(verb) for verb in PARSER.commands}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_options_in_sentences__exist(path: Path) -> None:
    known = {"--version", "--help"}.union(*map(options, PARSER.commands))
    others = {"--quiet", "--check", "--port", "--who"}  # of pip, ruff and the emulator
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text_of(path))) <= known | others


def test_exit_codes__are_those_of_the_command() -> None:
    told = [int(number) for number, _ in rows(README, "Code", "Meaning")]
    assert told == [cli.OK, cli.PROBLEMS, cli.USAGE, cli.UNREACHABLE, cli.BROKEN]


def test_ten_lines__play_a_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = text_of(README).split("## A whole match in ten lines", 1)[1]
    lines = section.split("```")[1].strip().splitlines()
    assert len(lines) == 10
    monkeypatch.chdir(tmp_path)
    for number, line in enumerate(lines):
        done = here(*shlex.split(line)[1:])
        assert done.code == 0, (line, done.err)
        if number == 0:  # a player types, as step 2 says
            type_in(Path("match.xlsx"), "E7", 12)
    assert "Record verifies" in done.said
    assert "Ann" in here("announce", "match.xlsx", "--round", "1").out


def test_set_up__is_one_line_each() -> None:
    lines = re.findall(r"^    (python3 -m venv .*)$", text_of(README), re.MULTILINE)
    assert lines == [
        "python3 -m venv .venv && .venv/bin/pip install --quiet . && .venv/bin/sheets-host demo",
        "python3 -m venv .venv && .venv/bin/pip install --quiet -e '.[test]' && .venv/bin/pytest",
    ]


def test_set_up__ci_runs_the_test_command_of_the_readme() -> None:
    sed = re.search(r"sed -n 's/(.+)/\\1/p' README\.md", text_of(ROOT / ".ci" / "run"))
    assert sed
    pattern = sed[1].replace(r"\(", "(").replace(r"\)", ")")
    assert len(re.findall(pattern, text_of(README), re.MULTILINE)) == 1


def test_set_up__extras_exist() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    for path in DOCUMENTS:
        for named in re.findall(r"'\.\[([a-z,]+)\]'", text_of(path)):
            assert set(named.split(",")) <= set(extras), path.name


def test_set_up__the_demo_ends_where_the_readme_says(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    assert done.code == 0, done.err
    [name] = re.findall(r"leaves\s+`([^`]+\.xlsx)`", text_of(README))
    assert (tmp_path / name).is_file()


def test_json__has_the_keys_that_the_readme_shows(tmp_path: Path) -> None:
    [shown] = blocks(README, "json")
    game = tmp_path / "game.xlsx"
    assert here("new", game, "--player", "Ann").code == 0
    type_in(game, "E7", 12)
    assert here("sync", game, "--close", "1").code == 0
    type_in(game, "E15", 5.5)
    printed = here("check", game, "--json").json
    assert _shape(printed) == _shape(json.loads(shown))


def _shape(value: Any) -> Any:
    """Return the keys of a JSON value, of lists the first entry's; values are left out."""
    if isinstance(value, dict):
        return {key: _shape(inner) for key, inner in value.items()}
    return [_shape(value[0])] if isinstance(value, list) and value else None


# --- tables ------------------------------------------------------------------------------------


def test_tabs__are_all_told_with_their_owner() -> None:
    owners = dict.fromkeys(TITLES, "tool") | dict.fromkeys(HOST_TABS, "host")
    owners |= dict.fromkeys(ENTRY_TABS, "players")
    told = [
        (code(tab)[0], owner) for tab, owner, _ in rows(README, "Tab", "Whose", "What it is for")
    ]
    assert told == [(title, owners[title]) for title in TITLES]


def test_switches__are_those_of_the_rules() -> None:
    told = [
        (code(name)[0], tuple(code(values)))
        for name, values, _ in rows(README, "Switch", "Values", "What it changes")
    ]
    assert told == [(switch.name, switch.values) for switch in SWITCHES]


def test_settings__are_all_told() -> None:
    told = {code(row[0])[0] for row in rows(README, "Switch", "Values", "What it changes")}
    for name, _ in rows(README, "Setting", "What it does"):
        first, *last = code(name)
        told |= {first.replace("1", str(n), 1) for n in range(1, 7)} if last else {first}
    assert told == set(NAMES)


def test_rulings__1_to_32_stand_once_each() -> None:
    told = [row[0] for row in rows(ROOT / "docs" / "rulings.md", "Id", "Question", "Answer")]
    assert sorted(told, key=lambda ruling: int(ruling[1:])) == [f"R{n}" for n in range(1, 33)]


def test_rulings__name_each_switch_with_its_values() -> None:
    rulings = ROOT / "docs" / "rulings.md"
    cells = [row[-1] for row in rows(rulings, "Id", "Question", "Answer")]
    cells += [row[-1] for row in rows(rulings, "#", "Worth", "Fulfilled by")]
    told = {}
    for cell in cells:
        _, marked, after = cell.partition("**Switch** ")
        if marked:
            name, *values = code(after)
            told[name] = tuple(values)
    assert told == {switch.name: switch.values for switch in SWITCHES}


def test_conditions__have_the_worth_of_the_rules() -> None:
    table = rows(ROOT / "docs" / "rulings.md", "#", "Worth", "Fulfilled by")
    told = [(int(number), int(worth)) for number, worth, _ in table]
    assert told == [(condition.number, condition.worth) for condition in CONDITIONS]


# --- problems ----------------------------------------------------------------------------------


@cache
def problem_codes() -> frozenset[str]:
    """Return every code that the source gives a problem.

    A function that passes its own parameter on as a code is followed to its callers. What is neither
    that nor a text, a name that texts are given to, or the code of another problem fails here, so
    that no code is missed.
    """
    modules = [ast.parse(text_of(path)) for path in PACKAGE.rglob("*.py")]
    functions = [
        node for module in modules for node in ast.walk(module) if isinstance(node, ast.FunctionDef)
    ]
    takers = {"Problem": (1, "code"), "Word": (0, "code")}
    codes: set[str] = set()
    while True:
        before = len(takers), len(codes)
        for function in functions:
            parameters = [argument.arg for argument in function.args.args]
            parameters = parameters[1:] if parameters[:1] == ["self"] else parameters
            for call in _calls(function):
                given = _code_of(call, takers)
                if isinstance(given, ast.Constant):
                    codes.add(str(given.value))
                elif isinstance(given, ast.Name) and given.id in parameters:
                    takers[function.name] = parameters.index(given.id), given.id
                    codes |= _default(function, given.id)
                elif isinstance(given, ast.Attribute) and given.attr == "value":
                    codes |= {fault.value for fault in Fault}
                elif isinstance(given, ast.Starred):
                    pass  # another call's message and hint, whose code stands before it
                elif isinstance(given, ast.Name) and _assigned(function, given.id):
                    codes |= _assigned(function, given.id)
                elif given is not None and not _is_anothers(given):
                    raise AssertionError(f"line {call.lineno}: {ast.unparse(call)}")
        if before == (len(takers), len(codes)):
            return frozenset(codes)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    """Return the calls in a function, those of functions within it left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from _calls(child)


def _code_of(call: ast.Call, takers: dict[str, tuple[int, str]]) -> ast.expr | None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in takers:
        return None
    position, keyword = takers[name]
    named = [word.value for word in call.keywords if word.arg == keyword]
    return named[0] if named else call.args[position] if len(call.args) > position else None


def _default(function: ast.FunctionDef, parameter: str) -> set[str]:
    arguments, defaults = function.args.args, function.args.defaults
    paired = zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)
    return {
        str(value.value)
        for argument, value in paired
        if argument.arg == parameter and isinstance(value, ast.Constant)
    }


def _assigned(function: ast.FunctionDef, name: str) -> set[str]:
    """Return the texts that a function gives to one of its names."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs += zip(target.elts, node.value.elts, strict=True)
                else:
                    pairs.append((target, node.value))
    return {
        str(value.value)
        for target, value in pairs
        if isinstance(target, ast.Name) and target.id == name and isinstance(value, ast.Constant)
    }


def _is_anothers(given: ast.expr) -> bool:
    return isinstance(given, ast.Attribute) and given.attr == "code"


def told_problems() -> list[list[str]]:
    return rows(
        ROOT / "docs" / "problems.md", "Code", "Kind", "What it means", "What to do", "Void"
    )


def test_problem_codes__are_found_in_the_source() -> None:
    assert {"not-whole", "over-budget", "setting-value", "sheet-shared"} <= problem_codes()


def test_problems__are_all_told_and_no_other() -> None:
    told = [code(row[0])[0] for row in told_problems()]
    assert len(told) == len(set(told))
    assert set(told) == problem_codes()


def test_problems__say_what_kind_they_are_and_what_voiding_does() -> None:
    for name, kind, means, todo, void in told_problems():
        assert kind in ("problem", "notice", "fault"), name
        assert means, name
        assert todo, name
        assert bool(void) == (kind == "problem"), name


def test_problems__of_a_messy_round_are_of_the_kind_told() -> None:
    kinds = {code(row[0])[0]: row[1] for row in told_problems()}
    printed = here("check", ROOT / "templates" / "round-3-with-mistakes.xlsx", "--json").json
    assert len(printed["problems"]) > 5
    for problem in printed["problems"]:
        assert kinds[problem["code"]] == problem["severity"]


# --- links and names ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_links__lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", text_of(path)):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.is_file(), target
        assert there.is_relative_to(ROOT), target
        assert not anchor or anchor in _anchors(there), target


def _anchors(path: Path) -> set[str]:
    """Return the headings of a document as links name them."""
    headings = re.findall(r"^#+ (.+)$", text_of(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_documents__are_all_reached_from_the_readme() -> None:
    linked = {
        (ROOT / target.partition("#")[0]).resolve()
        for target in re.findall(r"\]\(([^)]+)\)", text_of(README))
        if not target.startswith(("https://", "#"))
    }
    assert set(DOCUMENTS) - {README} <= linked


def test_contributing__names_files_that_are_there() -> None:
    named = code(text_of(ROOT / "CONTRIBUTING.md"))
    paths = [name for name in named if re.fullmatch(r"[\w./]+/[\w.]+", name)]
    assert len(paths) > 30
    for name in paths:
        assert (ROOT / name).exists() or (PACKAGE / name).exists(), name


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_documents__name_nothing_that_only_one_machine_has(path: Path) -> None:
    text = re.sub(r"https?://\S+", "", text_of(path))
    assert not re.findall(r"(?<![\w.~%\[])/[a-z]+/[\w./-]+", text), "a path from the root"
    assert not re.findall(r"\b[A-Z]:\\", text), "a path on a drive"
    for name in re.findall(r"[\w-]+\.md\b", text):
        assert list(ROOT.glob(name)) or list((ROOT / "docs").glob(name)), name
