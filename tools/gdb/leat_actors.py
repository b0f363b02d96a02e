"""Actors in gdb, in a live process and in a core dump.

    (gdb) source tools/gdb/leat_actors.py
    (gdb) leat actors            who lives, in which runtime, what each waits for
    (gdb) leat actor 3.1         the calls under way in one of them
    (gdb) leat actor all         in all of them

The library is compiled with debug information (-g), or one file of the program is that includes
<leat/actor/scheduler/scheduler.hpp> and calls a function of a Scheduler. An actor whose stack is put away has
no calls to show. x86-64 and aarch64; tried on the first.
"""
import gdb
import gdb.unwinder

WAITS = {
    0: "has not waited yet",
    1: "waits",
    2: "sleeps",
    3: "waits for the end of {pid}",
    4: "waits for a message to it",
    5: "waits for a message on a channel",
    6: "waits for room",
    7: "waits for an answer",
    8: "waits for one of several things",
    9: "waits for a mutex",
    10: "waits for descriptor {on}",
}
PARKED = 1
TIMED = 256
FIRST_CHUNK = 64


def plain(value):
    """What an Atomic holds."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        fields = value.type.strip_typedefs().fields()
        value = value[next(field for field in fields if hasattr(field, "bitpos"))]
    return value


def text(value):
    """What a std::string holds."""
    return value["_M_dataplus"]["_M_p"].string(length=int(value["_M_string_length"]))


def pid_text(word):
    slot, generation = word & 0xFFFFFFFF, word >> 32
    if generation == 0xFFFFFFFF:
        return "root"
    return f"{slot}.{generation}"


def schedulers():
    if gdb.selected_thread() is None:
        raise gdb.GdbError("leat: asked for actors; found no process and no core; run one first")
    try:
        kind = gdb.lookup_type("leat::actor::Scheduler").pointer()
        first = gdb.parse_and_eval("&'leat::actor::internal::first_scheduler'")
    except gdb.error as problem:
        raise gdb.GdbError(
            f"leat: looked for the runtimes of the program; found \"{problem}\"; "
            "link it with leat::actor, and compile that with -g; see the head of this script")
    at = first.cast(kind.pointer()).dereference()
    while int(at) != 0:
        yield at.dereference()
        at = at["next_"]


def slots(scheduler):
    table = scheduler["slots_"]
    made = int(plain(table["made_"]))
    for index in range(made):
        chunk = (index + FIRST_CHUNK).bit_length() - FIRST_CHUNK.bit_length()
        yield plain(table["chunks_"][chunk])[index - ((FIRST_CHUNK << chunk) - FIRST_CHUNK)]


def actors(scheduler):
    for actor in slots(scheduler):
        if actor["live"]:
            yield actor


def pid_of(actor):
    return f"{int(actor['index'])}.{int(actor['generation'])}"


def threads():
    """Each thread and its stack pointer; the one that was selected is selected again."""
    before = gdb.selected_thread()
    frame = gdb.selected_frame()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            yield thread, int(gdb.newest_frame().read_register("sp"))
    finally:
        before.switch()
        frame.select()


def runs_on(actor):
    """The thread that runs it; none if it does not run."""
    low, top = int(actor["fiber"]["low_"]), int(actor["fiber"]["top_"])
    for thread, sp in threads():
        if low <= sp < top:
            return thread.num
    return None


def state(actor, thread):
    if thread is not None:
        return f"runs in thread {thread}"
    if not int(plain(actor["state"]["word_"])) & PARKED:
        return "can run"
    waits = int(plain(actor["waits_for"]))
    on = int(plain(actor["waits_on"]))
    line = WAITS.get(waits % TIMED, "waits").format(pid=pid_text(on), on=on)
    return line + (", for a time" if waits & TIMED and waits % TIMED != 2 else "")


def line_of(actor, thread):
    name = text(actor["name"])
    return pid_of(actor) + (f' "{name}"' if name else "") + ": " + state(actor, thread)


class ActorFrames(gdb.unwinder.Unwinder):
    """While an actor is set, what called the innermost frame is where that actor was left."""

    def __init__(self):
        super().__init__("leat actors")
        self.registers = None
        self.top = None
        self.names = ("rsp", "rip")

    def __call__(self, pending):
        sp, pc = self.names
        if self.registers is None or int(pending.read_register(sp)) != self.top:
            return None
        kind = gdb.lookup_type("long")
        # Below all frames of the actor, or gdb takes them for a corrupt stack.
        below = gdb.Value(self.registers[sp] - 64).cast(kind)
        unwound = pending.create_unwind_info(FrameId(below, pending.read_register(pc)))
        for name, value in self.registers.items():
            unwound.add_saved_register(name, gdb.Value(value).cast(kind))
        return unwound

    def calls(self, actor):
        context = actor["fiber"]["context_"]
        value = {name: int(context[name]) for name in ("sp", "pc", "bp", "bx")}
        x86 = "x86-64" in gdb.selected_frame().architecture().name()
        names = (("rsp", "sp"), ("rip", "pc"), ("rbp", "bp"), ("rbx", "bx")) if x86 else \
                (("sp", "sp"), ("pc", "pc"), ("x29", "bp"), ("x19", "bx"))
        self.names = (names[0][0], names[1][0])
        self.top = int(gdb.newest_frame().read_register("sp"))
        self.registers = {register: value[name] for register, name in names}
        if not x86:
            self.registers["x30"] = value["pc"]
        gdb.invalidate_cached_frames()
        try:
            lines = gdb.execute("backtrace", to_string=True).splitlines()
            return [line for line in lines if not line.startswith("#0 ")]
        finally:
            self.registers = None
            gdb.invalidate_cached_frames()


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


frames = ActorFrames()
gdb.unwinder.register_unwinder(None, frames, replace=True)


def show(actor):
    thread = runs_on(actor)
    print(line_of(actor, thread))
    if thread is not None:
        print(gdb.execute(f"thread apply {thread} backtrace", to_string=True).rstrip())
    elif int(actor["stack"]["word_"]) == 0:
        print("  it was not run yet, or its stack is put away")
    else:
        print("\n".join(frames.calls(actor)))


class Leat(gdb.Command):
    """leat actors; leat actor PID; leat actor all."""

    def __init__(self):
        super().__init__("leat", gdb.COMMAND_STACK, prefix=True)


class Actors(gdb.Command):
    """Who lives, and what each waits for."""

    def __init__(self):
        super().__init__("leat actors", gdb.COMMAND_STACK)

    def invoke(self, _argument, _tty):
        runtimes = list(schedulers())
        stacks = {thread.num: sp for thread, sp in threads()} if runtimes else {}
        for number, scheduler in enumerate(runtimes):
            living = list(actors(scheduler))
            print(f"runtime {number}: {len(living)} actors")
            for actor in living:
                low, top = int(actor["fiber"]["low_"]), int(actor["fiber"]["top_"])
                on = [num for num, sp in stacks.items() if low <= sp < top]
                print("  " + line_of(actor, on[0] if on else None))


class OneActor(gdb.Command):
    """The calls under way in one actor, or in all."""

    def __init__(self):
        super().__init__("leat actor", gdb.COMMAND_STACK)

    def invoke(self, argument, _tty):
        words = argument.split()
        if words[1:] not in ([], ["bt"]) or not words:
            raise gdb.GdbError("leat actor: asked for a Pid, as in \"leat actor 3.1\", or \"all\"; "
                               f"found \"{argument}\"; see \"leat actors\"")
        found = False
        for scheduler in schedulers():
            for actor in list(actors(scheduler)):
                if words[0] in ("all", pid_of(actor)):
                    show(actor)
                    found = True
        if not found:
            raise gdb.GdbError(f"leat actor: asked for {words[0]}; found nobody of that name; "
                               "see \"leat actors\"")


Leat()
Actors()
OneActor()
