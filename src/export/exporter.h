/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which snapshots leave the program. The web server answers scrapes; other exporters
 * can push each new snapshot to a file or a server. The program starts them all from tables, before
 * it reads anything, and each has its own thread, without capabilities.
 *
 * An exporter that pushes is a file and a row (push.h). It waits for snapshot_wake_open(), takes
 * the newest snapshot, and renders it with a page_format (page_cache.h) or its own sink. A server
 * that does not respond is state, which its health shows: starting fails only if the configuration
 * is wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/health.h"
#include "options/option_set.h"

struct config;
struct explain_desk;
struct stat_desk;
struct heartbeat;
struct history;
struct name_finder;
struct page_options;
struct push_options;
struct scrape_pace;
struct send_board;
struct snapshot_holder;
struct unused;

/*
 * The services that the program offers to its exporters. All of it is borrowed. The services
 * outlive them; structs of options (@config, @push, @pages) last until the next reload, so that a
 * part of one that is kept has to be copied. Strings of options that need a restart live as long
 * as the program.
 */
struct exporter_program {
	struct config *config; /* its secrets may be taken over */
	struct snapshot_holder *holder;
	const struct heartbeat *heartbeat; /* of the measuring loop */
	struct scrape_pace *pace;          /* to be informed of scrapes */
	struct explain_desk *desk;         /* for questions about rows */
	struct stat_desk *stats;           /* for the energy of commands */
	struct history *history;           /* what was used before */
	struct unused *unused;             /* what is held and not used */
	struct name_finder *names;         /* further names of this machine */
	struct send_board *sends;          /* of those that push */
	const struct push_options *push;   /* of all exporters that push */
	const struct page_options *pages;
	const char *procfs;
	/* The nominal time between snapshots. */
	uint64_t (*interval_ns)(const struct config *config);
	void (*start_thread)(void); /* to be called first on each new thread */
};

struct exporter_ops {
	/*
	 * *ret: the exporter; it stays NULL if the configuration does not ask for it. 0, or -errno
	 * with a diagnosis.
	 */
	int (*start)(const struct exporter_program *program, void **ret, struct diag *diag);
	/* After a reload. NULL: nothing can change. */
	void (*reconfigure)(void *exporter, struct config *config);
	/* Also after a reload; borrowed for the call. NULL: it shows nothing that they choose. */
	void (*set_pages)(void *exporter, const struct page_options *pages);
	/* Once per interval on the loop's thread, to log and to keep deadlines. NULL: nothing. */
	void (*turn)(void *exporter, uint64_t now_ns);
	/* Where the snapshots go to, for people: "http://127.0.0.1:28282/metrics". */
	void (*describe)(const void *exporter, char *buf, size_t size);
	/* Waits for each of its threads, for some seconds at most. */
	void (*stop)(void *exporter);
	const struct health_part *health; /* of the exporter; NULL: none */
	/* The rest is for exporters that push (push.h). */
	struct option_section options; /* PUSH_OPTIONS() */
	bool (*is_wanted)(const struct push_options *options);
	unsigned needs; /* bits of enum need, where it is wanted */
	/* Further ones, which depend on its options. May be NULL: none. */
	unsigned (*more_needs)(const struct push_options *options);
	/*
	 * The @index-th directory in which it makes and replaces files, "" if it is not used; NULL
	 * after the last. May be NULL: none.
	 */
	const char *(*folder)(const struct push_options *options, size_t index);
	/* The @index-th file that it reads while it runs, in the same way. */
	const char *(*file)(const struct push_options *options, size_t index);
};

#define EXPORTERS_MAX 8

struct exporter {
	const struct exporter_ops *ops;
	void *self; /* NULL: it is not used */
};

/* All zero: none is started. */
struct exporters {
	struct exporter list[EXPORTERS_MAX];
	size_t count;
};

/*
 * Starts all of @table, which ends with NULL. 0, or -errno with a diagnosis; exporters_stop() is
 * due in either case.
 */
int exporters_start(struct exporters *exporters, const struct exporter_ops *const *table,
		    const struct exporter_program *program, struct diag *diag);
void exporters_reconfigure(struct exporters *exporters, struct config *config,
			   const struct page_options *pages);
void exporters_turn(struct exporters *exporters, uint64_t now_ns);
/* In the reverse order. */
void exporters_stop(struct exporters *exporters);
