// SPDX-License-Identifier: Apache-2.0
/*
 * One object, loaded with as many of its programs as the kernel takes: the sets of `attempts` are
 * tried in turn, since libbpf loads all or nothing. Control blocks and records are memory shared
 * with the kernel, so a pass is one system call.
 *
 * The array of records is small because every shared page is resident. A pass with more threads
 * than fit is read again, for the same interval, through the iterator, which has no limit.
 */
#include "activity/bpf_kernel_side.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <kepler.skel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"

#define RING_BYTES_DEFAULT (256U * 1024)
#define STREAM_RECORDS     512 /* 32 KiB: what one read of an iterator gives at most */

struct bpf_kernel_side {
	struct kepler_bpf *skeleton;
	struct bpf_link *iterator;
	struct bpf_link *exits;
	struct bpf_link *ends;
	struct ring_buffer *ring;
	struct bpf_link *cgroups;
	struct ring_buffer *cgroup_ring;
	activity_cgroup_fn *cgroup_fn; /* only while they are handed over */
	void *cgroup_userdata;
	uint64_t cut_paths;
	const struct kepler_thread *records;
	bool walks;
	bool failed;           /* the last read: the next is full */
	bpf_record_fn *end_fn; /* only while draining */
	void *end_userdata;
	struct kepler_ends lost_before;
	int lost_reads_left; /* of the table of cgroups */
	struct kepler_thread stream[STREAM_RECORDS];
};

struct attempt {
	bool walk, typed_ends, raw_ends;
};

static const struct attempt attempts[] = {
	{ .walk = true, .typed_ends = true }, /* from 6.7 */
	{ .typed_ends = true },               /* from 5.8 */
	{ .walk = true, .raw_ends = true },   /* typed tracepoints refused */
	{ .raw_ends = true },
	{ .walk = true },
	{ .walk = false },
};

__attribute__((format(printf, 2, 0))) static int log_libbpf(enum libbpf_print_level level,
							    const char *fmt, va_list ap)
{
	char line[LOG_LINE_MAX];
	int len;

	if (log_get_level() > LOG_LEVEL_DEBUG)
		return 0;
	len = vsnprintf(line, sizeof(line), fmt, ap);
	while (len > 0 && len < (int)sizeof(line) && line[len - 1] == '\n')
		line[--len] = '\0';
	log_debug("libbpf%s: %s", level == LIBBPF_WARN ? " warns" : "", line);
	return 0;
}

/* Order of the object's own enum cgroup_subsys_id. */
static int32_t controller_number(const char *name)
{
	static const char *const names[] = { "cpuset",     "cpu",      "cpuacct", "blkio",
					     "memory",     "devices",  "freezer", "net_cls",
					     "perf_event", "net_prio", "hugetlb", "pids" };

	for (size_t i = 0; name && i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return (int32_t)i;
	}
	return -1;
}

/*
 * A kernel without the walk's kfuncs makes libbpf (1.1 to 1.5) look for them in the modules' type
 * information. To list that takes CAP_SYS_ADMIN, and a refusal fails the whole object although the
 * kfuncs are weak. libbpf looks there once only: asked beforehand for a tracepoint that nobody has,
 * it gets its refusal here, and weak is weak again.
 */
static void spend_module_search(struct kepler_bpf *skeleton)
{
	(void)bpf_program__set_attach_target(skeleton->progs.ended, 0, "kepler_no_such_tracepoint");
}

static int load(const struct activity_options *options, const struct attempt *attempt,
		struct kepler_bpf **ret)
{
	uint32_t ring_bytes =
		options->end_buffer_bytes ? options->end_buffer_bytes : RING_BYTES_DEFAULT;
	struct kepler_bpf *skeleton = kepler_bpf__open();
	int r;

	if (!skeleton)
		return -errno;
	skeleton->rodata->cgroup_controller = controller_number(options->cgroup_controller);
	skeleton->rodata->ring_half_bytes = ring_bytes / 2;
	(void)bpf_program__set_autoload(skeleton->progs.walk, attempt->walk);
	(void)bpf_program__set_autoload(skeleton->progs.exiting, attempt->typed_ends);
	(void)bpf_program__set_autoload(skeleton->progs.ended, attempt->typed_ends);
	(void)bpf_program__set_autoload(skeleton->progs.exiting_raw, attempt->raw_ends);
	(void)bpf_program__set_autoload(skeleton->progs.ended_raw, attempt->raw_ends);
	if (!attempt->walk)
		spend_module_search(skeleton);
	r = bpf_map__set_max_entries(skeleton->maps.ends, ring_bytes);
	if (r == 0)
		r = kepler_bpf__load(skeleton);
	if (r < 0) {
		kepler_bpf__destroy(skeleton);
		return r;
	}
	*ret = skeleton;
	return 0;
}

/* No other set of programs would be let in. */
static bool is_hopeless(int err)
{
	return err == -EPERM || err == -ENOMEM || err == -ESRCH || err == -ENOSYS;
}

static int load_best(const struct activity_options *options, struct bpf_kernel_side *side)
{
	int r = -ENOTSUP, first = 0;

	for (size_t i = 0; i < ARRAY_SIZE(attempts); i++) {
		if (attempts[i].walk && !options->allow_walk)
			continue;
		r = load(options, &attempts[i], &side->skeleton);
		if (r == 0) {
			side->walks = attempts[i].walk;
			return 0;
		}
		log_debug("BPF programs, set %zu, refused: %d", i + 1, r);
		first = first ? first : r;
		if (is_hopeless(r))
			break;
	}
	return first ? first : r;
}

static int take_end(void *userdata, void *data, size_t size)
{
	struct bpf_kernel_side *side = userdata;

	if (size >= sizeof(struct kepler_thread))
		side->end_fn(side->end_userdata, data);
	return 0;
}

/* Ends are a feature of their own: without them the rest works, and without exits the ends do. */
static void attach_ends(struct bpf_kernel_side *side)
{
	bool typed = bpf_program__autoload(side->skeleton->progs.ended);

	if (!typed && !bpf_program__autoload(side->skeleton->progs.ended_raw))
		return;
	side->ring = ring_buffer__new(bpf_map__fd(side->skeleton->maps.ends), take_end, side, NULL);
	if (!side->ring)
		return;
	side->ends = bpf_program__attach(typed ? side->skeleton->progs.ended
					       : side->skeleton->progs.ended_raw);
	if (!side->ends) {
		log_debug("cannot attach to sched_process_free: %d", -errno);
		return;
	}
	side->exits = bpf_program__attach(typed ? side->skeleton->progs.exiting
						: side->skeleton->progs.exiting_raw);
	if (!side->exits)
		log_debug("cannot attach to sched_process_exit: %d", -errno);
}

static int take_cgroup(void *userdata, void *data, size_t size)
{
	struct bpf_kernel_side *side = userdata;
	const struct kepler_new_cgroup *record = data;

	if (size < sizeof(*record))
		return 0;
	if (strnlen(record->path, sizeof(record->path)) >= sizeof(record->path) - 1)
		side->cut_paths++; /* or nearly: its end says who owns it */
	else
		side->cgroup_fn(side->cgroup_userdata, record->cgroup_id, record->path);
	return 0;
}

/* A feature of its own, too: without it only what is gone at once is not known. */
static void attach_cgroups(struct bpf_kernel_side *side)
{
	side->cgroup_ring = ring_buffer__new(bpf_map__fd(side->skeleton->maps.new_cgroups),
					     take_cgroup, side, NULL);
	if (!side->cgroup_ring)
		return;
	side->cgroups = bpf_program__attach(side->skeleton->progs.cgroup_made);
	if (!side->cgroups)
		log_debug("cannot attach to cgroup_mkdir: %d", -errno);
}

static int attach(struct bpf_kernel_side *side)
{
	void *records = mmap(NULL, sizeof(struct kepler_thread) * KEPLER_RECORDS_MAX, PROT_READ,
			     MAP_SHARED, bpf_map__fd(side->skeleton->maps.records), 0);

	if (records == MAP_FAILED)
		return -errno;
	side->records = records;
	side->iterator = bpf_program__attach_iter(side->skeleton->progs.iterate, NULL);
	if (!side->iterator)
		return -errno;
	attach_ends(side);
	attach_cgroups(side);
	return 0;
}

static void cleanup_side(struct bpf_kernel_side **side)
{
	bpf_kernel_side_close(*side);
}

int bpf_kernel_side_open(const struct activity_options *options, struct bpf_kernel_side **ret)
{
	CLEANUP(cleanup_side) struct bpf_kernel_side *side = calloc(1, sizeof(*side));
	int r;

	if (!side)
		return -ENOMEM;
	(void)libbpf_set_print(log_libbpf);
	r = load_best(options, side);
	if (r == 0)
		r = attach(side);
	if (r < 0)
		return r;
	side->failed = true; /* nothing was read yet */
	*ret = TAKE_PTR(side);
	return 0;
}

void bpf_kernel_side_close(struct bpf_kernel_side *side)
{
	if (!side)
		return;
	bpf_link__destroy(side->cgroups);
	bpf_link__destroy(side->exits);
	bpf_link__destroy(side->ends);
	bpf_link__destroy(side->iterator);
	ring_buffer__free(side->cgroup_ring);
	ring_buffer__free(side->ring);
	if (side->records)
		(void)munmap((void *)(uintptr_t)side->records,
			     sizeof(struct kepler_thread) * KEPLER_RECORDS_MAX);
	kepler_bpf__destroy(side->skeleton);
	free(side);
}

bool bpf_kernel_side_walks(const struct bpf_kernel_side *side)
{
	return side->walks;
}

bool bpf_kernel_side_sees_ends(const struct bpf_kernel_side *side)
{
	return side->ends;
}

int bpf_kernel_side_ends_fd(const struct bpf_kernel_side *side)
{
	return side->ends ? ring_buffer__epoll_fd(side->ring) : -1;
}

void bpf_kernel_side_drain(struct bpf_kernel_side *side, bpf_record_fn *fn, void *userdata)
{
	if (!side->ends)
		return;
	side->end_fn = fn;
	side->end_userdata = userdata;
	(void)ring_buffer__consume(side->ring); /* take_end() never fails */
}

void bpf_kernel_side_new_cgroups(struct bpf_kernel_side *side, activity_cgroup_fn *fn,
				 void *userdata)
{
	if (!side->cgroups)
		return;
	side->cgroup_fn = fn;
	side->cgroup_userdata = userdata;
	(void)ring_buffer__consume(side->cgroup_ring); /* take_cgroup() never fails */
}

uint64_t bpf_kernel_side_cgroups_missed(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->cgroups_lost + side->cut_paths;
}

void bpf_kernel_side_rearm(struct bpf_kernel_side *side)
{
	struct epoll_event event;

	/*
	 * Once ready, a ring stays on epoll's list until a wait finds it empty; until then every
	 * end would fire.
	 */
	if (side->ends)
		(void)epoll_wait(ring_buffer__epoll_fd(side->ring), &event, 1, 0);
}

/* ---- a pass ---- */

static void prepare_pass(struct bpf_kernel_side *side, bool full)
{
	struct kepler_pass *pass = &side->skeleton->bss->pass;

	pass->full = full || side->failed;
	pass->begun = 0;
	pass->looked_at = pass->sent = 0;
	pass->generation ^= 1;
	memset(side->skeleton->bss->marks[pass->generation], 0,
	       sizeof(side->skeleton->bss->marks[0]));
}

static int run_walk(struct bpf_kernel_side *side)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int r = bpf_prog_test_run_opts(bpf_program__fd(side->skeleton->progs.walk), &options);

	if (r < 0)
		return r;
	return side->skeleton->bss->pass.sent > KEPLER_RECORDS_MAX ? -EOVERFLOW : 0;
}

/* Reads the stream of one iteration; a read may end inside a record. */
static int run_iterator(struct bpf_kernel_side *side, bpf_record_fn *fn, void *userdata)
{
	CLEANUP_FD int fd = bpf_iter_create(bpf_link__fd(side->iterator));
	size_t have = 0;

	if (fd < 0)
		return fd;
	side->skeleton->bss->pass.looked_at = side->skeleton->bss->pass.sent = 0;
	for (;;) {
		ssize_t n = read(fd, (char *)side->stream + have, sizeof(side->stream) - have);
		size_t count;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		have += (size_t)n;
		count = have / sizeof(side->stream[0]);
		for (size_t i = 0; i < count; i++)
			fn(userdata, &side->stream[i]);
		have -= count * sizeof(side->stream[0]);
		memmove(side->stream, &side->stream[count], have);
	}
}

static int read_living(struct bpf_kernel_side *side, size_t expected, bpf_record_fn *fn,
		       void *userdata)
{
	int r = -EOVERFLOW;

	if (side->walks && !(side->skeleton->bss->pass.full && expected > KEPLER_RECORDS_MAX))
		r = run_walk(side);
	if (r < 0 && r != -EOVERFLOW && side->walks) {
		log_debug("walk refused (%d), iterating from now on", r);
		side->walks = false;
	}
	if (r < 0)
		return run_iterator(side, fn, userdata);
	for (uint64_t i = 0; i < side->skeleton->bss->pass.sent; i++)
		fn(userdata, &side->records[i]);
	return 0;
}

int bpf_kernel_side_read(struct bpf_kernel_side *side, bool full, size_t expected,
			 bpf_record_fn *fn, void *userdata)
{
	struct kepler_ends *ends = &side->skeleton->bss->ends_lost;
	int r;

	/* Who is born and lost while threads are read may have been read: such count as old. */
	__atomic_store_n(&ends->young_after_ns, UINT64_MAX, __ATOMIC_RELAXED);
	prepare_pass(side, full);
	r = read_living(side, expected, fn, userdata);
	__atomic_store_n(&ends->young_after_ns, clock_ns(CLOCK_BOOTTIME), __ATOMIC_RELAXED);
	side->failed = r < 0;
	return r;
}

uint64_t bpf_kernel_side_looked_at(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->pass.looked_at;
}

uint64_t bpf_kernel_side_sent(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->pass.sent;
}

/* ---- lost ends ---- */

/*
 * Takes the entries of past generations: no program writes to those any more, so none is cut short.
 */
static void take_lost_cgroups(struct bpf_kernel_side *side, bpf_lost_fn *fn, void *userdata)
{
	uint32_t generation = side->skeleton->bss->ends_lost.generation;
	int fd = bpf_map__fd(side->skeleton->maps.drops);
	struct kepler_drop_key key, next;
	int r = bpf_map_get_next_key(fd, NULL, &next);

	for (int i = 0; r == 0 && i < KEPLER_DROPS_MAX; i++) {
		struct kepler_drop drop;

		key = next;
		r = bpf_map_get_next_key(fd, &key, &next);
		if (key.generation == generation || bpf_map_lookup_elem(fd, &key, &drop) < 0)
			continue;
		fn(userdata, key.cgroup_id, drop.run_ns);
		(void)bpf_map_delete_elem(fd, &key); /* it is there: nobody else deletes */
	}
	__atomic_store_n(&side->skeleton->bss->ends_lost.generation, generation + 1,
			 __ATOMIC_RELAXED);
}

struct bpf_lost bpf_kernel_side_take_lost(struct bpf_kernel_side *side, bpf_lost_fn *fn,
					  void *userdata)
{
	struct kepler_ends now = *(volatile struct kepler_ends *)&side->skeleton->bss->ends_lost;
	struct kepler_ends *before = &side->lost_before;
	struct bpf_lost lost = {
		.count = now.count - before->count,
		.old_count = now.old_count - before->old_count,
		.old_run_ns = now.old_run_ns - before->old_run_ns,
		.young_run_ns = now.young_run_ns - before->young_run_ns,
	};

	if (now.young_count != before->young_count)
		side->lost_reads_left = 2; /* one ends the generation, one reads it */
	if (side->lost_reads_left) {
		side->lost_reads_left--;
		take_lost_cgroups(side, fn, userdata);
	}
	*before = now;
	return lost;
}
