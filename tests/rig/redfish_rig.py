# SPDX-License-Identifier: Apache-2.0
"""An exporter that reads a simulated BMC by Redfish, over TLS, beside simulated RAPL."""
import contextlib
import tempfile

from bmc import Bmc, Law
from remote_rig import Machine, server_context, watched

QUOTED = '"canary-bmc,""p4ss"'


def new_machine(directory, law=None, context=None, **service):
    return Machine(directory, "redfish", Bmc(context or server_context(), law or Law(200), **service), QUOTED)


@contextlib.contextmanager
def machine(*options, **service):
    with tempfile.TemporaryDirectory(prefix="kepler-redfish-") as directory:
        lab = new_machine(directory, **service)
        with watched(lab, *options) as exporter:
            yield lab, exporter
