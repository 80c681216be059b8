#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peers that read slowly keep no other out and cost a bounded amount of memory (R40, R41).

Their page is larger than any socket buffer, so that each holds an answer up. As many more as there are connections; from
the scraper's own address and from another; with small windows and on plain loopback; on one page or on one after the other.
"""
import os
import time

from rig import balanced, run_tests
from web_rig import LargePage, MemoryLimit, SteadyReader, serve_beside, slow_readers

PEERS = 400


def slow_readers_keep_no_other_out(page):
    attacks = [dict(), dict(source="127.0.0.2", bytes_each_s=4000), dict(mss=0, receive_buffer=0)]
    for attack in attacks:
        with slow_readers(page.exporter, PEERS, **attack):
            time.sleep(0.5)
            print(f"  {attack or 'small windows'}")
            serve_beside(page.exporter, 2)
    metrics = balanced(page.exporter.scrape())
    assert metrics.sum("kepler_exporter_http_connections_evicted_total") > PEERS
    assert metrics.value("kepler_exporter_http_connections") <= 128


def a_slow_link_has_its_page(page):
    """It makes progress: it is not taken for one of those that make none, whatever they do to the pages.

    One that a busy machine keeps from reading for half a second is like them: then it tries again."""
    with slow_readers(page.exporter, PEERS, source="127.0.0.2"):
        time.sleep(0.5)
        for _ in range(5):
            reader = SteadyReader(page.exporter, rate=1.5e6)
            reader.start()
            while reader.is_alive():
                serve_beside(page.exporter, 0.5)
            print(f"  {reader.bytes} bytes")
            if reader.bytes >= page.bytes:
                return
        assert False, "it never had its page"


def large_page():
    with LargePage(9000, "--monitor.interval=1s") as page:
        print(f"  page {page.bytes / 1e6:.1f} MB")
        assert page.bytes > 4e6
        slow_readers_keep_no_other_out(page)
        a_slow_link_has_its_page(page)
        assert page.exporter.stop() == 0


def slow_readers_fit_into_256_mb():
    """One generation of the page after the other, each with readers: two stay."""
    with MemoryLimit(256 << 20) as limit, LargePage(19000, preexec=limit.join) as page:
        assert page.bytes > 9e6
        with slow_readers(page.exporter, 160, mss=0, receive_buffer=0):
            time.sleep(0.5)
            serve_beside(page.exporter, 4)
        memory = page.exporter.scrape().value("kepler_exporter_resident_memory_max_bytes")
        print(f"  page {page.bytes / 1e6:.1f} MB: at most {memory / 2**20:.0f} MiB resident, cgroup "
              f"{limit.peak_bytes() / 2**20:.0f} MiB")
        assert page.exporter.stop() == 0


# The larger page takes long to make: KEPLER_LONG_TESTS.
run_tests([large_page] + [slow_readers_fit_into_256_mb] * ("KEPLER_LONG_TESTS" in os.environ))
