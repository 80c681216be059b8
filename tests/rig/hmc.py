# SPDX-License-Identifier: Apache-2.0
"""A Hardware Management Console of IBM Z with its Web Services, for tests: CPCs, partitions, sessions and metrics.

Own data: names of resources, properties, metric groups and reasons are those of IBM's public description of the interface
(SC27-2646). Behind them is a law of power of the first CPC, of which partitions draw parts.
"""
import dataclasses
import itertools
import json
import secrets
import time

from bmc import Bmc

POWER, CLASSIC, DPM = "zcpc-environmentals-and-power", "logical-partition-usage", "partition-usage"
KINDS = {"cp": ("number-general-purpose-processors", "current-processing-weight", "cp-processors", "current-cp-processing-weight"),
         "ifl": ("number-ifl-processors", "current-ifl-processing-weight", "ifl-processors", "current-ifl-processing-weight")}


@dataclasses.dataclass
class Partition:
    """So many processors of a kind, of its own or shared by weight. part: of the CPC's power, where that is measured."""
    name: str
    kind: str = "ifl"
    processors: int = 4
    weight: int = 0  # 0: they are its own
    status: str = "operating"
    short_name: str = ""
    part: float = 0

    def properties(self, dpm):
        found = {"name": self.name, "status": self.status, "class": "partition" if dpm else "logical-partition"}
        found["processor-mode" if dpm else "processor-usage"] = "shared" if self.weight else "dedicated"
        for kind, (number, weight, dpm_number, dpm_weight) in KINDS.items():
            own = kind == self.kind
            found[dpm_number if dpm else number] = self.processors if own else 0
            # In DPM mode there are also weights of kinds without a processor.
            found[dpm_weight if dpm else weight] = self.weight if own and self.weight else 100 if dpm else None
        if dpm:
            found["short-name"] = self.short_name
        return found


@dataclasses.dataclass
class Cpc:
    name: str
    partitions: list
    cp: int = 0
    ifl: int = 0
    dpm: bool = False

    def properties(self):
        return {"name": self.name, "dpm-enabled": self.dpm, "processor-count-general-purpose": self.cp,
                "processor-count-ifl": self.ifl, "processor-count-icf": 0, "processor-count-iip": 0}


class Hmc(Bmc):
    """Answers on 127.0.0.1, with the faults of Bmc, and: mute_s (for so long a new context has no values).

    watts_of_partitions: whether those of partitions are measured, as from z16 on.
    """

    def __init__(self, context, law, cpcs, watts_of_partitions=False, mute_s=0.0, **service):
        self.cpcs, self.watts_of_partitions, self.mute_s = cpcs, watts_of_partitions, mute_s
        self.contexts, self.numbers = {}, itertools.count(1)
        super().__init__(context, law, None, password='canary-hmc,"p4ss', **service)

    # ---- what there is ----

    @staticmethod
    def partition_uri(cpc, partition):
        return f"/api/{'' if cpc.dpm else 'logical-'}partitions/{cpc.name}-{partition.name}".replace(" ", "-")

    def tree(self):
        tree = {"/api/cpcs": {"cpcs": [{"object-uri": f"/api/cpcs/{cpc.name}", "name": cpc.name, "status": "operating"}
                                       for cpc in self.cpcs]}}
        for cpc in self.cpcs:
            key = "partitions" if cpc.dpm else "logical-partitions"
            tree[f"/api/cpcs/{cpc.name}"] = cpc.properties()
            tree[f"/api/cpcs/{cpc.name}/{key}"] = {key: [
                {"object-uri": self.partition_uri(cpc, each), "name": each.name, "status": each.status} for each in cpc.partitions]}
            for each in cpc.partitions:
                tree[self.partition_uri(cpc, each)] = each.properties(cpc.dpm)
        return tree

    def metrics(self, groups):
        """The text of a context's values: strings, whole numbers and fractions, as their types are."""
        now, lines = int(time.time() * 1000), []
        for group in groups:
            lines.append(f'"{group}"')
            for number, cpc in enumerate(self.cpcs):
                watts = 0 if self.null else self.law.watts() if number == 0 else 9999
                if group == POWER:
                    lines += [f'"/api/cpcs/{cpc.name}"', now, f'24.5,31,{round(watts)},"a, \\"b\\""', ""]
                for each in cpc.partitions if group == (DPM if cpc.dpm else CLASSIC) else []:
                    own = f",{watts * each.part:.3f}" if self.watts_of_partitions else ""
                    lines += [f'"{self.partition_uri(cpc, each)}"', now, f"17,0{own}", ""]
            lines.append("")
        return "\n".join(map(str, [*lines, ""]))

    # ---- answers ----

    def fail(self, handler, status, reason, text):
        self.send(handler, status, {"http-status": status, "reason": reason, "message": text, "request-uri": handler.path})

    def error(self, handler, status, text="not now", headers=()):
        self.send(handler, status, {"http-status": status, "reason": 1, "message": text}, headers)

    def answer(self, handler, method):
        content = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        time.sleep(self.delay)
        if self.status:
            retry = [("Retry-After", str(self.retry_after))] if self.retry_after is not None else []
            return self.error(handler, self.status, headers=retry)
        if self.redirect:
            return self.send(handler, 308, {}, [("Location", self.redirect)])
        if method == "POST" and handler.path == "/api/sessions":
            return self.log_on(handler, json.loads(content))
        session = handler.headers.get("X-API-Session")
        if session not in self.tokens:
            self.denied += 1
            return self.fail(handler, 403, 5 if session else 4, "the session is none")
        if method == "DELETE":
            del self.tokens[session]
            return self.send_text(handler, 204, "", [])
        if method == "POST":
            return self.make_context(handler, session, json.loads(content))
        if handler.path in self.contexts:
            return self.send_metrics(handler, session)
        found = self.tree().get(handler.path)
        return self.send(handler, 200, found) if found else self.fail(handler, 404, 1, "no such resource")

    def log_on(self, handler, asked):
        self.logins += 1
        if (asked.get("userid"), asked.get("password")) != (self.user, self.password):
            self.denied += 1
            return self.fail(handler, 403, 0, "the credentials are wrong")
        if len(self.tokens) >= self.places:
            return self.error(handler, 503, "no place for a session", [("Retry-After", "2")])
        session = secrets.token_hex(24)
        self.tokens[session] = True
        return self.send(handler, 200, {"api-session": session, "api-major-version": 4})

    def make_context(self, handler, session, asked):
        if handler.path != "/api/services/metrics/context":
            return self.fail(handler, 404, 1, "no such resource")
        uri = f"/api/services/metrics/context/{next(self.numbers)}"
        self.contexts[uri] = (session, asked["metric-groups"], time.monotonic())
        own = [("power-consumption-watts", "double")] if self.watts_of_partitions else []
        columns = {POWER: [("temperature-celsius", "double"), ("humidity", "integer"), ("power-consumption-watts", "integer"),
                           ("name", "string")],
                   CLASSIC: [("processor-usage", "integer"), ("zvm-paging-rate", "integer"), *own],
                   DPM: [("processor-usage", "integer"), ("network-usage", "integer"), *own]}
        infos = [{"group-name": group, "metric-infos": [{"metric-name": name, "metric-type": kind + "-metric"}
                                                        for name, kind in columns[group]]} for group in asked["metric-groups"]]
        return self.send(handler, 201, {"metrics-context-uri": uri, "metric-group-infos": infos})

    def send_metrics(self, handler, session):
        owner, groups, made = self.contexts[handler.path]
        if owner != session:  # it ended with its session
            return self.fail(handler, 404, 1, "no such metrics context")
        text = self.body if self.body is not None else "\n" if time.monotonic() - made < self.mute_s else self.metrics(groups)
        return self.send_text(handler, 200, text, [("Content-Type", "application/vnd.ibm-z-zmanager-metrics")])
