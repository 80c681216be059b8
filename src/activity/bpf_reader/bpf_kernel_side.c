// SPDX-License-Identifier: Apache-2.0
/*
 * Control blocks and records are memory shared with the kernel, so a pass is one system call.
 *
 * The array of records is small because every shared page is resident. A pass with more threads
 * than fit is read again, for the same interval, through the iterator, which has no limit. Where
 * the iterator would see less, or is refused, several walks are made: each reports a slice of the
 * threads, by their addresses, so that each living thread is in exactly one, whatever starts or
 * ends meanwhile.
 */
#include "activity/bpf_reader/bpf_kernel_side.h"

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

#include "activity/bpf_reader/bpf_programs.h"
#include "activity/bpf_reader/switch_reader.h"
#include "base/clock.h"
#include "base/hostile.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/pid_namespace.h"

#define STREAM_RECORDS 512 /* 36 KiB: what one read of an iterator gives at most */
#define SLICE_THREADS  (KEPLER_RECORDS_MAX / 8 * 7) /* slices are not of one size */
#define SLICES_MAX     2048

struct bpf_kernel_side {
	struct bpf_programs programs;
	struct kepler_bpf *skeleton; /* of the programs */
	struct bpf_link *iterator;   /* NULL: refused, or would see less than a walk */
	struct bpf_link *exits;
	struct bpf_link *ends;
	struct ring_buffer *ring;
	struct bpf_link *cgroups;
	struct ring_buffer *cgroup_ring;
	activity_cgroup_fn *cgroup_fn; /* only while they are reported */
	void *cgroup_userdata;
	uint64_t cut_paths;
	const struct kepler_thread *records;
	const struct kepler_work *works; /* of the records; NULL: not counted */
	bool walks;
	bool own_pids;         /* a pid namespace of our own */
	bool failed;           /* the last read: the next is full */
	bpf_record_fn *end_fn; /* only while draining */
	void *end_userdata;
	struct kepler_ends lost_before;
	int lost_reads_left;    /* of the table of cgroups */
	uint64_t lost_taken_ns; /* of it */
	union {
		struct kepler_thread threads[STREAM_RECORDS];
		struct kepler_counted_thread counted[STREAM_RECORDS]; /* with works */
		char bytes[1];
	} stream;
	struct kepler_thread stream_threads[STREAM_RECORDS];
	struct kepler_work stream_works[STREAM_RECORDS];
};

static int take_end(void *userdata, void *data, size_t size)
{
	struct bpf_kernel_side *side = userdata;
	const struct kepler_counted_thread *record = data;

	if (size >= sizeof(*record))
		side->end_fn(side->end_userdata, &record->thread, &record->work);
	else if (size >= sizeof(record->thread))
		side->end_fn(side->end_userdata, &record->thread, NULL);
	return 0;
}

/* A link, or NULL; a refusal is noted. */
static struct bpf_link *attach_part(struct bpf_kernel_side *side, enum bpf_part part)
{
	struct bpf_program *program = side->programs.parts[part];
	struct bpf_link *link;

	if (!program)
		return NULL;
	link = part == BPF_PART_ITERATE ? bpf_program__attach_iter(program, NULL)
					: bpf_program__attach(program);
	if (!link)
		bpf_programs_refuse(&side->programs, part, -errno);
	return link;
}

/* Ends are a feature of their own: without them the rest works, and without exits the ends do. */
static void attach_ends(struct bpf_kernel_side *side)
{
	side->ring = ring_buffer__new(bpf_map__fd(side->skeleton->maps.ends), take_end, side, NULL);
	if (!side->ring)
		return;
	side->ends = attach_part(side, BPF_PART_ENDS);
	if (side->ends)
		side->exits = attach_part(side, BPF_PART_EXITS);
}

static int take_cgroup(void *userdata, void *data, size_t size)
{
	struct bpf_kernel_side *side = userdata;
	const struct kepler_new_cgroup *record = data;

	if (size < sizeof(*record))
		return 0;
	if (strnlen(record->path, sizeof(record->path)) >= sizeof(record->path) - 1)
		side->cut_paths++; /* the end of the path still shows its owner */
	else
		side->cgroup_fn(side->cgroup_userdata, record->cgroup_id, record->path);
	return 0;
}

/* A feature of its own, too: without it only cgroups that are removed at once are unknown. */
static void attach_cgroups(struct bpf_kernel_side *side)
{
	side->cgroup_ring = ring_buffer__new(bpf_map__fd(side->skeleton->maps.new_cgroups),
					     take_cgroup, side, NULL);
	if (!side->cgroup_ring)
		return;
	side->cgroups = attach_part(side, BPF_PART_CGROUPS);
}

static int map_array(const struct bpf_map *map, size_t element, const void **ret)
{
	void *array = mmap(NULL, element * KEPLER_RECORDS_MAX, PROT_READ, MAP_SHARED,
			   bpf_map__fd(map), 0);

	if (array == MAP_FAILED)
		return -errno;
	*ret = array;
	return 0;
}

static void unmap_array(const void *array, size_t element)
{
	if (array)
		(void)munmap((void *)(uintptr_t)array, element * KEPLER_RECORDS_MAX);
}

static int map_records(struct bpf_kernel_side *side)
{
	const void *array = NULL;
	int r = map_array(side->skeleton->maps.records, sizeof(*side->records), &array);

	if (r < 0)
		return r;
	side->records = array;
	if (!side->skeleton->rodata->has_work)
		return 0;
	r = map_array(side->skeleton->maps.works, sizeof(*side->works), &array);
	if (r == 0)
		side->works = array;
	return r;
}

static int attach(struct bpf_kernel_side *side)
{
	int r = map_records(side);

	if (r < 0)
		return r;
	side->walks = side->programs.parts[BPF_PART_WALK];
	side->iterator = attach_part(side, BPF_PART_ITERATE);
	if (!side->iterator && !side->walks)
		return side->programs.refused[BPF_PART_ITERATE];
	attach_ends(side);
	attach_cgroups(side);
	return 0;
}

static void cleanup_side(struct bpf_kernel_side **side)
{
	bpf_kernel_side_close(*side);
}

/* Before the first pass, which then finds what these miss. */
static int start_switches(struct bpf_kernel_side *side, struct switch_reader *switches)
{
	const struct bpf_programs *programs = &side->programs;

	if (!programs->parts[BPF_PART_SWITCHES] || !programs->parts[BPF_PART_THREADS])
		return -EOPNOTSUPP;
	return switch_reader_start(switches, side->skeleton, programs->parts[BPF_PART_SWITCHES],
				   programs->parts[BPF_PART_FLUSH]);
}

int bpf_kernel_side_open(const struct activity_options *options, struct switch_reader *switches,
			 struct bpf_kernel_side **ret)
{
	CLEANUP(cleanup_side) struct bpf_kernel_side *side = calloc(1, sizeof(*side));
	int r;

	if (!side)
		return -ENOMEM;
	side->own_pids = pid_namespace_is_own();
	r = bpf_programs_load(options, !side->own_pids, switches, &side->programs);
	if (r < 0)
		return r;
	side->skeleton = side->programs.skeleton;
	r = attach(side);
	if (r == 0 && switches)
		r = start_switches(side, switches);
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
	unmap_array(side->records, sizeof(*side->records));
	unmap_array(side->works, sizeof(*side->works));
	bpf_programs_unload(&side->programs);
	free(side);
}

bool bpf_kernel_side_walks(const struct bpf_kernel_side *side)
{
	return side->walks;
}

bool bpf_kernel_side_sees_part(const struct bpf_kernel_side *side)
{
	return side->own_pids && !side->walks;
}

unsigned int bpf_kernel_side_refused(const struct bpf_kernel_side *side, char *text, size_t size)
{
	return bpf_programs_refused(&side->programs, text, size);
}

bool bpf_kernel_side_lacks_flush(const struct bpf_kernel_side *side)
{
	return side->programs.refused[BPF_PART_FLUSH] != 0;
}

bool bpf_kernel_side_sees_ends(const struct bpf_kernel_side *side)
{
	return side->ends;
}

void bpf_kernel_side_drop_exits(struct bpf_kernel_side *side)
{
	if (!side->exits)
		return;
	(void)bpf_link__destroy(side->exits);
	side->exits = NULL;
	bpf_program__unload(side->programs.parts[BPF_PART_EXITS]);
	side->programs.parts[BPF_PART_EXITS] = NULL;
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

static size_t stream_record_size(const struct bpf_kernel_side *side)
{
	return side->works ? sizeof(struct kepler_counted_thread) : sizeof(struct kepler_thread);
}

static void pass_on_stream(struct bpf_kernel_side *side, size_t count, bpf_records_fn *fn,
			   void *userdata)
{
	if (!side->works) {
		fn(userdata, side->stream.threads, NULL, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		side->stream_threads[i] = side->stream.counted[i].thread;
		side->stream_works[i] = side->stream.counted[i].work;
	}
	fn(userdata, side->stream_threads, side->stream_works, count);
}

/* Reads the stream of one iteration; a read may end inside a record. */
static int run_iterator(struct bpf_kernel_side *side, bpf_records_fn *fn, void *userdata)
{
	CLEANUP_FD int fd = bpf_iter_create(bpf_link__fd(side->iterator));
	const size_t size = stream_record_size(side);
	size_t have = 0;

	if (fd < 0)
		return fd;
	side->skeleton->bss->pass.looked_at = side->skeleton->bss->pass.sent = 0;
	for (;;) {
		ssize_t n = read(fd, side->stream.bytes + have,
				 HOSTILE_LEAST(HOSTILE_PROC_READ, STREAM_RECORDS * size - have));
		size_t count;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		have += (size_t)n;
		count = have / size;
		pass_on_stream(side, count, fn, userdata);
		have -= count * size;
		memmove(side->stream.bytes, side->stream.bytes + count * size, have);
	}
}

/* One walk: reports one slice of @slices. */
static int run_walk(struct bpf_kernel_side *side, uint32_t slice, uint32_t slices)
{
	struct kepler_pass *pass = &side->skeleton->bss->pass;
	int fd = bpf_program__fd(side->programs.parts[BPF_PART_WALK]);
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int r;

	pass->slice = slice;
	pass->slices = slices;
	r = bpf_prog_test_run_opts(fd, &options);
	if (r < 0)
		return r;
	return pass->sent > KEPLER_RECORDS_MAX ? -EOVERFLOW : 0;
}

/* -EOVERFLOW: a slice did not fit; the count of reported threads says how many it had. */
static int walk_slices(struct bpf_kernel_side *side, uint32_t slices, bpf_records_fn *fn,
		       void *userdata)
{
	struct kepler_pass *pass = &side->skeleton->bss->pass;
	uint64_t sent = 0;

	for (uint32_t slice = 0; slice < slices; slice++) {
		int r = run_walk(side, slice, slices);

		/* Work that an overflowing walk has handed over does not come a second time. */
		if (r == 0 || (r == -EOVERFLOW && side->works))
			fn(userdata, side->records, side->works,
			   pass->sent < KEPLER_RECORDS_MAX ? pass->sent : KEPLER_RECORDS_MAX);
		if (r < 0)
			return r;
		sent += pass->sent;
	}
	pass->sent = sent;
	return 0;
}

/* Makes as many walks as needed; records of a walk that overflowed may be reported again. */
static int walk_all(struct bpf_kernel_side *side, uint64_t expected, bpf_records_fn *fn,
		    void *userdata)
{
	uint64_t slices = expected > KEPLER_RECORDS_MAX ? expected / SLICE_THREADS + 1 : 1;
	int r = -EOVERFLOW;

	while (r == -EOVERFLOW && slices <= SLICES_MAX) {
		r = walk_slices(side, (uint32_t)slices, fn, userdata);
		if (r == -EOVERFLOW)
			slices = slices * side->skeleton->bss->pass.sent / SLICE_THREADS + 1;
	}
	return r;
}

static int read_living(struct bpf_kernel_side *side, size_t expected, bpf_records_fn *fn,
		       void *userdata)
{
	bool is_full = side->skeleton->bss->pass.full;
	int r = -EOVERFLOW;

	if (side->walks && !side->iterator)
		return walk_all(side, is_full ? expected : 0, fn, userdata);
	if (side->walks && !(is_full && expected > KEPLER_RECORDS_MAX))
		r = walk_slices(side, 1, fn, userdata);
	if (r < 0 && r != -EOVERFLOW && side->walks) {
		log_debug("walk refused (%d), iterating from now on", r);
		side->walks = false;
	}
	return r < 0 ? run_iterator(side, fn, userdata) : 0;
}

int bpf_kernel_side_read(struct bpf_kernel_side *side, bool full, size_t expected,
			 bpf_records_fn *fn, void *userdata)
{
	struct kepler_ends *ends = &side->skeleton->bss->ends_lost;
	int r;

	/*
	 * A thread that starts and is lost while threads are read may have been read: it counts as
	 * old.
	 */
	__atomic_store_n(&ends->young_after_ns, UINT64_MAX, __ATOMIC_RELAXED);
	prepare_pass(side, full);
	r = read_living(side, expected, fn, userdata);
	__atomic_store_n(&ends->young_after_ns, clock_ns(CLOCK_BOOTTIME), __ATOMIC_RELAXED);
	side->failed = r < 0;
	return r;
}

void bpf_kernel_side_want(struct bpf_kernel_side *side, enum kepler_wants what, bool wanted)
{
	__u32 *wants = &side->skeleton->bss->pass.wants;

	if (wanted)
		(void)__atomic_or_fetch(wants, what, __ATOMIC_RELAXED);
	else
		(void)__atomic_and_fetch(wants, ~(__u32)what, __ATOMIC_RELAXED);
}

uint64_t bpf_kernel_side_looked_at(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->pass.looked_at;
}

uint64_t bpf_kernel_side_sent(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->pass.sent;
}

uint64_t bpf_kernel_side_work_lost_ns(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->work_lost_ns;
}

uint64_t bpf_kernel_side_without_work(const struct bpf_kernel_side *side)
{
	return side->skeleton->bss->threads_without_work;
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
		side->lost_taken_ns += drop.run_ns;
		(void)bpf_map_delete_elem(fd, &key); /* it is there: nothing else deletes */
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
		.exits = now.exits - before->exits,
		.exits_run_ns = now.exits_run_ns - before->exits_run_ns,
	};

	if (now.young_count != before->young_count)
		side->lost_reads_left = 2; /* one ends the generation, one reads it */
	if (side->lost_reads_left) {
		side->lost_reads_left--;
		take_lost_cgroups(side, fn, userdata);
		if (now.young_cgroup_ns > side->lost_taken_ns)
			lost.coming_ns = now.young_cgroup_ns - side->lost_taken_ns;
	}
	if (!side->lost_reads_left)
		side->lost_taken_ns = now.young_cgroup_ns; /* all of it was read */
	*before = now;
	return lost;
}
