// SPDX-License-Identifier: Apache-2.0
/*
 * The order at the start: the process that looks up names (only if other machines can connect; it
 * ends by itself), the one that reads fdinfo (it ends without such a GPU), limits on files
 * (Landlock), the exporters, BPF and processes (everything that needs privileges), dropping the
 * privileges, meters and names with their threads, the filter of system calls, the first snapshot,
 * READY. So only this thread ever holds a capability that is not needed later, the thread that
 * talks to the network starts without any, and while a later step takes long or hangs, /healthz
 * answers and a signal to stop is obeyed.
 */
#include "kepler/lifecycle.h"
#include "export/push.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/terminal.h"
#include "engine/node_facts.h"
#include "export/now_page.h"
#include "kepler/health_table.h"
#include "kepler/machine_log.h"
#include "kepler/pages/local.h"
#include "kepler/pages/web.h"
#include "service/privileges.h"
#include "service/signals.h"
#include "service/start_memory.h"
#include "service/start_watch.h"
#include "stat/stat_desk.h"
#include "top/top_frame.h"

/* One thread for each kind of job off the loop: reading the configuration, keeping state. */
#define JOBS_MAX 3
/* How long the start and the end wait for the state file, and the end for jobs. */
#define PATIENCE_NS (1 * NSEC_PER_SEC)
/* How long a start that a signal ends may take to end. */
#define START_PATIENCE_NS (2 * NSEC_PER_SEC)
/* How long the end waits for a terminal. */
#define SCREEN_PATIENCE_NS (100 * NSEC_PER_MSEC)

/*
 * Waits may end so much late, so that one wake-up of a CPU can serve several timers. Energy and
 * work are read with their own times, so nothing depends on the delay.
 */
#define TIMER_SLACK_NS (5 * NSEC_PER_MSEC)

/*
 * With few descriptors, parts that take many (BPF: two dozen) or are optional must leave some for
 * the parts that are required: jobs and the server's connections. These are held while the others
 * are opened.
 */
#define KEPT_FOR_JOBS        1
#define KEPT_FOR_CONNECTIONS 2

struct kept_fds {
	int fds[KEPT_FOR_JOBS + KEPT_FOR_CONNECTIONS];
	size_t count;
};

static void keep_fds(struct kept_fds *kept, int fd)
{
	while (kept->count < ARRAY_SIZE(kept->fds)) {
		int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

		if (copy < 0)
			return;
		kept->fds[kept->count++] = copy;
	}
}

static void free_fds(struct kept_fds *kept, size_t left)
{
	while (kept->count > left)
		(void)close(kept->fds[--kept->count]);
}

#define TABLE_ROWS        24 /* of a terminal that does not say */
#define TABLE_OTHER_LINES 11 /* of the live table that are not processes */

/* The live table names the first one. */
static const struct exporter_ops *const exporter_table[] = { &web_exporter, &local_exporter, NULL };

static uint64_t interval_of(const struct config *config)
{
	return config->monitor.interval_ns;
}

static int start_exporters(struct monitor *monitor)
{
	struct exporter_program program = {
		.config = monitor->config,
		.holder = monitor->session.holder,
		.heartbeat = &monitor->heartbeat,
		.pace = &monitor->pace,
		.names = &monitor->name_finder,
		.sends = &monitor->sends,
		.push = &monitor->config->push,
		.pages = &monitor->config->pages,
		.procfs = monitor->config->host.procfs,
		.interval_ns = interval_of,
		.start_thread = privileges_drop_thread,
	};
	struct diag diag = { "" };
	int r = explain_desk_new(&monitor->desk);

	if (r < 0)
		return log_error_errno(r, "cannot set up kepler explain");
	program.desk = monitor->desk;
	r = history_new(&monitor->history);
	if (r < 0)
		return log_error_errno(r, "cannot set up the history");
	program.history = monitor->history;
	r = unused_new(&monitor->unused);
	if (r < 0)
		return log_error_errno(r, "cannot set up the list of unused resources");
	program.unused = monitor->unused;
	r = stat_desk_new(&monitor->stats);
	if (r < 0)
		return log_error_errno(r, "cannot set up kepler stat");
	program.stats = monitor->stats;
	heartbeat_init(&monitor->heartbeat, clock_ns(CLOCK_MONOTONIC),
		       monitor_hang_limit_ns(monitor->config));
	web_watch_follow(&monitor->web_watch, monitor->config->web_security);
	r = exporters_start(&monitor->exporters, exporter_table, &program, &diag);
	if (r == 0)
		r = exporters_start(&monitor->exporters, push_exporters, &program, &diag);
	if (r < 0) {
		log_error("%s", diag.text);
		return r;
	}
	web_exporter.describe(monitor->exporters.list[0].self, monitor->url, sizeof(monitor->url));
	log_info("listening at %s; the first readings follow", monitor->url);
	return 0;
}

static void open_jobs(struct monitor *monitor)
{
	const struct offload_options options = { .max_threads = JOBS_MAX };
	int r = offload_new(&options, &monitor->jobs);

	if (r < 0)
		log_warn("the configuration cannot be reloaded and state cannot be kept: %s",
			 strerrordesc_np(-r));
	monitor->web_watch.pool = monitor->jobs;
	monitor->reload = (struct reload){ .pool = monitor->jobs,
					   .args = &monitor->args,
					   .counts.last_succeeded = true };
	monitor->idle_state.pool = monitor->jobs;
}

void monitor_enter_step(struct monitor *monitor, enum loop_step step)
{
	loop_steps_enter(&monitor->steps, step, clock_ns(CLOCK_MONOTONIC));
}

uint64_t monitor_hang_limit_ns(const struct config *config)
{
	return heartbeat_limit_ns(config->monitor.hang_limit_ns, config->monitor.interval_ns);
}

/* The answer of /api/v1/now with as many rows as there is room for. */
static int take_answer(struct monitor *monitor, unsigned rows, struct strbuf *ret)
{
	const struct now_query query = {
		.view = LEVEL_PROCESS,
		.limit = rows > TABLE_OTHER_LINES ? rows - TABLE_OTHER_LINES : 1,
	};
	const struct snapshot *snapshot = snapshot_get(monitor->session.holder);
	int r = now_page(snapshot, &query, ret);

	snapshot_put(monitor->session.holder, snapshot);
	return r;
}

static void show_table(struct monitor *monitor)
{
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	char title[sizeof(monitor->url) + sizeof("Kepler  ")];
	const char *const titles[] = { title, monitor->meters.source, NULL };
	const struct top_style style = { .colour = terminal_wants_colour(STDOUT_FILENO),
					 .utf8 = true,
					 .titles = titles };
	unsigned rows, columns;

	if (!monitor->table || interval_engine_elapsed_ns(monitor->session.engine) == 0)
		return;
	(void)snprintf(title, sizeof(title), "Kepler  %s", monitor->url);
	terminal_size(STDOUT_FILENO, &rows, &columns);
	strbuf_reset(&monitor->frame);
	if (take_answer(monitor, rows ? rows : TABLE_ROWS, &answer) < 0 ||
	    top_frame_of(&answer, &style, columns, &monitor->frame) < 0)
		return;
	strbuf_add_str(&monitor->frame, "\nCtrl-C stops it.\n");
	(void)live_screen_show(&monitor->screen, STDOUT_FILENO, &monitor->frame);
}

/* After the interval has been published, when nothing waits for it. */
static void note_history(struct monitor *monitor)
{
	const struct snapshot *snapshot = snapshot_get(monitor->session.holder);

	history_note(monitor->history, snapshot, clock_ns(CLOCK_BOOTTIME));
	snapshot_put(monitor->session.holder, snapshot);
}

void monitor_follow_stats(struct monitor *monitor)
{
	struct process_trees *trees = stat_desk_trees(monitor->stats);
	bool had_trees = process_trees_any(trees);

	monitor->wants_interval = stat_desk_turn(monitor->stats, clock_ns(CLOCK_BOOTTIME));
	if (process_trees_any(trees) != had_trees)
		(void)activity_want_parents(monitor->session.sources.activity, !had_trees);
}

void monitor_run_interval(struct monitor *monitor)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	loop_steps_enter(&monitor->steps, STEP_SELF, began_ns);
	self_stats_update(&monitor->session.stats);
	zone_watch_count(&monitor->zones, &monitor->session.sources);
	stat_desk_take(monitor->stats);
	r = session_run_interval(&monitor->session);
	stat_desk_give(monitor->stats,
		       ledger_layout(interval_engine_books(monitor->session.engine)->ledger),
		       monitor->session.rates);
	monitor_follow_stats(monitor);
	monitor_enter_step(monitor, STEP_SELF);
	if (r < 0)
		(void)log_warn_errno(r, "this interval is incomplete");
	if (meter_watch_follow(&monitor->meters, &monitor->session, &monitor->idle_state))
		notify_status(monitor->notify, monitor->meters.source);
	zone_watch_look(&monitor->zones, monitor->session.engine, began_ns);
	machine_log_unseen(&monitor->session, &monitor->logged_unseen);
	note_history(monitor);
	unused_note(monitor->unused, interval_engine_books(monitor->session.engine),
		    clock_ns(CLOCK_BOOTTIME));
	loop_steps_add_interval(&monitor->steps, clock_ns(CLOCK_MONOTONIC) - began_ns);
	exporters_turn(&monitor->exporters, began_ns);
	if (monitor->table)
		monitor_enter_step(monitor, STEP_TABLE);
	show_table(monitor);
}

void monitor_note_state(struct monitor *monitor, enum idle_outcome outcome, const struct diag *diag)
{
	if (outcome == IDLE_NOT_READ)
		log_warn("idle power and cost factors are learned again: %s", diag->text);
	else if (outcome == IDLE_NOT_WRITTEN)
		log_warn("cannot save learned idle power and cost factors: %s", diag->text);
	else
		return;
	monitor->idle_state.health.errors++;
}

/* Meters, names and the first snapshot: whatever of it takes long, the server answers. */
static int start_measuring(struct monitor *monitor)
{
	struct session *session = &monitor->session;
	struct diag diag = { "" };
	int r;

	monitor->notify = notify_open(); /* before system calls are confined */
	r = session_open_meters(session, &diag);
	if (r < 0) {
		log_error("%s", diag.text);
		return r;
	}
	model_sources_watch(&session->sources.model_sources, monitor->jobs);
	session->cpu_list = node_facts_cpus(&session->node, monitor->config->host.procfs);
	loop_steps_init(&monitor->steps, monitor->config->monitor.interval_ns, &monitor->heartbeat);
	if (recorder_open_ring(&session->recorder, monitor->config, session->sources.host.cpus,
			       &diag) < 0)
		log_warn("nothing is recorded: %s", diag.text);
	session->peers.pace = &monitor->pace;
	session->peers.steps = &monitor->steps;
	session->peers.desk = monitor->desk;
	session->peers.trees = stat_desk_trees(monitor->stats);
	if (!activity_want_parents(session->sources.activity, false))
		stat_desk_refuse(monitor->stats);
	r = session_open_engine(session, &diag);
	if (r < 0) {
		log_error("%s", diag.text);
		return r;
	}
	interval_engine_set_health(session->engine, monitor->health,
				   health_table_sources(monitor, monitor->health));
	r = interval_engine_find_zones(session->engine, interval_moment_now().boottime_ms);
	if (r < 0)
		return log_error_errno(r, "cannot adopt the meters' zones");
	meter_watch_begin(&monitor->meters, session);
	monitor_note_state(monitor,
			   idle_state_open(&monitor->idle_state, monitor->config->host.state_dir,
					   &session->sources.host, PATIENCE_NS, &diag),
			   &diag);
	idle_state_restore(&monitor->idle_state, session->engine);
	heartbeat_beat(&monitor->heartbeat, clock_ns(CLOCK_MONOTONIC));
	monitor_run_interval(monitor);
	monitor_enter_step(monitor, STEP_NONE);
	start_memory_release();
	return 0;
}

/* On a thread, while the main one hangs and can close nothing. The kernel closes it all. */
static void end_at_once(void)
{
	log_warn("stopped during a hanging start-up; exiting without waiting");
	_exit(0);
}

static int open_in_order(struct monitor *monitor)
{
	struct kept_fds kept = { .count = 0 };
	struct diag diag = { "" };
	int r;

	keep_fds(&kept, monitor->signal_fd);
	r = session_open_processes(&monitor->session, &diag);
	free_fds(&kept, KEPT_FOR_CONNECTIONS);
	if (r < 0) {
		log_error("%s", diag.text);
	} else {
		open_jobs(monitor);
		r = start_measuring(monitor);
	}
	if (r == 0)
		stat_desk_open(monitor->stats);
	free_fds(&kept, 0);
	return r;
}

static int open_watched(struct monitor *monitor)
{
	struct start_watch watch;
	int watched = start_watch_begin(&watch, monitor->signal_fd, START_PATIENCE_NS, end_at_once);
	int r = open_in_order(monitor);

	if (watched == 0)
		monitor->early_wishes = start_watch_end(&watch);
	return r;
}

int monitor_start(struct monitor *monitor)
{
	struct diag diag = { "" };
	int r = signals_open();

	/* All threads inherit it. */
	(void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	if (r < 0)
		return log_error_errno(r, "cannot receive signals");
	monitor->signal_fd = r;
	if (config_reachable_address(monitor->config) &&
	    name_finder_start(&monitor->name_finder, &address_names_system, &diag) < 0)
		log_warn("the names of this machine's addresses cannot be looked up: %s",
			 diag.text);
	r = session_begin(&monitor->session, monitor->config, true, &diag);
	if (r < 0) {
		log_error("%s", diag.text);
		return r;
	}
	r = start_exporters(monitor);
	return r < 0 ? r : open_watched(monitor);
}

void monitor_log_start(struct monitor *monitor)
{
	struct activity_info info;

	machine_log_start(&monitor->session);
	meter_watch_log_start(&monitor->meters, &monitor->session);
	activity_get_info(monitor->session.sources.activity, &info);
	log_info("Kepler serves %s", monitor->url);
	log_info("energy: %s; processes: %s; interval %g s", monitor->meters.source, info.reader,
		 (double)monitor->config->monitor.interval_ns / 1e9);
}

static void close_state(struct monitor *monitor)
{
	struct diag diag = { "" };

	monitor_note_state(
		monitor,
		idle_state_close(&monitor->idle_state, monitor->session.engine, PATIENCE_NS, &diag),
		&diag);
}

void monitor_finish(struct monitor *monitor)
{
	exporters_stop(&monitor->exporters);
	name_finder_close(&monitor->name_finder);
	web_watch_close(&monitor->web_watch);
	reload_close(&monitor->reload);
	model_sources_watch(&monitor->session.sources.model_sources, NULL);
	close_state(monitor);
	offload_free(monitor->jobs, PATIENCE_NS);
	if (session_close(&monitor->session, PATIENCE_NS) < 0)
		log_warn("the last intervals may not be recorded: the disk does not respond");
	explain_desk_free(monitor->desk);
	stat_desk_free(monitor->stats);
	history_free(monitor->history);
	unused_free(monitor->unused);
	scrape_pace_release(&monitor->pace);
	notify_close(monitor->notify);
	live_screen_close(&monitor->screen, SCREEN_PATIENCE_NS);
	strbuf_release(&monitor->frame);
	if (monitor->signal_fd >= 0)
		(void)close(monitor->signal_fd);
}
