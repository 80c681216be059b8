# SPDX-License-Identifier: Apache-2.0
"""A real Chromium without a window, driven over its debugging pipe: no library, no port."""
import base64
import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time

from rig import need_program


class Browser:
    """One tab. Everything that it requests, and everything that it logs, is kept."""

    def __init__(self, width=1280, height=900, dark=False, phone=False):
        self.profile = tempfile.TemporaryDirectory(prefix="kepler-browser-", ignore_cleanup_errors=True)
        self.requests, self.logged, self.is_loaded = [], [], False
        ours, theirs = os.pipe(), os.pipe()  # commands, answers

        def at_their_numbers():
            commands, answers = os.dup(ours[0]), os.dup(theirs[1])  # neither is 3 or 4 from here on
            os.dup2(commands, 3)
            os.dup2(answers, 4)
        self.process = subprocess.Popen(
            [need_program("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--hide-scrollbars", "--disable-background-networking", "--no-first-run",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            preexec_fn=at_their_numbers, start_new_session=True, pass_fds=(3, 4),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.commands, self.answers = ours[1], theirs[0]
        self.pending, self.number, self.session = b"", 0, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.send(f"{domain}.enable")
        self.look(width, height, dark, phone)

    def look(self, width, height, dark=False, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1,
                  mobile=phone)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def receive(self, deadline):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.answers], [], [], max(0, deadline - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self.answers, 1 << 20)
            assert data, "the browser has ended"
            self.pending += data
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self.note(answer)

    def note(self, event):
        parameters = event.get("params", {})
        if event["method"] == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event["method"] == "Page.loadEventFired":
            self.is_loaded = True
        elif event["method"] == "Log.entryAdded":
            self.logged.append(parameters["entry"]["text"])
        elif event["method"] == "Runtime.exceptionThrown":
            self.logged.append(json.dumps(parameters["exceptionDetails"])[:600])

    def open(self, url):
        """Returns when the page has been loaded."""
        self.is_loaded = False
        self.send("Page.navigate", url=url)
        deadline = time.monotonic() + 60
        while not self.is_loaded:
            self.note(self.receive(deadline))

    def run(self, script):
        """The value of an expression, awaited."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, (script, answer)
        return answer["result"].get("value")

    def wait(self, script, seconds=30):
        """The value of an expression once it is true."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.run(script)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}\n{self.logged}\n{self.run('document.body.innerText')[:2000]}")

    def press(self, key, text=None):
        event = {"key": key, "code": key, "text": text or ""}
        self.send("Input.dispatchKeyEvent", type="keyDown", **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def picture(self, path):
        image = self.send("Page.captureScreenshot", format="webp", quality=85)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(image))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        os.killpg(self.process.pid, signal.SIGKILL)  # with its helpers
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()
