// SPDX-License-Identifier: Apache-2.0
/*
 * Start: config → files limited (Landlock) → BPF and processes (all that needs privilege) →
 * privileges dropped → meters, with their threads → first snapshot → server → system calls confined
 * → READY. So no thread but this one ever held a capability that is not needed, the one that talks
 * to the network holds none, and a scrape that gets through finds a snapshot.
 *
 * The loop sleeps in ppoll() until the next interval is due, a signal comes, or the buffer of ended
 * processes is half full. Intervals are due at start + n × interval; one that is late is run at
 * once, those wholly missed are counted, never made up: counters are cumulative and lose nothing.
 */
#include "kepler/monitor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "kepler/confine.h"
#include "kepler/denied_calls.h"
#include "kepler/file_limits.h"
#include "kepler/idle_state.h"
#include "kepler/interval.h"
#include "kepler/live_table.h"
#include "kepler/notify.h"
#include "kepler/privileges.h"
#include "kepler/self_stats.h"
#include "kepler/sources.h"
#include "kepler/web.h"
#include "kepler/zone_watch.h"

#define STATE_EVERY_NS (300 * NSEC_PER_SEC)

struct monitor {
	struct config_args args;
	struct config *config;
	struct sources sources;
	struct snapshot_holder *holder;
	struct interval_engine *engine;
	struct self_stats stats;
	struct web *web;
	struct notify *notify;
	int signal_fd;
	uint64_t next_ns;  /* when the next interval is due, MONOTONIC */
	uint64_t state_ns; /* when the state file is due */
	bool stop;
	bool table;
	bool on_terminal;
	bool found; /* meters, at start or since */
	struct zone_watch zones;
	bool measured;  /* they count: energy is not estimated now */
	bool searching; /* the first search for them has not come to its end */
	bool told_unseen;
	struct strbuf frame;
	char url[128];
	char source[256];
};

static int block_signals(struct monitor *monitor)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGHUP);
	/* A scraper or terminal that goes away is told by write(), not by a signal. */
	(void)sigaddset(&set, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return -errno;
	(void)sigdelset(&set, SIGPIPE);
	monitor->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return monitor->signal_fd < 0 ? -errno : 0;
}

static int64_t realtime_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
}

static void show_table(struct monitor *monitor)
{
	struct live_table_view view = {
		.url = monitor->url,
		.source = monitor->source,
		.colour = true,
	};
	struct winsize size;

	if (!monitor->table || interval_engine_elapsed_ns(monitor->engine) == 0)
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
		view.rows = size.ws_row;
		view.columns = size.ws_col;
	}
	strbuf_reset(&monitor->frame);
	if (live_table_draw(monitor->engine, &view, &monitor->frame) == 0)
		live_table_show(STDOUT_FILENO, &monitor->frame);
}

static void describe_sources(struct monitor *monitor)
{
	struct snapshot_self *self = &monitor->stats.self;
	const struct sources *sources = &monitor->sources;

	self->interval_s = (double)monitor->config->monitor_interval_ns / 1e9;
	monitor->measured = !interval_engine_is_estimated(monitor->engine);
	sources_describe(sources, !monitor->measured, monitor->source, sizeof(monitor->source));
	self->components_source[0] = self->platform_source[0] = '\0';
	if (monitor->measured)
		(void)snprintf(self->components_source, sizeof(self->components_source), "%s",
			       meter_table_zone(sources->meters, 0)->source);
	else
		(void)snprintf(self->platform_source, sizeof(self->platform_source), "%s",
			       estimated_meter_zone(sources->estimate)->source);
}

static void log_unread_zones(const struct interval_engine *engine)
{
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		const struct zone_reading *reading = interval_engine_reading(engine, z);
		bool refused = reading->error == -EACCES || reading->error == -EPERM;

		if (reading->state == ZONE_UP)
			continue;
		log_warn("energy of %s-%s (%s) is not read: %s%s", zone->name, zone->package,
			 zone->path,
			 reading->error ? strerrordesc_np(-reading->error)
					: zone_state_name(reading->state),
			 refused ? "; missing CAP_DAC_READ_SEARCH; run as root, or grant it with "
				   "AmbientCapabilities=CAP_DAC_READ_SEARCH"
				 : "");
	}
}

/* Meters that are found while we run take over from the estimate once they count. */
static void follow_meters(struct monitor *monitor)
{
	bool searching = sources_are_searched(&monitor->sources);

	if (!monitor->found && sources_have_meters(&monitor->sources)) {
		monitor->found = true;
		idle_state_restore(monitor->config->host_state_dir, &monitor->sources.host,
				   monitor->engine);
		log_info("meters were found; the estimate ends when they count, %g s from now or "
			 "later",
			 (double)monitor->config->metrics_settle_ns / 1e9);
		log_unread_zones(monitor->engine);
		describe_sources(monitor);
		notify_status(monitor->notify, monitor->source);
	} else if (!monitor->measured && !interval_engine_is_estimated(monitor->engine)) {
		describe_sources(monitor);
		log_info("the meters count from now on: %s", monitor->source);
		notify_status(monitor->notify, monitor->source);
	} else if (monitor->searching && !searching) {
		log_info("no meter so far; looked for again every 30 intervals");
	}
	monitor->searching = searching;
	monitor->stats.self.meters_searching = searching;
}

/* Nobody here can change it, so it is no warning. */
static void tell_of_unseen(struct monitor *monitor)
{
	struct activity_info info;

	if (monitor->told_unseen || !monitor->stats.self.unseen_processes)
		return;
	monitor->told_unseen = true;
	activity_get_info(monitor->sources.activity, &info);
	log_info("%u of the processes in /proc, the first is pid %u, are guarded from BPF: they "
		 "are read from there",
		 info.unseen, info.unseen_pid);
}

static void run_interval(struct monitor *monitor)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	self_stats_update(&monitor->stats);
	denied_calls_tell();
	monitor->stats.self.denied_calls = denied_calls_count();
	names_tell(&monitor->sources.names);
	names_describe(&monitor->sources.names, &monitor->stats.self);
	r = interval_engine_run(monitor->engine, realtime_ms(), &monitor->stats.self);
	if (r < 0)
		(void)log_warn_errno(r, "this interval is incomplete");
	follow_meters(monitor);
	zone_watch_look(&monitor->zones, monitor->engine);
	tell_of_unseen(monitor);
	self_stats_interval(&monitor->stats, clock_ns(CLOCK_MONOTONIC) - began_ns);
	if (monitor->web)
		web_sweep(monitor->web, began_ns);
	show_table(monitor);
}

static void save_state(struct monitor *monitor)
{
	struct diag diag = { "" };

	if (idle_state_save(monitor->config->host_state_dir, &monitor->sources.host,
			    monitor->engine, &diag) < 0) {
		monitor->stats.self.state_write_errors++;
		log_warn("learned idle power is not kept: %s", diag.text);
	}
}

/* Moves next_ns to the first due time after @now_ns and counts those that were missed. */
static void schedule_next(struct monitor *monitor, uint64_t now_ns)
{
	uint64_t interval_ns = monitor->config->monitor_interval_ns;
	uint64_t behind = now_ns > monitor->next_ns ? now_ns - monitor->next_ns : 0;
	uint64_t missed = behind / interval_ns;

	monitor->stats.self.intervals_missed += missed;
	monitor->next_ns += (missed + 1) * interval_ns;
}

static void log_warnings(const struct config *config)
{
	const char *line = config->warnings ? config->warnings : "";

	while (*line) {
		size_t len = strcspn(line, "\n");

		log_warn("configuration: %.*s", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

static void reload(struct monitor *monitor)
{
	struct config *fresh = calloc(1, sizeof(*fresh));
	struct diag diag = { "" };
	char fixed[512];
	int r;

	monitor->stats.self.reloads++;
	notify_reloading(monitor->notify, clock_ns(CLOCK_MONOTONIC));
	r = fresh ? config_load(&monitor->args, fresh, &diag) : -ENOMEM;
	monitor->stats.self.last_reload_ok = r == 0;
	if (r < 0) {
		monitor->stats.self.reload_failures++;
		log_error("reload refused, the old configuration stays: %s",
			  diag.text[0] ? diag.text : strerrordesc_np(-r));
		free(fresh);
		notify_ready(monitor->notify, "reload refused");
		return;
	}
	config_unreloadable_changes(monitor->config, fresh, fixed, sizeof(fixed));
	if (fixed[0])
		log_warn("these changes need a restart: %s", fixed);
	log_warnings(fresh);
	monitor->stats.self.interval_s = (double)fresh->monitor_interval_ns / 1e9;
	log_setup((enum log_level)fresh->log_level, (enum log_format)fresh->log_format);
	interval_engine_reconfigure(monitor->engine, fresh);
	web_reconfigure(monitor->web, fresh);
	names_reconfigure(&monitor->sources.names, fresh);
	config_release(monitor->config);
	free(monitor->config);
	monitor->config = fresh;
	monitor->next_ns = clock_ns(CLOCK_MONOTONIC) + fresh->monitor_interval_ns;
	log_info("configuration reloaded");
	notify_ready(monitor->notify, monitor->source);
}

/* SIGHUP has two meanings: "read the configuration again", and "your terminal is gone". */
static bool terminal_is_gone(const struct monitor *monitor)
{
	struct pollfd terminal = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return monitor->on_terminal && poll(&terminal, 1, 0) == 1 &&
	       (terminal.revents & (POLLHUP | POLLERR));
}

static void handle_signals(struct monitor *monitor)
{
	struct signalfd_siginfo info;

	while (read(monitor->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP && !terminal_is_gone(monitor))
			reload(monitor);
		else
			monitor->stop = true;
	}
}

static void wait_for_event(struct monitor *monitor)
{
	struct pollfd fds[] = {
		{ .fd = monitor->signal_fd, .events = POLLIN },
		{ .fd = activity_fd(monitor->sources.activity), .events = POLLIN },
	};
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t wait_ns = monitor->next_ns > now_ns ? monitor->next_ns - now_ns : 0;
	uint64_t watchdog_ns = notify_watchdog_ns(monitor->notify) / 3;
	struct timespec timeout;

	if (watchdog_ns && wait_ns > watchdog_ns)
		wait_ns =
			watchdog_ns; /* an interval may be longer than the service manager waits */
	timeout = (struct timespec){
		.tv_sec = (time_t)(wait_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(wait_ns % NSEC_PER_SEC),
	};

	if (ppoll(fds, ARRAY_SIZE(fds), &timeout, NULL) <= 0)
		return;
	if (fds[0].revents)
		handle_signals(monitor);
	if (fds[1].revents)
		activity_drain(monitor->sources.activity);
}

static void loop(struct monitor *monitor)
{
	monitor->next_ns = clock_ns(CLOCK_MONOTONIC) + monitor->config->monitor_interval_ns;
	monitor->state_ns = monitor->next_ns + STATE_EVERY_NS;
	while (!monitor->stop) {
		uint64_t now_ns;

		wait_for_event(monitor);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		notify_watchdog(monitor->notify, now_ns);
		if (monitor->stop || now_ns < monitor->next_ns)
			continue;
		schedule_next(monitor, now_ns);
		run_interval(monitor);
		if (now_ns >= monitor->state_ns) {
			save_state(monitor);
			monitor->state_ns = now_ns + STATE_EVERY_NS;
		}
	}
}

static bool want_table(const struct config *config)
{
	if (config->table == TABLE_AUTO)
		return isatty(STDOUT_FILENO);
	return config->table == TABLE_ALWAYS;
}

static int open_engine(struct monitor *monitor)
{
	const struct interval_sources from = {
		.meters = monitor->sources.meters,
		.estimate = monitor->sources.estimate,
		.activity = monitor->sources.activity,
		.identities = monitor->sources.identities,
		.cpus = monitor->sources.host.cpus,
	};
	struct interval_sources with_holder = from;
	int r = snapshot_holder_new(&monitor->holder);

	if (r < 0)
		return log_error_errno(r, "cannot set up the snapshots");
	with_holder.holder = monitor->holder;
	r = interval_engine_new(&with_holder, monitor->config, &monitor->engine);
	return r < 0 ? log_error_errno(r, "cannot set up the ledger") : 0;
}

static void log_start(const struct monitor *monitor)
{
	struct activity_info info;

	activity_get_info(monitor->sources.activity, &info);
	if (info.why_not_bpf[0])
		log_warn("processes are read from /proc: %s", info.why_not_bpf);
	if (info.sees_part)
		log_warn("Kepler sees only a part of the processes of this machine; give it the "
			 "host's pid namespace (hostPID: true) and a /proc without hidepid. What "
			 "others use is unattributed, reason unseen");
	else if (info.own_pid_namespace)
		log_warn("Kepler is in a pid namespace of its own, where /proc is not the "
			 "machine's: virtual machines are not recognised; give it the host's "
			 "(hostPID: true)");
	if (info.account != MACHINE_ACCOUNT_GOOD)
		log_warn("%s/stat does not tell what the machine runs: the energy of what is not "
			 "seen is shared among what is",
			 monitor->config->host_procfs);
	if (info.refused)
		log_warn("the kernel refuses BPF programs: %s", info.refused_text);
	if (identity_resolver_sees_part(monitor->sources.identities))
		log_warn("%s is only the part of Kepler's own container, whose work is charged to "
			 "the system; mount the host's /sys and point --host.cgroupfs there",
			 monitor->config->host_cgroupfs);
	log_unread_zones(monitor->engine);
	if (monitor->searching)
		log_warn("the search for meters has not come to its end: a driver does not answer; "
			 "until it does, energy is estimated");
	log_info("Kepler serves %s", monitor->url);
	log_info("energy: %s; processes: %s; interval %g s", monitor->source, info.reader,
		 monitor->stats.self.interval_s);
}

static int open_sources(struct monitor *monitor)
{
	struct diag diag = { "" };
	int r = sources_open_processes(monitor->config, &monitor->sources, &diag);

	if (r == 0) {
		if (monitor->config->security_drop &&
		    privileges_drop(PRIVILEGE_AFTER_START, &diag) < 0)
			log_warn("more privileges than needed are kept: %s", diag.text);
		r = sources_open_meters(monitor->config, &monitor->sources, &diag);
	}
	if (r < 0)
		log_error("%s", diag.text);
	return r;
}

static unsigned confinement(const struct monitor *monitor)
{
	return (monitor->config->seccomp_log ? CONFINE_LOG_ONLY : 0) |
	       (names_have_clients(&monitor->sources.names, monitor->config) ? CONFINE_CLIENTS : 0);
}

static int start(struct monitor *monitor)
{
	struct diag diag = { "" };
	int r = block_signals(monitor), landlock;

	if (r < 0)
		return log_error_errno(r, "cannot receive signals");
	landlock = file_limits_enter(monitor->config);
	r = open_sources(monitor);
	if (r < 0)
		return r;
	r = open_engine(monitor);
	if (r < 0)
		return r;
	self_stats_open(&monitor->stats, &monitor->sources.host, (double)realtime_ms() / 1e3);
	monitor->stats.self.landlock_abi = (uint64_t)landlock;
	describe_sources(monitor);
	monitor->found = sources_have_meters(&monitor->sources);
	monitor->searching = sources_are_searched(&monitor->sources);
	monitor->stats.self.meters_searching = monitor->searching;
	r = interval_engine_find_zones(monitor->engine, realtime_ms());
	if (r < 0)
		return log_error_errno(r, "cannot adopt the meters' zones");
	idle_state_restore(monitor->config->host_state_dir, &monitor->sources.host,
			   monitor->engine);
	run_interval(monitor);
	r = web_start(monitor->config, monitor->holder, &monitor->web, &diag);
	if (r < 0) {
		log_error("%s", diag.text);
		return r;
	}
	web_url(monitor->web, monitor->url, sizeof(monitor->url));
	monitor->notify = notify_open();
	if (monitor->config->security_seccomp && confine_enter(confinement(monitor), &diag) < 0)
		log_warn("system calls are not confined: %s", diag.text);
	return 0;
}

static void finish(struct monitor *monitor)
{
	web_stop(monitor->web);
	if (monitor->engine)
		save_state(monitor);
	interval_engine_free(monitor->engine);
	snapshot_holder_free(monitor->holder);
	sources_close(&monitor->sources);
	self_stats_close(&monitor->stats);
	notify_close(monitor->notify);
	strbuf_release(&monitor->frame);
	if (monitor->signal_fd >= 0)
		(void)close(monitor->signal_fd);
}

static int run(struct monitor *monitor)
{
	int r = start(monitor);

	if (r == 0) {
		log_start(monitor);
		notify_ready(monitor->notify, monitor->source);
		loop(monitor);
		notify_stopping(monitor->notify);
	}
	finish(monitor);
	return r < 0 ? 1 : 0;
}

int monitor_main(int argc, char *const *argv, char *const *environ_)
{
	struct monitor monitor = {
		.args = { .argc = argc, .argv = argv, .environ_ = environ_ },
		.config = calloc(1, sizeof(struct config)),
		.signal_fd = -1,
		.stats.stat_fd = -1,
	};
	struct diag diag = { "" };
	int status;

	if (!monitor.config || config_load(&monitor.args, monitor.config, &diag) < 0) {
		(void)fprintf(stderr, "kepler: %s\n", monitor.config ? diag.text : "out of memory");
		free(monitor.config);
		return 2;
	}
	log_setup((enum log_level)monitor.config->log_level,
		  (enum log_format)monitor.config->log_format);
	log_warnings(monitor.config);
	monitor.on_terminal = isatty(STDOUT_FILENO);
	monitor.table = want_table(monitor.config);
	status = run(&monitor);
	config_release(monitor.config);
	free(monitor.config);
	return status;
}
