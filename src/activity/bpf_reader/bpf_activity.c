// SPDX-License-Identifier: Apache-2.0
/*
 * The complete reader: run times from the scheduler, and the end of each thread.
 *
 * A pass takes the waiting ends first and then the living threads: a thread that ends after the
 * drain is either walked or its end comes with the next pass, and no end is ever booked before a
 * living record of the same thread. Now and then a pass is full, so that errors (a row without its
 * end, a clock that jumped) do not last.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity_reader.h"
#include "activity/bpf_reader/bpf_kernel_side.h"
#include "activity/bpf_reader/bpf_programs.h"
#include "activity/bpf_reader/bpf_refused.h"
#include "activity/bpf_reader/switch_reader.h"
#include "activity/bpf_reader/thread_table.h"
#include "activity/unseen.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "host/kernel_version.h"

#define FULL_EVERY              256 /* passes */
#define FULL_EVERY_WITHOUT_ENDS 8   /* rows of ended threads are found only so */
#define STORAGE_MAJOR           5 /* the first kernel that keeps storage of a thread for tracing */
#define STORAGE_MINOR           12
#define LOOK_EVERY              4096 /* for processes that are not seen: all of /proc is listed */

struct bpf_reader {
	struct activity_reader base;
	struct bpf_kernel_side *side;
	struct switch_reader *switches; /* NULL: not counted */
	struct thread_table *table;
	struct unseen *unseen;
	struct activity_sample *samples; /* room for a pass and the unseen processes */
	size_t samples_size;
	const struct cpu_sockets *sockets; /* NULL: not distinguished */
	uint64_t *socket_ns;               /* of the same samples */
	size_t socket_cells;
	uint64_t *signals[SIGNAL_COUNT]; /* of the same samples */
	size_t signals_size;
	uint64_t full_boottime_ns; /* of the last full pass */
	uint64_t look_due;         /* pass */
	uint64_t passes, drops, errors, run_ns;
	unsigned int refused; /* programs */
	char refused_text[ACTIVITY_WHY_MAX];
	char why_not_counted[ACTIVITY_WHY_MAX];
};

static struct bpf_reader *to_bpf_reader(struct activity_reader *reader)
{
	return (struct bpf_reader *)reader; /* base is its first member */
}

static void take_living(void *userdata, const struct kepler_thread *records,
			const struct kepler_work *works, size_t count)
{
	thread_table_living(userdata, records, works, count);
}

static void take_ended(void *userdata, const struct kepler_thread *record,
		       const struct kepler_work *work)
{
	thread_table_ended(userdata, record, work);
}

static void take_lost_cgroup(void *userdata, uint64_t cgroup_id, uint64_t run_ns)
{
	thread_table_lost_cgroup(userdata, cgroup_id, run_ns);
}

static void bpf_drain(struct activity_reader *reader)
{
	struct bpf_reader *self = to_bpf_reader(reader);

	bpf_kernel_side_drain(self->side, take_ended, self->table);
}

static void bpf_drain_early(struct activity_reader *reader)
{
	bpf_drain(reader);
	bpf_kernel_side_rearm(to_bpf_reader(reader)->side);
}

/* Returns run time that is lost and not reported yet. */
static uint64_t take_lost(struct bpf_reader *self)
{
	struct bpf_lost lost = bpf_kernel_side_take_lost(self->side, take_lost_cgroup, self->table);

	self->drops += lost.count;
	thread_table_lost_old(self->table, lost.old_count, lost.old_run_ns);
	thread_table_lost_node(self->table, lost.young_run_ns);
	thread_table_unreported_exits(self->table, lost.exits, lost.exits_run_ns);
	return lost.coming_ns;
}

static bool is_full_due(const struct bpf_reader *self)
{
	uint64_t every =
		bpf_kernel_side_sees_ends(self->side) ? FULL_EVERY : FULL_EVERY_WITHOUT_ENDS;

	return self->passes % every == 0 || thread_table_wants_full(self->table);
}

/* Not in a full pass itself: the first one is on the way to the first snapshot. */
static void watch_unseen(struct bpf_reader *self, bool full, uint64_t boottime_ns)
{
	if (!self->unseen)
		return;
	if (full) {
		self->full_boottime_ns = boottime_ns;
	} else if (self->passes >= self->look_due) {
		int found = unseen_look(self->unseen, self->table, self->full_boottime_ns);

		/*
		 * Exits are reported because of tasks that are freed on top of a guarded process.
		 */
		if (found == 0 && !bpf_kernel_side_sees_part(self->side))
			bpf_kernel_side_drop_exits(self->side);
		self->look_due = self->passes + LOOK_EVERY;
	}
}

/*
 * Fills the run time by socket: of the samples of the pass, and of each of the @added at its last
 * CPU.
 */
static void add_unseen_sockets(struct bpf_reader *self, struct activity *activity, size_t added)
{
	const struct cpu_sockets *sockets = self->sockets;
	size_t before = activity->count * activity->sockets;

	if (before)
		memcpy(self->socket_ns, activity->socket_ns, before * sizeof(*self->socket_ns));
	memset(self->socket_ns + before, 0, added * activity->sockets * sizeof(*self->socket_ns));
	for (size_t i = 0; i < added; i++) {
		const struct activity_sample *sample = &self->samples[activity->count + i];
		uint32_t place = cpu_sockets_of(sockets, sample->cpu);

		if (place < activity->sockets)
			self->socket_ns[before + i * activity->sockets + place] = sample->cpu_ns;
	}
	activity->socket_ns = self->socket_ns;
}

/* Room for signals of @wanted samples; the arrays share one size. */
static int reserve_signals(struct bpf_reader *self, uint32_t signals, size_t wanted)
{
	if (wanted <= self->signals_size)
		return 0;
	for (; signals; signals &= signals - 1) {
		if (ARRAY_RESIZE(self->signals[__builtin_ctz(signals)], wanted) < 0)
			return -ENOMEM;
	}
	self->signals_size = wanted;
	return 0;
}

/* Nothing is counted of the @added. */
static void add_unseen_signals(struct bpf_reader *self, struct activity *activity, size_t added)
{
	for (uint32_t left = activity->signals; left; left &= left - 1) {
		int signal = __builtin_ctz(left);
		uint64_t *amounts = self->signals[signal];

		if (activity->count)
			memcpy(amounts, activity->signal[signal],
			       activity->count * sizeof(*amounts));
		memset(amounts + activity->count, 0, added * sizeof(*amounts));
		activity->signal[signal] = amounts;
	}
}

/* Samples of processes that are guarded from BPF. Without memory for them they come later. */
static void add_unseen(struct bpf_reader *self, struct activity *activity)
{
	size_t wanted = activity->count + UNSEEN_MAX, added;

	if (!unseen_count(self->unseen))
		return;
	if (ARRAY_RESERVE(self->samples, self->samples_size, wanted) < 0 ||
	    (activity->socket_ns &&
	     ARRAY_RESERVE(self->socket_ns, self->socket_cells, wanted * activity->sockets) < 0) ||
	    reserve_signals(self, activity->signals, wanted) < 0)
		return;
	if (activity->count)
		memcpy(self->samples, activity->samples, activity->count * sizeof(*self->samples));
	added = unseen_take(self->unseen, self->samples + activity->count);
	for (size_t i = 0; i < added; i++)
		activity->busy_ns += self->samples[activity->count + i].cpu_ns;
	if (activity->socket_ns)
		add_unseen_sockets(self, activity, added);
	add_unseen_signals(self, activity, added);
	activity->samples = self->samples;
	activity->count += added;
}

static int bpf_read(struct activity_reader *reader, struct activity *activity)
{
	struct bpf_reader *self = to_bpf_reader(reader);
	struct activity result = { 0 };
	uint64_t cpu_ns, coming_ns;
	bool full;
	int r;

	bpf_drain(reader);
	coming_ns = take_lost(self);
	full = is_full_due(self);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (self->switches)
		switch_reader_flush(self->switches);
	result.time_ns = clock_ns(CLOCK_MONOTONIC);
	result.boottime_ns = clock_ns(CLOCK_BOOTTIME);
	thread_table_begin(self->table, full, result.boottime_ns);
	r = bpf_kernel_side_read(self->side, full, thread_table_count(self->table), take_living,
				 self->table);
	self->run_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	if (r == 0)
		r = thread_table_finish(self->table, &result);
	if (r < 0) {
		self->errors++;
		*activity = (struct activity){ 0 };
		return r;
	}
	self->passes++;
	result.coming_ns += coming_ns;
	add_unseen(self, &result);
	watch_unseen(self, full, result.boottime_ns);
	*activity = result;
	return 0;
}

static void bpf_get_info(const struct activity_reader *reader, struct activity_info *ret)
{
	const struct bpf_reader *self = (const struct bpf_reader *)reader;

	*ret = (struct activity_info){
		.reader = bpf_kernel_side_walks(self->side) ? "bpf-walk" : "bpf-iter",
		.by_bpf = true,
		.exits_seen = bpf_kernel_side_sees_ends(self->side),
		.passes = self->passes,
		.drops = self->drops,
		.errors = self->errors,
		.tasks_walked = bpf_kernel_side_looked_at(self->side),
		.tasks_sent = bpf_kernel_side_sent(self->side),
		.threads_known = thread_table_count(self->table),
		.overflows = thread_table_overflows(self->table),
		.bpf_run_ns = self->run_ns,
		.cgroups_missed = bpf_kernel_side_cgroups_missed(self->side),
		.unseen = unseen_count(self->unseen),
		.unseen_pid = unseen_first_pid(self->unseen),
		.unseen_cpu_ns = unseen_cpu_ns(self->unseen),
		.sees_part = bpf_kernel_side_sees_part(self->side),
		.refused = self->refused,
		.counts_switches = self->switches,
		.signals = switch_reader_signals(self->switches),
		.uncounted_cpus = switch_reader_uncounted_cpus(self->switches),
		.is_late = switch_reader_is_late(self->switches),
		.has_wide_cores = switch_reader_has_wide_cores(self->switches),
		.threads_without_work = bpf_kernel_side_without_work(self->side),
		.work_lost_ns = thread_table_work_lost_ns(self->table) +
				bpf_kernel_side_work_lost_ns(self->side),
	};
	memcpy(ret->refused_text, self->refused_text, sizeof(ret->refused_text));
	memcpy(ret->why_not_counted, self->why_not_counted, sizeof(ret->why_not_counted));
}

static void bpf_visit(struct activity_reader *reader, activity_visit_fn *fn, void *userdata)
{
	thread_table_visit(to_bpf_reader(reader)->table, fn, userdata);
}

static void bpf_new_cgroups(struct activity_reader *reader, activity_cgroup_fn *fn, void *userdata)
{
	bpf_kernel_side_new_cgroups(to_bpf_reader(reader)->side, fn, userdata);
}

static int bpf_fd(const struct activity_reader *reader)
{
	return bpf_kernel_side_ends_fd(((const struct bpf_reader *)reader)->side);
}

static void bpf_close(struct activity_reader *reader)
{
	struct bpf_reader *self = to_bpf_reader(reader);

	switch_reader_close(self->switches); /* which uses the programs of the other */
	bpf_kernel_side_close(self->side);
	thread_table_free(self->table);
	unseen_close(self->unseen);
	free(self->samples);
	free(self->socket_ns);
	for (size_t signal = 0; signal < SIGNAL_COUNT; signal++)
		free(self->signals[signal]);
	free(self);
}

static void bpf_want_parents(struct activity_reader *reader, bool wanted)
{
	bpf_kernel_side_want(to_bpf_reader(reader)->side, KEPLER_WANTS_PARENTS, wanted);
}

static void bpf_want_users(struct activity_reader *reader, bool wanted)
{
	bpf_kernel_side_want(to_bpf_reader(reader)->side, KEPLER_WANTS_USERS, wanted);
}

static const struct activity_ops bpf_ops = {
	.read = bpf_read,
	.get_info = bpf_get_info,
	.visit = bpf_visit,
	.close = bpf_close,
	.fd = bpf_fd,
	.drain = bpf_drain_early,
	.want_parents = bpf_want_parents,
	.want_users = bpf_want_users,
	.new_cgroups = bpf_new_cgroups,
};

static void cleanup_reader(struct bpf_reader **self)
{
	if (*self)
		bpf_close(&(*self)->base);
}

/* 0 or -errno; sets how many programs are refused. */
static int open_side(struct bpf_reader *self, const struct activity_options *options,
		     struct switch_reader *switches)
{
	int r = bpf_kernel_side_open(options, switches, &self->side);

	self->refused = 0;
	if (r == 0)
		self->refused = bpf_kernel_side_refused(self->side, self->refused_text,
							sizeof(self->refused_text));
	return r;
}

static unsigned int refused_besides_flush(const struct bpf_reader *self)
{
	return self->refused - bpf_kernel_side_lacks_flush(self->side);
}

/* Opened again without the switches, some of the refused programs may be accepted. */
static int try_without_switches(struct bpf_reader *self, const struct activity_options *options,
				int err)
{
	const unsigned int refused = err < 0 ? UINT_MAX : refused_besides_flush(self);
	struct switch_reader *switches = TAKE_PTR(self->switches);
	char text[ACTIVITY_WHY_MAX];
	int r;

	if (kernel_version_is_before(kernel_version_read(), STORAGE_MAJOR, STORAGE_MINOR))
		(void)snprintf(text, sizeof(text), "that takes Linux %d.%d", STORAGE_MAJOR,
			       STORAGE_MINOR);
	else
		(void)snprintf(text, sizeof(text), "%s",
			       err < 0 ? strerrordesc_np(-err) : self->refused_text);
	switch_reader_stop(switches);
	bpf_kernel_side_close(TAKE_PTR(self->side));
	r = open_side(self, options, NULL);
	if (r == 0 && self->refused == refused) {
		bpf_kernel_side_close(TAKE_PTR(self->side));
		self->switches = switches;
		return open_side(self, options, switches);
	}
	switch_reader_close(switches);
	(void)snprintf(self->why_not_counted, sizeof(self->why_not_counted),
		       "the kernel refuses to count at context switches: "
		       "%.200s",
		       text);
	return r;
}

static int open_kernel_side(struct bpf_reader *self, const struct activity_options *options)
{
	int r;

	bpf_programs_log();
	r = switch_reader_plan(options, &self->switches, self->why_not_counted,
			       sizeof(self->why_not_counted));
	if (r < 0)
		return r;
	r = open_side(self, options, self->switches);
	if (!self->switches || (r == 0 && !refused_besides_flush(self)))
		return r;
	return try_without_switches(self, options, r);
}

int bpf_activity_open(const struct activity_options *options, struct activity_reader **ret,
		      char *why, size_t why_size)
{
	CLEANUP(cleanup_reader) struct bpf_reader *self = calloc(1, sizeof(*self));
	struct bpf_refusal refusal;
	int r;

	if (!self)
		return -ENOMEM;
	self->base.ops = &bpf_ops;
	r = thread_table_new(options->max_processes, &self->table);
	if (r < 0)
		return r;
	self->sockets = options->sockets;
	thread_table_tell_sockets(self->table, options->sockets);
	thread_table_tell_frequencies(self->table, options->frequencies);
	if (unseen_open(options->procfs, &self->unseen) < 0)
		self->unseen = NULL; /* only a report, which energy does not depend on */
	r = open_kernel_side(self, options);
	if (r < 0) {
		bpf_refusal_inspect(r, &refusal);
		bpf_refusal_explain(&refusal, why, why_size);
		return r;
	}
	if (bpf_kernel_side_sees_part(self->side))
		thread_table_sees_part(self->table);
	thread_table_tell_signals(self->table, switch_reader_signals(self->switches));
	*ret = &TAKE_PTR(self)->base;
	return 0;
}
