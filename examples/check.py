#!/usr/bin/env python3
"""Runs one example, those with workers with one, two and three of them, and checks all that it prints.

usage: check.py PROGRAM      the program's file name says which example it is

The order of lines of different workers is not specified: where several print, lines are compared sorted.
Times are checked for their form only, and so is what depends on them.
"""

import collections
import contextlib
import os
import random
import re
import socket
import subprocess
import sys
import tempfile

WORKERS = (1, 2, 3)
SECONDS = r"\d+\.\d{6}s"


def run(program, *words):
    """The lines that the program prints; it must succeed and say nothing on standard error."""
    line = [program, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=250, check=False)
    expect(done.returncode == 0, f"{line}: ended with {done.returncode}\n{done.stdout}{done.stderr}")
    expect(done.stderr == "", f"{line}: wrote to standard error:\n{done.stderr}")
    return done.stdout.splitlines()


def expect(fine, otherwise):
    if not fine:
        sys.exit(otherwise)


def expect_equal(found, expected, words):
    expect(found == expected, f"{words}: expected\n  " + "\n  ".join(map(str, expected)) +
           "\nfound\n  " + "\n  ".join(map(str, found)))


def expect_forms(lines, forms, words):
    """Each line matches the regular expression at its place."""
    expect(len(lines) == len(forms), f"{words}: expected {len(forms)} lines, found {len(lines)}: {lines}")
    for line, form in zip(lines, forms):
        expect(re.fullmatch(form, line), f"{words}: expected {form!r}, found {line!r}")


def with_workers(program, *words):
    """(number of workers, lines) for each number of workers."""
    return [(workers, run(program, *words, "-w", workers)) for workers in WORKERS]


def by_worker(lines):
    """Lines of each worker, from how they name it, in the order they were printed in."""
    groups = collections.defaultdict(list)
    for line in lines:
        groups[int(re.search(r"worker (\d+)", line).group(1))].append(line)
    return groups


def check_threadless(program):
    expect_equal(run(program), [str(i) for i in range(10)], "threadless")


def check_comm_hello(program):
    for words in ([], ["-z"]):
        for workers, lines in with_workers(program, *words):
            for worker, said in by_worker(lines).items():
                who = f"worker {worker} of {workers}: "
                expect_equal([said[0], *sorted(said[1:-1]), said[-1]],
                             [who + "started", *(f'{who}heard "hello from {j}"' for j in range(workers)), who + "done"],
                             f"comm_hello -w {workers} {words}")
            expect(len(lines) == workers * (workers + 2), f"comm_hello -w {workers}: {lines}")


def check_mapped_memory(program):
    for workers, lines in with_workers(program):
        expect_equal(sorted(lines[:-1]),
                     [f"worker {i}: {10 * workers * len(range(i, 10000, workers))} numbers" for i in range(workers)],
                     f"mapped_memory -w {workers}")
        expect_equal(lines[-1], "all buffers were mapped here, and none is left", f"mapped_memory -w {workers}")


def check_simple(program):
    expect_equal(run(program), [f"seen: {i}" for i in range(10)], "simple")


def check_hello(program):
    for workers, lines in with_workers(program):
        # Each round is a barrier, so the order is the same on all workers together.
        expect_equal(lines, [f"worker {r % workers}:\thello {r}" for r in range(10)], f"hello -w {workers}")


def check_wordcount(program):
    for workers, lines in with_workers(program):
        expect_equal(lines, [f'seen: ("round", {k})' for k in range(1, 10 * workers + 1)], f"wordcount -w {workers}")


def check_distinct(program):
    for workers, lines in with_workers(program):
        values = {0, 1, 2, 3, 4} | ({5, 7} if workers > 1 else set())
        expect_equal(sorted(lines), sorted(f"worker {v % workers}:\tvalue {v}" for v in values),
                     f"distinct -w {workers}")


def check_unordered_input(program):
    expect_equal(run(program), [f"{r} -> [{r}]" for r in range(10)], "unordered_input")


def check_rc(program):
    for workers, lines in with_workers(program):
        expect_equal(sorted(lines), sorted(f"hello Test {{ _field: {r} }}" for r in range(10) for _ in range(workers)),
                     f"rc -w {workers}")


def check_columnar(program):
    for workers, lines in with_workers(program):
        expected = []
        for r in range(3):
            words = {"to": 2, "be": 2, "or": 1, "not": 1}
            expected += [f"round {r}: {word} {n * workers * (r + 1)}" for word, n in words.items()]
            expected += [f"worker {i}: complete up to {r}" for i in range(workers)]
        expect_equal(sorted(lines), sorted(expected), f"columnar -w {workers}")


def check_event_driven(program):
    for record in (["record"], []):
        for workers in WORKERS:
            words = [7, 5, *record, 2500, "-w", workers]
            lines = run(program, *words)
            # How many steps a round takes is a small constant; with peers it depends on when they run.
            steps = "[1-4]" if workers == 1 else r"\d+"
            forms = [SECONDS + r"\tdataflows built \(7 x 5\)"] * workers
            for r in (0, 1000, 2000):
                forms += [rf"{SECONDS}\tround {r} complete in {steps} steps"] * workers
            order = lambda line: (0, 0) if "built" in line else (1, int(re.search(r"round (\d+)", line).group(1)))
            expect_forms(sorted(lines, key=order), forms, f"event_driven {words}")


def free_ports(count):
    """The first of `count` ports in a row that nobody listens on just now."""
    for base in random.sample(range(20000, 30000, 10), 200):
        held = [socket.socket() for _ in range(count)]
        try:
            for i, one in enumerate(held):
                one.bind(("127.0.0.1", base + i))
            return base
        except OSError:
            continue
        finally:
            for one in held:
                one.close()
    sys.exit("no free ports")


def check_capture(program):
    """Both programs at once: N senders, any number of receivers."""
    send, recv = (os.path.join(os.path.dirname(program), name) for name in ("capture_send", "capture_recv"))
    for senders, receivers in ((1, 1), (3, 1), (1, 3), (2, 2), (3, 2)):
        ports = free_ports(senders)
        line = [recv, str(senders), str(ports), "-w", str(receivers)]
        with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as receiving:
            expect_equal(run(send, ports, "-w", senders), [], f"capture_send -w {senders}")
            out, err = receiving.communicate(timeout=250)
        expect_equal([receiving.returncode, err], [0, ""], f"{line}")
        expect_equal(sorted(out.splitlines()),
                     sorted(f"replayed: {x}" for x in range(10) for _ in range(senders)), f"{line}")
    # A sender that sends something else fails the receiver, which says what came.
    ports = free_ports(1)
    with subprocess.Popen([recv, "1", str(ports)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as receiving:
        while receiving.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", ports)) as sending:
                    sending.sendall(b"GET / HTTP/1.1\r\n")
                break
            except ConnectionRefusedError:
                continue
        out, err = receiving.communicate(timeout=250)
    expect(receiving.returncode == 1 and out == "" and 'begins with "leatevts"' in err,
           f"capture_recv of no stream: ended with {receiving.returncode}: {out}{err}")


EVENT_LINES = [r'(scope|operator) \d+ \[\d+(, \d+)*\] ".*" \(\w+\.cpp:\d+\)',
               r"channel \d+ in \[\d+(, \d+)*\]: \d+\.out\d+ -> \d+\.in\d+, \w+ of .*",
               r"shared (channel|progress of scope) \d+", r"frontier changed \d+",
               r"(sent|received) on channel \d+: \d+ records from \d+ to \d+ #\d+",
               r"schedule \d+ (start|stop)", r"shutdown \d+", r"park( for \d+ns)?", r"unpark"]


def expect_events(lines, least, words):
    """Each line is an event, and of each kind in `least` there are as many at least."""
    for line in lines:
        expect(any(re.fullmatch(form, line) for form in EVENT_LINES), f"{words}: no event: {line!r}")
    for start, count in least.items():
        found = sum(line.startswith(start) for line in lines)
        expect(found >= count, f"{words}: expected {count} lines that begin with {start!r}, found {found}")


def check_logging_send(program):
    batch, rounds = 20, 4
    for workers, lines in with_workers(program, batch, rounds):
        words = f"logging_send {batch} {rounds} -w {workers}"
        logs = collections.defaultdict(list)
        for line in lines:
            name, rest = re.fullmatch(r"(LOG1|LOG2|PROGRESS|REACHABILITY|SUMMARY|Round tick at:) (\d+.*)", line).groups()
            logs[name].append(rest.partition(" ")[2])
        # Each dataflow is told in its own log: itself and three operators, on every worker.
        for log in ("LOG1", "LOG2"):
            expect_events(logs[log], {"operator": 3 * workers, "scope": workers, "channel": 2 * workers,
                                      "schedule": 2 * workers, "shutdown": 4 * workers}, f"{words}, {log}")
            built = [line for line in logs[log] if re.match("operator|scope", line)]
            expect(len(built) == 4 * workers, f"{words}, {log}: found {built}")
        expect(len(logs["Round tick at:"]) == rounds * workers, f"{words}: ticks {logs['Round tick at:']}")
        expect(len(logs["SUMMARY"]) == 6 * workers, f"{words}: summaries {logs['SUMMARY']}")
        for line in logs["PROGRESS"]:
            expect(re.match(r"progress (sent by|from) \d+ #\d+ of scope \d+: messages", line), f"{words}: {line!r}")
        totals = collections.Counter()
        for line in logs["REACHABILITY"]:
            scope, changes = re.fullmatch(r"counts of scope (\d+):(.*)", line).groups()
            for place, delta, time in re.findall(r" (\d+\.(?:in|out)\d+) ([+-]\d+) @ (\d+)", changes):
                totals[scope, place, time] += int(delta)
        expect(totals and not any(totals.values()), f"{words}: counts that remain: {totals}")


def check_logging_replay(program):
    lines = run(program)
    expect(lines[-1:] == ["Done."], f"logging_replay: ended with {lines[-1:]}")
    events = lines[:-1]
    expect(all(line.startswith("  ") for line in events), "logging_replay: a line without two blanks")
    expect_events([line[2:] for line in events],
                  {"operator": 6, "scope": 2, "channel": 4, "sent": 20, "received": 20, "shutdown": 8},
                  "logging_replay")


def check_flow_controlled(program):
    for workers in WORKERS:
        line = [program, "-w", str(workers)]
        done = subprocess.run(line, capture_output=True, text=True, timeout=250, check=False)
        expect(done.returncode == 0 and done.stdout == "", f"{line}: ended with {done.returncode}\n{done.stdout}")
        lines = done.stderr.splitlines()
        wanted = [f"@ {x // 100 * 100}: ({x}, {x})" for x in range(100_000)]
        expect(len(lines) == workers * len(wanted), f"{line}: printed {len(lines)} lines")
        if workers == 1:
            expect(lines == wanted, f"{line}: the lines are not in order")
        expect(collections.Counter(lines) == {text: workers for text in wanted}, f"{line}: other lines")
        # No worker is more than two hundreds ahead of another.
        times = [int(text[2:text.index(":")]) for text in lines]
        latest = 0
        for time in times:
            latest = max(latest, time)
            expect(time >= latest - 200, f"{line}: {time} was printed after {latest}")


def check_sequence(program):
    rounds = 7
    for workers, lines in with_workers(program, rounds):
        form = re.compile(rf'{SECONDS}:\tWorker (\d+):\t recv\'d: "worker (\d+), round (\d+)"')
        orders = collections.defaultdict(list)
        for line in lines:
            match = form.fullmatch(line)
            expect(match, f"sequence -w {workers}: found {line!r}")
            receiver, sender, count = map(int, match.groups())
            orders[receiver].append((sender, count))
        expect(sorted(orders) == list(range(workers)), f"sequence -w {workers}: lines of workers {sorted(orders)}")
        for order in orders.values():
            expect_equal(order, orders[0], f"sequence -w {workers}")
        for sender in range(workers):
            expect_equal([count for who, count in orders[0] if who == sender], list(range(rounds)),
                         f"sequence -w {workers}, of worker {sender}")


def check_barrier(program):
    for workers, lines in with_workers(program, 1000):
        expect_equal(lines, [], f"barrier 1000 -w {workers}")


def check_pingpong(program):
    for workers, lines in with_workers(program, 500, 10):
        expect_equal(lines, [], f"pingpong 500 10 -w {workers}")


def check_exchange(program):
    for workers, lines in with_workers(program, 1000, 50):
        for index, own in sorted(by_worker(lines).items()):
            expect_forms(own, [rf"{SECONDS}\tworker {index} complete; rate: \d+ records/s"], f"exchange -w {workers}")
        expect(len(lines) == workers, f"exchange -w {workers}: expected a line per worker, found {lines}")
    refused = subprocess.run([program, "ten"], capture_output=True, text=True, check=False)
    expect_equal([refused.returncode, refused.stdout, refused.stderr],
                 [2, "", f'{program}: expected BATCH, a whole number above 0, found "ten"\n'], "exchange ten")


def check_tail(program):
    """`latency\tfraction` pairs: latencies rise in steps of 1/16, fractions fall."""
    for workers, lines in with_workers(program, 2000, 1):
        pairs = [(int(latency), float(fraction)) for latency, fraction in (line.split("\t") for line in lines)]
        expect(pairs, f"-w {workers}: printed nothing")
        for latency, fraction in pairs:
            power = 1 << (latency.bit_length() - 1)
            expect(latency >= 1024 and latency % (power // 16) == 0, f"{latency} is not at a step")
            expect(0 < fraction < 1, f"{fraction} is not a proper fraction")
        for (low, more), (high, less) in zip(pairs, pairs[1:]):
            expect(low < high and more >= less, f"-w {workers}: {low} {more} is followed by {high} {less}")


def check_unionfind(program):
    for words in ((1000, 700, 50), (100, 5000, 1000), (50, 7, 1000)):
        for workers, lines in with_workers(program, *words):
            expect_equal(lines, [], f"unionfind {words} -w {workers}")


def check_hashjoin(program):
    for workers, lines in with_workers(program, 100, 6000, 700):
        batches = -(-(6000 // workers) // 700)
        groups = by_worker(lines)
        expect(sorted(groups) == list(range(workers)), f"hashjoin -w {workers}: lines of workers {sorted(groups)}")
        for index, own in groups.items():
            expect_forms(own, [rf"{SECONDS}\tworker {index} batch complete"] * batches, f"hashjoin -w {workers}")


def mix64(x):
    """The hash that the edges of example graphs are made with (leat/base/hash.hpp)."""
    mask = (1 << 64) - 1
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return x ^ (x >> 31)


def edge(i, nodes):
    return mix64(2 * i) % nodes, mix64(2 * i + 1) % nodes


def check_bfs(program):
    nodes, edges = 300, 700
    graph = collections.defaultdict(list)
    for i in range(edges):
        source, target = edge(i, nodes)
        graph[source].append(target)
    for workers, lines in with_workers(program, nodes, edges):
        # Rounds in which worker 0 is told of a node of its own, new or not.
        reached, visits, time, times = set(), [0], 1, [0]
        while visits:
            if any(node % workers == 0 for node in visits):
                times.append(time)
            fresh = set(visits) - reached
            reached |= fresh
            visits = [target for node in fresh for target in graph[node]]
            time += 1
        expect_forms(lines, [rf"{SECONDS}:\tsorting", *(rf"{SECONDS}:\ttime: {t}" for t in times)],
                     f"bfs {nodes} {edges} -w {workers}")


def check_pagerank(program):
    """All workers together report the same changes at each time, however many there are."""
    reports = []
    for workers, lines in with_workers(program, 60, 200):
        total = collections.defaultdict(lambda: (0, 0, 0))
        for line in lines:
            expect(re.fullmatch(rf"{SECONDS}:\t\d+\t\d+\t\d+\t\d+", line), f"pagerank -w {workers}: found {line!r}")
            time, count, change, largest = map(int, line.split("\t")[1:])
            counts, changes, most = total[time]
            total[time] = (counts + count, changes + change, max(most, largest))
        reports.append(sorted(total.items()))
    # What the loaded graph hands out at first: 5/6 of 1000, from each page that links to any.
    nodes, edges = 60, 200
    sources = {edge(i, nodes)[0] for i in range(edges)}
    targets = {edge(i, nodes)[1] for i in range(edges)}
    time, (count, change, _) = reports[0][0]
    expect_equal([time, count, change], [1, len(targets), 833 * len(sources)], "pagerank, the first changes")
    for report in reports[1:]:
        expect_equal(report, reports[0], "pagerank, with more workers")


@contextlib.contextmanager
def shared_memory():
    """A place of its own for what processes share under a name."""
    where = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="leat-examples-", dir=where) as folder:
        os.environ["LEAT_SEGMENTS"] = folder
        yield
        left = [os.path.join(path, file) for path, _, files in os.walk(folder) for file in files
                if file != "clock"]  # what one process found out of the machine's ticks stays for the next
        expect_equal(left, [], "what is left in shared memory")
        del os.environ["LEAT_SEGMENTS"]


def start(program, *words):
    return subprocess.Popen([program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, words):
    """The lines that a started process prints; it must succeed and say nothing on standard error."""
    out, err = process.communicate(timeout=250)
    expect_equal([process.returncode, err], [0, ""], words)
    return out.splitlines()


def check_shared_ring(program):
    """Either process may come first; the second run finds nothing of the first."""
    for first, second in (("feed", "read"), ("read", "feed")):
        with shared_memory():
            processes = {first: start(program, first, 20000), second: start(program, second, 20000)}
            expect_equal(finish(processes["feed"], "shared_ring feed"), ["fed 20000 quotes"], "shared_ring feed")
            expect_equal(finish(processes["read"], "shared_ring read"),
                         ["read 20000 quotes, the last one LEAT at 20099"], "shared_ring read")


def check_tile_pipeline(program):
    """In one process with a recording that is replayed, and in two, either of which may come first."""
    counts = "20000 visits: AA 4966, BB 5033, CC 5005, ?? 4996"
    expect_equal(run(program, "all", 20000, "sample"),
                 [counts, "aggregate: 20000 timed", "recorded 20000, replayed the same"], "tile_pipeline all")
    for order in (("front", "back"), ("back", "front")):
        with shared_memory():
            processes = {role: start(program, role, *((20000, "sample") if role == "front" else ())) for role in order}
            expect_equal(finish(processes["front"], "tile_pipeline front"), ["sent 20000 visits"], "tile_pipeline front")
            expect_equal(finish(processes["back"], "tile_pipeline back"), [counts], "tile_pipeline back")


def check_worker_pool(program):
    """All tasks are done, also if a worker is killed over them."""
    tasks = 20000
    result = f"{tasks} squares, the sum is {sum(i * i for i in range(tasks))}"
    for killed in (0, 1):
        with shared_memory():
            workers = [start(program, "work") for _ in range(3)]
            giver = start(program, "give", tasks, 3)
            expect_equal(giver.stdout.readline(), f"handing out {tasks} tasks to 3 workers\n", "worker_pool give")
            for worker in workers[:killed]:
                worker.kill()
                worker.communicate()
            expect_equal(finish(giver, "worker_pool give"), [result], "worker_pool give")
            done = 0
            for worker in workers[killed:]:
                done += int(re.fullmatch(r"did (\d+) tasks", finish(worker, "worker_pool work")[0]).group(1))
            expect(done == tasks if not killed else done <= tasks, f"worker_pool: {done} tasks done")


def check_last_value_board(program):
    with shared_memory():
        watcher = start(program, "watch", 5000)
        writers = [start(program, "write", place, symbol, 5000) for place, symbol in ((0, "LEAT"), (3, "FLUX"))]
        for writer in writers:
            expect_equal(finish(writer, "last_value_board write"), [], "last_value_board write")
        expect_equal(finish(watcher, "last_value_board watch"), ["saw the last price of all"], "last_value_board")
        expect_equal(run(program, "show"), ["0: LEAT 5000 (written 5000 times)", "3: FLUX 5000 (written 5000 times)"],
                     "last_value_board show")
        wrong = start(program, "write", 8, "LEAT", 1)
        _, err = wrong.communicate(timeout=250)
        expect_equal([wrong.returncode, err], [1, "last_value_board: there are places 0 to 7\n"], "a place too high")
        expect_equal(run(program, "remove"), [], "last_value_board remove")


def check_actor_pool(program):
    for workers, lines in with_workers(program):
        expect_equal(lines, ["100 tasks: 90 done, 10 broke their worker",
                             "the supervisor started 10 workers anew"], f"actor_pool -w {workers}")


def check_chat_room(program):
    for workers, lines in with_workers(program):
        expect_equal(lines, ["anna hears: ben came, ben: hello, ben left",
                             "carl hears: anna came, ben came, ben: hello, ben left",
                             "2 guests are in the room"], f"chat_room -w {workers}")


def check_echo_server(program):
    for workers, lines in with_workers(program, "try"):
        expect_equal(lines, ["50 clients: 490 lines came back, 5 connections failed",
                             "the door was opened 2 times"], f"echo_server try -w {workers}")
    # A client that is no program of ours.
    server = subprocess.Popen([program, "serve", "0"], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.fullmatch(r"serving at port (\d+)\n", server.stdout.readline()).group(1))
        with socket.create_connection(("127.0.0.1", port), 20) as client:
            client.sendall(b"hello\n")
            expect(client.recv(100) == b"hello\n", "echo_server: it does not echo")
            client.sendall(b"fail\n")
            try:
                expect(client.recv(100) == b"", "echo_server: a request that fails keeps its connection")
            except ConnectionResetError:
                pass
    finally:
        server.terminate()
    expect(server.wait(20) == 0 and server.stdout.read() == "1 connections failed\n",
           "echo_server: it did not end in order")


def check_primes(program):
    for workers, lines in with_workers(program):
        expect_equal(lines, ["17984 primes below 200000",
                             "one failed: std::invalid_argument: from 7 to 3"], f"primes -w {workers}")


CHECKS = {name[len("check_"):]: check for name, check in list(globals().items()) if name.startswith("check_")}
CHECKS["capture_send"] = CHECKS["capture_recv"] = CHECKS.pop("capture")
CHECKS["openloop"] = CHECKS["loopdemo"] = CHECKS.pop("tail")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    CHECKS[os.path.basename(program)](program)


if __name__ == "__main__":
    main()
