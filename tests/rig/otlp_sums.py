# SPDX-License-Identifier: Apache-2.0
"""Sums over points of OTLP, whether a request has them or a receiver has stored them, against a page."""
import collections
from decimal import Decimal

Point = collections.namedtuple("Point", "metric unit resource attributes start time value ended temporality monotonic",
                               defaults=("", {}, {}, 0, 0, None, False, None, False))


def microjoules(value):
    """Of the nearest double to a number of joules."""
    return int((Decimal(repr(float(value))) * 1000000).to_integral_value())


class Sums:
    """Of one snapshot: `points` is a list of Point."""

    def __init__(self, points=()):
        self.points = list(points)

    def select(self, metric, **attributes):
        wanted = {key.replace("_", "."): value for key, value in attributes.items()}
        return [p for p in self.points if p.metric == metric and not p.ended and wanted.items() <= p.attributes.items()]

    def sum_uj(self, metric, **attributes):
        return sum(microjoules(p.value) for p in self.select(metric, **attributes))

    def accounts(self):
        """(zone, mode, source) of everything that the machine used."""
        return {(p.attributes["kepler.zone"], p.attributes["kepler.mode"], p.attributes["kepler.source"])
                for p in self.points if p.metric in ("hw.energy", "hw.host.energy")}

    def imbalance_uj(self, levels=("container",)):
        """Every account and level whose parts do not sum to the machine, with the difference in µJ."""
        wrong = {}
        for zone, mode, source in self.accounts():
            at = {"kepler_zone": zone, "kepler_mode": mode, "kepler_source": source}
            node = self.sum_uj("hw.energy", **at) + self.sum_uj("hw.host.energy", **at)
            for level in levels:
                parts = sum(self.sum_uj(name, kepler_level=level, **at)
                            for name in ("kepler.energy", "kepler.energy.retired", "kepler.energy.pending"))
                parts += self.sum_uj("kepler.energy.unattributed", **at)
                if parts != node:
                    wrong[(level, zone, mode, source)] = parts - node
        return wrong

    def compare(self, page):
        """Each account against the page of the same snapshot."""
        assert self.accounts()
        for zone, mode, source in self.accounts():
            at = {"kepler_zone": zone, "kepler_mode": mode, "kepler_source": source}
            labels = {"mode": mode, "source": source}
            node = int(page.sum(f"kepler_node_{zone}_joules_total", **labels) * 1000000)
            assert self.sum_uj("hw.energy", **at) == node, (zone, mode)
            for level in ("process", "container", "pod", "namespace"):
                rows = self.sum_uj("kepler.energy", kepler_level=level, **at)
                assert rows == int(page.sum(f"kepler_{level}_{zone}_joules_total", **labels) * 1000000), (level, zone, mode)
            for name, level in (("retired", "container"), ("pending", "process")):
                metric = "kepler_container_retired_joules_total" if name == "retired" else "kepler_pending_joules"
                more = {} if name == "retired" else {"level": level}
                assert self.sum_uj(f"kepler.energy.{name}", kepler_level=level, **at) == int(
                    page.sum(metric, zone=zone, **labels, **more) * 1000000), (name, zone)
