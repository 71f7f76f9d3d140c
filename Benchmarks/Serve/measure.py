"""Measures netpath serve; run by Benchmarks/Serve/run in a network namespace of its own."""

import os
import select
import socket
import struct
import subprocess
import sys
import time

NETPATH = os.environ["NETPATH_BINARY"]
PORT = 6387
SCRAPES = int(os.environ.get("SCRAPES", 100_000))
ROUNDS = int(os.environ.get("ROUNDS", 100))
CLIENTS = 1_000


def note(text):
    print(text, file=sys.stderr, flush=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


class Route:
    """The default route, taken away and put back over netlink: without a program to start."""

    def __init__(self, gateway, interface):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self.attributes = struct.pack("HH4s", 8, 5, socket.inet_aton(gateway))
        self.attributes += struct.pack("HHI", 8, 4, socket.if_nametoindex(interface))
        self.is_there = True

    def toggle(self):
        kind, flags = (25, 0x005) if self.is_there else (24, 0x605)
        # Of what is taken away neither the author, the scope nor the kind is asked for.
        author, scope, sort = (0, 255, 0) if self.is_there else (4, 0, 1)
        self.is_there = not self.is_there
        # rtmsg: IPv4, to everything, the main table
        body = struct.pack("BBBBBBBBI", socket.AF_INET, 0, 0, 0, 254, author, scope, sort, 0) + self.attributes
        start = time.perf_counter()
        self.socket.send(struct.pack("IHHII", 16 + len(body), kind, flags, 1, 0) + body)
        answer = self.socket.recv(4096)
        assert struct.unpack_from("i", answer, 16)[0] == 0, "the kernel refuses the route"
        return start


class Watch:
    """`netpath watch --json`, and when its lines come."""

    def __init__(self):
        self.program = subprocess.Popen([NETPATH, "watch", "--json"], stdout=subprocess.PIPE)
        os.set_blocking(self.program.stdout.fileno(), False)
        self.wait()

    def wait(self):
        assert select.select([self.program.stdout], [], [], 10)[0], "netpath watch says nothing"
        when = time.perf_counter()
        os.read(self.program.stdout.fileno(), 1 << 20)
        return when

    def drain(self):
        while select.select([self.program.stdout], [], [], 0)[0]:
            os.read(self.program.stdout.fileno(), 1 << 20)


class Streams:
    """Clients of the events, in a process that gives way to what is measured."""

    def __init__(self, count):
        self.pipe, child = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.nice(19)
            self.run(count, child)
            os._exit(0)
        os.close(child)
        assert self.line() == f"open {count}", "not all clients are connected"

    def line(self):
        assert select.select([self.pipe], [], [], 60)[0], "the clients say nothing"
        return os.read(self.pipe, 64).decode().strip()

    def end(self):
        """How many clients have the newest state."""
        os.kill(self.process, 15)
        answer = self.line()
        os.waitpid(self.process, 0)
        return answer

    @staticmethod
    def run(count, out):
        import signal
        poll, sockets, last = select.epoll(), {}, {}
        is_over = []
        signal.signal(signal.SIGTERM, lambda *_: is_over.append(1))
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", PORT))
            one.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            one.setblocking(False)
            sockets[one.fileno()] = one
            poll.register(one, select.EPOLLIN)
        told = False
        while not is_over:
            for number, _ in poll.poll(0.2):
                data = sockets[number].recv(1 << 16)
                place = data.rfind(b"id: ")
                if place >= 0:
                    last[number] = data[place:data.index(b"\n", place)]
            if not told and len(last) == count:
                told = True
                os.write(out, f"open {count}\n".encode())
        newest = max(last.values(), key=lambda one: int(one.rsplit(b"-", 1)[1]))
        os.write(out, f"{sum(one == newest for one in last.values())} of {count}\n".encode())


def status(process, key):
    with open(f"/proc/{process}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key))


def switches(process):
    total = 0
    for thread in os.listdir(f"/proc/{process}/task"):
        with open(f"/proc/{process}/task/{thread}/status") as lines:
            total += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line and line.startswith("voluntary"))
    return total


def median(values):
    return sorted(values)[len(values) // 2]


def delays(watch, route):
    found = []
    for _ in range(ROUNDS):
        start = route.toggle()
        found.append(watch.wait() - start)
        time.sleep(0.1)
        watch.drain()
    return found


def one_client():
    one = socket.create_connection(("127.0.0.1", PORT))
    one.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return one


def event_delays(route):
    """From the kernel's change to the event in a client's hand: a browser has that much and its own drawing."""
    client = one_client()
    client.recv(1 << 16)
    found = []
    for _ in range(ROUNDS):
        start = route.toggle()
        client.settimeout(10)
        while b"event: status" not in client.recv(1 << 16):
            pass
        found.append(time.perf_counter() - start)
        time.sleep(0.05)
    client.close()
    return found


def scrape(count):
    one = socket.create_connection(("127.0.0.1", PORT))
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
    times = []
    for _ in range(count):
        start = time.perf_counter()
        one.sendall(request)
        data = one.recv(1 << 16)
        end = data.index(b"\r\n\r\n") + 4
        length = int(data[data.index(b"Content-Length: ") + 16:].split(b"\r", 1)[0])
        while len(data) < end + length:
            data += one.recv(1 << 16)
        times.append(time.perf_counter() - start)
    one.close()
    return times


def row(what, target, found):
    print(f"| {what} | {target} | {found} |", flush=True)


def main():
    ip("link", "set", "lo", "up")
    ip("link", "add", "lan0", "type", "veth", "peer", "name", "far0")
    ip("link", "set", "lan0", "up")
    ip("link", "set", "far0", "up")
    ip("address", "add", "192.0.2.2/24", "dev", "lan0")
    ip("route", "add", "default", "via", "192.0.2.1", "dev", "lan0")
    route, watch = Route("192.0.2.1", "lan0"), Watch()
    time.sleep(0.5)
    note("a watching netpath without a server")
    delays(watch, route)
    alone = delays(watch, route)
    server = subprocess.Popen([NETPATH, "serve", "--standalone"])
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    print("| what | target | found |\n|---|---|---|")
    note("at rest, with a page open")
    page = one_client()
    time.sleep(25)
    before = switches(server.pid)
    time.sleep(45)
    woken = switches(server.pid) - before
    row("idle, a page open: wake-ups in 45 s, two or three heartbeats among them", "heartbeats only", woken)
    row("idle, a page open: resident", "≤ 25 MiB", f"{status(server.pid, 'VmRSS') / 1024:.1f} MiB")
    page.close()
    alone_with_server = delays(watch, route)
    found = event_delays(route)
    row("change in the kernel → event in a client's hand", "≤ 50 ms with the browser",
        f"median {median(found) * 1000:.2f} ms, worst {max(found) * 1000:.2f} ms of {len(found)}")
    note("1,000 clients")
    time.sleep(1)
    resident = status(server.pid, "VmRSS")
    streams = Streams(CLIENTS)
    time.sleep(1)
    connected = status(server.pid, "VmRSS")
    crowded = delays(watch, route)
    time.sleep(2)
    after = status(server.pid, "VmRSS")
    row("1,000 clients: memory of each, connected", "≤ 64 KiB", f"{(connected - resident) / CLIENTS:.1f} KiB")
    row(f"1,000 clients: memory of each, after {ROUNDS} events", "≤ 64 KiB", f"{(after - resident) / CLIENTS:.1f} KiB")
    row("1,000 clients: those that have the newest state in the end", "all", streams.end())
    row("event → line of a watching netpath without a server, median", "", f"{median(alone) * 1e6:.0f} µs")
    row("the same beside a server without clients, median", "",
        f"{median(alone_with_server) * 1e6:.0f} µs, {median(alone_with_server) / median(alone):.2f}×")
    row("the same beside a server with 1,000 clients", "≤ 1.1×", f"{median(crowded) * 1e6:.0f} µs, {median(crowded) / median(alone):.2f}×")
    note("scraping")
    time.sleep(1)
    times = scrape(SCRAPES // 10)
    first = status(server.pid, "VmRSS")
    times += scrape(SCRAPES - SCRAPES // 10)
    last = status(server.pid, "VmRSS")
    times.sort()
    row("a scrape, Python's part included", "≤ 2 ms",
        f"median {times[len(times) // 2] * 1000:.2f} ms, 99 % {times[len(times) * 99 // 100] * 1000:.2f} ms")
    row(f"resident after {SCRAPES // 10:,} scrapes → after {SCRAPES:,}", "no growth", f"{first / 1024:.1f} → {last / 1024:.1f} MiB")
    server.terminate()
    row("SIGTERM: exit status", "0", server.wait(10))
    watch.program.kill()


main()
