# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""libnetpath beside the real program, and beside what only pretends to be it."""

import contextlib
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from lab import *


class Interface(unittest.TestCase):
    """What programs are linked against."""

    def test_exports_what_the_header_declares_and_nothing_else(self):
        header = (ROOT / "Clients/C/netpath.h").read_text()
        declared = set(re.findall(r"\b(netpath_\w+)\(", header))
        listing = subprocess.run(["nm", "-D", "--defined-only", str(BUILT / "libnetpath.so")], check=True, stdout=-1).stdout
        exported = {line.split()[2] for line in listing.decode().splitlines()} - {"NETPATH_0"}
        self.assertEqual(exported, {name + "@@NETPATH_0" for name in declared})
        self.assertEqual(len(declared), 9)

    def test_has_a_soname(self):
        dynamic = subprocess.run(["readelf", "-d", str(BUILT / "libnetpath.so")], check=True, stdout=-1).stdout.decode()
        self.assertIn("soname: [libnetpath.so.0]", dynamic)
        self.assertEqual(re.findall(r"NEEDED.*\[(.*)\]", dynamic), ["libc.so.6"])

    def test_structures_keep_their_layout(self):
        self.assertEqual((ctypes.sizeof(Path), ctypes.sizeof(Host)), (888, 320))
        program = "#include <netpath.h>\n_Static_assert(sizeof(struct netpath_path) == 888, \"\");" \
            "_Static_assert(sizeof(struct netpath_host) == 320 && offsetof(struct netpath_path, portal) == 376, \"\");"
        self.compile(program, "c", "-std=c11")

    def test_the_header_is_for_cplusplus(self):
        self.compile("#include <netpath.h>\nint main() { netpath_close(nullptr); }", "c++", "-std=c++11")

    def compile(self, program, language, standard):
        compiler = ["cc", "-x", language, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
        subprocess.run([*compiler, f"-I{ROOT}/Clients/C", "-"], input=program.encode(), check=True)

    def test_takes_structures_of_other_versions(self):
        with Client(socket="", flags=NO_PROGRAM) as client:
            longer = ctypes.create_string_buffer(b"x" * 2000, 2000)
            self.assertEqual(library.netpath_current(client.handle, longer, 2000), 0)
            self.assertEqual(longer.raw[888:], bytes(2000 - 888))
            self.assertEqual(library.netpath_current(client.handle, longer, 100), -22)


class WithService(unittest.TestCase):
    def setUp(self):
        lay()

    def test_follows_the_service(self):
        with Service(), Client(flags=NO_PROGRAM) as client:
            path = client.until_status(SATISFIED)
            self.assertEqual((path.interface_name, path.interface_type, path.reason), (b"lan0", b"wired", b"routed"))
            cable(False)
            self.assertEqual(client.until_status(UNSATISFIED).reason, b"noCarrier")
            cable(True)
            client.until_status(SATISFIED)
            self.assertLess(client.longest, 0.25)

    def test_tells_each_change_once(self):
        with Service(), Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            client.next()
            self.assertIsNone(client.next())
            cable(False)
            last = client.until(lambda path: path.status == UNSATISFIED, asks=False)
            self.assertEqual(last.change, client.path.change)

    def test_nothing_wakes_an_idle_client(self):
        with Service(), Client() as client:
            client.until_status(SATISFIED)
            # IPv6 takes a while to have its address.
            until(lambda: not select.select([client.descriptor], [], [], 3)[0] or client.process() and client.next() and False)

    def test_is_right_again_when_the_service_is_killed_and_started_anew(self):
        clients = [Client(flags=NO_PROGRAM) for _ in range(50)]
        try:
            with Service() as service:
                for client in clients:
                    client.until_status(SATISFIED)
                service.end(signal.SIGKILL)
                for client in clients:
                    client.until(lambda path: path.flags & STALE or path.status == UNKNOWN)
                cable(False)
                # The socket of the one that was killed is still there.
                with Service():
                    begin = time.monotonic()
                    for client in clients:
                        client.until_status(UNSATISFIED)
                    print(f"50 clients right {time.monotonic() - begin:.3f} s after the new service answers", flush=True)
            self.assertLess(max(client.longest for client in clients), 0.25)
        finally:
            for client in clients:
                client.close()

    def test_a_service_that_is_gone_leaves_nothing_known(self):
        with Service() as service, Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            service.end()
            self.assertEqual(client.until_status(UNKNOWN).reason, b"noService")

    def test_a_program_stands_in_for_a_service_that_is_gone_and_ends_when_it_comes(self):
        with Client() as client:
            client.until_status(SATISFIED)
            self.assertEqual(self.programs(), 1)
            with Service() as service:
                until(lambda: (client.process(0.05), self.programs() == 0)[1])
                client.until_status(SATISFIED)
                cable(False)
                client.until_status(UNSATISFIED)
                service.end()
                until(lambda: (client.process(0.05), self.programs() == 1)[1])
                client.until_status(UNSATISFIED)
        until(lambda: self.programs() == 0)
        # No child of this process came of it.
        with self.assertRaises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_a_program_stands_in_for_a_service_without_room_until_it_has_some(self):
        with contextlib.ExitStack() as stack, Service():
            others = []
            for _ in range(64):
                others.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
                others[-1].connect(SOCKET)
                others[-1].sendall(b'{"request":"watch"}\n')
                others[-1].recv(1)
            with Client(flags=AFTER_SERVICE) as client:
                client.until_status(SATISFIED)
                self.assertEqual(self.programs(), 1)
                cable(False)
                client.until_status(UNSATISFIED)
                for other in others:
                    other.close()
                # It tries again by itself.
                until(lambda: (client.process(0.05), self.programs() == 0)[1])
                cable(True)
                client.until_status(SATISFIED)

    def test_a_program_that_is_killed_is_started_anew(self):
        with Client() as client:
            client.until_status(SATISFIED)
            cable(False)
            os.kill(self.program_numbers()[0], signal.SIGKILL)
            client.until(lambda path: path.flags & STALE)
            client.until_status(UNSATISFIED)

    def programs(self):
        """How many `netpath watch` there are."""
        return len(self.program_numbers())

    @staticmethod
    def program_numbers():
        numbers = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if process.joinpath("cmdline").read_bytes().split(b"\0")[1:3] == [b"watch", b"--json"]:
                    numbers.append(int(process.name))
        return numbers

    def test_a_stopped_service_is_unknown_after_a_bounded_time(self):
        with Service() as service:
            service.send(signal.SIGSTOP)
            with Client(flags=NO_PROGRAM) as client:
                self.assertEqual(client.until_reason("noAnswer").status, UNKNOWN)
                service.send(signal.SIGCONT)
                client.until_status(SATISFIED)
                self.assertLess(client.longest, 0.25)

    def test_fifty_that_only_listen_learn_of_a_stopped_service_at_the_next_event(self):
        clients = [Client(flags=NO_PROGRAM) for _ in range(50)]
        with contextlib.ExitStack() as stack, Service() as service:
            for client in clients:
                stack.callback(client.close)
                client.until_status(SATISFIED)
                client.next()
            service.send(signal.SIGSTOP)
            begin = time.monotonic()
            cable(False)
            self.hear(clients, UNKNOWN)
            unknown = time.monotonic() - begin
            # Longer than a first pause between attempts would be.
            time.sleep(1.5)
            begin = time.monotonic()
            service.send(signal.SIGCONT)
            self.hear(clients, UNSATISFIED)
            right = time.monotonic() - begin
            print(f"50 listening clients: unknown {unknown:.3f} s after an event, right {right:.3f} s after SIGCONT", flush=True)
            self.assertLess(unknown, 20)
            self.assertLess(right, 20)
            self.assertLess(max(client.longest for client in clients), 0.25)

    @staticmethod
    def hear(clients, status):
        """Runs one loop for all of them until each was told the status; none asks."""
        waiting = {client.descriptor: client for client in clients}
        end = time.monotonic() + PATIENCE
        while waiting:
            assert time.monotonic() < end, f"{len(waiting)} were never told"
            for descriptor in select.select(list(waiting), [], [], 1)[0]:
                waiting[descriptor].process()
                if (path := waiting[descriptor].next()) and path.status == status and not path.flags & STALE:
                    del waiting[descriptor]

    def test_fifty_have_the_right_answer_of_a_service_that_takes_its_place(self):
        clients = [Client(flags=NO_PROGRAM) for _ in range(50)]
        with contextlib.ExitStack() as stack, Service() as service:
            for client in clients:
                stack.callback(client.close)
                client.until_status(SATISFIED)
            # Upgraded: the old one ends, the new one binds anew.
            service.end()
            for client in clients:
                self.assertEqual(client.until_status(UNKNOWN).reason, b"noService")
            cable(False)
            with Service():
                begin = time.monotonic()
                for client in clients:
                    client.until_status(UNSATISFIED)
                print(f"50 clients right {time.monotonic() - begin:.3f} s after an upgrade answers", flush=True)

    def test_a_service_that_takes_the_place_of_a_stopped_one_is_heard(self):
        with Service() as stopped, Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            stopped.send(signal.SIGSTOP)
            client.until_reason("noAnswer")
            with Stranger(LINE % "unsatisfied"):
                client.until(lambda path: path.status == UNSATISFIED, asks=False)

    def test_a_service_that_has_just_started_takes_no_answer_away(self):
        starting = ['{"schema":1,"status":null}\n', LINE % "unsatisfied"]

        def reasons(begin, **options):
            """The reasons told from when another service listens until it has a path."""
            with Client(**options) as client:
                with begin():
                    client.until_status(SATISFIED)
                with Stranger(*starting, pause=0.2):
                    told = []
                    client.until(lambda path: told.append(path.reason) or path.status == UNSATISFIED)
                    return told

        # On a busy machine there may be none for longer than the last path stands.
        for begin, options in ((Service, {"flags": NO_PROGRAM}), (contextlib.nullcontext, {})):
            with self.subTest(options):
                self.assertTrue(any(b"noVerdict" not in reasons(begin, **options) for _ in range(5)))
        with Service() as service, Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            service.end()
            with Stranger(starting[0]):
                client.until_reason("noVerdict")

    def test_a_storm_of_events_makes_no_storm_of_questions(self):
        with Stranger(LINE % "satisfied", reads=True) as stranger, Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            end, calls = time.monotonic() + 1.5, 0
            while time.monotonic() < end:
                ip("route", "replace", "198.51.100.0/24", "dev", "lo", "metric", str(int(end * 1000) % 97))
                ip("route", "flush", "198.51.100.0/24")
                calls += select.select([client.descriptor], [], [], 0)[0] != []
                client.process()
            self.assertLess(calls, 10)

    def test_a_service_that_stops_later_is_found_out_by_asking(self):
        with Service() as service, Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            service.send(signal.SIGSTOP)
            client.until(lambda path: path.flags & STALE)
            self.assertEqual(client.until_status(UNKNOWN).reason, b"noAnswer")
            service.send(signal.SIGCONT)
            client.until_status(SATISFIED)

    def test_a_service_of_another_network_is_none(self):
        with OtherNetwork(), Client(flags=NO_PROGRAM) as client:
            self.assertEqual(client.until_reason("otherNetwork").status, UNKNOWN)

    def test_leaves_no_descriptor_to_programs_that_are_started(self):
        before = set(os.listdir("/proc/self/fd"))
        with Service(), Client() as client:
            client.until_status(SATISFIED)
            client.reach("192.0.2.1")
            for number in set(os.listdir("/proc/self/fd")) - before:
                try:
                    flags = int(re.search(r"flags:\s*(\d+)", pathlib.Path(f"/proc/self/fdinfo/{number}").read_text())[1], 8)
                except FileNotFoundError:
                    continue
                self.assertTrue(flags & os.O_CLOEXEC, os.readlink(f"/proc/self/fd/{number}"))

    def test_says_whether_packets_to_a_host_would_be_sent(self):
        with Client(flags=NO_WATCH) as client:
            questions = {client.reach("192.0.2.1"): 2, client.reach("http://192.0.2.7:80/"): 2, client.reach("2001:db8::1"): 1}
            answers = {}

            def all_are_there():
                client.process(0.05)
                while host := client.reached():
                    answers[host.question] = host.status
                return len(answers) == 3

            until(all_are_there)
            self.assertEqual(answers, questions)
            self.assertEqual(client.reach("--help"), 4)
            until(lambda: client.process(0.05) and (host := client.reached()) and host.status == 0)

    def test_questions_are_limited_and_can_be_taken_back(self):
        with Client(flags=NO_WATCH, program="/bin/cat") as client:
            # `cat reach` ends at once: nothing is known.
            question = client.reach("192.0.2.1")
            host = until(lambda: client.process(0.05) and client.reached())
            self.assertEqual((host.question, host.status, host.reason), (question, 0, b"noAnswer"))
            questions = [client.reach("192.0.2.1") for _ in range(16)]
            self.assertEqual(client.reach("192.0.2.1"), -11)
            library.netpath_cancel(client.handle, questions[0])
            self.assertGreater(client.reach("192.0.2.1"), questions[-1])
        with Client(flags=NO_WATCH, program="") as client:
            self.assertEqual(client.reach("192.0.2.1"), -2)
            self.assertEqual(client.reach(""), -22)


    def test_few_questions_are_answered_at_once_and_the_others_in_turn(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text(f"#!/bin/sh\ntouch {folder}/$4\nwhile [ ! -e {folder}/go ]; do sleep 0.02; done\n"
                               "echo '{\"schema\":1,\"status\":\"reachable\"}'\n")
            program.chmod(0o755)
            with Client(flags=NO_WATCH, program=str(program)) as client:
                questions = [client.reach(f"host{index}") for index in range(8)]
                begun = lambda: len(list(pathlib.Path(folder).glob("host*")))
                until(lambda: client.process(0.02) or begun() == 4)
                time.sleep(0.3)
                client.process()
                self.assertEqual(begun(), 4)
                # One that waits is taken back, and is never started.
                library.netpath_cancel(client.handle, questions[7])
                pathlib.Path(folder, "go").touch()
                answers = []

                def all_are_there():
                    client.process(0.05)
                    while host := client.reached():
                        answers.append(host)
                    return len(answers) == 7

                until(all_are_there)
                self.assertEqual(sorted(host.question for host in answers), questions[:7])
                self.assertEqual({host.status for host in answers}, {2})
                self.assertFalse(pathlib.Path(folder, "host7").exists())

    def test_programs_of_questions_that_are_taken_back_end_and_count_until_they_have(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text("#!/bin/sh\nexec sleep 86399\n")
            program.chmod(0o755)

            def running():
                count = 0
                for process in pathlib.Path("/proc").glob("[0-9]*"):
                    with contextlib.suppress(OSError):
                        words = process.joinpath("cmdline").read_bytes().split(b"\0")
                        count += b"86399" in words or os.fsencode(program) in words
                return count

            with Client(flags=NO_WATCH, program=str(program)) as client:
                for index in range(200):
                    question = client.reach("192.0.2.1")
                    self.assertGreater(question, 0)
                    library.netpath_cancel(client.handle, question)
                    if index % 10 == 0:
                        self.assertLessEqual(running(), 4)
                    if index % 3 == 0:
                        client.process()
                until(lambda: client.process(0.05) or running() == 0)
                for _ in range(6):
                    client.reach("192.0.2.1")
                until(lambda: client.process(0.05) or running() == 4)
            until(lambda: running() == 0)
            # A child that closes its copy leaves them to its parent.
            with Client(flags=NO_WATCH, program=str(program)) as client:
                client.reach("192.0.2.1")
                until(lambda: running() == 1)
                if (child := os.fork()) == 0:
                    library.netpath_close(client.handle)
                    os._exit(0)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
                self.assertFalse(client.process(0.2))
                self.assertEqual(running(), 1)
            with self.assertRaises(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)


class OtherNetwork(Service):
    """A service in another network, whose socket is seen here."""

    def __init__(self):
        super().__init__("unshare", "--net")


class Misbehaviour(unittest.TestCase):
    """What answers in the place of the service."""

    def answer(self, *parts, reason, **options):
        with Stranger(*parts, **options) as stranger, Client(flags=NO_PROGRAM) as client:
            self.assertEqual(client.until_reason(reason).status, UNKNOWN)
            self.assertLess(client.longest, 0.25)
            return stranger.asked

    def test_says_which_version_it_speaks(self):
        self.assertEqual(self.answer("{}\n", reason="badAnswer")[0], b'{"request":"watch","schema":1}\n')

    def test_newer_versions(self):
        self.answer('{"schema":2,"status":"satisfied"}\n', reason="newerVersion")

    def test_older_versions_lack_what_came_later(self):
        with Stranger('{"schema":1,"status":"satisfied"}\n'), Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)

    def test_statuses_of_later_versions_are_unknown(self):
        with Stranger('{"schema":1,"status":"splendid","new":[{"a":[1e9,null]}]}\n'), Client(flags=NO_PROGRAM) as client:
            client.until_reason("noVerdict")

    def test_one_connection_too_many(self):
        self.answer('{"error":"there are too many connections, of this user or in total"}\n', reason="refused", then_close=True)

    def test_a_full_queue_of_connections_is_tried_again_soon(self):
        for flags in (NO_PROGRAM, AFTER_SERVICE, 0):
            with self.subTest(flags), Stranger(LINE % "satisfied", is_full=True) as stranger, Client(flags=flags) as client:
                self.assertEqual(client.path.reason, b"connecting")
                stranger.room.set()
                self.assertEqual(client.until_status(SATISFIED).message, b"as a test says")
                self.assertLess(client.longest, 0.25)

    def test_a_queue_of_connections_that_stays_full_is_no_answer(self):
        with Stranger(LINE % "satisfied", is_full=True) as stranger, Client(flags=NO_PROGRAM) as client:
            client.until_reason("noAnswer")
            stranger.room.set()
            client.until_status(SATISFIED)
        with Stranger(is_full=True) as stranger, Client(flags=NO_PROGRAM) as client:
            # And where that one ends, there is none.
            stranger.listener.shutdown(socket.SHUT_RDWR)
            client.until_reason("noService")

    def test_a_line_without_end(self):
        self.answer('{"schema":1,"status":"' + "x" * 1_000_000, reason="noAnswer")
        with Stranger('{"schema":1,"status":"', *["x" * 1_000_000] * 17), Client(flags=NO_PROGRAM) as client:
            # A busy machine does not read so much in time.
            client.until(lambda path: path.reason in (b"badAnswer", b"noAnswer"))

    def test_a_line_that_was_begun_has_to_end(self):
        with Stranger(LINE % "satisfied", '{"schema"', pause=0.2), Client(flags=NO_PROGRAM) as client:
            client.until_status(SATISFIED)
            client.until_reason("noAnswer")

    def test_closes_at_once(self):
        before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        self.addCleanup(signal.signal, signal.SIGPIPE, before)
        self.answer(reason="noService", reads=False, then_close=True)

    def test_what_is_no_json(self):
        lines = [
            "nonsense\n", "\n", "[]\n", "1\n", '"schema"\n', "{]\n", '{"schema":01,"status":null}\n', '{"schema":1,}\n',
            '{"schema":1 "status":null}\n', '{"schema":1,"status":nul}\n', '{"schema":1,"status":null}}\n', "{\n",
            '{"schema":1,"status":"\t"}\n', '{"schema":1,"status":"\\x"}\n', '{"schema":1,"status":"\\u12g4"}\n',
            '{"schema":1.,"status":null}\n', '{"schema":-,"status":null}\n', '{"schema":1e,"status":null}\n',
            '{"schema":1}\n', '{"status":"satisfied"}\n', '{"schema":1,"status":satisfied}\n', "[" * 65 + "\n",
            b'{"schema":1,"status":"\xc0\xaf"}\n', b'{"schema":1,"status":"\xed\xa0\x80"}\n', b'{"schema":1,"status":"\xff"}\n',
            b'{"schema":1,"status":"\xf4\x90\x80\x80"}\n', b'{"schema":1,"\x00":1}\n', b'{"schema":1,"status":"\xe2\x82"}\n',
        ]
        for line in lines:
            with self.subTest(line=line):
                self.answer(line, reason="badAnswer")

    def test_text_is_cut_between_characters_and_made_harmless(self):
        line = '{"schema":1,"status":"unsatisfied","reason":{"code":"\\u001b[1m\\ud83d\\ude00\\ud83d\\u0041","message":"%s"},' \
            '"portalURL":"%s","interfaces":[{"name":"a\\u0000b","index":-1,"type":"wifi"},{"name":"other","index":3}]}\n'
        with Stranger(line % ("é" * 400, "h" * 600)), Client(flags=NO_PROGRAM) as client:
            path = client.until_status(UNSATISFIED)
            self.assertEqual(path.reason.decode(), "\ufffd[1m\U0001f600\ufffdA")
            self.assertEqual(path.message.decode(), "é" * 127)
            self.assertEqual((path.interface_name.decode(), path.interface_index), ("a\ufffdb", 0))
            # A part of a URL is another URL.
            self.assertEqual(path.portal, b"")

    def test_every_cut_of_a_line_is_read_as_the_whole(self):
        line = (LINE % "satisfied").encode()
        parts = [line[at:at + 1] for at in range(len(line))]
        with Stranger(*parts), Client(flags=NO_PROGRAM) as client:
            self.assertEqual(client.until_status(SATISFIED).message, b"as a test says")

    @unittest.skipIf(pathlib.Path("/proc/self/uid_map").read_text().split()[2] == "1", "there is one user")
    def test_another_user_in_the_place_of_the_service(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o1777)
            program = "import os, socket, sys, time; os.setuid(65534); s = socket.socket(socket.AF_UNIX)\n" \
                "s.bind(sys.argv[1]); os.chmod(sys.argv[1], 0o666); s.listen(); print(flush=True); time.sleep(600)"
            path = folder + "/socket"
            with subprocess.Popen(["python3", "-c", program, path], stdout=-1) as stranger:
                stranger.stdout.readline()
                with Client(socket=path, flags=NO_PROGRAM) as client:
                    client.until_reason("notTrusted")
                stranger.kill()

    @needs(shutil.which("valgrind"), "MEMORY ERRORS ARE NOT LOOKED FOR: there is no valgrind")
    def test_memory_errors(self):
        lay()
        with Service():
            self.follow()
        # And where a program stands in.
        self.follow()

    @needs(shutil.which("valgrind"), "MEMORY ERRORS ARE NOT LOOKED FOR: there is no valgrind")
    def test_memory_errors_of_questions(self):
        lay()
        program = r"""
            #include <netpath.h>
            #include <poll.h>
            #include <stdio.h>
            int main(void)
            {
                struct netpath *handle;
                struct netpath_host host;
                if (netpath_open(&handle, "", NULL, NETPATH_NO_WATCH) != 0) return 1;
                netpath_cancel(handle, netpath_reach(handle, "192.0.2.9"));
                netpath_reach(handle, "192.0.2.1");
                while (netpath_reached(handle, &host, sizeof host) == 0) {
                    struct pollfd ready = {.fd = netpath_fd(handle), .events = POLLIN};
                    poll(&ready, 1, -1);
                    netpath_process(handle);
                }
                netpath_reach(handle, "192.0.2.2");
                netpath_close(handle);
                return printf("%s\n", host.reason) < 0;
            }
        """
        with tempfile.TemporaryDirectory() as folder:
            name = folder + "/a"
            flags = [f"-I{ROOT}/Clients/C", f"-L{BUILT}", f"-Wl,-rpath,{BUILT}", "-lnetpath"]
            subprocess.run(["cc", "-g", "-x", "c", "-", "-o", name, *flags], input=program.encode(), check=True)
            done = subprocess.run(["valgrind", "-q", "--leak-check=full", name], stdout=-1, stderr=-1)
        self.assertEqual((done.stdout, done.stderr), (b"routed\n", b""))

    def follow(self):
        command = ["valgrind", "-q", "--leak-check=full", str(BUILT / "follow")]
        with subprocess.Popen(command, stdout=-1, stderr=-1) as process:
            until(lambda: b" satisfied" in process.stdout.readline())
            cable(False)
            until(lambda: b" unsatisfied" in process.stdout.readline())
            cable(True)
            process.terminate()
            self.assertEqual(process.communicate()[1], b"")


if __name__ == "__main__":
    unittest.main()
