#!/usr/bin/env python3
"""Checks that the .md files of this tree are live.

  - Links to files, and to headings (#like-this), lead somewhere. Links to the web are not followed.
  - A path in `backquotes` that starts with one of this tree's folders exists.
  - A name like `Suite.Test` in docs/parity.md, or another docs/parity-*.md, is a test of this tree.
  - A code block below `<!-- quote: FILE#NAME -->` equals the lines of FILE between the comments [NAME] and
    [/NAME], less their common indentation; without #NAME, all of FILE. With --update the blocks are renewed.
"""

import os
import re
import sys
import textwrap

import lint

FOLDERS = ("src", "tools", "tests", "docs", "cmake", "examples", "bench", ".ci")
FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
QUOTE = re.compile(r"(<!--\s*quote:\s*(\S+?)(?:#(\S+))?\s*-->\n\s*```[^\n]*\n)(.*?)(^```)", re.MULTILINE | re.DOTALL)


def quoted(root, path, name):
    """The text that a quote of path#name should show, or a reason why there is none."""
    try:
        text = lint.read(root, path)
    except OSError:
        return None, f"quotes {path}, which does not exist"
    if name is None:
        return text, None
    marks = re.search(rf"^[^\n]*(?://|#)\s*\[{re.escape(name)}\][^\n]*\n(.*?)^[^\n]*(?://|#)\s*\[/{re.escape(name)}\]",
                      text, re.MULTILINE | re.DOTALL)
    if not marks:
        return None, f"quotes {path}#{name}, but {path} has no [{name}] ... [/{name}]"
    return textwrap.dedent(marks.group(1)), None


def slug(heading):
    heading = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading))


def anchors(text):
    return {slug(m.group(1)) for m in re.finditer(r"^#+\s+(.*)$", FENCE.sub("", text), re.MULTILINE)}


def check_links(root, path, text):
    prose = FENCE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    spans = re.sub(r"`[^`\n]*`", lambda m: " " * len(m.group()), prose)
    for match in re.finditer(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)", spans):
        target, _, heading = match.group(1).partition("#")
        if re.match(r"\w+:", target):
            continue
        where = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        line = lint.line_of(text, match.start())
        if not os.path.exists(os.path.join(root, where)):
            yield f"{path}:{line}: links to {match.group(1)}, which does not exist"
        elif heading and where.endswith(".md") and heading not in anchors(lint.read(root, where)):
            yield f"{path}:{line}: links to {match.group(1)}, but {where} has no such heading"
    for match in re.finditer(r"`([^`\s]+)`", prose):
        target = match.group(1).rstrip("/.,:;")
        if target.split("/")[0] not in FOLDERS or "/" not in target or re.search(r"[*<>{}$…]|\.\.\.", target):
            continue
        target = re.sub(r"[:#].*$", "", target)
        if not os.path.exists(os.path.join(root, target)):
            yield f"{path}:{lint.line_of(text, match.start())}: names {target}, which does not exist"


def check_tests(root, path, text):
    """Every `Suite.Test` that the page names must be a test."""
    names = set()
    for test in lint.files(root, ["src", "tests", "tools"], (".cpp",)):
        if "TEST" in (code := lint.read(root, test)):
            names.update(".".join(pair) for pair in re.findall(r"TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", code))
    for match in re.finditer(r"`([A-Z]\w+\.[A-Z]\w+)`", text):
        if match.group(1) not in names:
            yield f"{path}:{lint.line_of(text, match.start())}: names the test {match.group(1)}, which does not exist"


def main():
    words = sys.argv[1:]
    update = "--update" in words
    root = lint.root_from([w for w in words if w != "--update"])
    findings = []
    paths = [p for p in lint.files(root, ["."], (".md",))]
    for path in paths:
        text = lint.read(root, path)

        def check_quote(match, path=path, text=text):
            line = lint.line_of(text, match.start())
            want, wrong = quoted(root, match.group(2), match.group(3))
            if wrong:
                findings.append(f"{path}:{line}: {wrong}")
            elif match.group(4) != want:
                if update:
                    return match.group(1) + want + match.group(5)
                findings.append(f"{path}:{line}: the block differs from {match.group(2)}; ./dev docs --update renews it")
            return match.group()

        renewed = QUOTE.sub(check_quote, text)
        for match in re.finditer(r"<!--\s*quote:[^\n]*", text):
            if not QUOTE.match(text, match.start()):
                findings.append(f"{path}:{lint.line_of(text, match.start())}: a quote without a code block below it")
        if renewed != text:
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(renewed)
            print(f"{path}: quotes renewed")
        findings += check_links(root, path, renewed)
        if re.fullmatch(r"docs/parity[\w-]*\.md", path.removeprefix("./")):
            findings += check_tests(root, path, renewed)
    lint.report("docs", findings, len(paths))


if __name__ == "__main__":
    main()
