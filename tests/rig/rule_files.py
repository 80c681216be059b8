# SPDX-License-Identifier: Apache-2.0
"""The rules in deploy/prometheus, and which series there are for them to read."""
import re

from rig import ROOT

RULES = ROOT / "deploy/prometheus"
KINDS = ("package", "core", "uncore", "dram", "psys", "platform", "gpu", "other")


def families():
    """All names of series in docs/metrics.md, with what stands for several names written out."""
    found = set()
    for name, kind in re.findall(r"(?m)^\| `(kepler_[^`]+)` \| (\w+) \|", (ROOT / "docs/metrics.md").read_text()):
        zones = KINDS if "<zone>" in name else ("",)
        for zone in zones:
            found.add(name.replace("<zone>", zone))
            if kind == "histogram":
                found |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    return found


def names_in(promql):
    """Families of Kepler that an expression reads, without recorded series."""
    return set(re.findall(r"(?<![\w:])kepler_[a-z0-9_]+(?![\w:(]|\.)", re.sub(r'"[^"]*"', '""', promql)))
