#!/usr/bin/env python3
"""Checks that nothing on disk is forgotten by the build.

Every .cpp below src, tests, tools, examples and bench, and every header of a layer, stands in the
nearest CMakeLists.txt above it. A header that is not listed is not installed. Headers in internal/
folders need no mention.
"""

import os
import re
import sys

import lint

# Folders whose sources a CMakeLists.txt does not name one by one: it takes them as data.
BY_FOLDER = ("tests/compile_fail/", "tests/corpus/", "tests/install/", "tools/new/")


def main():
    root = lint.root_from(sys.argv[1:])
    findings = []
    listed = {}
    sources = lint.files(root, ["src", "tests", "tools", "examples", "bench"], (".cpp", ".hpp"))
    for path in sources:
        if path.startswith(BY_FOLDER):
            continue
        if path.endswith(".hpp") and (not path.startswith("src/") or "/internal/" in path):
            continue
        folder = os.path.dirname(path)
        while folder and not os.path.exists(os.path.join(root, folder, "CMakeLists.txt")):
            folder = os.path.dirname(folder)
        if folder not in listed:
            text = lint.read(root, os.path.join(folder, "CMakeLists.txt"))
            listed[folder] = set(re.split(r"[\s()\"]+", re.sub(r"#.*", "", text)))
        name = os.path.relpath(path, folder) if folder else path
        # A foreach over names without their ending is common for examples and benches.
        if not {name, name.removesuffix(".cpp"), os.path.dirname(name) + "/"} & listed[folder]:
            if os.path.basename(path) != "main.cpp" or os.path.dirname(name) not in listed[folder]:
                findings.append(f"{path}:1: no mention of {name} in {folder}/CMakeLists.txt, so nothing builds it")
    lint.report("tests", findings, len(sources))


if __name__ == "__main__":
    main()
