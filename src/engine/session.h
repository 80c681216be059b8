/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that is being measured: its sources, the engine that books them, snapshots, and a
 * recorder where one is wanted. `run` adds a server and a table, `record` a file, `doctor` what it
 * finds: all of them measure the same.
 *
 *	session_begin()            before any thread is started
 *	session_open_processes()   all that needs privileges, which are given up after it
 *	session_open_meters()      meters and names, with their threads; then the filter of calls
 *	a recorder, and further peers, where they are wanted
 *	session_open_engine()
 *	session_run_interval() …
 *	session_close()            whatever of it was opened
 *
 * One thread.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "config/config.h"
#include "engine/interval.h"
#include "engine/recorder.h"
#include "engine/self_stats.h"
#include "engine/sources.h"
#include "rates/rates.h"
#include "units/units.h"

struct session {
	const struct config *config;    /* borrowed; of the last reload */
	bool is_confined;               /* it gives up rights that it does not need */
	int landlock_abi;               /* 0: files are not limited */
	struct device_holders *holders; /* until the sources take them over */
	struct sources sources;
	struct snapshot_holder *holder;
	struct snapshot_node node;
	struct snapshot_cpu *cpu_list; /* of the node, or NULL */
	struct self_stats stats;
	struct recorder recorder;    /* zeroed: nothing is recorded */
	struct interval_peers peers; /* holder and tap are the session's own */
	struct interval_engine *engine;
	struct rates *rates;            /* NULL: none is configured */
	struct units *units;            /* NULL: none is configured */
	struct health_source health[2]; /* of a session without a program around it */
};

/* The initial state; session_close() may be called before session_begin(). */
#define SESSION_INIT                                                                               \
	{                                                                                          \
		.stats = {.statm_fd = -1, .task_fd = -1 }                                          \
	}

/*
 * @is_confined: the process gives up its rights as far as the configuration says. Then each
 * step is for good, and no file can be made any more but where the configuration writes. 0, or
 * -errno with a diagnosis.
 */
int session_begin(struct session *session, const struct config *config, bool is_confined,
		  struct diag *diag);
/* 0, or -errno with a diagnosis, as sources_open_processes(). */
int session_open_processes(struct session *session, struct diag *diag);
/* 0, or -errno with a diagnosis, as sources_open_meters(). */
int session_open_meters(struct session *session, struct diag *diag);
/* 0, or -errno with a diagnosis. */
int session_open_engine(struct session *session, struct diag *diag);
/* interval_engine_run(), after logging and taking the news of the sources. */
int session_run_interval(struct session *session);
/* After a reload. */
void session_reconfigure(struct session *session, const struct config *config);
/* Waits @patience_ns at most for the disk of a recording; -ETIMEDOUT: its end may be missing. */
int session_close(struct session *session, uint64_t patience_ns);
