# SPDX-License-Identifier: Apache-2.0
"""Recordings (docs/record-format.md): a writer and a reader in plain Python, which share no code with Kepler.

    with Writer('a.krec') as out:
        package = out.zone('package', '0')
        web = out.owner(container_id='web')
        nginx = out.process(4711, start_ns=9 * 10**9, comm='nginx', owner=web)
        out.interval(10 * 10**9, zones={package: None})
        out.interval(11 * 10**9, zones={package: 12_500_000}, parties=[(nginx, 500_000_000)])
    for interval in Reader('a.krec').intervals(): ...
"""
import struct
import zlib

MAGIC = b'KEPLREC\n'
MAJOR, MINOR = 1, 1
FACT, OPTION, ZONE, IDLE, OWNER, PROCESS, INTERVAL, END, STATE, TRUTH = range(1, 11)
TIME, WORK, PLACES, ZONES, PARTIES, CPU, SOCKET, SIGNAL, USES, NAMELESS, ALLOCATED, ENDED, STEAL = range(1, 14)
HAS_SPAN, IS_KNOWN, IS_MEAN, HAS_IDLE, IS_FIRST = 1, 2, 4, 8, 16
STATES = ('up', 'absent', 'error', 'stalled', 'missed', 'refused')
DOMAINS = ('node', 'package', 'device', 'parts')


def varint(number):
    assert 0 <= number < 1 << 64, number
    out = bytearray()
    while number > 0x7f:
        out.append(number & 0x7f | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def varints(*numbers):
    return b''.join(varint(number) for number in numbers)


def signed(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


def string(text):
    data = text.encode()
    return varint(len(data)) + data


def framed(tag, body):
    return varint(tag) + varint(len(body)) + body


class Writer:
    """Zones, owners and processes are numbered by their definitions; energies in µJ, times in ns. A block has @block_bytes, or
    little more."""

    def __init__(self, path, compress=False, block_bytes=64 * 1024):
        self.file = open(path, 'wb')
        self.compress, self.block_bytes = compress, block_bytes
        self.pending = bytearray()
        self.zones, self.owners, self.processes, self.count = 0, 0, 0, 0
        self.last_ns = 0
        self.read_ns = {}
        self.file.write(MAGIC + struct.pack('<HHI', MAJOR, MINOR, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def record(self, tag, body):
        self.pending += framed(tag, body)

    def flush(self):
        if not self.pending:
            return
        raw = bytes(self.pending)
        stored = zlib.compress(raw, 6) if self.compress else raw
        self.file.write(b'KBLK' + struct.pack('<IIII', int(self.compress), len(stored), len(raw), zlib.crc32(stored)) + stored)
        self.pending.clear()

    def close(self, lost=0):
        if self.file.closed:
            return
        self.record(END, varints(self.count, lost))
        self.flush()
        self.file.close()

    def fact(self, key, value):
        self.record(FACT, string(key) + string(str(value)))

    def option(self, name, value):
        self.record(OPTION, string(name) + string(str(value)))

    def zone(self, kind, instance='', domain=None, number=None, flags=0, rank=0, source='rapl-sysfs', path='', now_ms=0):
        if domain is None:
            domain = 1 if instance and kind in ('package', 'core', 'uncore', 'dram') else 0
        if number is None:
            number = int(instance.split('-')[0]) if domain == 1 else 0
        self.record(ZONE, varint(self.zones) + string(kind) + string(instance) + varints(domain, number, flags, rank) +
                    string(source) + string(path) + signed(now_ms))
        self.zones += 1
        return self.zones - 1

    def owner(self, container_id, millicpu=0, flags=0, labels=None, number=None, **names):
        """@names: container_name, container_namespace, pod_name, pod_id, vm_id, …"""
        names = {'container_id': container_id, 'container_name': container_id, **names}
        labels = labels or {}
        if number is None:
            number = self.owners
            self.owners += 1
        self.record(OWNER, varints(number, flags, millicpu, len(names)) +
                    b''.join(string(key) + string(text) for key, text in names.items()) + varint(len(labels)) +
                    b''.join(string(key) + string(text) for key, text in labels.items()))
        return number

    def process(self, pid, start_ns, comm, owner, number=None):
        if number is None:
            number = self.processes
            self.processes += 1
        self.record(PROCESS, varints(number, pid, start_ns) + string(comm) + varint(owner))
        return number

    def idle(self, zone, line):
        self.record(IDLE, varint(zone) + string(line))

    def truth(self, zone, amounts):
        """What each process really used in the interval that was written last: {process: µJ}."""
        self.record(TRUTH, varints(zone, len(amounts)) + b''.join(varints(*pair) for pair in amounts.items()))

    def _zones(self, end_ns, zones, states):
        out = varint(self.zones)
        for zone in range(self.zones):
            state = states.get(zone, 0)
            if zone not in zones:
                out += varint(state) + signed(0) + varint(0)
                continue
            energy, to_ns, idle = zones[zone], end_ns, None
            if isinstance(energy, tuple):
                energy, to_ns, idle = (*energy, None, None)[:3]
                to_ns = end_ns if to_ns is None else to_ns
            from_ns = self.read_ns.get(zone)
            flags = HAS_SPAN | (IS_FIRST if from_ns is None else 0) | (IS_KNOWN if energy is not None else 0)
            flags |= HAS_IDLE if idle is not None else 0
            out += varint(state) + signed(0) + varint(flags) + signed(end_ns - to_ns)
            out += b'' if from_ns is None else varint(to_ns - from_ns)
            out += b'' if energy is None else varint(energy)
            out += b'' if idle is None else varint(idle)
            self.read_ns[zone] = to_ns
        return out

    def interval(self, end_ns, zones, parties=(), busy_ns=None, dropped_ns=0, unseen_ns=0, utilisation=0.0, places=(), sockets=(),
                 signals=None, ended=(), states=None, now_ms=None, asleep_ns=0, settle_ns=0, uses=(), owner_parties=(),
                 steal=None):
        """@zones: {zone: µJ of the span since its last reading, or None: a reading from which on it is counted}; or (µJ, time of
        the reading, idle µJ). A zone that is not among them was not read. @parties: (process, ns of CPU time); @owner_parties:
        (owner, ns). @places: (package, CPUs). @sockets: for each place a list of ns by party. @signals: {name: list by party}.
        @steal: (ns that vCPUs waited, ns of it that are in busy_ns).
        """
        length_ns = end_ns - self.last_ns if self.count else 0
        now_ms = end_ns // 10**6 if now_ms is None else now_ms
        refs = [2 * process for process, _ in parties] + [2 * owner + 1 for owner, _ in owner_parties]
        cpu = [ns for _, ns in parties] + [ns for _, ns in owner_parties]
        if busy_ns is None:
            busy_ns = sum(cpu) + dropped_ns + unseen_ns
        body = framed(TIME, varints(end_ns, end_ns) + signed(now_ms) + varints(length_ns, asleep_ns) +
                      struct.pack('<d', utilisation) + varint(settle_ns))
        body += framed(WORK, varints(busy_ns, dropped_ns, unseen_ns))
        if places:
            body += framed(PLACES, varint(len(places)) + b''.join(varints(*place) for place in places))
        body += framed(ZONES, self._zones(end_ns, zones, states or {}))
        if refs:
            body += framed(PARTIES, varint(len(refs)) + b''.join(signed(now - before) for before, now in zip([0] + refs, refs)))
            body += framed(CPU, varints(*cpu))
        for place, amounts in enumerate(sockets):
            body += framed(SOCKET, varints(place, *amounts))
        for name, amounts in (signals or {}).items():
            body += framed(SIGNAL, string(name) + varints(*amounts))
        if uses:
            body += framed(USES, varint(len(uses)) + b''.join(varints(*use) for use in uses))
        if ended:
            body += framed(ENDED, varints(len(ended), *ended))
        if steal:
            body += framed(STEAL, varints(*steal))
        self.record(INTERVAL, body)
        self.count += 1
        self.last_ns = end_ns
        if len(self.pending) > self.block_bytes:
            self.flush()


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return number

    def varints(self, count):
        return [self.varint() for _ in range(count)]

    def signed(self):
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def take(self, count):
        assert self.at + count <= len(self.data)
        self.at += count
        return self.data[self.at - count:self.at]

    def string(self):
        return self.take(self.varint()).decode()

    def frames(self):
        while self.at < len(self.data):
            tag = self.varint()
            yield tag, Bytes(self.take(self.varint()))


class Reader:
    """facts, options, zones, owners, processes as they are at the interval that came last; is_cut where the end is missing."""

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.data = file.read()
        magic, major, minor, _ = struct.unpack('<8sHHI', self.data[:16])
        assert (magic, major) == (MAGIC, MAJOR), (magic, major, minor)
        self.facts, self.options, self.zones, self.owners, self.processes = {}, [], [], {}, {}
        self.end, self.is_cut, self.blocks = None, False, 0
        self.read_ns = {}

    def records(self):
        at = 16
        while at < len(self.data):
            head = self.data[at:at + 20]
            if len(head) < 20 or at + 20 + struct.unpack('<I', head[8:12])[0] > len(self.data):
                self.is_cut = True
                return
            magic, compression, stored, size, crc = struct.unpack('<4sIIII', head)
            payload = self.data[at + 20:at + 20 + stored]
            assert magic == b'KBLK' and zlib.crc32(payload) == crc, at
            raw = zlib.decompress(payload) if compression else payload
            assert len(raw) == size
            yield from Bytes(raw).frames()
            self.blocks += 1
            at += 20 + stored

    def _zones(self, body, end_ns):
        zones = []
        for zone in range(body.varint()):
            state, error, flags = body.varint(), body.signed(), body.varint()
            one = {'state': STATES[state], 'error': error, 'energy_uj': None, 'idle_uj': None, 'from_ns': None, 'to_ns': None}
            if flags & HAS_SPAN:
                one['to_ns'] = end_ns - body.signed()
                if not flags & IS_FIRST:
                    one['from_ns'] = one['to_ns'] - body.varint()
                if flags & IS_MEAN:
                    one['since_ns'] = one['to_ns'] - body.varint()
                if flags & IS_KNOWN:
                    one['energy_uj'] = body.varint()
                if flags & HAS_IDLE:
                    one['idle_uj'] = body.varint()
            zones.append(one)
        return zones

    def _interval(self, record):
        out = {'zones': [], 'parties': [], 'sockets': [], 'signals': {}, 'ended': [], 'uses': [], 'places': [], 'truth': {},
               'busy_ns': 0, 'dropped_ns': 0, 'unseen_ns': 0, 'cpu_ns': [], 'steal': None}
        for tag, body in record.frames():
            if tag == TIME:
                out['end_ns'], out['boottime_ns'], out['now_ms'] = body.varint(), body.varint(), body.signed()
                out['length_ns'], out['asleep_ns'] = body.varints(2)
                out['utilisation'] = struct.unpack('<d', body.take(8))[0]
                out['settle_ns'] = body.varint()
            elif tag == WORK:
                out['busy_ns'], out['dropped_ns'], out['unseen_ns'] = body.varints(3)
            elif tag == PLACES:
                out['places'] = [tuple(body.varints(2)) for _ in range(body.varint())]
            elif tag == ZONES:
                out['zones'] = self._zones(body, out['end_ns'])
            elif tag == PARTIES:
                last = 0
                for _ in range(body.varint()):
                    last += body.signed()
                    out['parties'].append(('owner' if last & 1 else 'process', last >> 1))
            elif tag == CPU:
                out['cpu_ns'] = body.varints(len(out['parties']))
            elif tag == SOCKET:
                assert body.varint() == len(out['sockets'])
                out['sockets'].append(body.varints(len(out['parties'])))
            elif tag == SIGNAL:
                name = body.string()  # before the values, which Python would read first
                out['signals'][name] = body.varints(len(out['parties']))
            elif tag == USES:
                out['uses'] = [tuple(body.varints(4)) for _ in range(body.varint())]
            elif tag == ENDED:
                out['ended'] = body.varints(body.varint())
            elif tag == STEAL:
                out['steal'] = tuple(body.varints(2))
        return out

    def _define(self, tag, body):
        if tag == FACT:
            key = body.string()
            self.facts[key] = body.string()
        elif tag == OPTION:
            self.options.append((body.string(), body.string()))
        elif tag == ZONE:
            assert body.varint() == len(self.zones)
            zone = {'kind': body.string(), 'instance': body.string()}
            zone['domain'], zone['number'], zone['flags'], zone['rank'] = body.varints(4)
            zone['domain'] = DOMAINS[zone['domain']]
            zone['source'], zone['path'] = body.string(), body.string()
            self.zones.append(zone)
        elif tag == OWNER:
            number, flags, millicpu, names = body.varints(4)
            owner = {'flags': flags, 'millicpu': millicpu}
            owner.update((body.string(), body.string()) for _ in range(names))
            owner['labels'] = dict((body.string(), body.string()) for _ in range(body.varint()))
            self.owners[number] = owner
        elif tag == PROCESS:
            number, pid, start_ns = body.varints(3)
            self.processes[number] = {'pid': pid, 'start_ns': start_ns, 'comm': body.string(), 'owner': body.varint()}
        elif tag == END:
            self.end = tuple(body.varints(2))

    def intervals(self):
        """Each as a dict; process and owner ids refer to this reader's tables as they are at that moment."""
        last = None
        for tag, body in self.records():
            if tag == TRUTH:
                zone, count = body.varints(2)
                last['truth'][zone] = dict(tuple(body.varints(2)) for _ in range(count))
                continue
            if tag not in (INTERVAL, END):
                if last:
                    yield last
                    last = None
                self._define(tag, body)
                continue
            if last:
                yield last
                last = None
            if tag == INTERVAL:
                last = self._interval(body)
            else:
                self._define(tag, body)
        if last:
            yield last
