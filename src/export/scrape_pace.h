/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often this exporter is scraped, and therefore how long a new series must show 0, for
 * `--metrics.settle=auto`. Pure except for its lock: every time is given by the caller, monotonic.
 *
 * A client is known by a number (net/server/http_server.h). One that has scraped at least twice
 * within SCRAPE_PACE_WINDOW_NS counts. A series settles for the longest gap between two scrapes of
 * a client that counts. The gap that is still open is one of them, counted from the snapshot that
 * the client got last: so no series shows its value before every such client got it with 0, however
 * late a scrape comes, up to SCRAPE_PACE_MAX_NS. A client that has scraped once is also
 * awaited, for SCRAPE_PACE_AWAITED_NS.
 *
 * Two scrapers that look like one client (the same address and headers) halve each other's gaps.
 * Where two gaps in a row differ by more than a quarter, their sum counts instead: the true gap of
 * such a pair, and more than needed for one scraper that missed a scrape.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define SCRAPE_PACE_WINDOW_NS    (600ULL * 1000000000ULL)
#define SCRAPE_PACE_UNKNOWN_NS   (60ULL * 1000000000ULL) /* while no client counts */
#define SCRAPE_PACE_AWAITED_NS   (65ULL * 1000000000ULL) /* a minute, and some delay */
#define SCRAPE_PACE_UNSCRAPED_NS (5ULL * 1000000000ULL)  /* without a scrape for a window */
#define SCRAPE_PACE_MAX_NS       (120ULL * 1000000000ULL)
#define SCRAPE_PACE_CLIENTS      32
/* Spans of time with a longest gap each: a whole window of them, and the one under way. */
#define SCRAPE_PACE_SPANS   11
#define SCRAPE_PACE_SPAN_NS (SCRAPE_PACE_WINDOW_NS / (SCRAPE_PACE_SPANS - 1))

/* The longest of the gaps that ended in one span of time. */
struct scrape_gap {
	uint64_t span; /* number of the span, from 1; 0: none */
	uint64_t longest_ns;
};

struct scrape_client {
	uint64_t client;
	bool used;
	uint64_t scraped_ns; /* its last scrape */
	uint64_t shown_ns;   /* when the snapshot of that was taken */
	uint64_t gap_ns;     /* before its last scrape; 0: that was the first */
	struct scrape_gap gaps[SCRAPE_PACE_SPANS];
};

struct scrape_pace {
	pthread_mutex_t lock; /* held for a look at the table, never longer */
	uint64_t began_ns;
	uint64_t forgotten_ns; /* when the last client was forgotten; 0: none was */
	uint64_t forgotten;
	struct scrape_client clients[SCRAPE_PACE_CLIENTS];
};

struct scrape_pace_state {
	uint64_t settle_ns;
	uint32_t clients;   /* that count */
	uint64_t forgotten; /* so far, because the table was full; settle_ns is long for a window */
};

void scrape_pace_init(struct scrape_pace *pace, uint64_t now_ns);
void scrape_pace_release(struct scrape_pace *pace);
/*
 * @client was answered at @now_ns with a snapshot of @shown_ns or later. If the table is full, the
 * client seen longest ago is forgotten. From any thread.
 */
void scrape_pace_note(struct scrape_pace *pace, uint64_t client, uint64_t now_ns,
		      uint64_t shown_ns);
/* As of @now_ns, the time of the snapshot that is about to be published. From any thread. */
struct scrape_pace_state scrape_pace_look(struct scrape_pace *pace, uint64_t now_ns);
