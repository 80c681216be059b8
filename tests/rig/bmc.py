# SPDX-License-Identifier: Apache-2.0
"""A BMC with a Redfish service, for tests: the shapes that vendors send, a law of energy behind them, and what goes wrong.

Own data: resources and their properties are those of DMTF's public schemas (DSP8010) and of DSP0266 (sessions, errors); ids, paths
and which resources there are follow what each vendor documents of its service. The law is a power over time; its integral is the
truth.
"""
import base64
import http.server
import json
import math
import secrets
import threading
import time


class Law:
    """Watts by time: a mean, and a swing of so many seconds."""

    def __init__(self, watts, swing=0, period=20):
        self.mean, self.swing, self.period, self.began = watts, swing, period, time.monotonic()

    def watts(self):
        return self.mean + self.swing * math.sin(2 * math.pi * (time.monotonic() - self.began) / self.period)

    def joules(self, ago=0):
        """Since the beginning, as it was so many seconds ago."""
        elapsed = max(0, time.monotonic() - self.began - ago)
        turn = 2 * math.pi / self.period
        return self.mean * elapsed + self.swing / turn * (1 - math.cos(turn * elapsed))


class Steps:
    """Watts that a test sets, from then on."""

    def __init__(self, watts):
        self.steps = [(time.monotonic(), watts)]

    def set(self, watts):
        self.steps.append((time.monotonic(), watts))

    def watts(self):
        return self.steps[-1][1]

    def joules(self, ago=0):
        """Since the beginning, as it was so many seconds ago; before it the power was that of the first step, and it is below 0."""
        now = time.monotonic() - ago
        ends = [began for began, _ in self.steps[1:]] + [math.inf]
        before = self.steps[0][1] * min(0, now - self.steps[0][0])
        return before + sum(watts * max(0, min(end, now) - began) for (began, watts), end in zip(self.steps, ends))


def link(path):
    return {"@odata.id": path}


def collection(paths):
    return {"Members": [link(path) for path in paths], "Members@odata.count": len(paths)}


def chassis(systems, **more):
    return {"ChassisType": "RackMount", "PowerState": "On", "Links": {"ComputerSystems": [link(path) for path in systems]}, **more}


def control(watts, **more):
    return {"MemberId": "0", "Name": "System Power Control", "PowerConsumedWatts": watts, **more}


def sensor(watts, **more):
    return {"ReadingType": "Power", "ReadingUnits": "W", "Reading": watts, **more}


V1 = "/redfish/v1"


def idrac(law):
    """Dell iDRAC 9: Power, and since firmware 6 EnvironmentMetrics with a whole number of watts and kWh in thousandths."""
    host, box, shelf = V1 + "/Systems/System.Embedded.1", V1 + "/Chassis/System.Embedded.1", V1 + "/Chassis/Enclosure.Internal.0-1"
    watts = round(law.watts())
    return {
        V1 + "/Systems": collection([host]), host: {"Id": "System.Embedded.1"}, V1 + "/Chassis": collection([shelf, box]),
        box: chassis([host], EnvironmentMetrics=link(box + "/EnvironmentMetrics"), Power=link(box + "/Power")),
        shelf: chassis([host], ChassisType="Component", Links={"ComputerSystems": [link(host)], "ContainedBy": link(box)}),
        box + "/EnvironmentMetrics": {"PowerWatts": {"DataSourceUri": box + "/Sensors/SystemBoardPwrConsumption", "Reading": watts},
                                      "EnergykWh": {"Reading": round(law.joules() / 3.6e6, 3)}},
        box + "/Sensors/SystemBoardPwrConsumption": sensor(watts, PhysicalContext="SystemBoard"),
        box + "/Power": {"PowerControl": [control(watts, PowerCapacityWatts=1200, PowerMetrics={
            "IntervalInMin": 1, "AverageConsumedWatts": watts, "MinConsumedWatts": 90, "MaxConsumedWatts": 700})]}}


def ilo(law):
    """HPE iLO 5: every path with a slash at its end, and redirects where it is left out; Power only."""
    host, box = V1 + "/Systems/1", V1 + "/Chassis/1"
    return {
        V1 + "/Systems": collection([host + "/"]), host: {"Id": "1"}, V1 + "/Chassis": collection([box + "/"]),
        box: chassis([host + "/"], Power=link(box + "/Power/")),
        box + "/Power": {"PowerControl": [control(round(law.watts()), PowerCapacityWatts=1600, PowerMetrics={
            "AverageConsumedWatts": 200, "IntervalInMin": 20, "MaxConsumedWatts": 400, "MinConsumedWatts": 100})]}}


def xcc(law):
    """Lenovo XCC: PowerControl of the machine, and behind it those of processors and memory."""
    host, box = V1 + "/Systems/1", V1 + "/Chassis/1"
    watts = law.watts()
    return {
        V1 + "/Systems": collection([host]), host: {"Id": "1"}, V1 + "/Chassis": collection([box]),
        box: chassis([host], Power=link(box + "/Power")),
        box + "/Power": {"PowerControl": [control(round(watts, 1), Name="Server Power Control"),
                                          control(watts / 2, Name="CPU Sub-system Power", MemberId="1", PhysicalContext="CPU"),
                                          control(watts / 8, Name="Memory Power", MemberId="2", PhysicalContext="Memory")]}}


def supermicro(law):
    """Supermicro X13: PowerSubsystem with two supplies, and a bay without one; PowerControl is null."""
    host, box = V1 + "/Systems/1", V1 + "/Chassis/1"
    supplies = box + "/PowerSubsystem/PowerSupplies"
    tree = {
        V1 + "/Systems": collection([host]), host: {"Id": "1"}, V1 + "/Chassis": collection([box]),
        box: chassis([host], Power=link(box + "/Power"), PowerSubsystem=link(box + "/PowerSubsystem"),
                     EnvironmentMetrics=link(box + "/EnvironmentMetrics")),
        box + "/EnvironmentMetrics": {"FanSpeedsPercent": []},
        box + "/PowerSubsystem": {"CapacityWatts": 1600, "PowerSupplies": link(supplies)},
        box + "/Power": {"PowerControl": [control(None)]},
        supplies: collection([f"{supplies}/{i}" for i in range(3)])}
    for i, part in enumerate((0.6, 0.4)):
        tree[f"{supplies}/{i}"] = {"Status": {"State": "Enabled"}, "Metrics": link(f"{supplies}/{i}/Metrics")}
        tree[f"{supplies}/{i}/Metrics"] = {"InputPowerWatts": {"Reading": law.watts() * part}, "OutputPowerWatts": {"Reading": 1}}
    tree[supplies + "/2"] = {"Status": {"State": "Absent"}, "Metrics": link(supplies + "/2/Metrics")}
    return tree


def unlinked(law):
    """One machine on the second page of its chassis, which has no links; one of its two supplies, of the older schema, is off."""
    host, plane, box = V1 + "/Systems/1", V1 + "/Chassis/Backplane", V1 + "/Chassis/1"
    return {V1 + "/Systems": collection([host]), host: {"Id": "1"},
            V1 + "/Chassis": {**collection([plane]), "Members@odata.nextLink": V1 + "/Chassis?$skip=1"},
            V1 + "/Chassis?$skip=1": collection([box]), plane: {"Id": "Backplane", "ChassisType": "Module"},
            box: {"Id": "1", "ChassisType": "RackMount", "Power": link(box + "/Power")},
            box + "/Power": {"PowerSupplies": [{"PowerInputWatts": str(law.watts()), "Status": {"State": "Enabled"}},
                                               {"PowerInputWatts": None, "Status": {"State": "UnavailableOffline"}}]}}


def one_supply(law):
    """The newer schema: two supplies, of which one is without mains, and no other power."""
    tree, box = supermicro(law), V1 + "/Chassis/1"
    supplies = box + "/PowerSubsystem/PowerSupplies"
    del tree[box + "/Power"], tree[box]["Power"]
    tree[supplies + "/0/Metrics"]["InputPowerWatts"]["Reading"] = law.watts()
    tree[supplies + "/1"]["Status"] = {"State": "UnavailableOffline"}
    tree[supplies + "/1/Metrics"]["InputPowerWatts"] = {"Reading": None}
    return tree


def output_only(law):
    """The older schema of a service that knows only what its two supplies give."""
    host, box = V1 + "/Systems/1", V1 + "/Chassis/1"
    return {V1 + "/Systems": collection([host]), host: {"Id": "1"}, V1 + "/Chassis": collection([box]),
            box: chassis([host], Power=link(box + "/Power")),
            box + "/Power": {"PowerControl": [control(None)],
                             "PowerSupplies": [{"LastPowerOutputWatts": law.watts() * part} for part in (0.6, 0.4)]}}


def openbmc(law):
    """OpenBMC's bmcweb: sensors of the chassis alone."""
    host, box = V1 + "/Systems/system", V1 + "/Chassis/chassis"
    names = ["temperature_inlet", "power_PSU0_input_power", "power_total_power", "fanpwm_fan0"]
    paths = [f"{box}/Sensors/{name}" for name in names]
    return {
        V1 + "/Systems": collection([host]), host: {"Id": "system"}, V1 + "/Chassis": collection([box]),
        box: chassis([host], Sensors=link(box + "/Sensors")), box + "/Sensors": collection(paths),
        paths[0]: {"ReadingType": "Temperature", "ReadingUnits": "Cel", "Reading": 23.5},
        paths[1]: sensor(law.watts() / 2), paths[2]: sensor(law.watts(), AveragingInterval="PT2S")}


def counting(law):
    """A service that counts finely: its counter is read."""
    tree = idrac(law)
    tree[V1 + "/Chassis/System.Embedded.1/EnvironmentMetrics"]["EnergykWh"]["Reading"] = law.joules() / 3.6e6
    return tree


def averaging(law, seconds=4, delay=0):
    """A service whose power is a mean over some seconds, and which says so; it does not say that it is late."""
    tree = idrac(law)
    box = V1 + "/Chassis/System.Embedded.1"
    mean = (law.joules(ago=delay) - law.joules(ago=delay + seconds)) / seconds
    tree[box + "/EnvironmentMetrics"]["PowerWatts"]["Reading"] = mean
    tree[box + "/Sensors/SystemBoardPwrConsumption"] = sensor(mean, AveragingInterval=f"PT{seconds}S")
    return tree


def blades(law):
    """Four nodes in an enclosure: each a chassis of its own, and one that has them all."""
    hosts = [f"{V1}/Systems/Node{i}" for i in range(1, 5)]
    boxes = [f"{V1}/Chassis/Blade{i}" for i in range(1, 5)]
    enclosure = V1 + "/Chassis/Enclosure"
    tree = {V1 + "/Systems": collection(hosts), V1 + "/Chassis": collection([enclosure, *boxes]),
            enclosure: chassis(hosts, ChassisType="Enclosure", Power=link(enclosure + "/Power")),
            enclosure + "/Power": {"PowerControl": [control(4 * law.watts())]}}
    for i, (host, box) in enumerate(zip(hosts, boxes)):
        tree[host] = {"Id": f"Node{i + 1}"}
        tree[box] = chassis([host], ChassisType="Blade", Power=link(box + "/Power"))
        tree[box]["Links"]["ContainedBy"] = link(enclosure)
        tree[box + "/Power"] = {"PowerControl": [control(law.watts() if i == 2 else 11)]}
    return tree


class Bmc:
    """Answers on 127.0.0.1. Faults are attributes that a test sets:

    delay (s before each answer), status and retry_after (of all answers), body (in place of each), cut (bytes off the end), null
    (no power), text (power as a string that is no number), redirect (where to), drip (s between two bytes).
    sessions: False where there are none; slash: paths end with one.
    """

    def __init__(self, context, law, shape=idrac, user="kepler", password="canary-bmc,\"p4ss", sessions=True, slash=False):
        self.law, self.shape, self.user, self.password = law, shape, user, password
        self.tokens, self.seen, self.denied, self.at_once, self.most_at_once, self.logins = {}, [], 0, 0, 0, 0
        self.lock = threading.Lock()
        self.places, self.sessions, self.slash = 4, sessions, slash
        self.calm()
        bmc = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self, method):
                with bmc.lock:
                    bmc.at_once += 1
                    bmc.most_at_once = max(bmc.most_at_once, bmc.at_once)
                    bmc.seen.append((method, self.path, dict(self.headers)))
                try:
                    bmc.answer(self, method)
                except OSError:
                    pass
                finally:
                    with bmc.lock:
                        bmc.at_once -= 1

            def do_GET(self):
                self.handle_one("GET")

            def do_POST(self):
                self.handle_one("POST")

            def do_DELETE(self):
                self.handle_one("DELETE")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_port
        self.url = f"https://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def calm(self):
        self.delay, self.status, self.retry_after, self.body, self.cut = 0, 0, None, None, 0
        self.null, self.text, self.zero, self.redirect, self.drip = False, False, False, None, 0

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    # ---- answers ----

    def tree(self):
        tree = self.shape(self.law)
        sessions = V1 + "/SessionService/Sessions"
        tree[V1] = {"RedfishVersion": "1.17.0", "Systems": link(V1 + "/Systems"), "Chassis": link(V1 + "/Chassis"),
                    "Links": {"Sessions": link(sessions + "/" * self.slash)} if self.sessions else {}}
        if self.null or self.text or self.zero:
            self.spoil(tree)
        return tree

    def spoil(self, value):
        """No power, 0 W, or one of another type, wherever there is one."""
        for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
            if key in ("PowerConsumedWatts", "AverageConsumedWatts", "Reading"):
                value[key] = None if self.null else 0 if self.zero else f"{inner} W"
            elif isinstance(inner, (dict, list)):
                self.spoil(inner)

    def send(self, handler, status, value, headers=()):
        text = self.body if self.body is not None and handler.command == "GET" else json.dumps(value)
        self.send_text(handler, status, text, [("Content-Type", "application/json"), ("OData-Version", "4.0"), *headers])

    def send_text(self, handler, status, text, headers):
        body = text.encode()
        handler.send_response(status)
        for name, value in ("Content-Length", str(len(body))), *headers:
            handler.send_header(name, value)
        handler.end_headers()
        for byte in body if self.drip else b"":
            handler.wfile.write(bytes([byte]))
            time.sleep(self.drip)
        handler.wfile.write(b"" if self.drip else body[:len(body) - self.cut])
        if self.cut:
            handler.close_connection = True

    def error(self, handler, status, text="not now", headers=()):
        info = [{"MessageId": "Base.1.8.GeneralError", "Message": text}]
        error = {"code": "Base.1.8.GeneralError", "message": text, "@Message.ExtendedInfo": info}
        self.send(handler, status, {"error": error}, headers)

    def is_known(self, handler):
        token = handler.headers.get("X-Auth-Token")
        if token in self.tokens:
            return True
        word = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return handler.headers.get("Authorization") == "Basic " + word

    def answer(self, handler, method):
        length = int(handler.headers.get("Content-Length", 0))
        content = handler.rfile.read(length)
        time.sleep(self.delay)
        path = handler.path.rstrip("/")
        if self.status:
            retry = [("Retry-After", str(self.retry_after))] if self.retry_after is not None else []
            return self.error(handler, self.status, headers=retry)
        if self.redirect:
            return self.send(handler, 308, {}, [("Location", self.redirect)])
        if self.slash and not handler.path.endswith("/"):
            return self.send(handler, 308, {}, [("Location", handler.path + "/")])
        if method == "POST":
            return self.log_in(handler, path, content)
        if path != V1 and not self.is_known(handler):
            self.denied += 1
            return self.error(handler, 401, "no valid session")
        if method == "DELETE":
            return self.log_out(handler, path)
        found = self.tree().get(path)
        if found is None:
            return self.error(handler, 404, "no such resource")
        return self.send(handler, 200, {"@odata.id": path, **found})

    def log_in(self, handler, path, content):
        if not self.sessions or path != V1 + "/SessionService/Sessions":
            return self.error(handler, 404, "no such resource")
        asked = json.loads(content)
        self.logins += 1
        if (asked.get("UserName"), asked.get("Password")) != (self.user, self.password):
            self.denied += 1
            return self.error(handler, 401, "wrong")
        if len(self.tokens) >= self.places:
            return self.error(handler, 503, "no place for a session", [("Retry-After", "2")])
        token = secrets.token_hex(16)
        self.tokens[token] = f"{path}/{token[:8]}"
        return self.send(handler, 201, {"Id": token[:8]}, [("X-Auth-Token", token), ("Location", self.tokens[token])])

    def log_out(self, handler, path):
        for token, where in list(self.tokens.items()):
            if where == path:
                del self.tokens[token]
                return self.send(handler, 200, {})
        return self.error(handler, 404, "no such session")
