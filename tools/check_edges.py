#!/usr/bin/env python3
"""Checks that every named edge of a memory-order pair has both its halves in src/.

An edge is a `struct name : Edge {};`. Its acquire half passes it to a load_acquire, load_seq_cst or a
read-modify-write that acquires, its release half to a store or read-modify-write that releases. One that
does both takes two edges, the acquired one first; if it is seq_cst, either may be either half (store, then
load elsewhere). Fences are halves alike, and so are the copies of base/word_copy.hpp, which have one within:
read_words acquires, write_words releases. Tests do not count as halves.

Also: no bare std::atomic outside src/leat/base, except in tests, which may count with one.
"""

import re
import sys

import lint

DEFINITION = re.compile(r"\bstruct\s+(\w+)\s*(?:final\s*)?:\s*(?:public\s+)?(?:::)?(?:leat::)?Edge\s*\{\s*\}")
CALL = re.compile(r"\b(\w*(?:acquire|release|acq_rel|seq_cst)|read_words|write_words)\s*\(")
PASSED = re.compile(r"\b((?:\w+::)*)(\w+)\s*(?:\{\s*\}|\(\s*\))")
BARE = re.compile(r"\bstd\s*::\s*atomic(?:_\w+)?\b|#\s*include\s*<(?:atomic|stdatomic\.h)>")


def arguments(text, start):
    """The text of a call's arguments, from behind its opening parenthesis to the closing one."""
    depth = 1
    for position in range(start, len(text)):
        if text[position] in "([{":
            depth += 1
        elif text[position] in ")]}":
            depth -= 1
            if depth == 0:
                return text[start:position]
    return text[start:]


def halves(operation, edges):
    """Pairs (half, edge) that a call of this name with these edges makes."""
    if operation.startswith(("load", "read_")) or operation.endswith("_acquire") or operation == "acquire":
        return [("acquire", edge) for edge in edges]
    if operation.startswith(("store", "write_")) or operation.endswith("_release") or operation == "release":
        return [("release", edge) for edge in edges]
    if len(edges) == 1 or operation.endswith("seq_cst"):  # in the one total order both sides count
        return [(half, edge) for edge in edges for half in ("acquire", "release")]
    return [("acquire", edges[0]), ("release", edges[1])]


def main():
    root = lint.root_from(sys.argv[1:])
    findings = []
    paths = lint.files(root, ["src"], (".hpp", ".cpp"))
    texts = {path: lint.without_comments(lint.read(root, path)) for path in paths}

    for path, text in texts.items():
        if not path.startswith("src/leat/base/") and not path.endswith(("_test.cpp", "_fuzz.cpp")):
            for match in BARE.finditer(text):
                findings.append(f"{path}:{lint.line_of(text, match.start())}: bare {match.group()}; "
                                "use leat::Atomic, which names its edges and which the model checker sees")

    defined = {}  # (name, path of its definition) -> [line, halves seen]
    for path, text in texts.items():
        if not path.endswith("_test.cpp"):
            for match in DEFINITION.finditer(text):
                defined[match.group(1), path] = [lint.line_of(text, match.start()), set()]
    names = {name for name, _ in defined}

    for path, text in texts.items():
        if path.endswith("_test.cpp"):
            continue
        for call in CALL.finditer(text):
            edges = [m.group(2) for m in PASSED.finditer(arguments(text, call.end())) if m.group(2) in names]
            if not edges:
                continue
            for half, edge in halves(call.group(1), edges):
                # An edge of this name in the same file is the one meant; else any.
                here = (edge, path) in defined
                for (name, where), entry in defined.items():
                    if name == edge and (where == path or not here):
                        entry[1].add(half)

    for (name, path), (line, seen) in sorted(defined.items(), key=lambda item: (item[0][1], item[1][0])):
        for half, example in (("acquire", "load_acquire"), ("release", "store_release")):
            if half not in seen:
                findings.append(f"{path}:{line}: the edge {name} has no {half} half in src/ (such as {example})")
    lint.report("edges", findings, len(paths))


if __name__ == "__main__":
    main()
