// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors

// Backends that are programs of their own: netpath runs them by the type exec.
extension PluginTemplate {
    /// A program in Python.
    static func python(_ name: PluginName) -> [NewFolder.File] {
        let program = """
            #!/usr/bin/env python3
            \"""States that there is a path while a file exists: put what you want to watch in its place.\"""
            import json
            import os
            import select
            import sys

            PATH = sys.argv[1] if len(sys.argv) > 1 else "/tmp/uplink-is-up"
            INTERVAL = 1.0


            def say(line):
                print(json.dumps(line), flush=True)


            def look():
                try:
                    os.stat(PATH)
                    say({"conclusion": {"status": "satisfied", "reason": f"{PATH} is there"}})
                except FileNotFoundError:
                    say({"conclusion": {"status": "unsatisfied", "reason": f"{PATH} is missing"}})
                except OSError as error:
                    # A process that may not look does not know, which never means no.
                    say({"unavailable": f"cannot look for {PATH}: {error.strerror}"})


            say({"netpath": 1, "name": "\(name.text)", "requests": ["refresh"]})
            look()
            pending = b""
            while True:
                ready, _, _ = select.select([0], [], [], INTERVAL)
                if not ready:
                    look()
                    continue
                bytes = os.read(0, 65536)
                if not bytes:
                    break
                *lines, pending = (pending + bytes).split(b"\\n")
                for line in lines:
                    request = json.loads(line).get("request")
                    if request == "refresh":
                        look()
                    elif request == "shutdown":
                        sys.exit(0)

            """
        return self.files(name, program: program, file: "\(name.text).py")
    }

    /// A program in the shell.
    static func shell(_ name: PluginName) -> [NewFolder.File] {
        let program = """
            #!/bin/sh
            # States that there is a path while a file exists: put what you want to watch in its place.
            path=${1:-/tmp/uplink-is-up}

            look() {
                if error=$(LC_ALL=C ls -d -- "$path" 2>&1); then
                    echo '{"conclusion":{"status":"satisfied","reason":"the file is there"}}'
                else
                    case $error in
                    *"No such file"*) echo '{"conclusion":{"status":"unsatisfied","reason":"the file is missing"}}' ;;
                    # A process that may not look does not know, which never means no.
                    *) echo '{"unavailable":"cannot look for the file"}' ;;
                    esac
                fi
            }

            echo '{"netpath":1,"name":"\(name.text)","requests":["refresh"]}'
            look
            while sleep 1; do look; done &
            trap 'kill $!' EXIT
            while read -r request; do
                case $request in
                *refresh*) look ;;
                *shutdown*) exit 0 ;;
                esac
            done

            """
        return self.files(name, program: program, file: "\(name.text).sh")
    }

    private static func files(_ name: PluginName, program: String, file: String) -> [NewFolder.File] {
        let test = """
            #!/bin/sh
            # Everything that a backend promises; NETPATH names the netpath to check it with.
            cd "$(dirname "$0")" && exec "${NETPATH:-netpath}" plugin check -- "$PWD/\(file)" "$@"

            """
        let configuration = """
            # netpath watch --config netpath.yaml
            backends:
              - type: exec
                name: \(name.text)
                command: [/usr/local/lib/netpath/\(file), /tmp/uplink-is-up]
              - type: netlink

            """
        let readme = """
            # \(name.text)

            A backend of netpath in a program of its own: it says that there is a path while a file
            exists. Put what you want to watch in its place.

                ./test                               # everything that a backend promises
                netpath watch --config netpath.yaml  # once it is installed where that says

            It writes one JSON object a line, the first `{"netpath":1,"name":"\(name.text)","requests":["refresh"]}`, and reads requests likewise.
            As root netpath runs only programs that root owns and no other user may write.

            """
        return [
            NewFolder.File(path: file, text: program, isProgram: true),
            NewFolder.File(path: "test", text: test, isProgram: true),
            NewFolder.File(path: "netpath.yaml", text: configuration),
            NewFolder.File(path: "README.md", text: readme),
        ]
    }
}
