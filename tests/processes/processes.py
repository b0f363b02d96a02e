#!/usr/bin/env python3
"""Runs examples as several processes, and checks what they print, and what survivors say of the dead.

usage: processes.py BIN CASE [ROUNDS]     BIN holds leat and examples/; the cases are the functions below

Ports are chosen by the system, by way of `leat launch`, or by sockets that are held and let go of. Nothing
waits for a time to pass: each step waits for what the one before brings about.
"""

import contextlib
import itertools
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading

BIN = ""
PATIENCE = 120  # seconds after which a process that should have ended counts as hanging


def expect(fine, otherwise):
    if not fine:
        sys.exit(otherwise)


def example(name):
    return os.path.join(BIN, "examples", name)


def leat():
    return os.path.join(BIN, "leat")


def run(words, env=None):
    """(exit code, lines of standard output, standard error)"""
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=PATIENCE,
                              check=False, env={**os.environ, **(env or {})})
    except subprocess.TimeoutExpired as late:
        sys.exit(f"{words}: hangs; printed {late.stdout} {late.stderr}")
    return done.returncode, done.stdout.splitlines(), done.stderr


def start(words, env=None):
    return subprocess.Popen([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **(env or {})})


def finish(process, words):
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        sys.exit(f"{words}: hangs; printed\n{out}{err}")
    return process.returncode, out, err


def hosts(count):
    """The name of a file with `count` addresses of this host that nobody uses."""
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    text = "".join(f"127.0.0.1:{one.getsockname()[1]}\n" for one in held)
    for one in held:
        one.close()
    return text


@contextlib.contextmanager
def host_file(text):
    with tempfile.NamedTemporaryFile("w", suffix=".hosts") as file:
        file.write(text)
        file.flush()
        yield file.name


SPLITS = ((2, 2), (4, 1))
EXAMPLES = (("hello",), ("comm_hello",), ("wordcount",), ("distinct",), ("columnar",), ("unionfind", 300, 200, 20), ("exchange", 500, 20),
            ("pagerank", 40, 120))


def stable(lines):
    """Lines without times, in an order of their own."""
    return sorted(re.sub(r"\d+\.\d{6}s|\d+ records/s", "TIME", line) for line in lines)


def meaning(name, lines):
    """What may not depend on where workers are."""
    if name != "pagerank":
        return stable(lines)
    total = {}
    for line in lines:  # each worker reports its share of each time
        time, count, change = [int(word) for word in line.split("\t")[1:4]]
        known = total.get(time, (0, 0))
        total[time] = (known[0] + count, known[1] + change)
    return sorted(total.items())


def same_results(*_):
    """Each example says the same over every fabric, for all splits of four workers."""
    for name, *words in EXAMPLES:
        program = [example(name), *words]
        wanted = None
        ways = [("threads", [*program, "-w", 4]), ("bytes", [*program, "-w", 4, "-z"])]
        for processes, workers in SPLITS:
            for fabric in ("shm", "tcp"):
                launch = [leat(), "launch", "-n", processes, "-w", workers, "--fabric", fabric, "--plain", "--"]
                ways.append((f"{fabric} {processes} x {workers}", [*launch, *program]))
        ways.append(("tcp 2 x 2, bytes", [leat(), "launch", "-n", 2, "-w", 2, "--fabric", "tcp", "--plain", "--",
                                          *program, "-z"]))
        for way, line in ways:
            code, out, err = run(line)
            expect(code == 0 and err == "", f"{name}, {way}: ended with {code}\n{out}\n{err}")
            found = meaning(name, out)
            wanted = wanted or found
            expect(found == wanted, f"{name}, {way}: expected\n{wanted}\nfound\n{found}")


def any_order(*_):
    """Processes may be started in any order, over TCP, Unix sockets and shared memory."""
    with tempfile.TemporaryDirectory() as folder:
        unix = "".join(f"unix:{folder}/{i}\n" for i in range(3))
        for order in itertools.permutations(range(3)):
            for text, flags in ((hosts(3), []), (unix, []), (None, ["--fabric", "shm"])):
                with host_file(text or "") as file:
                    at = ["-h", file] if text else ["--cluster", f"order-{os.getpid()}"]
                    processes = {i: start([example("hello"), "-n", 3, "-p", i, *at, *flags]) for i in order}
                    lines = []
                    for i, process in processes.items():
                        code, out, err = finish(process, f"hello -p {i}")
                        expect(code == 0 and err == "", f"hello -p {i} {at} {flags}: {code}\n{out}{err}")
                        lines += out.splitlines()
                    expect(sorted(lines) == sorted(f"worker {r % 3}:\thello {r}" for r in range(10)),
                           f"hello in the order {order}: {lines}")


def disagreements(*_):
    """Processes that differ name each other's side, and both end."""
    cases = ((["-w", 2], ["-w", 3], r"-w 3.*2|-w 2.*3"),
             (["-n", 2], ["-n", 3], r"-n 3.*2|-n 2.*3"),)
    for first, second, words in cases:
        with host_file(hosts(3)) as file:
            one = start([example("hello"), *(first if "-n" in first else ["-n", 2, *first]), "-p", 0, "-h", file])
            two = start([example("hello"), *(second if "-n" in second else ["-n", 2, *second]), "-p", 1, "-h", file])
            for process in (one, two):
                code, out, err = finish(process, f"hello {first} {second}")
                expect(code == 1 and out == "" and re.search(words, err), f"{first} {second}: {code}\n{out}{err}")
    with host_file(hosts(2)) as file:
        one = start([example("hello"), "-n", 2, "-p", 0, "-h", file])
        two = start([example("comm_hello"), "-n", 2, "-p", 1, "-h", file])
        for process, types in ((one, "vector"), (two, "basic_string")):
            code, _, err = finish(process, "hello beside comm_hello")
            expect(code == 1 and '"hello"' in err and '"comm_hello"' in err and "build" in err and
                   re.search("it lacks.*" + types, err), f"hello beside comm_hello: {code}\n{err}")
    # Another cluster, or none of the secret, is a stranger: nobody comes, and the time runs out.
    with host_file(hosts(2)) as file:
        one = start([example("hello"), "-n", 2, "-p", 0, "-h", file, "--connect-timeout", 2, "-r"])
        two = start([example("hello"), "-n", 2, "-p", 1, "-h", file, "--connect-timeout", 2, "--cluster", "other"])
        code, _, err = finish(one, "two clusters")
        expect(code == 1 and "cluster" in err and "waited" in err, f"two clusters: {code}\n{err}")
        code, _, err = finish(two, "two clusters")
        expect(code == 1 and "none of us" in err, f"two clusters: {code}\n{err}")


def secrets(*_):
    """With the same secret processes meet; with another they are strangers."""
    with tempfile.TemporaryDirectory() as folder, host_file(hosts(2).replace("127.0.0.1", "0.0.0.0", 1)) as file:
        for name, text in (("good", "a long secret\n"), ("bad", "another secret\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as secret:
                secret.write(text)
        line = [example("hello"), "-n", 2, "-h", file, "--connect-timeout", 3]
        code, _, err = run([*line, "-p", 0])
        expect(code == 1 and "--secret-file" in err and "--insecure" in err, f"an open address: {code}\n{err}")
        for name, wanted in (("good", 0), ("bad", 1)):
            one = start([*line, "-p", 0, "--secret-file", os.path.join(folder, "good")])
            two = start([*line, "-p", 1, "--secret-file", os.path.join(folder, name)])
            for process in (one, two):
                code, _, err = finish(process, f"secret {name}")
                expect(code == wanted, f"secret {name}: {code}\n{err}")
                expect(wanted == 0 or "secret" in err or "none of us" in err, f"secret {name}: {err}")


def lost_peers(rounds=None):
    """A killed process is an error that names it, on every worker of every survivor, as is a stopped one."""
    for at, fabric in itertools.product(range(int(rounds or 3)), ("tcp", "shm")):
        for number, limit in ((signal.SIGKILL, 10000), (signal.SIGSTOP, 1000)):
            with host_file(hosts(3)) as file:
                where = ["-h", file] if fabric == "tcp" else ["--cluster", f"lost-{os.getpid()}"]
                line = [example("barrier"), 1000000000, "-n", 3, "-w", 2, *where, "--fabric", fabric,
                        "--peer-timeout", limit, "-r"]
                processes = [start([*line, "-p", i]) for i in range(3)]
                # All are connected when each has said so of the other two.
                for i, process in enumerate(processes):
                    here = 0
                    while here < 2:
                        text = process.stderr.readline()
                        expect(text, f"barrier -p {i} over {fabric} ended early")
                        here += "is here" in text
                victim = processes[at % 3]
                victim.send_signal(number)
                for i, process in enumerate(processes):
                    if process is victim:
                        continue
                    code, _, err = finish(process, f"barrier -p {i} over {fabric}, after signal {number}")
                    said = [text for text in err.splitlines() if text.startswith("worker ")]
                    expect(code == 1 and len(said) == 2 and
                           all("leat communication error:" in text and f"process {at % 3}" in text for text in said),
                           f"barrier -p {i} over {fabric}, after signal {number}: {code}\n{err}")
                victim.kill()
                victim.communicate()


def strangers(count=None):
    """Connections that come from nowhere change nothing, before the others have come."""
    with host_file(hosts(2)) as file:
        with open(file, encoding="utf-8") as text:
            port = int(text.readline().rpartition(":")[2])
        one = start([example("hello"), "-n", 2, "-p", 0, "-h", file, "-r"])
        expect("listens" in one.stderr.readline(), "hello -p 0 does not listen")
        reader = threading.Thread(target=one.stderr.read)  # it says whom it dropped
        reader.start()
        draw = random.Random(7)
        for _ in range(int(count or 300)):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as stranger:
                kind = draw.randrange(4)
                if kind == 1:
                    stranger.sendall(draw.randbytes(draw.randrange(400)))
                elif kind == 2:  # the beginning of a hello, and no more, or with nonsense behind
                    stranger.sendall(b"LATHELLO" + draw.randbytes(draw.randrange(300)))
                elif kind == 3:
                    stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        two = start([example("hello"), "-n", 2, "-p", 1, "-h", file])
        code, out, err = finish(two, "hello -p 1, after strangers")
        expect(code == 0 and err == "" and len(out.splitlines()) == 5, f"hello -p 1, after strangers: {code}\n{out}{err}")
        out = one.stdout.read()
        one.wait(PATIENCE)
        reader.join()
        expect(one.returncode == 0 and len(out.splitlines()) == 5, f"hello -p 0, after strangers: {one.returncode}\n{out}")


class Proxy:
    """Stands between two processes and does something to the bytes that go by, in order."""

    def __init__(self, to, fault, draw):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.to, self.fault, self.draw = to, fault, draw
        self.passed = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = None
            while far is None:
                with contextlib.suppress(OSError):
                    far = socket.create_connection(("127.0.0.1", self.to))
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(a, b), daemon=True).start()

    def carry(self, a, b):
        with contextlib.suppress(OSError):
            while True:
                some = a.recv(65536)
                if not some:
                    break
                if self.fault[0] == "fragment":
                    for i in range(len(some)):
                        b.sendall(some[i:i + 1])
                    continue
                begin, self.passed = self.passed, self.passed + len(some)
                if self.fault[0] == "cut" and self.passed > self.fault[1]:
                    b.sendall(some[:max(0, self.fault[1] - begin)])
                    break
                if self.fault[0] == "corrupt" and begin <= self.fault[1] < self.passed:
                    at = self.fault[1] - begin
                    some = some[:at] + bytes([some[at] ^ (1 << self.draw.randrange(8))]) + some[at + 1:]
                if self.fault[0] == "stall" and self.passed > self.fault[1]:
                    threading.Event().wait()  # for good
                b.sendall(some)
            b.shutdown(socket.SHUT_WR)
            return
        with contextlib.suppress(OSError):
            b.close()


def faults(rounds=None):
    """A wire that fragments changes nothing; one that cuts, stalls or corrupts is an error on both sides."""
    draw = random.Random(11)
    for _ in range(int(rounds or 3)):
        for kind in ("fragment", "cut", "corrupt", "stall"):
            # Behind the handshake, within what wordcount sends.
            fault = (kind, draw.randrange(1200, 5000))
            first = hosts(1)
            proxy = Proxy(int(first.strip().rpartition(":")[2]), fault, draw)
            with host_file(first + "127.0.0.1:1\n") as direct, \
                    host_file(f"127.0.0.1:{proxy.port}\n127.0.0.1:1\n") as bent:
                line = [example("wordcount"), "-n", 2, "-w", 2, "--peer-timeout", 1000, "--connect-timeout", 20]
                processes = [start([*line, "-p", 0, "-h", direct]), start([*line, "-p", 1, "-h", bent])]
                ends = [finish(process, f"wordcount, {fault}") for process in processes]
                if kind == "fragment":
                    lines = sorted(itertools.chain.from_iterable(out.splitlines() for _, out, _ in ends))
                    expect([code for code, _, _ in ends] == [0, 0] and
                           lines == sorted(f'seen: ("round", {k})' for k in range(1, 41)), f"{fault}: {ends}")
                else:
                    expect(any(code == 1 for code, _, _ in ends), f"{fault}: {ends}")
                    for code, _, err in ends:
                        expect(code == 0 or "leat communication error:" in err or "connecting:" in err,
                               f"{fault}: {ends}")


def cycles(count=None):
    """Starting and ending leaves no process, port, socket or memory behind."""
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    for i in range(int(count or 10)):
        fabric = ("shm", "tcp")[i % 2]
        code, out, err = run([leat(), "launch", "-n", 2, "-w", 2, "--fabric", fabric, "--", example("hello")])
        expect(code == 0 and err == "" and len(out) == 10, f"cycle {i} over {fabric}: {code}\n{out}\n{err}")
        expect(all(re.match(r"\[[01]\] worker [0-3]:\thello \d$", line) for line in out), f"cycle {i}: {out}")
    if os.path.isdir("/dev/shm"):
        expect(set(os.listdir("/dev/shm")) <= before, "something is left in shared memory")
    with open("/proc/net/unix", encoding="utf-8") as sockets:
        expect("@leat-" + str(os.geteuid()) + "-launch" not in sockets.read(), "a socket is left")


def launching(*_):
    """leat launch says what it is asked wrongly, passes exit codes on, and takes all along on Ctrl-C."""
    code, _, err = run([leat(), "launch", "-n", "none", "--", "true"])
    expect(code == 2 and "whole number" in err, f"launch -n none: {code} {err}")
    code, _, err = run([leat(), "launch", "-n", 2, "--", "/no/such/program"])
    expect(code == 1 and "/no/such/program" in err, f"launch of nothing: {code} {err}")
    code, out, _ = run([leat(), "launch", "-n", 3, "--", "sh", "-c", "echo $LEAT_PROCESS of $LEAT_PROCESSES; exit 0"])
    expect(code == 0 and sorted(out) == [f"[{i}] {i} of 3" for i in range(3)], f"launch of a shell: {code} {out}")
    code, _, _ = run([leat(), "launch", "-n", 2, "--", "sh", "-c", "exit $((LEAT_PROCESS * 7))"])
    expect(code == 7, f"launch of one that fails: {code}")
    line = [leat(), "launch", "-n", 2, "--", "sh", "-c", "echo $$; exec sleep 1000"]
    process = start(line)
    pids = [int(process.stdout.readline().split()[1]) for _ in range(2)]
    process.send_signal(signal.SIGINT)
    code, _, _ = finish(process, "launch, interrupted")
    expect(code == 128 + signal.SIGINT, f"launch, interrupted: {code}")
    for pid in pids:
        expect(not os.path.exists(f"/proc/{pid}"), f"process {pid} was left behind")


def packages(*_):
    """leat run packages prints one table, from the first process, and the same one however many there are."""
    with tempfile.TemporaryDirectory() as folder:
        edges = os.path.join(folder, "edges")
        draw = random.Random(3)
        with open(edges, "w", encoding="utf-8") as file:
            file.writelines(f"n{draw.randrange(60)} n{draw.randrange(60)}\n" for _ in range(150))
        for words in (["--top", 9], ["--without", "n1", "n2"], ["--why", "n3", "n1"]):
            line = [leat(), "run", "packages", "--input", edges, *words]
            code, wanted, err = run([*line, "-w", 2])
            expect(code == 0 and wanted, f"{line}: {code} {wanted} {err}")
            for fabric in ("shm", "tcp"):
                launch = [leat(), "launch", "-n", 3, "-w", 2, "--fabric", fabric, "--plain", "--"]
                code, out, err = run([*launch, *line])
                expect(code == 0 and stable_times(out) == stable_times(wanted) and
                       err.count("workers") == 1 and "6 workers in 3 processes" in err,
                       f"{launch} {line}: {code}\n{out}\nwanted\n{wanted}\n{err}")
        # Processes that were given different graphs do not compute anything of them.
        with open(edges + "2", "w", encoding="utf-8") as file:
            file.write("n1 n2\n")
        code, out, err = run([leat(), "launch", "-n", 2, "--", "sh", "-c",
                              f"[ $LEAT_PROCESS = 0 ] || more=2; exec {leat()} run packages --input {edges}$more"])
        expect(code == 1 and not out and "different work" in err and "2 nodes" in err and "60 nodes" in err, f"{code}\n{out}\n{err}")


def stable_times(lines):
    """Lines without how long something took."""
    return [re.sub(r"[\d.]+ (ns|us|µs|ms|s)\b", "TIME", line) for line in lines]


def threads(*_):
    """A process has its workers, one thread for all links, and its own."""
    for fabric in ("tcp", "shm"):
        process = start([leat(), "launch", "-n", 2, "-w", 2, "--fabric", fabric, "--", example("barrier"),
                         1000000000, "-r"])
        here = 0
        while here < 2:
            here += "is here" in process.stderr.readline()
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as children:
            pids = children.read().split()
        expect(len(pids) == 2, f"launch has {pids}")
        for pid in pids:
            names = []
            while len(names) < 4:  # they are starting
                names = []
                for task in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as comm:
                        names.append(comm.read().strip())
            expect(sorted(names)[:1] + sorted(n for n in names if n.startswith("leat:")) and len(names) == 4,
                   f"threads over {fabric}: {names}")
        process.send_signal(signal.SIGTERM)
        finish(process, "barrier")


def main():
    global BIN
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    BIN = os.path.abspath(sys.argv[1])
    for variable in [name for name in os.environ if name.startswith("LEAT_")]:
        del os.environ[variable]
    globals()[sys.argv[2]](*sys.argv[3:])


if __name__ == "__main__":
    main()
