#!/usr/bin/env python3
"""Checks that nothing on disk is forgotten by the build.

Every .cpp below src, tests, tools, examples and bench, and every header of a layer, stands in a
CMakeLists.txt. A header that is not listed is not installed. Headers in internal/
folders, and test_x.hpp which tests share, need no mention.

A test beside a header of its name includes that header before all else, which proves that the header
can be included alone; the build verifies only the headers that have no such test.
"""

import os
import re
import sys

import lint

FOLDERS = ["src", "tests", "tools", "examples", "bench"]
# What other parts of the build take as data, or name themselves.
AS_DATA = ("tests/corpus/", "tests/install/", "tools/new/")


def mentioned(root):
    """Every word of every CMakeLists.txt, taken as a path from its folder."""
    paths = set()
    for path in lint.files(root, FOLDERS, ("CMakeLists.txt",)):
        text = re.sub(r"#.*", "", lint.read(root, path))
        paths |= {os.path.normpath(os.path.join(os.path.dirname(path), word)) for word in re.split(r"[\s()\"]+", text)}
    return paths


def main():
    root = lint.root_from(sys.argv[1:])
    findings = []
    known = mentioned(root)
    sources = list(lint.files(root, FOLDERS, (".cpp", ".hpp")))
    for path in sources:
        if path.startswith(AS_DATA):
            continue
        if path.endswith(".hpp") and (not path.startswith("src/") or re.search(r"/internal/|/test_[^/]*$", path)):
            continue
        # Examples and snippets are often listed without their ending.
        if path not in known and path.removesuffix(".cpp") not in known:
            findings.append(f"{path}:1: no CMakeLists.txt mentions it, so nothing builds it")
        header = path.removesuffix("_test.cpp") + ".hpp"
        if path.startswith("src/") and path.endswith("_test.cpp") and header in sources:
            first = re.search(r"^#include .*", lint.read(root, path), re.MULTILINE)
            wanted = f"#include <{header.removeprefix('src/')}>"
            if not first or first[0] != wanted:
                findings.append(f"{path}:1: begins with {first[0] if first else 'no include'}; want {wanted} first")
    lint.report("tests", findings, len(sources))


if __name__ == "__main__":
    main()
