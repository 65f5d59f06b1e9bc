"""A real headless Chromium, driven over its debugging pipe: what a page loads, runs, shows and how wide it is.

Source: Chrome DevTools Protocol over `--remote-debugging-pipe`: JSON messages ended by a zero byte, read by the browser
from descriptor 3 and written to descriptor 4.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_TIMEOUT_S = 45.0


def find_browser() -> str | None:
    return next((found for found in map(shutil.which, NAMES) if found is not None), None)


@dataclass(slots=True)
class Visit:
    """What happened while a page was open."""

    requests: list[str] = field(default_factory=list)  # addresses, the page's own and data: left out
    dialogs: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)  # of the console: errors, and what the policy blocked


class Browser:
    """One browser with one tab. A name never resolves, so nothing leaves the machine whatever a page tries."""

    def __init__(self, executable: str, profile: Path) -> None:
        there, to_browser = os.pipe()
        from_browser, back = os.pipe()

        def at_3_and_4() -> None:
            low, high = fcntl.fcntl(there, fcntl.F_DUPFD, 10), fcntl.fcntl(back, fcntl.F_DUPFD, 10)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self._process = subprocess.Popen(
            [
                executable,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--no-default-browser-check",
                "--hide-scrollbars",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--user-data-dir={profile}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            pass_fds=(3, 4),
            preexec_fn=at_3_and_4,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(profile), "LANG": "C.UTF-8"},
        )
        os.close(there)
        os.close(back)
        self._to, self._from = to_browser, from_browser
        self._rest = b""
        self._id = 0
        self._tab = ""
        self._visit = Visit()
        self._loaded = False
        targets = self.send("Target.getTargets", is_for_tab=False)["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self._tab = self.send("Target.attachToTarget", is_for_tab=False, targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def open(self, path: Path, *, width: int = 1200, media: str = "screen", scheme: str = "light") -> Visit:
        """Open a file, wait until it is loaded, and return what happened."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)
        self._visit, self._loaded = Visit(), False
        self.send("Page.navigate", url=path.as_uri())
        self._until(lambda: self._loaded)
        return self._visit

    def value(self, expression: str) -> Any:
        """Evaluate an expression in the open page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    @property
    def text(self) -> str:
        """What a person can read without opening anything."""
        return str(self.value("document.body.innerText"))

    def screenshot(self, path: Path, *, height: int = 0) -> None:
        """Take a picture of the whole page, or of so many px of it from the top."""
        tall = height or int(self.value("document.documentElement.scrollHeight"))
        width = int(self.value("window.innerWidth"))
        clip = {"x": 0, "y": 0, "width": width, "height": tall, "scale": 1}
        answer = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(answer["data"]))

    def send(self, method: str, *, is_for_tab: bool = True, **params: Any) -> dict[str, Any]:
        """Send one command and return its answer; what happens meanwhile is noted."""
        self._id += 1
        message: dict[str, Any] = {"id": self._id, "method": method, "params": params}
        if is_for_tab:
            message["sessionId"] = self._tab
        os.write(self._to, json.dumps(message).encode() + b"\0")
        answers: list[dict[str, Any]] = []
        wanted = self._id
        self._until(lambda: bool(answers), lambda reply: answers.append(reply) if reply.get("id") == wanted else None)
        assert "error" not in answers[0], answers[0]
        result = answers[0]["result"]
        assert isinstance(result, dict)
        return result

    def _until(self, is_done: Any, on_message: Any = lambda message: None) -> None:
        ends = monotonic() + _TIMEOUT_S
        while not is_done():
            head, separator, rest = self._rest.partition(b"\0")
            if separator:
                self._rest = rest
                message = json.loads(head)
                on_message(message)
                self._note(message.get("method", ""), message.get("params", {}))
                continue
            ready, _, _ = select.select([self._from], [], [], max(0.0, ends - monotonic()))
            data = os.read(self._from, 1 << 20) if ready else b""
            assert data, "the browser does not answer"
            self._rest += data

    def _note(self, method: str, params: dict[str, Any]) -> None:
        visit = self._visit
        match method:
            case "Page.loadEventFired":
                self._loaded = True
            case "Page.javascriptDialogOpening":
                visit.dialogs.append(params["message"])
            case "Network.requestWillBeSent":
                url = params["request"]["url"]
                is_own = params.get("type") == "Document" and url.startswith("file:") and not visit.requests
                if not is_own and not url.startswith("data:"):
                    visit.requests.append(url)
            case "Log.entryAdded":
                visit.complaints.append(params["entry"]["text"])
            case "Runtime.exceptionThrown" | "Runtime.consoleAPICalled":
                visit.complaints.append(json.dumps(params)[:500])
            case _:
                pass

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._to)  # the browser ends by itself when its pipe is closed
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
