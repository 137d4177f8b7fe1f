"""Chromium for tests, driven through a pipe: no driver, no port, no package.

It reads commands from file descriptor 3 and writes answers and events to 4, each a JSON text that
ends with a zero byte.
"""

import json
import os
import select
import shutil
import subprocess
import sys
import time
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
# Puts the two ends where Chromium looks for them, and becomes Chromium.
LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)
PATIENCE = 60.0


def chromium() -> str | None:
    """Where it is, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


class Browser:
    """One tab, and everything that it reported."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        ends = [fcntl(end, F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *map(str, ends), *command],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
        self.events: list[dict[str, Any]] = []
        self.number, self.rest, self.session = 0, b"", None
        try:
            self._begin()
        except (AssertionError, OSError):
            self._leave()
            raise

    def _begin(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self.session = None
        self.call("Browser.close")
        self._leave()

    def _leave(self) -> None:
        try:
            self.process.wait(5.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """A command of the DevTools protocol."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(PATIENCE)
            assert answer is not None, f"no answer to {method}"
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)

    def _next(self, patience: float) -> dict[str, Any] | None:
        until = time.monotonic() + patience
        while b"\0" not in self.rest:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                return None
            part = os.read(self.into, 1 << 20)
            assert part, "the browser is gone"
            self.rest += part
        first, self.rest = self.rest.split(b"\0", 1)
        return json.loads(first)

    def open(
        self, page: Path | str, width: int = 1000, theme: str = "light", media: str = ""
    ) -> None:
        """Shows a file or an address, drawn and at rest; earlier reports are forgotten."""
        self.show(width, theme, media)
        self.events.clear()
        self.call("Page.navigate", url=page if isinstance(page, str) else page.as_uri())
        until = time.monotonic() + PATIENCE
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < until, "the page does not load"
            if event := self._next(1.0):
                self.events.append(event)
        self.rest_a_moment()

    def show(self, width: int = 1000, theme: str = "light", media: str = "") -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def rest_a_moment(self) -> None:
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        pressed = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else more
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **{**more, **pressed})

    def click(self, x: float, y: float) -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.mouse(kind, x, y)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.mouse("mouseMoved", *start)
        self.mouse("mousePressed", *start)
        self.mouse("mouseMoved", *end, button="left", buttons=1)
        self.mouse("mouseReleased", *end)

    def key(self, name: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, windowsVirtualKeyCode=code)

    def complaints(self) -> list[Any]:
        """Errors, warnings and what a script could not do."""
        wrong = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [event["params"] for event in self.events if event["method"] in wrong]

    def requests(self) -> list[str]:
        """What the page asked for, itself included."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        ]


def box(browser: Browser, element: str) -> dict[str, float]:
    """Where an element is, scrolled into sight."""
    found: dict[str, float] = browser.run(
        f"(() => {{ const e = {element};"
        "e.scrollIntoView({block: 'center', behavior: 'instant'});"
        "const b = e.getBoundingClientRect();"
        "return {x: b.left, y: b.top, width: b.width, height: b.height}; })()"
    )
    return found


def middle(browser: Browser, element: str) -> tuple[float, float]:
    at = box(browser, element)
    return at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
