#!/usr/bin/env python3
"""Runs a lint on small trees: one that is in order, and one for each violation, which it must name.

usage: lints_catch.py layers|edges|tests|docs
"""

import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LAYERS = {"tools/layers.txt": "base:\ncore: base\ndataflow: core base\nos: core\n",
          "src/leat/base/a.hpp": "", "src/leat/base/os/b.hpp": "#include <sched.h>\n",
          "src/leat/core/internal/c.hpp": "#include <leat/base/os/b.hpp>\n",
          "src/leat/core/d.hpp": "#include <leat/core/internal/c.hpp>\n// #include <leat/dataflow/e.hpp>\n",
          "src/leat/dataflow/e.hpp": "#include <leat/core/d.hpp>\n#include <vector>\n",
          "src/leat/core/d_test.cpp": "#include <leat/leat.hpp>\n#include <leat/core/test_d.hpp>\n",
          "src/leat/core/test_d.hpp": "#include <gtest/gtest.h>\n",
          "src/leat/leat.hpp": "#include <leat/dataflow/e.hpp>\n",
          "src/leat/core/CMakeLists.txt": "leat_layer(core DEPENDS leat::base HEADERS d.hpp)\n"}

EDGES = {"src/leat/base/atomic.hpp": "#include <atomic>\nstd::atomic<int> a;\n",
         "src/leat/core/a.hpp": "struct publish : Edge {};  // carries\nstruct both : leat::Edge {};\n"
                                "void f() { x.store_release(g(1), publish{}); }\n"
                                "int h() { return x.load_acquire(publish{}) + y.exchange_acq_rel(v(2), both{}, both{}); }\n",
         "src/leat/core/a_test.cpp": "#include <atomic>\n"}

TESTS = {"src/leat/core/CMakeLists.txt": "leat_layer(core HEADERS a.hpp\n  TESTS a_test.cpp)\n",
         "src/leat/core/a.hpp": "", "src/leat/core/a_test.cpp": "// A test.\n#include <leat/core/a.hpp>\n", "src/leat/core/test_a.hpp": "", "src/leat/core/internal/b.hpp": ""}

DOCS = {"README.md": "# Read me\nSee [the page](docs/a.md#the-heading), `src/a.cpp`, `src/x/*.hpp`.\n\n"
                     "<!-- quote: src/a.cpp#part -->\n```cpp\nint a;\n  int b;\n```\n",
        "docs/a.md": "## The heading\n[back](../README.md) [out](https://example.org/)\n",
        "src/a.cpp": "{\n  // [part]\n  int a;\n    int b;\n  // [/part]\n}\n"}

# For each lint: a tree in order, and changes to it, each with the words that must be said about it.
CASES = {
    "layers": (LAYERS, [
        ({"src/leat/base/a.hpp": "#include <leat/core/d.hpp>\n"}, "a.hpp:1: base may not include core"),
        ({"src/leat/dataflow/e.hpp": "\n#include <leat/base/os/b.hpp>\n"}, "e.hpp:2: dataflow may not include base/os"),
        ({"src/leat/dataflow/e.hpp": "#include <leat/core/internal/c.hpp>\n"}, "is internal to core"),
        ({"src/leat/core/d.hpp": "#include <leat/leat.hpp>\n"}, "includes the umbrella"),
        ({"src/leat/core/d.hpp": "#include <leat/base/gone.hpp>\n"}, "does not exist"),
        ({"src/leat/core/d_test.cpp": "#include <leat/dataflow/e.hpp>\n"}, "core may not include dataflow"),
        ({"src/leat/core/d.cpp": "# include <sys/mman.h>\n"}, "includes the kernel's <sys/mman.h>"),
        ({"src/leat/core/d.hpp": "#include <CLI/CLI.hpp>\n"}, "for sources only"),
        ({"src/leat/extra/f.hpp": ""}, "the layer extra is not in tools/layers.txt"),
        ({"src/leat/core/CMakeLists.txt": "leat_layer(core\n  DEPENDS leat::dataflow)\n"}, "core may not depend on dataflow"),
    ]),
    "edges": (EDGES, [
        ({"src/leat/core/a.hpp": "struct publish : Edge {};\nint f() { return x.load_acquire(publish{}); }\n"},
         "a.hpp:1: the edge publish has no release half"),
        ({"src/leat/core/a.hpp": "struct publish : Edge {};\nvoid f() { x.store_seq_cst(1, publish{}); }\n"},
         "a.hpp:1: the edge publish has no acquire half"),
        ({"src/leat/core/a.hpp": "struct p : Edge {};\nstruct q : Edge {};\nint f() { return x.fetch_or_acq_rel(1, p{}, q{}); }\n"},
         "the edge q has no acquire half"),
        ({"src/leat/core/a.hpp": "struct p : Edge {};\n// x.store_release(1, p{});\nint f() { return x.load_acquire(p{}); }\n"},
         "no release half"),
        ({"src/leat/core/b.cpp": "\n\nstd::atomic<int> count;\n"}, "b.cpp:3: bare std::atomic"),
        ({"src/leat/core/b.cpp": "#include <atomic>\n"}, "b.cpp:1: bare"),
    ]),
    "tests": (TESTS, [
        ({"src/leat/core/b_test.cpp": ""}, "b_test.cpp:1: no CMakeLists.txt mentions it"),
        ({"src/leat/core/b.hpp": ""}, "b.hpp:1: no CMakeLists.txt mentions it"),
        ({"src/leat/core/CMakeLists.txt": "leat_layer(core HEADERS a.hpp) # a_test.cpp\n"}, "a_test.cpp:1: no CMakeLists.txt mentions it"),
        ({"src/leat/core/a_test.cpp": "#include <vector>\n#include <leat/core/a.hpp>\n"}, "a_test.cpp:1: begins with #include <vector>"),
    ]),
    "docs": (DOCS, [
        ({"docs/a.md": "[gone](gone.md)\n"}, "docs/a.md:1: links to gone.md"),
        ({"docs/a.md": "## Another heading\n"}, "has no such heading"),
        ({"docs/a.md": "## The heading\nsee `src/b.cpp`\n"}, "docs/a.md:2: names src/b.cpp"),
        ({"src/a.cpp": "// [part]\nint a;\n// [/part]\n"}, "README.md:4: the block differs from src/a.cpp"),
        ({"src/a.cpp": "int a;\n"}, "has no [part]"),
        ({"docs/a.md": "## The heading\n<!-- quote: src/a.cpp -->\ntext\n"}, "a quote without a code block"),
        ({"docs/parity.md": "shown by `Queue.IsEmpty`\n"}, "docs/parity.md:1: names the test Queue.IsEmpty"),
    ]),
}


def run(check, tree):
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, os.path.join(TOP, "tools", f"check_{check}.py"), root],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main():
    check = sys.argv[1]
    good, violations = CASES[check]
    failed = 0
    code, said = run(check, good)
    if code != 0:
        failed += 1
        print(f"the tree in order was refused ({code}):\n{said}")
    for change, words in violations:
        code, said = run(check, {**good, **change})
        if code != 1 or words not in said:
            failed += 1
            print(f"expected 1 and \"{words}\", got {code} and:\n{said}")
    print(f"{len(violations)} violations of {check} tried, {failed} surprises")
    sys.exit(1 if failed else 0)


main()
