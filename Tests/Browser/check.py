"""Looks at the status page and the banner as people do; run by Tests/Browser/run in a network namespace of its own."""

import base64
import hashlib
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

NETPATH, PICTURES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
ADDRESS = "http://127.0.0.1:6387"
OTHER = "http://127.0.0.1:8099"
LIMIT = 60_000
expect.set_options(timeout=LIMIT)


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=10)


def cable(is_there):
    """Plugs the cable in, or out."""
    ip("link", "set", "far0", "up" if is_there else "down")
    if is_there:
        ip("route", "replace", "default", "via", "192.0.2.1", "dev", "lan0")


class Programs:
    """The service and the server, as a machine would run them."""

    def __init__(self):
        folder = tempfile.mkdtemp(prefix="netpath-browser-")
        self.environment = dict(
            os.environ, HOME=folder, XDG_RUNTIME_DIR=folder, XDG_STATE_HOME=folder + "/state",
            RUNTIME_DIRECTORY=folder + "/netpath", STATE_DIRECTORY=folder + "/state/netpath",
        )
        os.makedirs(folder + "/state/netpath")
        self.configuration = folder + "/netpath.yaml"
        with open(self.configuration, "w") as file:
            file.write(f'serve: {{allowedOrigins: ["{OTHER}"]}}\n')
        self.log = open(PICTURES + "/programs.log", "w")
        # Of the time between two runs nothing is known.
        self.start_service(folder)
        self.service.terminate()
        self.service.wait(10)
        self.start_service(folder)
        self.restart_server()

    def start(self, *words):
        return subprocess.Popen([NETPATH, *words], env=self.environment, stderr=self.log)

    @staticmethod
    def wait_for_socket(path):
        deadline = time.monotonic() + 60
        while not os.path.exists(path):
            assert time.monotonic() < deadline, "the service does not start"
            time.sleep(0.05)

    def start_service(self, folder):
        recording = pathlib.Path(folder, "state/netpath/00000001.jsonl")
        paths = lambda: recording.read_text().count('"path":{') if recording.exists() else 0
        before = paths()
        self.service = self.start("run")
        self.wait_for_socket(folder + "/netpath/netpath.sock")
        deadline = time.monotonic() + 60
        while paths() == before:
            assert time.monotonic() < deadline, "nothing is recorded"
            time.sleep(0.05)

    def kill_server(self):
        self.server.kill()
        self.server.wait(10)

    def restart_server(self):
        self.server = self.start("serve", "--config", self.configuration)

    def end(self):
        for process in (self.server, self.service):
            process.kill()
            process.wait(10)


def open_page(page, path="/", address=ADDRESS):
    deadline = time.monotonic() + 60
    while True:
        try:
            return page.goto(address + path, timeout=LIMIT, wait_until="load")
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def picture(page, name):
    page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True, timeout=LIMIT)


def has_no_violations(page, what):
    violations = Axe().run(page).response["violations"]
    found = [(one["id"], [node["target"] for node in one["nodes"]], one["nodes"][0].get("failureSummary")) for one in violations]
    assert not found, f"axe-core on {what}: {found}"


def first_view(page):
    open_page(page)
    expect(page.locator("h1")).to_have_text("Online — cable lan0")
    expect(page.locator("#backends")).to_contain_text("netlink")
    expect(page.locator("#availability")).to_contain_text("online")
    host = os.uname().nodename
    expect(page.locator("#host")).to_have_text(host)
    expect(page.locator("#since")).to_contain_text("since")
    assert page.title() == f"Online · {host} · netpath", page.title()
    expect(page.locator("#timeline .mark span")).to_have_count(5)
    expect(page.locator(".legend li")).to_have_count(4)
    expect(page.locator("#availability")).to_contain_text("of the time unknown")
    expect(page.locator("#availability")).to_contain_text("nothing is known before")
    has_no_violations(page, "the page that is online")
    picture(page, "online")


def change(page):
    cable(False)
    expect(page.locator("h1")).to_have_text("Offline")
    expect(page.locator("#state")).to_have_class("unsatisfied")
    expect(page.locator("#remedies li").first).to_be_visible()
    expect(page.locator("#outages")).to_contain_text("Offline")
    has_no_violations(page, "the page that is offline")
    picture(page, "offline")
    cable(True)
    expect(page.locator("h1")).to_contain_text("Online")
    ip("route", "del", "default")
    expect(page.locator("#remedies code").first).to_contain_text("ip route add default")
    ip("route", "replace", "default", "via", "192.0.2.1", "dev", "lan0")
    expect(page.locator("h1")).to_contain_text("Online")


def fragments(page):
    """Outages less than a second apart are one, the newest ten are listed, and all are counted."""
    def period(begin, length, status):
        end = 1_800_000_000 + begin + length
        stamp = lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{round(seconds % 1 * 1000):03}Z"
        return {"begin": stamp(end - length), "end": stamp(end), "status": status, "reason": {"code": "x", "message": f"m{begin}"}}

    periods = []
    for number in range(12):
        begin = number * 60
        periods += [
            period(begin, 10, "unsatisfied"), period(begin + 10, 0.5, "satisfied"),
            period(begin + 10.5, 4.5, "requiresConnection"), period(begin + 15, 45, "satisfied"),
        ]
    history = {
        "until": periods[-1]["end"], "periods": periods,
        "availability": {"knownMilliseconds": 720_000, "unknownMilliseconds": 80_000, "down": {"count": 24, "totalMilliseconds": 174_000}},
    }
    page.route("**/history?*", lambda route: route.fulfill(json=history))
    open_page(page)
    expect(page.locator("#outages caption")).to_have_text("When there was no path: the newest 10 of 12 times")
    expect(page.locator("#outages tbody tr")).to_have_count(10)
    expect(page.locator("#outages tbody tr").first).to_contain_text("15 s")
    expect(page.locator("#outages tbody tr").first).to_contain_text("m660 (2 states in a row)")
    expect(page.locator("#availability")).to_contain_text("10.00 % of the time unknown")
    expect(page.locator("#availability")).to_contain_text("down 12 times")
    page.unroute("**/history?*")


def reconnect(page, programs):
    programs.kill_server()
    killed = time.monotonic()
    expect(page.locator("#connection")).to_be_visible()
    # Nothing of what was shown stays that looks like news.
    expect(page.locator("h1")).to_have_text("Unknown: the server does not answer")
    expect(page.locator("#state")).to_have_class("unknown")
    assert page.title().startswith("Unknown · "), page.title()
    grey = time.monotonic() - killed
    assert grey < 15, f"the page is grey after {grey:.1f} s"
    print(f"  server dies → grey: {grey:.1f} s")
    # Missed, and made up for.
    cable(False)
    programs.restart_server()
    expect(page.locator("h1")).to_have_text("Offline", timeout=LIMIT)
    expect(page.locator("#connection")).to_be_hidden()
    cable(True)
    expect(page.locator("h1")).to_contain_text("Online")


def keyboard(page):
    open_page(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(3):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.hours") == "6":
            break
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#span")).not_to_have_text("24 hours")
    # It comes with the answer about the history.
    expect(page.locator("#outages")).to_be_visible()
    tree = page.locator("main").aria_snapshot(timeout=LIMIT)
    for words in ('heading "Online', 'heading "Interfaces"', 'table "', 'img "Timeline'):
        assert words in tree, f"the tree for screen readers lacks {words}:\n{tree}"


def sleep(context, page):
    """A page that is frozen, as the browser does in the background and when a laptop sleeps, is right when it goes on."""
    session = context.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    cable(False)
    cable(True)
    cable(False)
    session.send("Page.setWebLifecycleState", {"state": "active"})
    expect(page.locator("h1")).to_have_text("Offline")
    cable(True)
    expect(page.locator("h1")).to_contain_text("Online")


def paper(page):
    """What is for fingers is not printed, and what is printed fits a sheet."""
    page.emulate_media(media="print")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("button").first).to_be_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="screen")


def phone(browser):
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark", device_scale_factor=2)
    context.set_default_timeout(LIMIT)
    page = context.new_page()
    open_page(page)
    expect(page.locator("h1")).to_contain_text("Online")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360, "the page is wider than a phone"
    has_no_violations(page, "the dark page on a phone")
    picture(page, "phone-dark")
    context.close()


def streams(page):
    metrics = page.evaluate("fetch('metrics').then(answer => answer.text())")
    return next(line.split()[1] for line in metrics.splitlines() if line.startswith("netpath_serve_streams "))


def banner(context, tabs=8):
    pages = [context.new_page() for _ in range(tabs)]
    for page in pages:
        open_page(page, "/demo")
    for page in pages:
        expect(page.locator("#online")).to_have_text("true")
        expect(page.locator("#event")).to_contain_text("satisfied")
    # Those of pages that were closed end when the server notices.
    deadline = time.monotonic() + 60
    while (count := streams(pages[0])) != "1":
        assert time.monotonic() < deadline, f"{tabs} tabs and {count} streams"
        time.sleep(0.1)
    cable(False)
    for page in pages:
        expect(page.locator("netpath-banner div.shown span")).to_contain_text("Offline")
        assert page.evaluate("navigator.onLine") is False
    pages[0].bring_to_front()
    has_no_violations(pages[0], "the page with the banner")
    picture(pages[0], "banner")
    # The tab that listens is closed: another one goes on.
    pages.pop(0).close()
    cable(True)
    for page in pages:
        expect(page.locator("#online")).to_have_text("true")
        page.close()


def other_origin(context):
    """The banner in a page of somebody else's server, which pins the script and has a policy as the documentation says."""
    script = urllib.request.urlopen(ADDRESS + "/banner.js", timeout=10).read()
    pin = base64.b64encode(hashlib.sha384(script).digest()).decode()
    tag = f'<script src="{ADDRESS}/banner.js" integrity="sha384-{pin}" crossorigin="anonymous" defer></script>'

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Security-Policy", f"default-src 'none'; script-src {ADDRESS}; connect-src {ADDRESS}")
            self.end_headers()
            self.wfile.write(f'<!doctype html><html lang="en"><title>Another</title><h1>Another</h1>{tag}'.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 8099), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = context.new_page()
    page.goto(OTHER, timeout=LIMIT)
    cable(False)
    expect(page.locator("netpath-banner div.shown span")).to_contain_text("Offline")
    assert page.evaluate("navigator.onLine") is False
    cable(True)
    expect(page.locator("netpath-banner div.shown")).to_have_count(0)
    page.close()
    # The same page by a name that is not allowed: its console says what to configure.
    page = context.new_page()
    lines = []
    page.on("console", lambda line: lines.append(line.text))
    page.goto(OTHER.replace("127.0.0.1", "localhost"), timeout=LIMIT)
    deadline = time.monotonic() + 60
    advice = 'add "http://localhost:8099" to serve.allowedOrigins'
    while not any(advice in line for line in lines):
        assert time.monotonic() < deadline, lines
        page.wait_for_timeout(100)
    page.close()
    server.shutdown()


def proxy(browser, programs):
    """Behind nginx as the documentation configures it, under a path and with a token."""
    folder = tempfile.mkdtemp(prefix="netpath-proxy-")
    with open("Sources/NetPath/NetPath.docc/StatusPage.md") as file:
        location = file.read().split("```nginx\n")[1].split("```")[0]
    printed = "/run/netpath-serve/http.sock"
    assert printed in location
    socket, token = folder + "/http.sock", "0123456789abcdef"
    for name, text in {
        "token": token,
        "netpath.yaml": f'serve: {{listen: ["{socket}"], tokenFile: {folder}/token}}\n',
        "nginx.conf": f"""
            daemon off; pid {folder}/pid; error_log stderr; user root;
            events {{}}
            http {{ access_log off; server {{ listen 127.0.0.1:8081;
            {location.replace(printed, socket)}
            }} }}
        """,
    }.items():
        with open(f"{folder}/{name}", "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
    server = programs.start("serve", "--config", folder + "/netpath.yaml")
    programs.wait_for_socket(socket)
    nginx = subprocess.Popen(["nginx", "-c", folder + "/nginx.conf"], stderr=programs.log)
    try:
        context = browser.new_context()
        context.set_default_timeout(LIMIT)
        page = context.new_page()
        open_page(page, "/netpath/", "http://127.0.0.1:8081")
        page.locator("input[name=token]").fill("fedcba9876543210")
        page.locator("button").click()
        expect(page.get_by_role("alert")).to_have_text("That token is wrong.")
        has_no_violations(page, "the form after a wrong token")
        with open(programs.log.name) as log:
            assert "wrong token from" in log.read(), "a wrong token is not logged"
        open_page(page, "/netpath/", "http://127.0.0.1:8081")
        page.locator("input[name=token]").fill(token)
        page.locator("button").click()
        expect(page.locator("h1")).to_have_text("Online — cable lan0")
        cable(False)
        expect(page.locator("h1")).to_have_text("Offline")
        cable(True)
        expect(page.locator("h1")).to_contain_text("Online")
        context.close()
    finally:
        for process in (nginx, server):
            process.terminate()
            process.wait(10)


def polling(browser):
    """The banner in a browser without Web Locks asks every 15 s."""
    context = browser.new_context()
    context.set_default_timeout(LIMIT)
    context.add_init_script("Object.defineProperty(navigator, 'locks', { value: undefined })")
    context.clock.install()
    page = context.new_page()
    open_page(page, "/demo")
    expect(page.locator("#online")).to_have_text("true")
    cable(False)
    context.clock.fast_forward(15_000)
    expect(page.locator("netpath-banner div.shown span")).to_contain_text("Offline")
    cable(True)
    context.clock.fast_forward(15_000)
    expect(page.locator("#online")).to_have_text("true")
    context.close()


def latency(page, rounds=15):
    """From the kernel's change to what the page shows, on this machine."""
    open_page(page)
    expect(page.locator("h1")).to_contain_text("Online")
    page.evaluate("""() => {
        globalThis.changes = [];
        new MutationObserver(() => changes.push(Date.now())).observe(document.querySelector("h1"), { childList: true });
    }""")
    times = []
    for number in range(rounds * 2):
        before = len(page.evaluate("changes"))
        start = time.time() * 1000
        if number % 2:
            ip("route", "add", "default", "via", "192.0.2.1", "dev", "lan0")
        else:
            ip("route", "del", "default")
        # Not wait_for_function, which needs what the page's policy forbids (eval).
        deadline = time.monotonic() + 60
        while len(page.evaluate("changes")) <= before:
            assert time.monotonic() < deadline, "the page does not show a change"
        times.append(page.evaluate(f"changes[{before}]") - start)
    times.sort()
    print(f"  ip(8) begins → page shows it: median {times[len(times) // 2]:.1f} ms, worst {times[-1]:.1f} ms of {len(times)}")
    return times[len(times) // 2]


def main():
    ip("link", "set", "lo", "up")
    ip("link", "add", "lan0", "type", "veth", "peer", "name", "far0")
    ip("link", "set", "lan0", "up")
    ip("address", "add", "192.0.2.2/24", "dev", "lan0")
    cable(True)
    programs = Programs()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path="/usr/bin/chromium", timeout=LIMIT, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            context = browser.new_context(viewport={"width": 1100, "height": 800})
            context.set_default_timeout(LIMIT)
            page = context.new_page()
            errors = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
            checks = [
                ("first view", lambda: first_view(page)), ("change", lambda: change(page)),
                ("fragments", lambda: fragments(page)), ("reconnect", lambda: reconnect(page, programs)), ("sleep", lambda: sleep(context, page)),
                ("keyboard and tree", lambda: keyboard(page)), ("latency", lambda: latency(page)),
                ("print", lambda: paper(page)), ("phone, dark", lambda: phone(browser)),
                ("banner that polls", lambda: polling(browser)), ("proxy", lambda: proxy(browser, programs)),
            ]
            for name, check in checks:
                start = time.monotonic()
                check()
                print(f"✔ {name} ({time.monotonic() - start:.1f} s)", flush=True)
            page.close()
            banner(context)
            print("✔ banner", flush=True)
            other_origin(context)
            print("✔ banner in a page of another origin", flush=True)
            assert not errors, errors
            browser.close()
    finally:
        programs.end()


main()
