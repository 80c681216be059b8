// SPDX-License-Identifier: Apache-2.0
#include "kepler/record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "kepler/config.h"
#include "kepler/confinement.h"
#include "kepler/file_limits.h"
#include "kepler/interval.h"
#include "kepler/recorder.h"
#include "kepler/self_stats.h"
#include "kepler/sources.h"
#include "options/operands.h"
#include "options/program.h"
#include "service/denied_calls.h"
#include "service/schedule.h"
#include "service/signals.h"

#define PATIENCE_NS (30 * NSEC_PER_SEC) /* for the disk, at the end */

struct record_config {
	struct config config;
	uint64_t duration_ns; /* 0: until a signal */
	uint64_t interval_ns; /* 0: monitor.interval */
	uint32_t max_bytes;
};

#define OWN(member) .offset = offsetof(struct record_config, member)

static const struct option own_rows[] = {
	{ "duration", NULL, OPTION_DURATION, OWN(duration_ns), .max = 30 * 24 * 3600 * NSEC_PER_SEC,
	  .default_text = "0s", .metavar = "DURATION", .only_flag = true,
	  .help = "How long to record. 0s: until SIGINT or SIGTERM." },
	{ "interval", NULL, OPTION_DURATION, OWN(interval_ns), .max = 3600 * NSEC_PER_SEC,
	  .default_text = "0s", .metavar = "DURATION", .only_flag = true,
	  .help = "Time between two readings, at least 100ms. 0s: use monitor.interval." },
	{ "max-size", NULL, OPTION_SIZE, OWN(max_bytes), .min = 1024, .max = 2097152,
	  .default_text = "1024MiB", .metavar = "SIZE", .only_flag = true,
	  .help = "File size at which the recording ends." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

static int check(const struct option_values *values, struct diag *diag)
{
	const struct record_config *own = (const struct record_config *)(const void *)values;

	if (own->interval_ns && own->interval_ns < 100 * NSEC_PER_MSEC)
		return diag_set(diag, -EINVAL, "interval: must be 100ms or more");
	return config_check(values, diag);
}

const struct option_set record_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct record_config),
	.check = check,
};

/* What the command holds while it measures. */
struct session {
	struct record_config *own;
	struct device_holders *holders; /* until the sources take them over */
	int file_fd;                    /* until the recorder takes it over, or -1 */
	struct sources sources;
	struct snapshot_holder *holder;
	struct interval_engine *engine;
	struct self_stats stats;
	struct recorder recorder;
	int signal_fd;
	uint64_t intervals;
};

static void run_interval(struct session *session)
{
	int r;

	denied_calls_tell();
	sources_follow(&session->sources, clock_ns(CLOCK_MONOTONIC));
	r = interval_engine_run(session->engine,
				(int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC),
				&session->stats.self);
	if (r < 0)
		(void)log_warn_errno(r, "this interval is incomplete");
	session->intervals++;
	recorder_report(&session->recorder, &session->stats.self);
}

/* True when a signal asks for the end. */
static bool wait_until(struct session *session, const struct schedule *schedule)
{
	struct pollfd fds[] = { { .fd = session->signal_fd, .events = POLLIN },
				{ .fd = activity_fd(session->sources.activity),
				  .events = POLLIN } };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	while (!schedule_is_due(schedule, now_ns)) {
		uint64_t wait_ns = schedule_wait_ns(schedule, now_ns);
		const struct timespec timeout = { .tv_sec = (time_t)(wait_ns / NSEC_PER_SEC),
						  .tv_nsec = (long)(wait_ns % NSEC_PER_SEC) };

		if (ppoll(fds, ARRAY_SIZE(fds), &timeout, NULL) > 0) {
			if (fds[0].revents && signals_take(session->signal_fd) & SIGNAL_STOP)
				return true;
			if (fds[1].revents)
				activity_drain(session->sources.activity);
		}
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return false;
}

static void measure(struct session *session)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t duration_ns = session->own->duration_ns;
	struct schedule schedule;

	schedule_start(&schedule, began_ns, session->own->config.monitor.interval_ns);
	run_interval(session);
	while (!wait_until(session, &schedule)) {
		(void)schedule_advance(&schedule, clock_ns(CLOCK_MONOTONIC));
		run_interval(session);
		if (duration_ns && clock_ns(CLOCK_MONOTONIC) - began_ns >= duration_ns)
			break;
	}
}

/* All that needs privilege, each thread after the limits of files. */
static int open_sources(struct session *session, struct diag *diag)
{
	const struct config *config = &session->own->config;
	int r = device_holders_start(config, &session->holders, diag);

	if (r < 0)
		log_warn("the processes that use AMD and Intel GPUs are unknown: %s", diag->text);
	(void)file_limits_enter(config);
	r = sources_open_processes(config, session->holders, &session->sources, diag);
	if (r < 0)
		return r;
	session->holders = NULL; /* taken over */
	confinement_drop_privileges(config, &session->sources);
	r = sources_open_meters(config, &session->sources, diag);
	if (r == 0)
		confinement_filter_calls(config, &session->sources);
	return r;
}

static int open_engine(struct session *session, struct diag *diag)
{
	struct interval_sources from = sources_of_interval(&session->sources);
	int r = snapshot_holder_new(&session->holder);

	from.holder = session->holder;
	from.tap = recorder_tap(&session->recorder);
	if (r == 0)
		r = interval_engine_new(&from, &session->own->config, &session->engine);
	return r < 0 ? diag_set(diag, r, "cannot set up the ledger: %s", strerrordesc_np(-r)) : 0;
}

/* The file is made before the process gives up the right to make any. */
static int open_session(struct session *session, const char *path, struct diag *diag)
{
	const struct config *config = &session->own->config;
	int r = signals_open();

	if (r < 0)
		return diag_set(diag, r, "cannot receive signals: %s", strerrordesc_np(-r));
	session->signal_fd = r;
	session->file_fd = record_store_create(path, diag);
	if (session->file_fd < 0)
		return session->file_fd;
	r = open_sources(session, diag);
	if (r < 0)
		return r;
	self_stats_open(&session->stats, &session->sources.host, 0);
	r = recorder_open_file(&session->recorder, config, session->sources.host.cpus, path,
			       TAKE_FD(session->file_fd), session->own->max_bytes, diag);
	return r < 0 ? r : open_engine(session, diag);
}

static void close_session(struct session *session)
{
	interval_engine_free(session->engine);
	snapshot_holder_free(session->holder);
	sources_close(&session->sources);
	device_holders_release(session->holders);
	self_stats_close(&session->stats);
	if (session->file_fd >= 0)
		(void)close(session->file_fd);
	if (session->signal_fd >= 0)
		(void)close(session->signal_fd);
}

static int tell(struct session *session, const char *path, int closed)
{
	const struct record_store_stats *last = &session->recorder.last;

	(void)fprintf(stderr, "kepler: %s: %llu intervals, %llu bytes\n", path,
		      (unsigned long long)last->intervals, (unsigned long long)last->bytes);
	if (closed == 0 && !last->lost)
		return 0;
	(void)fprintf(stderr, "kepler: %s: %llu intervals are missing: %s\n", path,
		      (unsigned long long)last->lost,
		      last->error[0] ? last->error : "the disk is too slow");
	return 1;
}

static int record(struct record_config *own, const char *path)
{
	CLEANUP_FREE struct session *session = calloc(1, sizeof(*session));
	struct diag diag = { "" };
	int r, closed;

	if (!session)
		return 1;
	session->own = own;
	session->signal_fd = session->file_fd = session->stats.stat_fd = -1;
	r = open_session(session, path, &diag);
	if (r == 0)
		measure(session);
	else
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
	closed = recorder_close(&session->recorder, PATIENCE_NS);
	close_session(session);
	return r < 0 ? 1 : tell(session, path, closed);
}

int record_main(int argc, char *const *argv, char *const *environ_)
{
	CLEANUP(operands_release) struct operands operands = { .count = 0 };
	struct record_config own = { .duration_ns = 0 };
	struct option_args args = { .environ_ = environ_ };
	int status;

	if (operands_sort(&record_options, NULL, argc, argv, &operands, NULL) < 0 ||
	    operands.count != 1) {
		return PROGRAM_WRONG_WORDS;
	}
	args.argc = (int)operands.flag_count;
	args.argv = operands.flags;
	if (options_load_or_print(&record_options, &args, &own.config.options, stderr) < 0)
		return 2;
	if (own.interval_ns)
		own.config.monitor.interval_ns = own.interval_ns;
	log_setup(own.config.log.level, own.config.log.format);
	status = record(&own, operands.words[0]);
	options_release(&record_options, &own.config.options);
	return status;
}
