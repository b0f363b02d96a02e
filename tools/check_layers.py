#!/usr/bin/env python3
"""Checks every #include and every link under src/leat against the table tools/layers.txt.

A layer includes itself and the layers its line names; <leat/base/os/...> only those on the line `os`.
Only base/os includes headers of the kernel, and base/model, which stands in for it. `internal/` is for its own layer. Umbrella headers directly
in src/leat may include everything, and no layer includes one, but for its tests (x_test.cpp, and test_x.hpp
which they share). DEPENDS of a layer says nothing that the
table does not.
"""

import os
import re
import sys

import lint

KERNEL = re.compile(r"(sys|linux|asm|arpa|net|netinet)/.*|(unistd|sched|pthread|fcntl|dirent|poll|signal|csignal|"
                    r"semaphore|spawn|termios|pwd|syscall)(\.h)?$")
MAY_CALL_THE_KERNEL = ("src/leat/base/os/", "src/leat/base/model/")
FOR_SOURCES_ONLY = re.compile(r"(CLI|fmt|gtest|gmock)/")


def table(root):
    allowed = {}
    for number, line in enumerate(lint.read(root, "tools/layers.txt").splitlines(), 1):
        line = line.split("#")[0].strip()
        if line:
            if ":" not in line:
                sys.exit(f"tools/layers.txt:{number}: expected \"LAYER: LAYER...\", found \"{line}\"")
            layer, others = line.split(":")
            allowed[layer.strip()] = set(others.split())
    return allowed


def is_test(path):
    return path.endswith("_test.cpp") or os.path.basename(path).startswith("test_")


def check_include(root, allowed, path, layer, target):
    """What is wrong with layer's file `path` including `target`, or None."""
    if not target.startswith("leat/"):
        if KERNEL.match(target) and not path.startswith(MAY_CALL_THE_KERNEL) and not is_test(path):
            return f"includes the kernel's <{target}>; only src/leat/base/os does"
        if FOR_SOURCES_ONLY.match(target) and path.endswith(".hpp") and not is_test(path):
            return f"includes <{target}>, which is for sources only"
        return None
    if not os.path.exists(os.path.join(root, "src", target)):
        return f"includes <{target}>, which does not exist"
    parts = target.split("/")
    if layer is None:
        return None
    if len(parts) == 2:
        if is_test(path):
            return None
        return f"includes the umbrella <{target}>; name the header you need"
    other = parts[1]
    if other != layer and other not in allowed[layer]:
        return f"{layer} may not include {other} (<{target}>); see tools/layers.txt"
    if other == "base" and parts[2] == "os" and layer not in allowed["os"]:
        return f"{layer} may not include base/os (<{target}>); see tools/layers.txt"
    if "internal" in parts and other != layer:
        return f"<{target}> is internal to {other}"
    return None


def main():
    root = lint.root_from(sys.argv[1:])
    allowed = table(root)
    findings = []
    sources = lint.files(root, ["src"], (".hpp", ".cpp"))
    for path in sources:
        parts = path.split("/")
        layer = parts[2] if len(parts) > 3 else None
        if layer is not None and layer not in allowed:
            findings.append(f"{path}:1: the layer {layer} is not in tools/layers.txt")
            continue
        text = lint.without_comments(lint.read(root, path))
        for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', text, re.MULTILINE):
            wrong = check_include(root, allowed, path, layer, match.group(1))
            if wrong:
                findings.append(f"{path}:{lint.line_of(text, match.start())}: {wrong}")

    for path in lint.files(root, ["src"], ("CMakeLists.txt",)):
        text = re.sub(r"#.*", "", lint.read(root, path))
        for match in re.finditer(r"leat_layer\(\s*(\w+)[^)]*?\bDEPENDS\b([^)]*?)(?=\b(?:LIBS|HEADERS|SOURCES|TESTS|FUZZ)\b|\))",
                                 text):
            layer = match.group(1)
            for other in re.findall(r"leat::(\w+)", match.group(2)):
                if other not in allowed.get(layer, ()):
                    findings.append(f"{path}:{lint.line_of(text, match.start())}: {layer} may not depend on {other}; "
                                    "see tools/layers.txt")
    lint.report("layers", findings, len(sources))


if __name__ == "__main__":
    main()
