# Shows the guest's time at each stop, and as `info clock`.
import gdb


def word(address, size):
    memory = gdb.selected_inferior().read_memory(address, size)
    return int.from_bytes(bytes(memory), "little")


def clocks():
    """The count of each CPU, in ns since the machine was switched on."""
    text = gdb.execute("monitor info icount", to_string=True)
    lines = (line.split() for line in text.splitlines())
    return {int(line[1]): int(line[2]) for line in lines if line[:1] == ["cpu"]}


def monotonic(count):
    """CLOCK_MONOTONIC at a count, or None where it cannot be read."""
    if CLOCK is None:
        return None
    at, copies, size, (last, factor, shift, fraction, base, _) = CLOCK
    try:
        copy = at + copies + (word(at, 4) & 1) * size
        passed = (count - word(copy + last, 8)) * word(copy + factor, 4)
        passed = passed + word(copy + fraction, 8) >> word(copy + shift, 4)
        return word(copy + base, 8) + passed
    except gdb.MemoryError:
        return None


def show():
    thread = gdb.selected_thread()
    if thread is None:
        return
    cpu = thread.ptid[1] - 1
    count = clocks().get(cpu)
    if count is None:
        return
    now = monotonic(count)
    time = "" if now is None else "%d.%06d ms, " % divmod(now, 1000000)
    print("%sCPU %d, instruction %d" % (time, cpu, count))


class InfoClock(gdb.Command):
    """The guest's CLOCK_MONOTONIC, the selected CPU, and its count in ns."""

    def __init__(self):
        super().__init__("info clock", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        show()


InfoClock()
gdb.events.stop.connect(lambda event: show())
