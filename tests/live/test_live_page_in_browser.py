"""The page of a live study in a browser. Without Chromium, its tests are skipped with a reason."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import gameproof as gp
from browser import Browser, middle
from gameproof.live.study import Study
from gameproof.live.study_table import problem_from_table
from gameproof.live.tokens import Scope, TokenFile
from gameproof.tables.made_up_people import made_up_people
from live_service import eventually, served
from studies import answer, complete, problem

SETTINGS = {"method": "ogda-rr", "batch": 20, "seed": 3, "max_answers": 60}
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    with gp.live.create(tmp_path / "study.db", problem(), name="credit", **SETTINGS) as made:
        yield made


def text(browser: Browser, name: str) -> str:
    found: str = browser.run(f"document.getElementById('{name}').textContent")
    return found


def opened(browser: Browser, url: str, **look) -> None:
    """Opens the page and waits until it shows the study and its people."""
    browser.open("about:blank")  # the page of a service that ended would still complain
    browser.open(url, **look)
    eventually(lambda: text(browser, "updated") != "never" and text(browser, "asked"))
    browser.rest_a_moment()


def press(browser: Browser, name: str) -> None:
    browser.click(*middle(browser, f"document.getElementById('{name}')"))


def write(browser: Browser, name: str, value: str) -> None:
    browser.run(f"document.getElementById('{name}').focus()")
    browser.call("Input.insertText", text=value)


def tell(study: Study, limit: int) -> list[gp.live.LiveQuestion]:
    questions = study.ask(limit=limit, holder="interviewer 1", advance=False)
    for question in questions:
        study.tell(question.id, answer(study, question))
    return questions


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_loads_nothing_from_elsewhere_and_complains_about_nothing(
    browser, study, theme
) -> None:
    tell(study, 4)
    with served(study) as url:
        opened(browser, url, theme=theme)
        assert browser.complaints() == []
        assert {request.startswith(url) for request in browser.requests()} == {True}
        assert text(browser, "name") == "credit"
        assert "4 answers at 1 deployment" in text(browser, "sentence")
        assert browser.run("document.querySelectorAll('figure.chart svg').length") > 0


def test_answers_appear_without_reloading(browser, study) -> None:
    with served(study) as url:
        opened(browser, url)
        assert "0 answers" in text(browser, "sentence")
        assert "No answer has arrived yet" in text(browser, "arrival")
        told = tell(study, 3)
        eventually(lambda: "3 answers" in text(browser, "sentence"))
        assert "3 answers count" in text(browser, "arrival")
        eventually(lambda: "3 answered" in text(browser, "asked"))
        assert str(told[0].agent) in text(browser, "people")
        # What the chart shows is in a table too.
        counted = "document.querySelector('#arrival-table tbody tr:last-child td').textContent"
        assert browser.run(counted) == "3"
        assert browser.complaints() == []


def test_a_finished_study_shows_what_it_recommends(browser, study) -> None:
    complete(study)
    risk = study.recommend().risk
    with served(study) as url:
        opened(browser, url)
        eventually(lambda: f"worst-case risk {risk.value:.3f}" in text(browser, "quality"))
        assert f"between {risk.low:.3f} and {risk.high:.3f}" in text(browser, "quality")
        assert "Finished" in text(browser, "sentence")
        assert browser.run("document.getElementById('actions').hidden")
        rows = browser.run("document.querySelectorAll('#quality-table tbody tr').length")
        assert rows == study.status().n_deployments
        assert browser.complaints() == []


def test_pausing_asks_first_and_keeps_the_reason(browser, study) -> None:
    with served(study) as url:
        opened(browser, url)
        press(browser, "pause")
        browser.key("Escape", 27)  # changed their mind
        assert not browser.run("document.getElementById('confirm').open")
        assert study.status().state == "asking"
        press(browser, "pause")
        write(browser, "reason", "holidays")
        press(browser, "confirm-yes")
        eventually(lambda: text(browser, "banner") == "Paused.")
        assert study.status().state == "paused"
        assert "holidays" in study.ledger.events(study.id, ["paused"])[0].body
        press(browser, "pause")
        press(browser, "confirm-yes")
        eventually(lambda: text(browser, "banner") == "Live.")
        assert study.status().state == "asking"


def test_a_deployment_is_closed_after_a_confirmation(browser, study) -> None:
    with served(study) as url:
        opened(browser, url)
        assert browser.run("document.getElementById('close').disabled")
        tell(study, 2)
        eventually(lambda: not browser.run("document.getElementById('close').disabled"))
        press(browser, "close")
        assert "have not answered" in text(browser, "confirm-text")
        press(browser, "confirm-no")
        assert study.deployment.number == 0
        press(browser, "close")
        press(browser, "confirm-yes")
        eventually(lambda: "Deployment 1" in text(browser, "shown"))
        eventually(lambda: "silent" in text(browser, "missing"))
        assert study.deployment.number == 1


def test_an_answer_is_withdrawn_with_a_reason(browser, study) -> None:
    tell(study, 2)
    with served(study) as url:
        opened(browser, url)
        browser.click(*middle(browser, "document.querySelector('#newest button')"))
        press(browser, "confirm-yes")  # the reason is missing
        assert browser.run("document.getElementById('confirm').open")
        assert study.status().n_withdrawn == 0
        write(browser, "reason", "wrong person")
        press(browser, "confirm-yes")
        eventually(lambda: "withdrawn" in text(browser, "newest"))
        assert study.status().n_withdrawn == 1


def test_a_refusal_is_shown(browser, study) -> None:
    tell(study, 2)
    with served(study) as url:
        opened(browser, url)
        press(browser, "close")
        study.close_deployment()  # somebody else is faster
        press(browser, "confirm-yes")
        eventually(lambda: "not the current one" in text(browser, "failure"))


def test_the_keyboard_reaches_every_action(browser, study) -> None:
    tell(study, 2)
    with served(study) as url:
        opened(browser, url)
        seen = []
        for _ in range(60):
            browser.key("Tab", 9)
            seen.append(
                browser.run(
                    "(() => { const e = document.activeElement;"
                    "return [e.id || e.className || e.dataset.key || e.tagName,"
                    "parseFloat(getComputedStyle(e).outlineWidth)]; })()"
                )
            )
        names = {name for name, _ in seen}
        assert {"skip", "theme", "pause", "close", "deployment", "state", "search"} <= names
        assert any(name.startswith("newest-") for name in names)
        assert all(width >= 2 for name, width in seen if name != "BODY")
        browser.run("document.getElementById('pause').focus()")
        browser.run("document.activeElement.click()")
        assert browser.run("document.activeElement.id") == "reason"


def test_focus_and_open_tables_survive_an_update(browser, study) -> None:
    tell(study, 2)
    with served(study) as url:
        opened(browser, url)
        browser.run("document.querySelector('#arrival-table details').open = true")
        browser.run("document.querySelector('#newest button').focus()")
        held = browser.run("document.activeElement.dataset.key")
        tell(study, 3)
        eventually(lambda: "5 answers" in text(browser, "sentence"))
        browser.rest_a_moment()
        assert browser.run("document.activeElement.dataset.key") == held
        assert browser.run("document.querySelector('#arrival-table details').open")


def test_people_are_filtered_and_shown_page_by_page(browser, tmp_path) -> None:
    options = {"method": "ogda-rr", "batch": 60, "max_answers": 200}
    with gp.live.create(tmp_path / "s.db", problem(n=200), **options) as study:
        told = tell(study, 5)
        with served(study) as url:
            opened(browser, url)
            assert text(browser, "range").startswith("1 to 12 of ")
            press(browser, "further")
            eventually(lambda: text(browser, "range").startswith("13 to 24 of "))
            browser.run(
                "(() => { const s = document.getElementById('state'); s.value = 'answered';"
                "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
            )
            eventually(lambda: text(browser, "range") == "1 to 5 of 5")
            write(browser, "search", str(told[0].agent))
            eventually(lambda: text(browser, "range").endswith("of 1"))
            write(browser, "deployment", "9")
            eventually(lambda: "no deployment 9" in text(browser, "asked"))


def test_a_token_is_asked_for_and_kept_in_this_tab_only(browser, study, tmp_path) -> None:
    tokens = TokenFile(tmp_path / "tokens.json")
    reader, manager = (tokens.add("reader", [Scope.READ]), tokens.add("all", Scope))
    with served(study, tokens=tokens) as url:
        browser.open(url)
        eventually(lambda: not browser.run("document.getElementById('access').hidden"))
        assert browser.run("document.getElementById('study').hidden")
        write(browser, "token", "gplive_wrong")
        press(browser, "access-open")
        eventually(lambda: "needs a valid token" in text(browser, "banner"))
        write(browser, "token", reader)
        press(browser, "access-open")
        eventually(lambda: not browser.run("document.getElementById('study').hidden"))
        assert browser.run("document.getElementById('actions').hidden")
        assert browser.run("document.querySelectorAll('#people button').length") == 0
        assert browser.run("Object.values(sessionStorage)") == [reader]
        assert browser.run("localStorage.length") == 0
        assert browser.run("document.cookie") == ""
        assert all(reader not in request for request in browser.requests())
        browser.run(f"sessionStorage.setItem('gameproof-token', {json.dumps(manager)})")
        opened(browser, url)
        assert not browser.run("document.getElementById('actions').hidden")
        tokens.revoke("all")
        press(browser, "pause")
        press(browser, "confirm-yes")
        eventually(lambda: not browser.run("document.getElementById('access').hidden"))
        assert study.status().state == "asking"
        browser.run("sessionStorage.clear()")


def test_a_service_that_returns_is_found_again(browser, study) -> None:
    with served(study) as url:
        opened(browser, url)
    eventually(lambda: "lost" in browser.run("document.getElementById('banner').className"))
    tell(study, 1)
    with served_at(study, url):
        eventually(lambda: text(browser, "banner") == "Live.")
        eventually(lambda: "1 answer at" in text(browser, "sentence"))


def served_at(study: Study, url: str):
    return served(study, port=int(url.rstrip("/").rpartition(":")[2]))


@pytest.mark.parametrize("state", ["asking", "paused", "finished"])
def test_a_phone_needs_no_sideways_scrolling(browser, tmp_path, state) -> None:
    people = made_up_people(200)
    people["id"] = [f"{HOSTILE} Maximiliana-Alexandrina {person}" * 2 for person in people["id"]]
    task, table = problem_from_table(
        people, target="repaid", favourable="yes", budgets=["savings"], key="id"
    )
    name = f"{HOSTILE} " + "a_very_long_name_" * 8
    made = gp.live.create(tmp_path / "s.db", task, name=name, table=table, **SETTINGS)
    with made as study:
        if state == "finished":
            complete(study)
        else:
            tell(study, 3)
        if state == "paused":
            study.pause()
        with served(study) as url:
            opened(browser, url, width=390)
            browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            browser.rest_a_moment()
            assert browser.run("document.documentElement.scrollWidth") == 390
            assert browser.run("innerWidth") == 390
            # Names are shown as text, whatever they contain.
            assert HOSTILE in text(browser, "people")
            assert browser.run("document.querySelectorAll('main img').length") == 0
            assert "savings" in text(browser, "model")
            assert browser.complaints() == []


def test_the_page_describes_itself_for_screen_readers(browser, study) -> None:
    tell(study, 3)
    with served(study) as url:
        opened(browser, url)
        assert browser.run("document.querySelectorAll('h1').length") == 1
        nameless = (
            "[...document.querySelectorAll('button, input, select')].filter(e =>"
            "!(e.getAttribute('aria-label') || e.textContent.trim() || (e.labels || []).length))"
            ".map(e => e.id)"
        )
        assert browser.run(nameless) == []
        bare = (
            "[...document.querySelectorAll('figure.chart')].filter(f =>"
            "!(f.querySelector('[role=img]').getAttribute('aria-label').length > 20)"
            "|| !f.closest('section').querySelector('details table')).length"
        )
        assert browser.run(bare) == 0
        ids = "[...document.querySelectorAll('[id]')].map(e => e.id)"
        assert browser.run(f"new Set({ids}).size === {ids}.length")
