"""What the check_*.py programs share: walking the tree, and how findings are reported."""

import os
import re
import sys

SKIPPED = {".git", "build", "__pycache__", ".cache"}


def files(root, folders, endings):
    """The files below root/folder with one of the endings, as paths relative to root, sorted."""
    found = []
    for folder in folders:
        for where, below, names in os.walk(os.path.join(root, folder)):
            below[:] = sorted(d for d in below if d not in SKIPPED)
            found += [os.path.relpath(os.path.join(where, n), root) for n in names if n.endswith(endings)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def without_comments(text):
    """C++ text with comments and string literals blanked; every line keeps its number and length."""
    # Raw strings, both kinds of comment, strings, characters (1'000 has none: its ' follows a digit).
    pattern = (r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
               r"|(?<![0-9a-zA-Z])'(?:\\[^\n]{1,8}?|[^'\\\n])'")

    def blank(match):
        # A string directly after #include is the included path, and stays.
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if match.group().startswith('"') and before.strip().startswith("#include"):
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(pattern, blank, text, flags=re.DOTALL)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def report(name, findings, looked_at):
    """Prints the findings as file:line: text, and ends the program: 1 if there are any."""
    for finding in findings:
        print(finding)
    if not looked_at and name != "docs":
        print(f"check_{name}: found nothing to look at; is this the root of the tree?")
        sys.exit(2)
    print(f"check_{name}: {len(findings)} findings in {looked_at} files")
    sys.exit(1 if findings else 0)


def root_from(arguments):
    """The tree to look at: the argument, or the one this program lies in."""
    return arguments[0] if arguments else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
