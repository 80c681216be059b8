/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running exporter: a session that measures, the server, jobs off the loop, and what is shown.
 * lifecycle.h starts and ends it, run.h has the loop.
 *
 * One thread owns all that changes; see docs/design/threads.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/offload.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "config/reload.h"
#include "config/web_watch.h"
#include "engine/loop_steps.h"
#include "engine/session.h"
#include "export/exporter.h"
#include "export/scrape_pace.h"
#include "export/send/send_board.h"
#include "history/history.h"
#include "kepler/health_table.h"
#include "kepler/idle_state.h"
#include "kepler/meter_watch.h"
#include "kepler/top/live_screen.h"
#include "kepler/zone_watch.h"
#include "service/heartbeat.h"
#include "service/name_finder.h"
#include "service/notify.h"
#include "service/schedule.h"
#include "unused/unused.h"

struct monitor {
	struct option_args args;
	struct config *config;
	struct session session;
	struct loop_steps steps;
	struct heartbeat heartbeat; /* the server's thread reads it */
	struct scrape_pace pace;    /* the server's thread writes it */
	struct explain_desk *desk;
	struct stat_desk *stats;
	struct history *history;
	struct unused *unused;
	struct exporters exporters;
	struct send_board sends;        /* receivers of exporters */
	struct name_finder name_finder; /* finds names that requests may use */
	struct notify *notify;
	struct offload *jobs; /* NULL: there was no descriptor for it */
	struct reload reload;
	struct web_watch web_watch;
	struct idle_state_keeper idle_state;
	struct schedule schedule;
	int meters_fd; /* readable once the meters of the next interval are read; -1: not used */
	uint64_t state_ns; /* when the state file was last begun, MONOTONIC */
	int signal_fd;
	unsigned early_wishes; /* enum signal_wish; signals that came during the start */
	bool stop;
	bool wants_interval; /* before the next one is due: kepler stat asks for it */
	bool table;
	bool on_terminal;
	struct zone_watch zones;
	struct meter_watch meters;
	bool logged_unseen;
	struct health_source health[HEALTH_TABLE_MAX];
	struct strbuf frame;
	struct live_screen screen;
	char url[128];
};
