// SPDX-License-Identifier: Apache-2.0
/*
 * When the command has exited, it is read while it is a zombie, then reaped. Descendants that ended
 * shortly before are reported a grace period of the kernel later: the CPU time that the kernel has
 * counted of all that was waited for shows whether some are missing, and then it is read again. The
 * same is done while a meter has not been read since the command ended.
 */
#include "kepler/stat/stat_run.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"

#define LATE_LIMIT  (2 * NSEC_PER_SEC) /* for what the kernel reports late */
#define LATE_WAIT   (20 * NSEC_PER_MSEC)
#define METER_LIMIT (15 * NSEC_PER_SEC) /* for a meter that is late */
#define METER_WAIT  (200 * NSEC_PER_MSEC)
#define LATE_NS     NSEC_PER_MSEC /* or a fifth of a percent */

static double own_seconds(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) < 0)
		return 0;
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct timespec timeout_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(ns % NSEC_PER_SEC) };
}

static void wait_for_event(const struct stat_run *run, struct phase_pipes *pipes, uint64_t wait_ns)
{
	struct pollfd fds[] = {
		{ .fd = run->child->signal_fd, .events = POLLIN },
		{ .fd = stat_source_fd(run->source), .events = POLLIN },
		{ .fd = pipes ? pipes->read_fd[0] : -1, .events = POLLIN },
		{ .fd = pipes ? pipes->read_fd[1] : -1, .events = POLLIN },
	};
	const struct timespec timeout = timeout_of(wait_ns);

	if (ppoll(fds, ARRAY_SIZE(fds), &timeout, NULL) <= 0)
		return;
	if (fds[0].revents)
		stat_child_follow(run->child);
	if (fds[1].revents)
		stat_source_drain(run->source);
	if (fds[2].revents || fds[3].revents)
		phase_pipes_follow(pipes);
}

static void wait_for_exit(const struct stat_run *run, struct phase_pipes *pipes)
{
	uint64_t due_ns = clock_ns(CLOCK_MONOTONIC) + run->interval_ns;

	while (!run->child->has_exited) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		wait_for_event(run, pipes, due_ns > now_ns ? due_ns - now_ns : 0);
		now_ns = clock_ns(CLOCK_MONOTONIC);
		if (!run->child->has_exited && now_ns >= due_ns) {
			stat_source_measure(run->source);
			due_ns = now_ns + run->interval_ns;
		}
	}
}

static struct stat_moment moment_of(const struct stat_run *run, const struct stat_reading *reading,
				    uint64_t now_ns)
{
	return (struct stat_moment){
		.seconds = (double)(now_ns - run->child->began_ns) / 1e9,
		.joules = stat_reading_joules(reading, run->with_idle),
		.cpu_seconds = reading->cpu_seconds,
	};
}

/* Without a reading the line belongs to the phase before. */
static void begin_phase(void *userdata, const char *line)
{
	const struct stat_run *run = userdata;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct stat_reading reading;
	struct stat_moment now;
	struct diag diag = { "" };

	if (stat_source_read(run->source, &reading, &diag) < 0)
		return;
	now = moment_of(run, &reading, now_ns);
	stat_phases_begin(run->phases, line, &now);
}

/* Those that have ended meanwhile are not left. */
static void keep_living(struct stat_reading *reading)
{
	size_t kept = 0;

	for (size_t i = 0; i < reading->left_named; i++) {
		if (kill((pid_t)reading->left[i].pid, 0) == 0 || errno != ESRCH)
			reading->left[kept++] = reading->left[i];
	}
	reading->left_count -= (uint32_t)(reading->left_named - kept);
	reading->left_named = kept;
}

/* How long to wait before it is read again; 0: it is complete, or waiting no longer helps. */
static uint64_t wait_before_next(const struct stat_run *run, const struct stat_result *result,
				 uint64_t waited_ns)
{
	if (result->missing_seconds > 0 && waited_ns < LATE_LIMIT)
		return LATE_WAIT;
	if (!stat_reading_is_behind(&result->reading, run->child->ended_ns, METER_LIMIT) ||
	    waited_ns >= METER_LIMIT)
		return 0;
	return waited_ns < METER_WAIT ? LATE_WAIT : METER_WAIT;
}

static int read_all(const struct stat_run *run, struct stat_result *ret, struct diag *diag)
{
	int r = stat_source_read(run->source, &ret->reading, diag);
	uint64_t spent_ns = stat_child_reap(run->child);
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);

	while (r == 0) {
		double lacks = (double)spent_ns / 1e9 - ret->reading.cpu_seconds;
		uint64_t usual_ns = spent_ns / 500 > LATE_NS ? spent_ns / 500 : LATE_NS, wait_ns;
		struct timespec wait;

		ret->missing_seconds = lacks * 1e9 > (double)usual_ns ? lacks : 0;
		wait_ns = wait_before_next(run, ret, clock_ns(CLOCK_MONOTONIC) - began_ns);
		if (!wait_ns)
			break;
		wait = timeout_of(wait_ns);
		(void)nanosleep(&wait, NULL);
		r = stat_source_read(run->source, &ret->reading, diag);
	}
	stat_reading_mark_late(&ret->reading, run->child->ended_ns);
	keep_living(&ret->reading);
	return r < 0 ? 1 : 0;
}

int stat_run_measured(const struct stat_run *run, struct stat_result *ret, struct diag *diag)
{
	double own = own_seconds();
	int r;

	(void)stat_child_reap(run->child);
	if (stat_source_begin(run->source, diag) < 0)
		return 1;
	if (run->pipes) {
		run->pipes->begins = begin_phase;
		run->pipes->userdata = (void *)(uintptr_t)run;
		stat_phases_begin(run->phases, "(start)", &(struct stat_moment){ 0 });
	}
	r = stat_child_start(run->child, run->argv, run->pipes, diag);
	if (r == 0) {
		wait_for_exit(run, run->pipes);
		if (run->pipes)
			phase_pipes_close(run->pipes);
		ret->exit_status = run->child->status;
		ret->elapsed_seconds = (double)(run->child->ended_ns - run->child->began_ns) / 1e9;
		r = read_all(run, ret, diag);
	}
	if (r == 0 && run->phases) {
		const struct stat_moment end = moment_of(run, &ret->reading, run->child->ended_ns);

		stat_phases_end(run->phases, &end);
	}
	stat_source_end(run->source);
	ret->overhead_seconds = own_seconds() - own;
	return r;
}

int stat_run_unmeasured(const struct stat_run *run, char *const *argv, struct diag *diag)
{
	int r = stat_child_start(run->child, argv, NULL, diag);

	if (r != 0)
		return r;
	wait_for_exit(run, NULL);
	(void)stat_child_reap(run->child);
	return run->child->status;
}
