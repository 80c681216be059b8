#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scrapers by the thousand, idle ones by the ten thousand, and slow ones: no other client waits, and readings keep their period.

R40 and R41 over the release binary: while 1,000 connections scrape 10,000 series as fast as they can, every answer is 200 or
503 with Retry-After and intervals are at most 10 % off their period; 10,000 silent connections keep no client out,
nor do 400 that are slow with headers, bodies, or a page of more than 4 MB.
"""
import asyncio
import contextlib
import re
import resource
import time

from rig import Exporter, balanced, release_binary
from web_rig import LargePage, address_of, serve_beside, slow_bodies, slow_headers, slow_readers

SCRAPERS = 1000
SECONDS = 8
INTERVAL_S = 0.5
IDLE = 10000


async def answer(reader):
    """Status and headers of one answer; its body is read and thrown away."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    await reader.readexactly(int(re.search(r"content-length: (\d+)", head)[1]))
    return int(head.split(" ", 2)[1]), head


async def scraper(address, until, seen):
    request = b"GET /metrics HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n"
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            reader, writer = await asyncio.open_connection(*address)
            with contextlib.closing(writer):
                writer.write(request)
                status, head = await answer(reader)
        except (OSError, asyncio.IncompleteReadError):
            seen["cut"] += 1  # closed to make room
            await asyncio.sleep(0.1)
            continue
        seen[status] = seen.get(status, 0) + 1
        seen["slowest"] = max(seen["slowest"], time.monotonic() - began)
        assert status == 200 or (status == 503 and "retry-after:" in head), head


async def crowd(address, seen):
    until = time.monotonic() + SECONDS
    await asyncio.gather(*(scraper(address, until, seen) for _ in range(SCRAPERS)))


def thousand_scrapers():
    with LargePage(3400, f"--monitor.interval={int(INTERVAL_S * 1e3)}ms") as page:
        exporter = page.exporter
        before, seen = exporter.intervals(2), {"cut": 0, "slowest": 0}
        assert len(before.samples) > 10000
        asyncio.run(crowd(address_of(exporter), seen))
        after = balanced(exporter.scrape())
        spent = after.value("kepler_exporter_snapshot_timestamp_seconds") - \
            before.value("kepler_exporter_snapshot_timestamp_seconds")
        intervals = after.value("kepler_exporter_snapshots_total") - before.value("kepler_exporter_snapshots_total")
        period = float(spent / intervals)
        memory = int(after.value("kepler_exporter_resident_memory_bytes"))
        print(f"  {len(after.samples)} series: {seen}, period {period:.4f} s of {INTERVAL_S} s, {memory / 1e6:.1f} MB")
        assert seen.get(200, 0) > SCRAPERS and abs(period / INTERVAL_S - 1) <= 0.1 and memory <= 60e6
        assert exporter.stop() == 0


async def silence(address, count, exporter):
    """Connects and says nothing; what is closed in our face stays closed."""
    held = []
    for _ in range(count):
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            held.append(await asyncio.wait_for(asyncio.open_connection(*address), 5))
    slowest = 0
    for _ in range(20):
        began = time.monotonic()
        metrics = await asyncio.to_thread(exporter.scrape)
        slowest = max(slowest, time.monotonic() - began)
        balanced(metrics)
    open_fds = int(metrics.value("kepler_exporter_open_fds"))
    for _, writer in held:
        writer.close()
    return len(held), slowest, open_fds


def ten_thousand_idle():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(IDLE, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        with Exporter(binary=release_binary()) as exporter:
            held, slowest, open_fds = asyncio.run(silence(address_of(exporter), count, exporter))
            print(f"  {held} idle connections, slowest scrape {slowest * 1e3:.0f} ms, {open_fds} descriptors")
            assert slowest < 1 and open_fds < 400
            assert exporter.stop() == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def slow_peers():
    """Headers, bodies and answers that drip, of a page that no socket buffer holds: everybody else is served."""
    attacks = {"slow headers": slow_headers, "slow bodies": slow_bodies, "slow readers": slow_readers}
    with LargePage(9000) as page:
        assert page.bytes > 4e6
        for name, attack in attacks.items():
            with attack(page.exporter, 400):
                time.sleep(0.5)
                print(f"  {name}, page {page.bytes / 1e6:.1f} MB")
                serve_beside(page.exporter, 2)
        balanced(page.exporter.scrape())
        assert page.exporter.stop() == 0


def main():
    for test in (thousand_scrapers, ten_thousand_idle, slow_peers):
        began = time.monotonic()
        print(test.__name__, flush=True)
        test()
        print(f"{test.__name__}: ok, {time.monotonic() - began:.1f} s", flush=True)


main()
