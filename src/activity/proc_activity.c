// SPDX-License-Identifier: Apache-2.0
/*
 * The fallback: run times from /proc, without any privilege, in ticks of 10 ms, for processes that
 * live long enough to be seen.
 *
 * Idle processes are cheap: for one with a single thread only schedstat is read (a fifth of stat's
 * cost), and stat again only when its run time changed. schedstat covers only one thread, so
 * processes with more are read through stat.
 *
 * Children that are too short to be seen are in their parent's cutime once it has waited for them.
 * The growth of cutime, less the time already charged to known children (their `credit`), is
 * charged to the parent: the label is wrong, but the sum is right. Only the parent can use a
 * credit: a living parent that does not use it, in this pass or the next, has not waited for the
 * child (it ignores SIGCHLD), and no other process has counted that child. Only if the parent has
 * ended as well may another process have reaped the child: its nearest living ancestor, or one
 * above that, such as init or a subreaper. Kernel threads are not waited for. Cgroups are not read
 * here: cgroup_id is 0.
 *
 * A process that does not fit into the table is counted and left out, also of busy_ns: it is
 * unseen. Where the machine's account cannot show that, its run time is reported late and at once
 * when it gets a row. The time of a child without a row is reported as its parent's when the parent
 * has waited for it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "activity/activity_reader.h"
#include "activity/proc_files.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/map.h"
#include "host/proc.h"

#define NOT_READ UINT64_MAX

/* Ticks that were charged to processes that have ended: of this pass, and of the one before. */
struct credit {
	uint64_t now, before;
};

struct proc_row {
	struct process_key key;
	struct proc_file_slot slot;
	uint64_t run_ns; /* schedstat at the last read of stat; NOT_READ: read stat */
	uint64_t self_ticks, reaped_ticks;
	uint64_t pending_ticks; /* for the next sample */
	uint64_t reaped_new;    /* growth of reaped_ticks in this pass */
	struct credit children; /* of known ones */
	struct credit orphans;  /* of known descendants whose parents have ended too */
	uint32_t ppid;
	uint32_t cpu;
	uint32_t flags;
	uint32_t pass;         /* last seen */
	uint32_t climb, above; /* of the climb of that number: the ancestor to continue with */
	uint32_t next_free;
	bool used, fresh, single;
	char comm[COMM_MAX];
};

struct proc_reader {
	struct activity_reader base;
	struct proc_files files;
	DIR *dir;
	struct map map; /* pid → row */
	struct proc_row *rows;
	uint32_t rows_size, rows_high, rows_free;
	struct activity_sample *samples;
	size_t samples_size;
	uint64_t tick_ns;
	bool has_schedstat, sees_part, wants_users;
	bool left_out, left_out_before; /* some had no room, in this pass and in the last */
	uint64_t last_boottime_ns;      /* of the last pass */
	uint32_t passes, climbs;
	uint64_t errors, overflows, looked_at, reread;
	char text[4096];
};

static struct proc_reader *to_proc_reader(struct activity_reader *reader)
{
	return (struct proc_reader *)reader; /* base is its first member */
}

/* ---- rows ---- */

static struct map_key pid_key(uint32_t pid)
{
	return (struct map_key){ 0, pid };
}

static uint32_t add_row(struct proc_reader *self, uint32_t pid)
{
	uint32_t index = self->rows_free;

	if (index == MAP_NONE &&
	    ARRAY_RESERVE(self->rows, self->rows_size, self->rows_high + 1U) < 0)
		return MAP_NONE;
	if (index == MAP_NONE)
		index = self->rows_high;
	if (map_put(&self->map, pid_key(pid), index) < 0)
		return MAP_NONE;
	if (index == self->rows_high)
		self->rows_high++;
	else
		self->rows_free = self->rows[index].next_free;
	self->rows[index] = (struct proc_row){
		.key = { .pid = pid },
		.slot = { .fd = -1 },
		.run_ns = NOT_READ,
		.used = true,
		.fresh = true,
		.single = true,
	};
	return index;
}

static void remove_row(struct proc_reader *self, uint32_t index)
{
	struct proc_row *row = &self->rows[index];

	proc_files_drop(&self->files, &row->slot);
	if (map_find(&self->map, pid_key(row->key.pid)) == index)
		(void)map_remove(&self->map, pid_key(row->key.pid));
	row->used = false;
	row->next_free = self->rows_free;
	self->rows_free = index;
}

/* ---- reading one process ---- */

/* The main thread's run time, or NOT_READ. */
static uint64_t read_run_ns(struct proc_reader *self, struct proc_row *row)
{
	ssize_t n = proc_files_read(&self->files, &row->slot, row->key.pid, PROC_FILE_SCHEDSTAT,
				    true, self->text, sizeof(self->text));
	const char *blank = n > 0 ? memchr(self->text, ' ', (size_t)n) : NULL;
	uint64_t run_ns;

	if (!blank || parse_u64(self->text, (size_t)(blank - self->text), &run_ns) < 0)
		return NOT_READ;
	return run_ns;
}

static int read_stat(struct proc_reader *self, struct proc_row *row, struct proc_stat *ret)
{
	bool keep = !row->single || !self->has_schedstat;
	ssize_t n = proc_files_read(&self->files, &row->slot, row->key.pid, PROC_FILE_STAT, keep,
				    self->text, sizeof(self->text));

	if (n < 0)
		return (int)n;
	self->reread++;
	return proc_stat_parse(self->text, (size_t)n, ret);
}

/* True if the run time of a new row's process was reported as unseen: the last pass had no room. */
static bool was_unseen(const struct proc_reader *self, const struct proc_stat *stat)
{
	const struct unseen_time *account = &self->base.unseen_time;

	return self->left_out_before && account->has_last && !account->is_static &&
	       stat->start_ticks * self->tick_ns + NSEC_PER_SEC < self->last_boottime_ns;
}

static void take_stat(struct proc_reader *self, struct proc_row *row, const struct proc_stat *stat)
{
	if (row->fresh && self->passes > 0 && !was_unseen(self, stat)) {
		row->pending_ticks = stat->self_ticks;
		row->reaped_new = stat->reaped_ticks;
	} else if (!row->fresh) {
		/* The kernel's scaling may take a tick back. */
		row->pending_ticks +=
			stat->self_ticks > row->self_ticks ? stat->self_ticks - row->self_ticks : 0;
		row->reaped_new += stat->reaped_ticks > row->reaped_ticks
					   ? stat->reaped_ticks - row->reaped_ticks
					   : 0;
	}
	row->self_ticks = stat->self_ticks > row->self_ticks ? stat->self_ticks : row->self_ticks;
	row->reaped_ticks = stat->reaped_ticks;
	row->key.start_ns = stat->start_ticks * self->tick_ns;
	row->ppid = stat->ppid;
	row->cpu = stat->cpu;
	row->flags = stat->flags & PROC_STAT_KTHREAD ? ACTIVITY_KTHREAD : 0;
	row->single = stat->threads <= 1;
	row->fresh = false;
	memcpy(row->comm, stat->comm, COMM_MAX);
}

/*
 * True if @row's process still exists; a failed read of a living one is counted and retried in the
 * next pass.
 */
static bool read_process(struct proc_reader *self, struct proc_row *row)
{
	bool by_schedstat = self->has_schedstat && row->single;
	uint64_t run_ns = by_schedstat ? read_run_ns(self, row) : NOT_READ;
	struct proc_stat stat;
	int r;

	if (run_ns != NOT_READ && run_ns == row->run_ns)
		return true;
	r = read_stat(self, row, &stat);
	if (r == -ENOENT || r == -ESRCH)
		return false;
	if (r < 0 || stat.pid != row->key.pid) {
		self->errors++;
		return true;
	}
	if (!row->fresh && stat.start_ticks * self->tick_ns != row->key.start_ns)
		return false; /* the pid was used again */
	row->run_ns = run_ns;
	take_stat(self, row, &stat);
	return true;
}

static void look_at(struct proc_reader *self, uint32_t pid)
{
	uint32_t index = map_find(&self->map, pid_key(pid));

	self->looked_at++;
	if (index != MAP_NONE) {
		if (read_process(self, &self->rows[index])) {
			self->rows[index].pass = self->passes;
			return;
		}
		/*
		 * The process has ended, and its pid may be used again: the old row is settled with
		 * those that were not seen.
		 */
		(void)map_remove(&self->map, pid_key(pid));
	}
	index = add_row(self, pid);
	if (index == MAP_NONE) {
		self->overflows++;
		self->left_out = true;
		return;
	}
	if (!read_process(self, &self->rows[index]) || self->rows[index].fresh) {
		remove_row(self, index);
		return;
	}
	self->rows[index].pass = self->passes;
}

static int look_at_all(struct proc_reader *self)
{
	struct dirent *entry;

	rewinddir(self->dir);
	for (;;) {
		uint64_t pid;

		errno = 0;
		entry = readdir(self->dir);
		if (!entry)
			return -errno;
		if (parse_u64(entry->d_name, strlen(entry->d_name), &pid) == 0 && pid <= UINT32_MAX)
			look_at(self, (uint32_t)pid);
	}
}

/* ---- a pass ---- */

static bool is_gone(const struct proc_reader *self, const struct proc_row *row)
{
	return row->used && row->pass != self->passes;
}

/* MAP_NONE where it is not known, or its pid has gone to a younger process. */
static uint32_t parent_of(const struct proc_reader *self, const struct proc_row *row)
{
	uint32_t index = map_find(&self->map, pid_key(row->ppid));

	if (index == MAP_NONE || self->rows[index].key.start_ns > row->key.start_ns)
		return MAP_NONE;
	return index;
}

typedef bool passed_by_fn(const struct proc_reader *self, const struct proc_row *row);

/* Begins climbs of one kind: a row that is passed by now stays passed by. */
static void begin_climbs(struct proc_reader *self)
{
	self->climbs++;
}

/*
 * The nearest of @index and its ancestors that is not @passed_by; MAP_NONE: there is none.
 * Generations in between are walked only once: each then points to the result. A ring, which reused
 * pids could form, has no result.
 */
static uint32_t climb(struct proc_reader *self, uint32_t index, passed_by_fn *passed_by)
{
	uint32_t top = index, next, steps = 0;

	while (top != MAP_NONE && passed_by(self, &self->rows[top])) {
		struct proc_row *row = &self->rows[top];

		if (row->climb != self->climbs)
			row->above = parent_of(self, row);
		row->climb = self->climbs;
		top = steps++ < self->rows_high ? row->above : MAP_NONE;
	}
	for (; index != top && index != MAP_NONE; index = next) {
		next = self->rows[index].above;
		self->rows[index].above = top;
	}
	return top;
}

/* Credits the time charged to an ended process to the process that may have waited for it. */
static void settle_gone(struct proc_reader *self, const struct proc_row *gone)
{
	uint64_t ticks = gone->self_ticks + gone->reaped_ticks;
	uint32_t parent = parent_of(self, gone), ancestor = climb(self, parent, is_gone);

	/* It may have waited for children itself, after it was read for the last time. */
	ticks += gone->children.before + gone->orphans.before;
	if (ancestor == MAP_NONE || (gone->flags & ACTIVITY_KTHREAD))
		return;
	if (ancestor == parent)
		self->rows[parent].children.now += ticks;
	else
		self->rows[ancestor].orphans.now += ticks;
}

/* Children of ended processes get another parent: their stat has to be read. */
static void find_orphans(struct proc_reader *self)
{
	for (uint32_t i = 0; i < self->rows_high; i++) {
		struct proc_row *row = &self->rows[i];
		uint32_t parent = row->used ? map_find(&self->map, pid_key(row->ppid)) : MAP_NONE;

		if (parent != MAP_NONE && (is_gone(self, &self->rows[parent]) ||
					   self->rows[parent].key.start_ns > row->key.start_ns))
			row->run_ns = NOT_READ;
	}
}

static void take_credit(struct proc_row *row, struct credit *credit)
{
	uint64_t *const parts[] = { &credit->before, &credit->now };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		uint64_t taken = *parts[i] < row->reaped_new ? *parts[i] : row->reaped_new;

		*parts[i] -= taken;
		row->reaped_new -= taken;
	}
}

static bool has_not_reaped(const struct proc_reader *self, const struct proc_row *row)
{
	(void)self;
	return row->reaped_new == 0;
}

static void take_orphans(struct proc_reader *self, uint32_t index)
{
	struct credit *orphans = &self->rows[index].orphans;
	uint32_t reaper = index;

	while (orphans->now || orphans->before) {
		reaper = climb(self, reaper, has_not_reaped);
		if (reaper == MAP_NONE)
			return;
		take_credit(&self->rows[reaper], orphans);
	}
}

static void age_credit(struct credit *credit)
{
	*credit = (struct credit){ .before = credit->now };
}

static void settle_children(struct proc_reader *self)
{
	for (uint32_t i = 0; i < self->rows_high; i++) {
		if (self->rows[i].used)
			take_credit(&self->rows[i], &self->rows[i].children);
	}
	begin_climbs(self);
	for (uint32_t i = 0; i < self->rows_high; i++) {
		if (self->rows[i].used)
			take_orphans(self, i);
	}
	for (uint32_t i = 0; i < self->rows_high; i++) {
		struct proc_row *row = &self->rows[i];

		row->pending_ticks += row->reaped_new;
		row->reaped_new = 0;
		age_credit(&row->children);
		age_credit(&row->orphans);
	}
}

/* Called before the rows of ended processes are removed. */
static void settle(struct proc_reader *self)
{
	bool ended = false;

	begin_climbs(self);
	for (uint32_t i = 0; i < self->rows_high; i++) {
		if (!is_gone(self, &self->rows[i]))
			continue;
		ended = true;
		settle_gone(self, &self->rows[i]);
	}
	if (ended)
		find_orphans(self);
	settle_children(self);
}

/* The user of a process that is gone is not known. */
static void read_user(const struct proc_reader *self, struct activity_sample *sample)
{
	if (proc_read_uid(dirfd(self->dir), sample->key.pid, &sample->user) == 0)
		sample->flags |= ACTIVITY_USER;
}

static void take_samples(struct proc_reader *self, struct activity *activity)
{
	size_t count = 0;

	for (uint32_t i = 0; i < self->rows_high; i++) {
		struct proc_row *row = &self->rows[i];
		bool gone = is_gone(self, row);

		if (!row->used || (!row->pending_ticks && !gone && self->passes > 0))
			continue;
		self->samples[count] = (struct activity_sample){
			.key = row->key,
			.cpu_ns = row->pending_ticks * self->tick_ns,
			.cpu = row->cpu,
			.flags = row->flags | (gone ? ACTIVITY_ENDED : 0),
		};
		memcpy(self->samples[count].comm, row->comm, COMM_MAX);
		if (self->wants_users && !gone)
			read_user(self, &self->samples[count]);
		activity->busy_ns += self->samples[count].cpu_ns;
		count++;
		row->pending_ticks = 0;
		if (gone)
			remove_row(self, i);
	}
	activity->samples = self->samples;
	activity->count = count;
}

static int proc_read(struct activity_reader *reader, struct activity *activity)
{
	struct proc_reader *self = to_proc_reader(reader);
	struct activity result = {
		.time_ns = clock_ns(CLOCK_MONOTONIC),
		.boottime_ns = clock_ns(CLOCK_BOOTTIME),
	};
	int r;

	self->looked_at = self->reread = 0;
	self->left_out_before = self->left_out;
	self->left_out = false;
	r = look_at_all(self);
	if (r == 0)
		r = ARRAY_RESERVE(self->samples, self->samples_size, self->rows_size);
	if (r < 0) {
		self->errors++;
		*activity = (struct activity){ 0 };
		return r;
	}
	settle(self);
	take_samples(self, &result);
	self->last_boottime_ns = result.boottime_ns;
	self->passes++;
	*activity = result;
	return 0;
}

static void proc_get_info(const struct activity_reader *reader, struct activity_info *ret)
{
	const struct proc_reader *self = (const struct proc_reader *)reader;

	*ret = (struct activity_info){
		.reader = "procfs",
		.passes = self->passes,
		.errors = self->errors,
		.tasks_walked = self->looked_at,
		.tasks_sent = self->reread,
		.threads_known = self->map.used,
		.overflows = self->overflows,
		.sees_part = self->sees_part,
	};
}

static void proc_visit(struct activity_reader *reader, activity_visit_fn *fn, void *userdata)
{
	struct proc_reader *self = to_proc_reader(reader);

	for (uint32_t i = 0; i < self->rows_high; i++) {
		const struct proc_row *row = &self->rows[i];
		struct activity_sample sample = { .key = row->key,
						  .cpu = row->cpu,
						  .flags = row->flags };

		if (!row->used)
			continue;
		memcpy(sample.comm, row->comm, COMM_MAX);
		fn(userdata, &sample);
	}
}

static void proc_close(struct activity_reader *reader)
{
	struct proc_reader *self = to_proc_reader(reader);

	for (uint32_t i = 0; i < self->rows_high; i++) {
		if (self->rows[i].used)
			proc_files_drop(&self->files, &self->rows[i].slot);
	}
	if (self->dir)
		(void)closedir(self->dir);
	proc_files_close(&self->files);
	map_release(&self->map);
	free(self->rows);
	free(self->samples);
	free(self);
}

static void proc_want_users(struct activity_reader *reader, bool wanted)
{
	to_proc_reader(reader)->wants_users = wanted;
}

static const struct activity_ops proc_ops = {
	.read = proc_read,
	.get_info = proc_get_info,
	.visit = proc_visit,
	.close = proc_close,
	.want_users = proc_want_users,
};

static void cleanup_reader(struct proc_reader **self)
{
	if (*self)
		proc_close(&(*self)->base);
}

/* Kernels without CONFIG_SCHED_INFO show "0 0 0", but this process has run by now. */
static bool probe_schedstat(struct proc_reader *self)
{
	struct proc_row own = { .key = { .pid = (uint32_t)getpid() }, .slot = { .fd = -1 } };
	uint64_t run_ns = read_run_ns(self, &own);

	proc_files_drop(&self->files, &own.slot);
	return run_ns != NOT_READ && run_ns > 0;
}

/*
 * kthreadd is only in the initial pid namespace and belongs to root: if its stat cannot be read,
 * other processes are hidden as well, by a namespace or hidepid.
 */
static bool probe_part(struct proc_reader *self)
{
	struct proc_row kthreadd = { .key = { .pid = 2 }, .slot = { .fd = -1 } };
	struct proc_stat stat;

	return read_stat(self, &kthreadd, &stat) < 0 || !(stat.flags & PROC_STAT_KTHREAD);
}

int proc_activity_open(const struct activity_options *options, struct activity_reader **ret)
{
	CLEANUP(cleanup_reader) struct proc_reader *self = calloc(1, sizeof(*self));
	int r;

	if (!self)
		return -ENOMEM;
	self->base.ops = &proc_ops;
	self->files.dirfd = -1;
	self->rows_free = MAP_NONE;
	self->tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	map_init(&self->map, options->max_processes);
	r = proc_files_open(options->procfs, &self->files);
	if (r < 0)
		return r;
	self->dir = opendir(options->procfs);
	if (!self->dir)
		return -errno;
	self->has_schedstat = probe_schedstat(self);
	self->sees_part = probe_part(self);
	*ret = &TAKE_PTR(self)->base;
	return 0;
}
