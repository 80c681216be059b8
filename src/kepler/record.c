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
#include "config/config.h"
#include "engine/session.h"
#include "options/operands.h"
#include "options/program.h"
#include "service/file_guard.h"
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

/* The state of the command while it measures. */
struct recording {
	struct record_config *own;
	struct session session;
	int file_fd;             /* until the recorder takes it over, or -1 */
	struct file_guard guard; /* until all is open */
	int signal_fd;
};

static void run_interval(struct recording *recording)
{
	int r = session_run_interval(&recording->session);

	if (r < 0)
		(void)log_warn_errno(r, "this interval is incomplete");
}

/* True when a signal asks for the end. */
static bool wait_until(struct recording *recording, const struct schedule *schedule)
{
	struct pollfd fds[] = { { .fd = recording->signal_fd, .events = POLLIN },
				{ .fd = activity_fd(recording->session.sources.activity),
				  .events = POLLIN } };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	while (!schedule_is_due(schedule, now_ns)) {
		uint64_t wait_ns = schedule_wait_ns(schedule, now_ns);
		const struct timespec timeout = { .tv_sec = (time_t)(wait_ns / NSEC_PER_SEC),
						  .tv_nsec = (long)(wait_ns % NSEC_PER_SEC) };

		if (ppoll(fds, ARRAY_SIZE(fds), &timeout, NULL) > 0) {
			if (fds[0].revents && signals_take(recording->signal_fd) & SIGNAL_STOP)
				return true;
			if (fds[1].revents)
				activity_drain(recording->session.sources.activity);
		}
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return false;
}

static void measure(struct recording *recording)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t duration_ns = recording->own->duration_ns;
	struct schedule schedule;

	schedule_start(&schedule, began_ns, recording->own->config.monitor.interval_ns);
	run_interval(recording);
	while (!wait_until(recording, &schedule)) {
		(void)schedule_advance(&schedule, clock_ns(CLOCK_MONOTONIC));
		run_interval(recording);
		if (duration_ns && clock_ns(CLOCK_MONOTONIC) - began_ns >= duration_ns)
			break;
	}
}

/* The file is made before the process gives up the right to make any. */
static int open_recording(struct recording *recording, const char *path, struct diag *diag)
{
	const struct config *config = &recording->own->config;
	struct session *session = &recording->session;
	int r = signals_open();

	if (r < 0)
		return diag_set(diag, r, "cannot receive signals: %s", strerrordesc_np(-r));
	recording->signal_fd = r;
	recording->file_fd = record_store_create(path, diag);
	if (recording->file_fd < 0)
		return recording->file_fd;
	r = file_guard_begin(&recording->guard, path, diag);
	if (r == 0)
		r = session_begin(session, config, true, diag);
	if (r == 0)
		r = session_open_processes(session, diag);
	if (r == 0)
		r = session_open_meters(session, diag);
	if (r == 0)
		r = recorder_open_file(&session->recorder, config, session->sources.host.cpus, path,
				       TAKE_FD(recording->file_fd), recording->own->max_bytes,
				       diag);
	return r < 0 ? r : session_open_engine(session, diag);
}

static int tell(const struct record_store_stats *last, const char *path, int closed)
{
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
	CLEANUP_FREE struct recording *recording = calloc(1, sizeof(*recording));
	struct diag diag = { "" };
	int r, closed;

	if (!recording)
		return 1;
	*recording = (struct recording){
		.own = own,
		.session = SESSION_INIT,
		.file_fd = -1,
		.guard = { .fd = -1 },
		.signal_fd = -1,
	};
	r = open_recording(recording, path, &diag);
	file_guard_end(&recording->guard, r == 0);
	if (r == 0)
		measure(recording);
	else
		(void)fprintf(stderr, "kepler: %s\n", diag.text);
	closed = session_close(&recording->session, PATIENCE_NS);
	if (recording->file_fd >= 0)
		(void)close(recording->file_fd);
	if (recording->signal_fd >= 0)
		(void)close(recording->signal_fd);
	return r < 0 ? 1 : tell(&recording->session.recorder.last, path, closed);
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
