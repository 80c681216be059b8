/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the monitor share: monitor.c turns the loop, monitor_start.c begins and ends
 * it, monitor_report.c says what it found. Nothing else includes this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/offload.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "config/reload.h"
#include "engine/loop_steps.h"
#include "engine/session.h"
#include "export/exporter.h"
#include "export/scrape_pace.h"
#include "kepler/health_table.h"
#include "kepler/idle_state.h"
#include "kepler/live_screen.h"
#include "kepler/zone_watch.h"
#include "service/heartbeat.h"
#include "service/name_finder.h"
#include "service/notify.h"
#include "service/schedule.h"

struct monitor {
	struct option_args args;
	struct config *config;
	struct session session;
	struct loop_steps steps;
	struct heartbeat heartbeat; /* the server's thread reads it */
	struct scrape_pace pace;    /* the server's thread writes it */
	struct explain_desk *desk;
	struct exporters exporters;
	struct name_finder name_finder; /* of names that requests may be for */
	struct notify *notify;
	struct offload *jobs; /* NULL where there was no descriptor for it */
	struct reload reload;
	struct idle_state_keeper idle_state;
	struct schedule schedule;
	int meters_fd; /* readable once the meters of the next interval are read; -1: see there */
	uint64_t state_ns; /* when the state file was last begun, MONOTONIC */
	int signal_fd;
	unsigned early_wishes; /* enum signal_wish, that came during the start */
	bool stop;
	bool table;
	bool on_terminal;
	bool found; /* meters, at start or since */
	struct zone_watch zones;
	bool measured;          /* they count: no model stands for them now */
	bool searching;         /* the first search for them has not come to its end */
	size_t described_zones; /* by the names of sources */
	bool told_unseen;
	uint32_t failed_meters; /* what was logged of them last, as a hash; 0: nothing */
	unsigned looks_at_failed_meters;
	struct health_source health[HEALTH_TABLE_MAX];
	struct strbuf frame;
	struct live_screen screen;
	char url[128];
	char source[256];
};

/* ---- monitor_interval.c ---- */

/* From when on a loop that does not turn hangs. */
uint64_t monitor_hang_limit_ns(const struct config *config);
void monitor_enter_step(struct monitor *monitor, enum loop_step step);
void monitor_run_interval(struct monitor *monitor);

/* ---- monitor_start.c ---- */

/* Up to the first snapshot. 0, or -errno, which was logged; monitor_finish() is due in any case. */
int monitor_start(struct monitor *monitor);
void monitor_finish(struct monitor *monitor);

/* ---- monitor_report.c ---- */

/* The parts of the configuration that were ignored, and why. */
void monitor_log_warnings(const struct config *config);
void monitor_log_start(struct monitor *monitor);
/* Where energy comes from, for metrics, table and service manager. */
void monitor_describe_sources(struct monitor *monitor);
/* After each interval: meters that were found or begin to count, processes that BPF cannot see. */
void monitor_follow_meters(struct monitor *monitor);
void monitor_tell_of_unseen(struct monitor *monitor);
void monitor_show_table(struct monitor *monitor);
