# SPDX-License-Identifier: Apache-2.0
# Copyright the netpath authors
"""The programs on the page "Talk to netpath from any language" run, where there is what runs them."""

import shutil
import tempfile
import unittest

from lab import *
from test_gio import Lines

PAGE = (ROOT / "Sources/NetPath/NetPath.docc/AnyLanguage.md").read_text()


class Page(unittest.TestCase):
    def run_block(self, language, name, *commands, needs, satisfied="satisfied", unsatisfied="unsatisfied", ends=True):
        missing = [tool for tool in needs if not shutil.which(tool)]
        if missing:
            self.skipTest(f"there is no {', '.join(missing)}")
        block = PAGE.split(f"```{language}\n")[1].split("```")[0]
        lay()
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, name)
            source.write_text(block)
            commands = [[word.format(source=source, folder=folder) for word in command] for command in commands]
            for command in commands[:-1]:
                subprocess.run(command, check=True, cwd=folder)
            with Service() as service, Lines(*commands[-1], LD_LIBRARY_PATH=str(BUILT)) as lines:
                begin = lines.find(rf"\b{satisfied}\b")
                cable(False)
                lines.find(rf"\b{unsatisfied}\b", begin)
                # Without the service it has nothing to say any more, and does not hide that.
                service.end()
                if ends:
                    lines.process.wait(PATIENCE)

    def test_shell(self):
        self.run_block("sh", "a.sh", ["sh", "{source}"], needs=["socat", "jq"])

    def test_python(self):
        self.run_block("python", "a.py", ["python3", "{source}"], needs=[])

    def test_go(self):
        self.run_block("go", "a.go", ["go", "build", "-o", "{folder}/a", "{source}"], ["{folder}/a"], needs=["go"])

    def test_rust(self):
        self.run_block("rust", "a.rs", ["rustc", "-o", "{folder}/a", "{source}"], ["{folder}/a"], needs=["rustc"])

    def test_c(self):
        compiler = ["cc", f"-I{ROOT}/Clients/C", "-Wall", "-Werror", "-o", "{folder}/a", "{source}", f"-L{BUILT}", "-lnetpath"]
        self.run_block("c", "a.c", compiler, ["{folder}/a"], needs=["cc"], satisfied="^3", unsatisfied="^1", ends=False)


if __name__ == "__main__":
    unittest.main()
