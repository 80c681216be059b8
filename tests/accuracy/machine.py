# SPDX-License-Identifier: Apache-2.0
"""
A machine whose physics are known: the ground truth of the accuracy laboratory. It shares no code with Kepler.

The machine has sockets, cores with two threads each, P-states and turbo, core C-states with a tail, an uncore that wakes with
the first core, memory whose latency rises with its traffic, leakage that rises with the temperature, and RAPL meters with their
unit, jitter and noise. It advances by steps of STEP seconds. In a step each logical CPU runs one thread or none.

Energy of a core in a step, at voltage V (V0 is the nominal one) and frequency f:

    clock   e_cycle * f * dt * (V/V0)^2                            while at least one of its threads runs
    static  leak_core * dt * V/V0 * heat(T)                        likewise, and in the first step after it (C1 before C6)
    instr   sum over its threads: instructions * epi * (V/V0)^2
    lines   sum over its threads: lines * e_llc                    moved inside the package

Energy of a socket beside its cores: uncore_idle always, uncore_awake while a core is awake, and the leakage of the uncore by
temperature. Energy of its memory: background power always, and e_dram for each line that is moved. A line is moved by a miss, a
prefetch, or a write-back; only the first is counted by the cache-miss event. The energy of an instruction (epi) differs between
kinds of work, and no counter shows it.

What is the true energy of a process? All energy above that of the idle machine belongs to one process, at the voltage,
frequency and temperature that there really were:

  * Instructions and lines belong to their process.
  * What a core or the uncore takes because it is awake is shared by the Shapley value of the threads that keep it awake, each
    with its rate of work as it was. A cost that does not depend on how many use it is shared equally: half for each of a pair.
  * The step after the last one that ran belongs to the threads that ran last on the core.
  * Leakage above that of the idle machine is shared by the temperature to which each has heated the socket (heat is additive).

The parameter `pair` chooses another definition of what a pair of threads shares: `equal`, `instructions` (by what each
retired), or `energy` (by the energy of what each retired).
"""
import random

STEP = 0.01
UNIT_J = 61.03515625e-6  # of RAPL: 2^-14 J
IPC_WIDTH = 4.0
LINE_BYTES = 64


class Params:
    """The constants of the physics. The laboratory varies each one to see what its figures depend on."""
    sockets = 1
    cores = 4  # of a socket
    nominal_ghz = 2.6
    turbo_ghz = (3.6, 3.5, 3.3, 3.2)  # by the number of awake cores; the last one for more
    avx_ratio = 0.88  # of the frequency of a core that runs wide vectors
    e_cycle_nj = 0.55
    leak_core_w = 0.7
    leak_per_k = 0.012
    uncore_idle_w = 6.0
    uncore_awake_w = 3.0
    uncore_leak_w = 3.0
    e_llc_nj = 8.0
    e_dram_nj = 20.0
    dram_idle_w = 2.5
    tdp_w = 95.0
    smt_pressure = 0.9  # how much a busy sibling slows a thread
    latency_ns = 80.0
    bandwidth_gbs = 20.0
    thermal_r = 0.45  # K/W
    thermal_tau = 15.0
    epi_scale = 1.0  # of the differences between kinds of work: 0 makes all alike
    meter_noise = 0.003
    meter_gain = 1.0
    counter_noise = 0.003
    pair = "equal"

    def __init__(self, **changes):
        for name, value in changes.items():
            if not hasattr(Params, name):
                raise AttributeError(f"no constant of the physics is called {name}")
            setattr(self, name, value)


class Kind:
    """A kind of work: what an instruction of it does."""

    def __init__(self, name, ipc, epi_nj, mpki, extra_lines=0.3, wide=False):
        self.name = name
        self.cpi = 1.0 / ipc  # with all data in the caches
        self.epi_nj = epi_nj
        self.miss = mpki / 1000.0  # misses of an instruction
        self.extra_lines = extra_lines  # prefetched and written back, in addition to each miss
        self.wide = wide


KINDS = {kind.name: kind for kind in (
    Kind("integer", 2.4, 0.62, 0.1),
    Kind("scalar", 1.8, 0.75, 0.4),
    Kind("vector", 1.7, 1.70, 0.8, wide=True),
    Kind("branchy", 0.9, 0.85, 1.0),
    Kind("web", 1.1, 0.80, 3.0, 0.4),
    Kind("stream", 1.6, 0.90, 22.0, 0.9),
    Kind("pointer", 1.0, 0.70, 14.0, 0.1),
    # The same for all counters, and another energy.
    Kind("narrow", 1.7, 0.40, 0.8),
    Kind("wide", 1.7, 2.40, 0.8),
)}
MEAN_EPI_NJ = 0.85


def voltage(ghz):
    """V/V0: 0.72 at 1.2 GHz, 1 at 2.6 GHz, 1.2 at 3.6 GHz."""
    return max(0.72, 0.48 + 0.2 * ghz)


class Phase:
    """For @seconds, threads do @kind of work, busy for @duty of the time (a range, from which one is drawn for each pass)."""

    def __init__(self, kind, duty=(1.0, 1.0), seconds=(8.0, 16.0), cap_ghz=None):
        self.kind, self.duty, self.seconds, self.cap_ghz = KINDS[kind], duty, seconds, cap_ghz


class Program:
    """
    A process of a scenario. @start and @end in seconds; @cpus: where it may run (CPU = core * 2 + thread, cores are numbered
    through the sockets); @spawn: it runs no thread itself, but starts so many processes a second, which live @life seconds.
    @beside: the name of another program and the kind of work that this one does while that one runs.
    """

    def __init__(self, name, phases, threads=1, cpus=None, start=0.0, end=None, spawn=0.0, life=(0.01, 0.04), resident=64 << 20,
                 beside=None):
        self.name, self.phases, self.threads, self.cpus = name, phases, threads, cpus
        self.beside = (beside[0], KINDS[beside[1]]) if beside else None
        self.start, self.end, self.spawn, self.life, self.resident = start, end, spawn, life, resident


class Thread:
    __slots__ = ("process", "cpus", "rng", "phases", "phase_at", "phase_until", "duty", "kind", "cap", "on", "left", "cpu", "ran",
                 "dies", "beside")

    def __init__(self, process, program, rng, phase_at=0):
        self.process, self.cpus, self.rng, self.phases = process, program.cpus, rng, program.phases
        self.phase_at, self.phase_until, self.beside = phase_at - 1, -1.0, program.beside
        self.on, self.left, self.cpu, self.ran, self.dies = True, 0, None, 0.0, None

    def next_phase(self, now):
        self.phase_at = (self.phase_at + 1) % len(self.phases)
        phase = self.phases[self.phase_at]
        self.phase_until = now + self.rng.uniform(*phase.seconds)
        self.duty, self.kind, self.cap = self.rng.uniform(*phase.duty), phase.kind, phase.cap_ghz
        self.left = 0

    def wants(self, now):
        """Whether it would run in this step: bursts of 50 ms in the mean, with pauses that make up the duty."""
        if now >= self.phase_until:
            self.next_phase(now)
        if self.duty >= 0.999 or self.duty <= 0.0:
            return self.duty > 0.0
        if self.left <= 0:
            self.on = not self.on
            mean = 5.0 if self.on else 5.0 * (1.0 - self.duty) / max(self.duty, 0.005)
            self.left = max(1, round(self.rng.expovariate(1.0 / mean)))
        self.left -= 1
        return self.on


class Container:
    """A program of the scenario: all its processes, and the true energy of the interval that runs, by socket."""

    def __init__(self, name, sockets):
        self.name, self.sockets = name, sockets
        self.heat = [0.0] * sockets  # K above the idle machine
        self.clear()

    def clear(self):
        self.pkg = [0.0] * self.sockets
        self.dram = [0.0] * self.sockets


class Process:
    """What one process did in the interval that runs."""

    def __init__(self, pid, container, start, resident, seed):
        self.pid, self.container, self.start, self.end, self.resident = pid, container, start, None, resident
        self.noise = random.Random(f"counters {container.name} {pid} {seed}")
        self.cpu_total = 0.0
        self.polled = 0  # jiffies at the last poll of /proc
        self.clear()

    def clear(self):
        self.cpu = self.paired = self.cycles = self.ref = self.instr = self.miss = self.lines = 0.0
        self.socket = [0.0] * self.container.sockets
        self.ran_on = {}  # thread -> seconds, and the core where it ran last


class Share:
    """
    What Kepler's readers show of a process that lived in an interval; @jiffies: what a poll of /proc at its end shows; @clock: run
    time x the frequency that each thread's core had last.
    """
    __slots__ = ("pid", "name", "start", "cpu", "paired", "cycles", "ref", "instr", "miss", "lines", "socket", "ended", "jiffies",
                 "resident", "clock")


class Interval:
    """The meters' joules by socket, the shares of processes, and the truth: container -> joules by socket."""
    __slots__ = ("begin", "end", "pkg", "dram", "shares", "true_pkg", "true_dram")


class Trace:
    """@intervals, and @idle_pkg, @idle_dram: the true power of a socket of the idle machine."""

    def __init__(self, params):
        self.params, self.intervals = params, []
        self.idle_pkg = self.idle_dram = 0.0

    def truth(self, zone):
        """For each interval, container -> joules of all sockets."""
        return [{name: sum(parts) for name, parts in getattr(interval, "true_" + zone).items()} for interval in self.intervals]


class Machine:
    def __init__(self, programs, seconds, seed, params):
        self.p, self.programs, self.seconds = params, programs, seconds
        self.cpu_count = params.sockets * params.cores * 2
        self.rng = random.Random(f"machine {seed}")
        self.seed = seed
        self.threads, self.processes, self.next_pid = [], [], 1000
        self.containers = {program.name: Container(program.name, params.sockets) for program in programs}
        self.tail = [() for _ in range(params.sockets * params.cores)]  # containers of the step before
        self.last_ghz = [params.nominal_ghz] * (params.sockets * params.cores)
        self.throttle = [1.0] * params.sockets
        self.power = [0.0] * params.sockets
        self.traffic = [0.0] * params.sockets  # bytes/s of the step before
        self.now = 0.0
        idle = params.uncore_idle_w + params.uncore_leak_w
        self.idle_w = idle
        self.excess_k = [0.0] * params.sockets  # temperature above the idle machine's
        self.meter = {"pkg": [0.0] * params.sockets, "dram": [0.0] * params.sockets}
        self.step_pkg = [0.0] * params.sockets
        self.step_dram = [0.0] * params.sockets
        self.spawners = []

    def start_process(self, program):
        process = Process(self.next_pid, self.containers[program.name], self.now, program.resident, self.seed)
        self.next_pid += 1
        self.processes.append(process)
        return process

    def start_programs(self):
        for program in self.programs:
            if abs(program.start - self.now) < STEP / 2:
                rng = random.Random(f"{program.name} {self.seed}")
                if program.spawn:
                    self.spawners.append((program, rng))
                    continue
                process = self.start_process(program)
                for number in range(program.threads):
                    chance = random.Random(f"{program.name} {number} {self.seed}")
                    self.threads.append(Thread(process, program, chance, number % len(program.phases)))
            elif program.end is not None and abs(program.end - self.now) < STEP / 2:
                self.spawners = [entry for entry in self.spawners if entry[0] is not program]
                for thread in self.threads:
                    if thread.process.container.name == program.name:
                        thread.dies = self.now
        for program, rng in self.spawners:
            if rng.random() < program.spawn * STEP:
                process = self.start_process(program)
                thread = Thread(process, program, rng, rng.randrange(len(program.phases)))
                thread.next_phase(self.now)
                thread.duty = 1.0
                thread.dies = self.now + rng.uniform(*program.life)
                self.threads.append(thread)

    def end_threads(self):
        ended = [thread for thread in self.threads if thread.dies is not None and thread.dies <= self.now]
        if ended:
            self.threads = [thread for thread in self.threads if not (thread.dies is not None and thread.dies <= self.now)]
            alive = {thread.process for thread in self.threads}
            for thread in ended:
                if thread.process not in alive:
                    thread.process.end = self.now

    def place(self):
        """The thread of each CPU in this step."""
        cpus = [None] * self.cpu_count
        runnable = [thread for thread in self.threads if thread.wants(self.now)]
        names = {thread.process.container.name for thread in runnable}
        for thread in runnable:
            if thread.beside:
                thread.kind = thread.beside[1] if thread.beside[0] in names else thread.phases[thread.phase_at].kind
        if len(runnable) > 1:
            runnable.sort(key=lambda thread: round(thread.ran, 1))
        waiting = []
        for thread in runnable:
            if thread.cpu is not None and cpus[thread.cpu] is None and self.rng.random() > 0.002:
                cpus[thread.cpu] = thread
            else:
                waiting.append(thread)
        for thread in waiting:
            allowed = thread.cpus if thread.cpus is not None else range(self.cpu_count)
            free = [cpu for cpu in allowed if cpus[cpu] is None]
            if free:
                alone = [cpu for cpu in free if cpus[cpu ^ 1] is None]
                thread.cpu = self.rng.choice(alone or free)
                cpus[thread.cpu] = thread
        return cpus

    def frequency(self, threads, awake, socket):
        p = self.p
        turbo = p.turbo_ghz[min(awake, len(p.turbo_ghz)) - 1]
        caps = [thread.cap for thread in threads]
        ghz = min(turbo, max(cap if cap is not None else turbo for cap in caps)) * self.throttle[socket]
        if any(thread.kind.wide for thread in threads):
            ghz *= p.avx_ratio
        return max(0.8, ghz)

    def run_core(self, core, socket, threads, awake):
        """Energy of one core that is awake, and what its threads did. Returns the joules of the package."""
        p = self.p
        ghz = self.frequency(threads, awake, socket)
        self.last_ghz[core] = ghz
        volt = voltage(ghz)
        scale = volt * volt * 1e-9
        load = min(0.95, self.traffic[socket] / (p.bandwidth_gbs * 1e9))
        latency = p.latency_ns * (1.0 + 0.8 * load * load / (1.0 - load))
        cycles = ghz * 1e9 * STEP
        solo = []
        for thread in threads:
            # Half of the misses' latency is hidden behind others.
            cpi = thread.kind.cpi + thread.kind.miss * latency * ghz * (0.12 if thread.kind.extra_lines > 0.5 else 0.5)
            solo.append(1.0 / cpi)
        total = 0.0
        own = []
        for at, thread in enumerate(threads):
            ipc = solo[at]
            if len(threads) == 2:
                ipc /= 1.0 + p.smt_pressure * solo[1 - at] / IPC_WIDTH * (1.2 if thread.kind.miss < 0.01 else 0.8)
            instr = ipc * cycles
            miss = instr * thread.kind.miss
            lines = miss * (1.0 + thread.kind.extra_lines)
            epi = MEAN_EPI_NJ + (thread.kind.epi_nj - MEAN_EPI_NJ) * p.epi_scale
            process = thread.process
            joules = instr * epi * scale + lines * p.e_llc_nj * 1e-9
            own.append((process.container, joules, instr))
            dram = lines * p.e_dram_nj * 1e-9
            process.container.dram[socket] += dram
            self.step_dram[socket] += dram
            process.cpu += STEP
            process.cpu_total += STEP
            process.socket[socket] += STEP
            process.paired += STEP if len(threads) == 2 else 0.0
            process.cycles += cycles
            process.ref += p.nominal_ghz * 1e9 * STEP
            process.instr += instr
            process.miss += miss
            process.lines += lines
            thread.ran += STEP
            process.ran_on[thread] = (process.ran_on.get(thread, (0.0, core))[0] + STEP, core)
            total += joules
            self.step_lines[socket] += lines
        awake_j = p.e_cycle_nj * cycles * scale + p.leak_core_w * STEP * volt * self.heat(socket)
        for container, joules, instr in own:
            if len(own) == 1 or p.pair == "equal":
                part = 1.0 / len(own)
            elif p.pair == "instructions":
                part = instr / (own[0][2] + own[1][2])
            else:
                part = joules / (own[0][1] + own[1][1])
            self.charge(container, socket, joules + awake_j * part)
        self.tail[core] = tuple(container for container, _, _ in own)
        return total + awake_j

    def charge(self, container, socket, joules):
        container.pkg[socket] += joules
        self.heaters[socket][container] = self.heaters[socket].get(container, 0.0) + joules

    def heat(self, socket):
        return 1.0 + self.p.leak_per_k * self.excess_k[socket]

    def run_socket(self, socket, cpus):
        p = self.p
        first = socket * p.cores
        running = []
        for core in range(first, first + p.cores):
            threads = [cpus[cpu] for cpu in (core * 2, core * 2 + 1) if cpus[cpu] is not None]
            running.append((core, threads))
        awake = sum(1 for _, threads in running if threads)
        joules = 0.0
        for core, threads in running:
            if threads:
                joules += self.run_core(core, socket, threads, awake)
            elif self.tail[core]:
                tail = p.leak_core_w * STEP * self.heat(socket)
                for container in self.tail[core]:
                    self.charge(container, socket, tail / len(self.tail[core]))
                joules += tail
                self.tail[core] = ()
        if awake:
            uncore = p.uncore_awake_w * STEP
            users = [thread.process.container for _, threads in running for thread in threads]
            for container in users:
                self.charge(container, socket, uncore / len(users))
            joules += uncore
        leak = p.uncore_leak_w * p.leak_per_k * self.excess_k[socket] * STEP
        self.share_leak(socket, leak)
        joules += leak
        self.warm(socket, joules)
        return joules

    def share_leak(self, socket, leak):
        heat = sum(container.heat[socket] for container in self.containers.values())
        if heat > 0.0:
            for container in self.containers.values():
                container.pkg[socket] += leak * container.heat[socket] / heat

    def warm(self, socket, joules):
        """The temperature above that of the idle machine: one RC element, and in it the part of each container."""
        p = self.p
        keep = 1.0 - STEP / p.thermal_tau
        gain = p.thermal_r / p.thermal_tau
        self.excess_k[socket] = self.excess_k[socket] * keep + joules * gain
        for container in self.containers.values():
            container.heat[socket] *= keep
        for container, part in self.heaters[socket].items():
            container.heat[socket] += part * gain
        power = self.idle_w + joules / STEP
        self.power[socket] += (power - self.power[socket]) * 0.05
        if self.power[socket] > p.tdp_w:
            self.throttle[socket] = max(0.4, self.throttle[socket] * 0.99)
        else:
            self.throttle[socket] = min(1.0, self.throttle[socket] * 1.005)

    def step(self):
        p = self.p
        self.start_programs()
        self.end_threads()
        cpus = self.place()
        self.step_dram = [0.0] * p.sockets
        self.step_lines = [0.0] * p.sockets
        self.heaters = [{} for _ in range(p.sockets)]
        for socket in range(p.sockets):
            joules = self.run_socket(socket, cpus) + self.idle_w * STEP
            self.meter["pkg"][socket] += joules
            self.meter["dram"][socket] += self.step_dram[socket] + p.dram_idle_w * STEP
            self.traffic[socket] = self.step_lines[socket] * LINE_BYTES / STEP
        self.now += STEP

    def read_meter(self, kind, socket):
        """The counter as RAPL shows it: updated about each millisecond, in units of 61 uJ."""
        return int(self.meter[kind][socket] * self.p.meter_gain / UNIT_J) * UNIT_J

    def end_interval(self, trace, begin, counters):
        p = self.p
        interval = Interval()
        interval.begin, interval.end = begin, self.now
        for kind in ("pkg", "dram"):
            readings = []
            for socket in range(p.sockets):
                value = self.read_meter(kind, socket)
                used = value - counters[kind][socket]
                counters[kind][socket] = value
                noisy = used * (1.0 + self.rng.gauss(0.0, p.meter_noise))
                readings.append(int(noisy / UNIT_J) * UNIT_J)
            setattr(interval, kind, readings)
        interval.shares = []
        for process in self.processes:
            interval.shares.append(self.share_of(process))
            process.clear()
        self.processes = [process for process in self.processes if process.end is None]
        interval.true_pkg = {name: container.pkg for name, container in self.containers.items()}
        interval.true_dram = {name: container.dram for name, container in self.containers.items()}
        for container in self.containers.values():
            container.clear()
        trace.intervals.append(interval)

    def share_of(self, process):
        share = Share()
        noise = self.p.counter_noise
        share.pid, share.name, share.start, share.resident = process.pid, process.container.name, process.start, process.resident
        for field in ("cpu", "paired", "ref"):
            setattr(share, field, getattr(process, field))
        for field in ("cycles", "instr", "miss", "lines"):
            setattr(share, field, getattr(process, field) * (1.0 + process.noise.gauss(0.0, noise)))
        share.clock = sum(seconds * self.last_ghz[core] * 1e9 for seconds, core in process.ran_on.values())
        share.socket = process.socket
        share.ended = process.end is not None
        # A poll of /proc at the interval's end sees the whole jiffies of what still lives.
        jiffies = int(process.cpu_total * 100 + 1e-6)
        share.jiffies = 0 if share.ended else jiffies - process.polled
        process.polled = jiffies
        return share

    def run(self):
        trace = Trace(self.p)
        trace.idle_pkg = self.idle_w
        trace.idle_dram = self.p.dram_idle_w
        counters = {"pkg": [0.0] * self.p.sockets, "dram": [0.0] * self.p.sockets}
        steps = round(1.0 / STEP)
        for _ in range(self.seconds):
            begin = self.now
            for _ in range(steps):
                self.step()
            self.end_interval(trace, begin, counters)
        return trace


def simulate(programs, seconds, seed, **changes):
    return Machine(programs, seconds, seed, Params(**changes)).run()
