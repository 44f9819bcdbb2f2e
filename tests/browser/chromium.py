"""A small DevTools client for Chromium over two pipes: enough to click, type, read and take screenshots.

What a report must never do (a request, a dialog, a violation of its policy, an error) is recorded in `wrong`.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SECONDS = 60.0
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    # One process renders all pages: each has one origin and no frames, so that nothing is kept apart by more of them.
    "--renderer-process-limit=1",
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
NOISE = ("https://chrome.", "chrome://")

Message = dict[str, Any]


def find_chromium() -> str | None:
    """Return the path of an installed browser, None if there is none."""
    for name in NAMES:
        executable = shutil.which(name)
        if executable:
            return executable
    return None


class BrowserError(Exception):
    """The browser refused a command, or a script in the page failed."""


class Browser:
    """One process; commands are answered one at a time."""

    def __init__(self, process: subprocess.Popen[bytes], to: int, of: int) -> None:
        self.process, self._to, self._of = process, to, of
        self._number, self._rest = 0, b""
        self.pages: dict[str, Page] = {}

    def call(self, method: str, session: str | None = None, **parameters: Any) -> Message:
        """Send a command and return its result; events that arrive in between go to their pages."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        number = self._number
        while True:
            reply = self._next(method)
            if reply.get("id") == number:
                if "error" in reply:
                    raise BrowserError(f"{method}: {reply['error']['message']}")
                result: Message = reply["result"]
                return result
            if (page := self.pages.get(reply.get("sessionId", ""))) is not None:
                page.note(reply["method"], reply["params"])

    def _next(self, waiting_for: str) -> Message:
        while b"\0" not in self._rest:
            if not select.select([self._of], [], [], SECONDS)[0]:
                raise BrowserError(f"{waiting_for}: no answer in {SECONDS:.0f} seconds")
            more = os.read(self._of, 1 << 20)
            if not more:
                raise BrowserError("the browser has gone")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\0")
        message: Message = json.loads(line)
        return message

    def open(self, path: Path, fragment: str = "", **look: Any) -> Page:
        """Open a file in a page of its own and wait until its cases are unpacked."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            page.call(f"{domain}.enable")
        page.look(**look)
        page.go(path.resolve().as_uri() + fragment)
        return page


class Page:
    """One page; `wrong` lists what it did that a report must not do."""

    def __init__(self, browser: Browser, session: str, target: str) -> None:
        self._browser, self._session, self._target = browser, session, target
        self.wrong: list[str] = []
        self._address = ""

    def call(self, method: str, **parameters: Any) -> Message:
        """Send this page a command."""
        return self._browser.call(method, self._session, **parameters)

    def note(self, event: str, message: Message) -> None:
        """Handle an event of this page."""
        if event == "Network.requestWillBeSent":
            url = message["request"]["url"]
            if url != self._address and not url.startswith((*NOISE, "data:")):
                self.wrong.append(f"request {url}")
        elif event == "Page.javascriptDialogOpening":
            self.wrong.append(f"dialog {message['message']}")
        elif event == "Runtime.exceptionThrown":
            self.wrong.append(f"exception {message['exceptionDetails']}")
        elif event == "Runtime.consoleAPICalled" and message["type"] in ("error", "warning", "assert"):
            self.wrong.append(f"console {message['args']}")
        elif event == "Log.entryAdded" and message["entry"]["level"] in ("error", "warning"):
            self.wrong.append(f"log {message['entry']['text']}")
        elif event == "Audits.issueAdded" and "contentSecurityPolicyIssueDetails" in message["issue"]["details"]:
            self.wrong.append(f"policy {message['issue']['details']['contentSecurityPolicyIssueDetails']}")

    def look(self, width: int = 1280, height: int = 900, *, dark: bool = False, language: str = "en") -> None:
        """Set the size of the window, the preferred colour scheme and the language of the browser."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        agent = self._browser.call("Browser.getVersion")["userAgent"]
        self.call("Network.setUserAgentOverride", userAgent=agent, acceptLanguage=language)

    def go(self, address: str) -> None:
        """Load an address and wait for the list of cases."""
        self._address = address.partition("#")[0]
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && document.querySelector('main h1, main p') !== null")

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page; promises are awaited. Raises BrowserError if it throws."""
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            details = reply["exceptionDetails"]
            raise BrowserError(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return reply["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait, frame by frame, until a condition holds in the page."""
        self.evaluate(
            f"""new Promise((done, fail) => {{
                const end = performance.now() + 20000;
                const look = () => {{
                    if ({condition}) done(true);
                    else if (performance.now() > end) fail(new Error("never: " + {json.dumps(condition)}));
                    else setTimeout(look, 20);
                }};
                look();
            }})"""
        )

    def show(self, fragment: str, condition: str = "true") -> None:
        """Go to a view of the report and wait until a condition holds there."""
        self.evaluate(f"(location.hash = {json.dumps(fragment)}, null)")
        self.until(condition)

    def text(self, selector: str = "main") -> str:
        """Return the visible text of an element."""
        inner_text: str = self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")
        return inner_text

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press a key such as Tab, Enter or ArrowDown where the focus is."""
        codes = {
            "Tab": 9,
            "Enter": 13,
            "PageDown": 34,
            "End": 35,
            "Home": 36,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowDown": 40,
        }
        event: Message = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key], "modifiers": 8 if shift else 0}
        if key == "Enter":
            event["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Type a text where the focus is."""
        self.call("Input.insertText", text=text)

    def choose(self, name: str, value: str) -> None:
        """Choose a value of a select by its name."""
        self.evaluate(
            f"""(() => {{
                const select = document.querySelector(`select[name={name}]`);
                select.value = {json.dumps(value)};
                select.dispatchEvent(new Event("change", {{ bubbles: true }}));
            }})()"""
        )

    def photograph(self, path: Path, *, whole: bool = True) -> None:
        """Write a PNG of the page."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        path.write_bytes(base64.b64decode(picture["data"]))

    def _clip(self, whole: bool) -> Message:
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}}

    def print(self, path: Path) -> None:
        """Write the page as it is printed, as PDF."""
        document = self.call("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(document["data"]))

    def close(self) -> None:
        """Close the page."""
        self._browser.call("Target.closeTarget", targetId=self._target)
        self._browser.pages.pop(self._session, None)


@contextmanager
def browser(executable: str, folder: Path) -> Iterator[Browser]:
    """Yield a running browser whose profile lies in `folder`."""
    (read_ours, write_theirs), (read_theirs, write_ours) = os.pipe(), os.pipe()
    # The protocol uses file descriptors 3 and 4. The pipes may have them already, hence the detour over 103 and 104.
    shell = f'exec 103<&{read_theirs} 104>&{write_theirs} 3<&103 4>&104; exec "$@"'
    command = ["bash", "-c", shell, "bash", executable, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
    environment = os.environ | {"HOME": str(folder)}
    process = subprocess.Popen(
        command,
        pass_fds=(read_theirs, write_theirs),
        env=environment,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    os.close(read_theirs)
    os.close(write_theirs)
    running = Browser(process, write_ours, read_ours)
    try:
        yield running
        running.call("Browser.close")
    finally:
        os.close(write_ours)
        os.close(read_ours)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
