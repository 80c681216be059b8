// SPDX-License-Identifier: Apache-2.0
/*
 * All programs are loaded at once, and only if that fails each by itself to find the one that is
 * refused: libbpf loads all of an object or nothing. A tracepoint that the kernel lacks shows when
 * its program is attached.
 */
#include "activity/io_signals.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <io.skel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/bpf_reader/bpf_programs.h"
#include "activity/io_amounts.h"
#include "base/log.h"
#include "base/macro.h"
#include "host/kernel_version.h"

#define TABLE_BYTES (8U * 1024 * 1024) /* of the kernel's table of amounts, at most */
#define CGROUPS_MIN 256
#define TYPED_MAJOR 5 /* Linux 5.11: bpf/io.bpf.c says what it brought */
#define TYPED_MINOR 11
#define CALLS_MAJOR 6
#define CALLS_MINOR 3

enum part {
	PART_BEGINS,
	PART_ENDS,
	PART_TCP,
	PART_READY,
	PART_LEAVES,
	PART_SENT,
	PART_RECEIVED,
	PART_MADE,
	PART_APPENDED,
	PART_PREPENDED,
	PART_REQUEST_ENDS,
	PART_PAGES_READ,
	PART_PAGE_WRITTEN,
	PARTS
};

static const struct {
	const char *program, *tracepoint;
} parts[PARTS] = {
	[PART_BEGINS] = { "softirq_begins", "softirq_entry" },
	[PART_ENDS] = { "softirq_ends", "softirq_exit" },
	[PART_TCP] = { "socket_is_met", "tcp_probe" },
	[PART_READY] = { "socket_is_met", "sk_data_ready" }, /* from 6.3 */
	[PART_LEAVES] = { "packet_leaves", "net_dev_start_xmit" },
	[PART_SENT] = { "bytes_are_moved", "sock_send_length" }, /* from 6.3, as the next */
	[PART_RECEIVED] = { "bytes_are_moved", "sock_recv_length" },
	[PART_MADE] = { "request_is_made", "block_getrq" },
	[PART_APPENDED] = { "bio_is_appended", "block_bio_backmerge" },
	[PART_PREPENDED] = { "bio_is_prepended", "block_bio_frontmerge" },
	[PART_REQUEST_ENDS] = { "request_ends", "block_rq_complete" },
	[PART_PAGES_READ] = { "pages_are_read", "mm_filemap_get_pages" }, /* from 6.14 */
	[PART_PAGE_WRITTEN] = { "page_is_written", "writeback_dirty_folio" },
};

#define P(name)  (1U << PART_##name)
#define SOFTIRQS (P(BEGINS) | P(ENDS))
#define BIOS     (P(MADE) | P(APPENDED) | P(PREPENDED))

/* The programs without which a signal is not known. */
static const struct need {
	enum signal signal;
	uint32_t parts;
} needs[] = {
	{ SIGNAL_NET_TX_IRQ, SOFTIRQS | P(LEAVES) },
	{ SIGNAL_NET_RX_IRQ, SOFTIRQS | P(TCP) },
	{ SIGNAL_BLOCK_IRQ, SOFTIRQS | P(MADE) | P(PREPENDED) | P(REQUEST_ENDS) },
	{ SIGNAL_SOFTIRQ_TIME,
	  SOFTIRQS | P(LEAVES) | P(TCP) | P(MADE) | P(PREPENDED) | P(REQUEST_ENDS) },
	{ SIGNAL_NET_BYTES, P(SENT) | P(RECEIVED) },
	{ SIGNAL_BLOCK_BYTES, BIOS },
	{ SIGNAL_PAGE_CACHE_HITS, P(PAGES_READ) | P(PAGE_WRITTEN) },
};

struct io_signals {
	struct io_bpf *skeleton;
	struct bpf_link *links[PARTS];
	int err[PARTS];    /* -errno of a requested part that is missing */
	bool lacks[PARTS]; /* of them: the kernel has no such tracepoint */
	uint32_t wanted;   /* parts */
	uint32_t signals, missing;
	struct io_amounts amounts;
	uint32_t cgroups; /* in the kernel's table, at most */
	size_t cpus;
	uint64_t *ids;                 /* [cgroups]; only as much as a reading fills is resident */
	struct kepler_io *sums;        /* [cgroups][cpus] */
	struct kepler_io_cpu *of_cpus; /* [cpus] */
	uint64_t dropped, softirqs_without_cause, softirq_ns_without_cause;
};

static uint32_t wanted_parts(enum io_wanted wanted)
{
	uint32_t all = (1U << PARTS) - 1;

	return wanted == IO_WANTED_ALL ? all : all & ~(P(PAGES_READ) | P(PAGE_WRITTEN));
}

/* ---- loading ---- */

static void choose(struct io_bpf *skeleton, uint32_t wanted, const char *spoil)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj)
	{
		const char *name = bpf_program__name(program);
		bool is_wanted = false;

		for (int part = 0; part < PARTS; part++)
			is_wanted |= (wanted >> part & 1) && strcmp(parts[part].program, name) == 0;
		(void)bpf_program__set_autoload(program, is_wanted);
		if (spoil && strcmp(spoil, name) == 0)
			(void)bpf_program__set_flags(program, BPF_FLAGS_REFUSED);
	}
}

static int load(const struct activity_options *options, uint32_t wanted, uint32_t cgroups,
		struct io_bpf **ret)
{
	bool is_old = kernel_version_is_before(kernel_version_read(), TYPED_MAJOR, TYPED_MINOR);
	struct io_bpf *skeleton = io_bpf__open();
	int r;

	if (!skeleton)
		return -errno;
	skeleton->rodata->cgroup_controller = bpf_controller_number(options->cgroup_controller);
	skeleton->rodata->has_typed_task = !is_old;
	skeleton->rodata->has_queue_argument = is_old;
	skeleton->rodata->has_socket_calls =
		!kernel_version_is_before(kernel_version_read(), CALLS_MAJOR, CALLS_MINOR);
	choose(skeleton, wanted, options->spoil_program);
	r = bpf_map__set_max_entries(skeleton->maps.amounts, cgroups);
	if (r == 0)
		r = io_bpf__load(skeleton);
	if (r < 0) {
		io_bpf__destroy(skeleton);
		return r;
	}
	*ret = skeleton;
	return 0;
}

/* Without those that the kernel refuses by themselves. */
static int load_each(struct io_signals *io, const struct activity_options *options)
{
	uint32_t accepted = 0;

	for (int part = 0; part < PARTS; part++) {
		struct io_bpf *skeleton;

		if (!(io->wanted >> part & 1))
			continue;
		io->err[part] = load(options, 1U << part, io->cgroups, &skeleton);
		if (io->err[part] < 0)
			continue;
		io_bpf__destroy(skeleton);
		accepted |= 1U << part;
	}
	return accepted ? load(options, accepted, io->cgroups, &io->skeleton) : -ENOTSUP;
}

static void attach(struct io_signals *io)
{
	for (int part = 0; part < PARTS; part++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(io->skeleton->obj, parts[part].program);

		if (!(io->wanted >> part & 1) || io->err[part] < 0)
			continue;
		io->links[part] =
			bpf_program__attach_raw_tracepoint(program, parts[part].tracepoint);
		if (io->links[part])
			continue;
		io->err[part] = -errno;
		io->lacks[part] = errno == ENOENT;
		log_debug("BPF program %s is not attached to %s: %d", parts[part].program,
			  parts[part].tracepoint, io->err[part]);
	}
}

static void judge(struct io_signals *io)
{
	uint32_t there = 0;

	for (int part = 0; part < PARTS; part++)
		there |= io->links[part] ? 1U << part : 0;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		if ((needs[i].parts & there) == needs[i].parts)
			io->signals |= SIGNAL_BIT(needs[i].signal);
		else if ((needs[i].parts & io->wanted) == needs[i].parts)
			io->missing |= SIGNAL_BIT(needs[i].signal);
	}
}

/* ---- life ---- */

static int make_room(struct io_signals *io)
{
	int cpus = libbpf_num_possible_cpus();
	size_t fitting;

	if (cpus < 1)
		return cpus < 0 ? cpus : -EINVAL;
	io->cpus = (size_t)cpus;
	fitting = TABLE_BYTES / (io->cpus * sizeof(struct kepler_io));
	io->cgroups = fitting < KEPLER_IO_CGROUPS_MAX ? (uint32_t)fitting : KEPLER_IO_CGROUPS_MAX;
	if (io->cgroups < CGROUPS_MIN)
		io->cgroups = CGROUPS_MIN;
	io->ids = malloc(io->cgroups * sizeof(*io->ids));
	io->sums = malloc(io->cgroups * io->cpus * sizeof(*io->sums));
	io->of_cpus = malloc(io->cpus * sizeof(*io->of_cpus));
	return io->ids && io->sums && io->of_cpus ? 0 : -ENOMEM;
}

static void cleanup_io(struct io_signals **io)
{
	io_signals_close(*io);
}

int io_signals_open(const struct activity_options *options, struct io_signals **ret)
{
	CLEANUP(cleanup_io) struct io_signals *io = calloc(1, sizeof(*io));
	int r;

	if (!io)
		return -ENOMEM;
	io_amounts_init(&io->amounts);
	io->wanted = wanted_parts(options->io);
	r = make_room(io);
	if (r < 0)
		return r;
	r = load(options, io->wanted, io->cgroups, &io->skeleton);
	if (r < 0 && r != -EPERM && r != -ENOMEM)
		r = load_each(io, options);
	if (r < 0)
		return r;
	attach(io);
	judge(io);
	*ret = TAKE_PTR(io);
	return 0;
}

void io_signals_close(struct io_signals *io)
{
	if (!io)
		return;
	for (int part = 0; part < PARTS; part++)
		(void)bpf_link__destroy(io->links[part]);
	io_bpf__destroy(io->skeleton);
	io_amounts_release(&io->amounts);
	free(io->ids);
	free(io->sums);
	free(io->of_cpus);
	free(io);
}

/* ---- a reading ---- */

static void read_cpus(struct io_signals *io)
{
	uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(io->skeleton->maps.cpus), &zero, io->of_cpus) < 0)
		return;
	io->dropped = io->softirqs_without_cause = io->softirq_ns_without_cause = 0;
	for (size_t cpu = 0; cpu < io->cpus; cpu++) {
		const struct kepler_io_cpu *it = &io->of_cpus[cpu];

		io->dropped += it->dropped;
		io->softirq_ns_without_cause += it->without_cause.amount[KEPLER_IO_SOFTIRQ_NS];
		io->softirqs_without_cause += it->without_cause.amount[KEPLER_IO_NET_TX] +
					      it->without_cause.amount[KEPLER_IO_NET_RX] +
					      it->without_cause.amount[KEPLER_IO_BLOCK];
	}
}

void io_signals_read(struct io_signals *io, struct activity *activity)
{
	int fd = bpf_map__fd(io->skeleton->maps.amounts);
	uint32_t count = io->cgroups, batch;

	io_amounts_begin(&io->amounts);
	/* There is room for all, so that one call takes all, and says that there are no more. */
	if (bpf_map_lookup_batch(fd, NULL, &batch, io->ids, io->sums, &count, NULL) < 0 &&
	    errno != ENOENT)
		count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (io_amounts_take(&io->amounts, io->ids[i], io->sums + i * io->cpus, io->cpus,
				    io->signals) == 1 &&
		    bpf_map_delete_elem(fd, &io->ids[i]) == 0)
			io_amounts_forget(&io->amounts, io->ids[i]);
	}
	read_cpus(io);
	activity->signals |= io->signals;
	activity->cgroup_signals = io->amounts.changes;
	activity->cgroup_signal_count = io->amounts.change_count;
}

static void add_missing(const struct io_signals *io, struct io_info *info)
{
	size_t len = 0;

	for (int part = 0; part < PARTS; part++) {
		if (!io->err[part])
			continue;
		info->refused += !io->lacks[part];
		if (len < sizeof(info->missing_text))
			len += (size_t)snprintf(
				info->missing_text + len, sizeof(info->missing_text) - len,
				"%s%s: %s", len ? "; " : "",
				io->lacks[part] ? parts[part].tracepoint : parts[part].program,
				io->lacks[part] ? "no such tracepoint"
						: strerrordesc_np(-io->err[part]));
	}
}

void io_signals_get_info(const struct io_signals *io, struct io_info *ret)
{
	*ret = (struct io_info){
		.signals = io->signals,
		.missing = io->missing,
		.softirqs_without_cause = io->softirqs_without_cause,
		.softirq_ns_without_cause = io->softirq_ns_without_cause,
		.dropped = io->dropped,
	};
	add_missing(io, ret);
}
