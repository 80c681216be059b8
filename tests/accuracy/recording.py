# SPDX-License-Identifier: Apache-2.0
"""A trace as a recording (docs/record-format.md)."""
from record_file import Writer

START_NS = 1000 * 10**9
IDLE_KNOWN = 4  # flag of a zone: its source knows the idle part


def ns(seconds):
    return round(seconds * 1e9)


def define(writer, share, owners, processes):
    if share.name not in owners:
        owners[share.name] = writer.owner(container_id=share.name)
    if share.pid not in processes:
        processes[share.pid] = writer.process(share.pid, START_NS + ns(share.start), share.name[:15], owners[share.name])
    return processes[share.pid]


def sockets_of(shares):
    return [list(amounts) for amounts in zip(*([ns(seconds) for seconds in share.socket] for share in shares))]


def signals_of(shares):
    return {
        "counted_time": [ns(share.cpu) for share in shares],
        "paired_time": [ns(share.paired) for share in shares],
        "cpu_cycles": [round(share.cycles) for share in shares],
        "cpu_ref_cycles": [round(share.ref) for share in shares],
        "cpu_instructions": [round(share.instr) for share in shares],
        "cache_miss": [round(share.miss) for share in shares],
        "memory_traffic": [round(share.lines * 64) for share in shares],
        "frequency_time": [round(share.clock) for share in shares],
        "resident": [share.resident for share in shares],
    }


def write(trace, path, without=(), idle_known=True):
    """@without: names of signals that the machine lacks. Gives the offset of the file's end after each interval."""
    p = trace.params
    ends = []
    with Writer(path, block_bytes=0) as writer:
        writer.fact("program", "accuracy laboratory")
        zones = []
        for kind, idle in (("pkg", trace.idle_pkg), ("dram", trace.idle_dram)):
            for socket in range(p.sockets):
                number = writer.zone("package" if kind == "pkg" else "dram", str(socket), flags=IDLE_KNOWN if idle_known else 0)
                zones.append((number, kind, socket, idle))
        writer.interval(START_NS, {number: None for number, _, _, _ in zones})
        owners, processes = {}, {}
        for interval in trace.intervals:
            refs = [define(writer, share, owners, processes) for share in interval.shares]
            ran = [at for at, share in enumerate(interval.shares) if share.cpu > 0.0]
            shares = [interval.shares[at] for at in ran]
            energies = {}
            for number, kind, socket, idle in zones:
                joules = getattr(interval, kind)[socket]
                seconds = interval.end - interval.begin
                energies[number] = (round(joules * 1e6), None, round(min(joules, idle * seconds) * 1e6) if idle_known else None)
            busy = sum(share.cpu for share in shares) / (p.sockets * p.cores * 2)
            writer.interval(
                START_NS + ns(interval.end), energies, parties=[(refs[at], ns(interval.shares[at].cpu)) for at in ran],
                utilisation=min(1.0, busy), places=[(socket, p.cores * 2) for socket in range(p.sockets)],
                sockets=sockets_of(shares) if p.sockets > 1 else (),
                signals={name: amounts for name, amounts in signals_of(shares).items() if shares and name not in without},
                ended=[refs[at] for at, share in enumerate(interval.shares) if share.ended])
            writer.flush()
            ends.append(writer.file.tell())
    return ends
