// SPDX-License-Identifier: Apache-2.0
/*
 * The loop sleeps in ppoll() until the next interval is due and its meters are read, a signal
 * comes, a job off its thread ends (reading the configuration, keeping state), or the buffer of
 * ended processes is half full. Each turn is a heartbeat.
 */
#include "kepler/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "kepler/lifecycle.h"
#include "kepler/machine_log.h"
#include "service/signals.h"
#include "service/start_memory.h"
#include "stat/stat_desk.h"

/* The loop turns at least that often, however long the interval. */
#define TURN_NS (10 * NSEC_PER_SEC)
/*
 * The thread that reads meters wakes up by itself when an interval is due, and wakes the loop when
 * it is done: two wake-ups instead of three. Where that takes longer than the grace, the loop
 * begins the interval, and waits there. Readings that are no longer fresh are made again, because
 * processes are read right after them.
 */
#define METERS_GRACE_NS (20 * NSEC_PER_MSEC)
#define METERS_FRESH_NS (5 * NSEC_PER_MSEC)

static void keep_state(struct monitor *monitor, uint64_t now_ns)
{
	struct diag diag = { "" };

	if (now_ns - monitor->state_ns < monitor->config->host.state_every_ns)
		return;
	monitor->state_ns = now_ns;
	monitor_note_state(
		monitor,
		idle_state_save(&monitor->idle_state, monitor->session.engine, now_ns, &diag),
		&diag);
}

static void refuse_reload(struct monitor *monitor, const struct diag *diag)
{
	reload_count(&monitor->reload, false);
	if (diag->others)
		log_error("reload refused, keeping the old configuration: %s (and %u more "
			  "problems: kepler config check FILE lists them)",
			  diag->text, diag->others);
	else
		log_error("reload refused, keeping the old configuration: %s", diag->text);
	notify_ready(monitor->notify, "reload refused");
}

static void refuse_web(struct monitor *monitor, const struct diag *diag)
{
	reload_count(&monitor->reload, false);
	log_error("web configuration refused, keeping the old one: %s", diag->text);
}

/* A server cannot begin or cease to use TLS. */
static int check_tls(const struct config *old, bool fresh, struct diag *diag)
{
	if (old->has_web_tls == fresh)
		return 0;
	return diag_set(diag, -EINVAL, "%s: tls_server_config was %s, which needs a restart",
			old->web.config_file, fresh ? "added" : "removed");
}

/* The file stays the one of the start, even if the new configuration names another. */
static int check_security(const struct config *old, struct config *fresh, struct diag *diag)
{
	if (strcmp(old->web.config_file, fresh->web.config_file) != 0) {
		web_security_unref(TAKE_PTR(fresh->web_security));
		fresh->has_web_tls = old->has_web_tls;
	}
	return check_tls(old, fresh->has_web_tls, diag);
}

/* Takes ownership of @fresh, and uses only the options that may change while running. */
static void apply_config(struct monitor *monitor, struct config *fresh)
{
	struct config *old = monitor->config;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct diag diag = { "" };
	char fixed[512];

	/* The addresses stay as they are, even if the new configuration has others. */
	if (config_check_interval(fresh, config_reachable_address(old), &diag) < 0 ||
	    check_security(old, fresh, &diag) < 0) {
		refuse_reload(monitor, &diag);
		config_release(fresh);
		free(fresh);
		return;
	}
	reload_count(&monitor->reload, true);
	config_unreloadable_changes(old, fresh, fixed, sizeof(fixed));
	if (fixed[0])
		log_warn("these changes need a restart: %s", fixed);
	config_keep_unreloadable(old, fresh);
	machine_log_warnings(fresh);
	monitor->steps.interval_ns = fresh->monitor.interval_ns;
	log_setup(fresh->log.level, fresh->log.format);
	session_reconfigure(&monitor->session, fresh);
	if (fresh->web_security)
		web_watch_follow(&monitor->web_watch, fresh->web_security);
	exporters_reconfigure(&monitor->exporters, fresh, &fresh->pages);
	monitor->config = fresh;
	config_release(old);
	free(old);
	heartbeat_set_limit(&monitor->heartbeat, monitor_hang_limit_ns(fresh));
	schedule_set_interval(&monitor->schedule, now_ns, fresh->monitor.interval_ns);
	log_info("configuration reloaded");
	notify_ready(monitor->notify, monitor->meters.source);
}

/* The web configuration alone was read again; takes @security over. */
static void apply_security(struct monitor *monitor, struct web_security *security)
{
	struct config *config = monitor->config;
	struct diag diag = { "" };
	bool is_used;

	if (check_tls(config, security->tls, &diag) < 0) {
		web_security_unref(security);
		refuse_web(monitor, &diag);
		return;
	}
	web_watch_follow(&monitor->web_watch, security);
	web_security_unref(config->web_security);
	config->web_security = security;
	exporters_reconfigure(&monitor->exporters, config, &config->pages);
	/* Otherwise the server has refused it and has logged why. */
	is_used = !config->web_security;
	reload_count(&monitor->reload, is_used);
	if (is_used)
		log_info("web configuration read again: %s", config->web.config_file);
}

static void follow_reload(struct monitor *monitor, enum reload_outcome outcome,
			  struct config *config, const struct diag *diag)
{
	switch (outcome) {
	case RELOAD_BEGUN:
		notify_reloading(monitor->notify, clock_ns(CLOCK_MONOTONIC));
		break;
	case RELOAD_LOADED:
		if (config)
			apply_config(monitor, config);
		break;
	case RELOAD_FAILED:
		refuse_reload(monitor, diag);
		break;
	case RELOAD_MERGED:
	case RELOAD_NOTHING:
		break;
	}
}

static void ask_for_reload(struct monitor *monitor)
{
	struct diag diag = { "" };
	enum reload_outcome outcome =
		reload_ask(&monitor->reload, clock_ns(CLOCK_MONOTONIC), &diag);

	follow_reload(monitor, outcome, NULL, &diag);
	model_sources_ask(&monitor->session.sources.model_sources);
}

static void take_job(struct monitor *monitor, struct offload_job *job)
{
	struct config *config = NULL;
	struct diag diag = { "" };
	enum idle_outcome kept = idle_state_take(&monitor->idle_state, job, &diag);
	enum reload_outcome loaded = reload_take(&monitor->reload, job, &config, &diag);

	monitor_note_state(monitor, kept, &diag);
	if (kept == IDLE_READ)
		idle_state_restore(&monitor->idle_state, monitor->session.engine);
	follow_reload(monitor, loaded, config, &diag);
}

static bool take_web_job(struct monitor *monitor, struct offload_job *job)
{
	struct web_security *security = NULL;
	struct diag diag = { "" };
	bool mine;
	enum web_watch_outcome outcome =
		web_watch_take(&monitor->web_watch, job, &mine, &security, &diag);

	if (outcome == WEB_WATCH_LOADED)
		apply_security(monitor, security);
	else if (outcome == WEB_WATCH_FAILED)
		refuse_web(monitor, &diag);
	return mine;
}

/* Jobs off the loop's thread that have ended, or take too long. */
static void take_jobs(struct monitor *monitor)
{
	struct offload_job *job;

	while (monitor->jobs && (job = offload_take(monitor->jobs))) {
		if (!take_web_job(monitor, job) &&
		    !model_sources_take(&monitor->session.sources.model_sources, job))
			take_job(monitor, job);
	}
}

static void look_after_jobs(struct monitor *monitor, uint64_t now_ns)
{
	struct diag diag = { "" };

	follow_reload(monitor, reload_turn(&monitor->reload, now_ns, &diag), NULL, &diag);
	web_watch_turn(&monitor->web_watch, monitor->config, now_ns);
	monitor_note_state(monitor, idle_state_turn(&monitor->idle_state, now_ns, &diag), &diag);
}

/* SIGHUP has two meanings: "read the configuration again", and "your terminal is gone". */
static bool terminal_is_gone(const struct monitor *monitor)
{
	struct pollfd terminal = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return monitor->on_terminal && poll(&terminal, 1, 0) == 1 &&
	       (terminal.revents & (POLLHUP | POLLERR));
}

static void obey(struct monitor *monitor, unsigned wishes)
{
	if ((wishes & SIGNAL_STOP) || ((wishes & SIGNAL_RELOAD) && terminal_is_gone(monitor)))
		monitor->stop = true;
	else if (wishes & SIGNAL_RELOAD)
		ask_for_reload(monitor);
}

/* Until the next interval or another due time; never so long that a watch would miss a turn. */
static uint64_t wait_ns(const struct monitor *monitor, uint64_t now_ns)
{
	uint64_t watchdog_ns = notify_watchdog_ns(monitor->notify) / 3;
	uint64_t reload_ns = reload_due_ns(&monitor->reload);
	uint64_t wait = schedule_wait_ns(&monitor->schedule, now_ns);

	if (monitor->meters_fd >= 0 && wait > 0)
		wait += METERS_GRACE_NS;
	if (watchdog_ns && wait > watchdog_ns)
		wait = watchdog_ns;
	if (wait > TURN_NS)
		wait = TURN_NS;
	if (reload_ns <= now_ns)
		return 0;
	return wait < reload_ns - now_ns ? wait : reload_ns - now_ns;
}

static void wait_for_event(struct monitor *monitor)
{
	struct pollfd fds[] = {
		{ .fd = monitor->signal_fd, .events = POLLIN },
		{ .fd = activity_fd(monitor->session.sources.activity), .events = POLLIN },
		{ .fd = monitor->jobs ? offload_fd(monitor->jobs) : -1, .events = POLLIN },
		{ .fd = monitor->meters_fd, .events = POLLIN },
		{ .fd = stat_desk_fd(monitor->stats), .events = POLLIN },
	};
	uint64_t wait = wait_ns(monitor, clock_ns(CLOCK_MONOTONIC));
	const struct timespec timeout = {
		.tv_sec = (time_t)(wait / NSEC_PER_SEC),
		.tv_nsec = (long)(wait % NSEC_PER_SEC),
	};

	if (ppoll(fds, ARRAY_SIZE(fds), &timeout, NULL) <= 0)
		return;
	if (fds[0].revents || fds[2].revents) {
		monitor_enter_step(monitor, STEP_SIGNALS);
		obey(monitor, signals_take(monitor->signal_fd));
		take_jobs(monitor);
	}
	if (fds[1].revents) {
		monitor_enter_step(monitor, STEP_ACTIVITY);
		activity_drain(monitor->session.sources.activity);
	}
	if (fds[4].revents)
		monitor_follow_stats(monitor);
	monitor_enter_step(monitor, STEP_NONE);
}

static void expect_interval(struct monitor *monitor)
{
	struct meter_table *meters = monitor->session.sources.meters;
	const struct schedule *schedule = &monitor->schedule;

	monitor->meters_fd = meters ? meter_table_expect(meters, schedule->next_ns,
							 schedule->interval_ns, METERS_FRESH_NS)
				    : -1;
}

static void loop(struct monitor *monitor)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	schedule_start(&monitor->schedule, now_ns, monitor->config->monitor.interval_ns);
	monitor->state_ns = now_ns;
	while (!monitor->stop) {
		wait_for_event(monitor);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		heartbeat_beat(&monitor->heartbeat, now_ns);
		notify_watchdog(monitor->notify, now_ns);
		look_after_jobs(monitor, now_ns);
		if (monitor->stop ||
		    (!schedule_is_due(&monitor->schedule, now_ns) && !monitor->wants_interval))
			continue;
		if (schedule_is_due(&monitor->schedule, now_ns))
			monitor->steps.missed += schedule_advance(&monitor->schedule, now_ns);
		monitor_run_interval(monitor);
		expect_interval(monitor);
		keep_state(monitor, now_ns);
		monitor_enter_step(monitor, STEP_NONE);
	}
}

static bool want_table(const struct config *config)
{
	if (config->table == TABLE_AUTO)
		return isatty(STDOUT_FILENO);
	return config->table == TABLE_ALWAYS;
}

static int run(struct monitor *monitor)
{
	int r = monitor_start(monitor);

	if (r == 0) {
		monitor_log_start(monitor);
		notify_ready(monitor->notify, monitor->meters.source);
		obey(monitor, monitor->early_wishes);
		loop(monitor);
		notify_stopping(monitor->notify);
	}
	monitor_finish(monitor);
	return r < 0 ? 1 : 0;
}

int run_main(int argc, char *const *argv, char *const *environ_)
{
	struct monitor monitor = {
		.args = { .argc = argc, .argv = argv, .environ_ = environ_ },
		.signal_fd = -1,
		.meters_fd = -1,
		.name_finder = NAME_FINDER_INIT,
		.session = SESSION_INIT,
	};
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct diag diag = { .more = &more };
	int status;

	start_memory_begin();
	scrape_pace_init(&monitor.pace, clock_ns(CLOCK_MONOTONIC));
	monitor.config = reload_first(&monitor.args, RELOAD_FIRST_LIMIT_NS, &diag);
	if (!monitor.config) {
		diag_print(&diag, "kepler", stderr);
		return 2;
	}
	log_setup(monitor.config->log.level, monitor.config->log.format);
	machine_log_warnings(monitor.config);
	monitor.on_terminal = isatty(STDOUT_FILENO);
	monitor.table = want_table(monitor.config);
	status = run(&monitor);
	config_release(monitor.config);
	free(monitor.config);
	return status;
}
