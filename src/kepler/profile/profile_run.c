// SPDX-License-Identifier: Apache-2.0
/*
 * Samples are taken from the kernel's buffers before these are full. With each interval, samples up
 * to the time of its readings are taken first, and then share the energy of the interval.
 */
#include "kepler/profile/profile_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity/activity.h"
#include "activity/counter_event.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "engine/session.h"
#include "kepler/profile/held_command.h"
#include "service/schedule.h"
#include "service/signals.h"

struct running {
	const struct profile_request *request;
	struct profile *profile;
	struct session session;
	struct held_command command;
	struct perf_sampler *sampler;
	struct traced_processes *traced;
	struct profile_result *result;
	int signal_fd;
	bool counts; /* the baseline is over */
};

static void take_samples(struct running *running, uint64_t until_ns)
{
	struct perf_event event;

	perf_sampler_drain(running->sampler);
	while (perf_sampler_next(running->sampler, until_ns, &event))
		traced_processes_take(running->traced, &event);
}

static void charge(void *userdata, uint32_t pid, const char *comm,
		   const struct share_amounts *amounts)
{
	struct running *running = userdata;

	if (traced_processes_has(running->traced, pid))
		traced_processes_charge(running->traced, pid, comm, amounts);
}

static void take_interval(void *userdata, const struct books *books, uint64_t time_ns)
{
	struct running *running = userdata;

	take_samples(running, time_ns);
	if (!running->counts)
		return;
	profile_energy_take(&running->result->energy, books, charge, running);
	traced_processes_end_interval(running->traced);
}

static int open_session(struct running *running, struct diag *diag)
{
	struct session *session = &running->session;
	int r = session_begin(session, running->request->config, false, diag);

	session->peers.booked = take_interval;
	session->peers.booked_userdata = running;
	if (r == 0)
		r = session_open_processes(session, diag);
	if (r == 0)
		r = session_open_meters(session, diag);
	return r < 0 ? r : session_open_engine(session, diag);
}

/*
 * Samples by the events that processes are charged by, as far as these can be sampled. In a virtual
 * machine without counters there are none.
 */
static int open_sampler(struct running *running, struct diag *diag)
{
	static const struct {
		enum sample_clock clock;
		enum counter_use use;
		enum signal signal;
	} events[] = {
		{ SAMPLED_BY_INSTRUCTIONS, COUNTER_INSTRUCTIONS, SIGNAL_INSTRUCTIONS },
		{ SAMPLED_BY_MISSES, COUNTER_CACHE_MISSES, SIGNAL_CACHE_MISSES },
	};
	const struct config *config = running->request->config;
	struct perf_source sources[ARRAY_SIZE(events)];
	struct perf_sampler_options options = { .frequency_hz = running->request->frequency_hz,
						.sources = sources,
						.copies_stacks = running->request->command ||
								 running->request->pid };
	struct activity_info info;
	int r;

	activity_get_info(running->session.sources.activity, &info);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		const char *name = config->activity.switches.events[events[i].use];
		struct counter_event event;

		if (!(info.signals & SIGNAL_BIT(events[i].signal)) ||
		    counter_event_find(config->host.sysfs, name ? name : "auto", events[i].use,
				       &event) < 0)
			continue;
		sources[options.source_count++] =
			(struct perf_source){ events[i].clock, event.type, event.config };
	}
	r = perf_sampler_open(&options, &running->sampler, diag);
	if (r == 0)
		running->result->energy.clocks = perf_sampler_stats(running->sampler).clocks;
	return r;
}

static int open_tracing(struct running *running, struct diag *diag)
{
	const struct profile_request *request = running->request;
	const uint32_t pid = request->command ? (uint32_t)running->command.pid : request->pid;
	const struct traced_options options = { .kallsyms = "/proc/kallsyms", .follows = pid != 0 };
	int r;

	if (request->pid && kill((pid_t)request->pid, 0) < 0 && errno == ESRCH)
		return diag_set(diag, -ESRCH, "pid: there is no process %u", request->pid);
	r = traced_processes_new(running->profile, &options, &running->traced);
	if (r == 0 && pid)
		r = traced_processes_follow(running->traced, pid);
	if (r < 0)
		return diag_set(diag, r, "out of memory");
	return open_sampler(running, diag);
}

/* The command is made before there are threads, and before signals are blocked. */
static int open_all(struct running *running, struct diag *diag)
{
	int r = 0;

	if (running->request->command)
		r = held_command_start(&running->command, running->request->command, diag);
	if (r < 0)
		return r;
	running->signal_fd = signals_open();
	if (running->signal_fd < 0)
		return diag_set(diag, running->signal_fd, "cannot receive signals: %s",
				strerrordesc_np(-running->signal_fd));
	r = open_session(running, diag);
	return r < 0 ? r : open_tracing(running, diag); /* last: its buffers fill at once */
}

/* True when it is over. A signal ends the command; its end ends the profile. */
static bool wait_until(struct running *running, const struct schedule *schedule, uint64_t end_ns)
{
	struct pollfd fds[] = {
		{ .fd = running->signal_fd, .events = POLLIN },
		{ .fd = activity_fd(running->session.sources.activity), .events = POLLIN },
		{ .fd = running->command.pid_fd, .events = POLLIN },
	};
	const uint64_t drain_ns = perf_sampler_drain_ns(running->sampler);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	while (!schedule_is_due(schedule, now_ns)) {
		uint64_t wait_ns = schedule_wait_ns(schedule, now_ns);

		if (end_ns <= now_ns)
			return true;
		wait_ns = wait_ns < end_ns - now_ns ? wait_ns : end_ns - now_ns;
		wait_ns = wait_ns < drain_ns ? wait_ns : drain_ns;
		if (ppoll(fds, ARRAY_SIZE(fds), &(struct timespec){ .tv_nsec = (long)wait_ns },
			  NULL) > 0) {
			if (fds[2].revents)
				return true;
			if (fds[0].revents && signals_take(running->signal_fd) & SIGNAL_STOP) {
				if (!running->request->command)
					return true;
				(void)kill(running->command.pid, SIGTERM);
			}
			if (fds[1].revents)
				activity_drain(running->session.sources.activity);
		}
		take_samples(running, UINT64_MAX);
		now_ns = clock_ns(CLOCK_MONOTONIC);
	}
	return false;
}

static int measure(struct running *running, struct diag *diag)
{
	const struct profile_request *request = running->request;
	uint64_t began_ns, end_ns = UINT64_MAX;
	struct schedule schedule;
	int r = 0;

	(void)session_run_interval(&running->session);
	began_ns = clock_ns(CLOCK_MONOTONIC);
	if (!request->command && request->duration_ns)
		end_ns = began_ns + request->duration_ns;
	running->counts = true;
	schedule_start(&schedule, began_ns, request->config->monitor.interval_ns);
	if (request->command)
		r = held_command_release(&running->command, request->command, diag);
	while (r == 0 && !wait_until(running, &schedule, end_ns)) {
		(void)schedule_advance(&schedule, clock_ns(CLOCK_MONOTONIC));
		(void)session_run_interval(&running->session);
	}
	if (r == 0)
		(void)session_run_interval(&running->session);
	running->result->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
	if (request->command)
		running->result->status = held_command_wait(&running->command);
	if (r < 0)
		running->result->status = r == -ENOENT ? 127 : 126;
	return r;
}

int profile_run(const struct profile_request *request, struct profile *profile,
		struct profile_result *ret, struct diag *diag)
{
	CLEANUP_FREE struct running *running = calloc(1, sizeof(*running));
	int r;

	if (!running)
		return diag_set(diag, -ENOMEM, "out of memory");
	*ret = (struct profile_result){ .energy = { .filter = request->filter,
						    .with_idle = request->with_idle } };
	*running = (struct running){
		.request = request,
		.profile = profile,
		.session = SESSION_INIT,
		.command = HELD_COMMAND_INIT,
		.result = ret,
		.signal_fd = -1,
	};
	r = open_all(running, diag);
	if (r == 0)
		r = measure(running, diag);
	if (running->sampler)
		ret->sampler = perf_sampler_stats(running->sampler);
	if (running->traced)
		traced_processes_end(running->traced, &ret->traced);
	perf_sampler_close(running->sampler);
	traced_processes_free(running->traced);
	(void)session_close(&running->session, 0);
	held_command_close(&running->command);
	if (running->signal_fd >= 0)
		(void)close(running->signal_fd);
	return r;
}
