// SPDX-License-Identifier: Apache-2.0
/*
 * The state of each CPU is memory shared with the kernel: an idle CPU is not woken for a flush,
 * because nothing runs there that could be charged.
 *
 * An event of a CPU that goes offline stops there, and does not go on when the CPU comes back: it
 * is closed, and opened again, which takes a privilege that is kept only with counters=ALWAYS. The
 * program notices the other event by its times, which began at 0.
 */
#include "activity/bpf_reader/switch_reader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "activity/counters.h"
#include "base/file.h"
#include "base/macro.h"
#include "bpf/kepler_work.h"
#include "energy/signal.h"
#include "host/topology.h"

#include <kepler.skel.h>

#define CPUS_MAX     8192
#define LIST_MAX     4096 /* of the text of a list of CPUs */
#define SIBLINGS_MAX 16

struct switch_reader {
	const struct kepler_bpf *skeleton; /* NULL: stopped */
	struct bpf_link *switches, *threads;
	int flush_fd;              /* -1: none */
	struct counters *counters; /* NULL: none */
	const struct cpu_sockets *sockets;
	char *sysfs;
	struct kepler_cpu *cpus; /* [cpu_count] */
	size_t cpu_count;        /* that the kernel may ever have */
	int online_fd;           /* of the list of online CPUs; -1: all are taken as online */
	char online[LIST_MAX];   /* as it was last */
	bool *is_online;         /* [cpu_count] */
	bool *is_counted;        /* [cpu_count], with all events */
	bool may_open_later;
	bool is_late;
	bool has_siblings, has_places, has_wide_cores;
};

/* ---- CPUs ---- */

/* The core's other CPU, in pairs of the order of the list; KEPLER_CPU_NONE where it is alone. */
static uint32_t find_sibling(struct switch_reader *reader, unsigned cpu)
{
	unsigned siblings[SIBLINGS_MAX];
	char path[4096], list[256];
	size_t count;
	int len = snprintf(path, sizeof(path),
			   "%s/devices/system/cpu/cpu%u/topology/thread_siblings_list",
			   reader->sysfs, cpu);

	if (len < 0 || (size_t)len >= sizeof(path) ||
	    read_file_at(AT_FDCWD, path, list, sizeof(list)) < 0)
		return KEPLER_CPU_NONE;
	count = topology_list_cpus(list, siblings, SIBLINGS_MAX);
	if (count > 2)
		reader->has_wide_cores = true;
	for (size_t i = 0; i < count; i++) {
		if (siblings[i] == cpu)
			return (i ^ 1) < count ? siblings[i ^ 1] : KEPLER_CPU_NONE;
	}
	return KEPLER_CPU_NONE;
}

/* Which CPUs are online now; false where that did not change. */
static bool read_online(struct switch_reader *reader)
{
	char list[LIST_MAX];
	unsigned *cpus;
	size_t count;

	if (reader->online_fd < 0 || read_fd(reader->online_fd, list, sizeof(list)) < 0 ||
	    strcmp(list, reader->online) == 0)
		return false;
	cpus = calloc(reader->cpu_count, sizeof(*cpus));
	if (!cpus)
		return false; /* the next pass tries again */
	count = topology_list_cpus(list, cpus, reader->cpu_count);
	memset(reader->is_online, 0, reader->cpu_count * sizeof(*reader->is_online));
	for (size_t i = 0; i < count; i++) {
		if (cpus[i] < reader->cpu_count)
			reader->is_online[cpus[i]] = true;
	}
	free(cpus);
	memcpy(reader->online, list, sizeof(list));
	return true;
}

static void set_online(struct switch_reader *reader)
{
	char path[4096];

	reader->online_fd = -1;
	if (path_join(path, sizeof(path), reader->sysfs, "devices/system/cpu/online") == 0)
		reader->online_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (read_online(reader))
		return;
	for (size_t cpu = 0; cpu < reader->cpu_count; cpu++)
		reader->is_online[cpu] = true;
}

/* ---- events ---- */

static void open_events(struct switch_reader *reader, unsigned cpu)
{
	reader->is_counted[cpu] =
		counters_open_cpu(reader->counters, bpf_map__fd(reader->skeleton->maps.events),
				  cpu) == 0;
}

static void follow_cpus(struct switch_reader *reader)
{
	int map_fd = bpf_map__fd(reader->skeleton->maps.events);

	if (!read_online(reader))
		return;
	for (unsigned cpu = 0; cpu < reader->cpu_count; cpu++) {
		if (reader->is_online[cpu])
			reader->cpus[cpu].sibling = find_sibling(reader, cpu);
		if (!counters_mask(reader->counters))
			continue;
		if (!reader->is_online[cpu] && reader->is_counted[cpu]) {
			counters_close_cpu(reader->counters, map_fd, cpu);
			reader->is_counted[cpu] = false;
		} else if (reader->is_online[cpu] && !reader->is_counted[cpu] &&
			   reader->may_open_later) {
			open_events(reader, cpu);
		}
	}
}

unsigned switch_reader_uncounted_cpus(const struct switch_reader *reader)
{
	unsigned count = 0;

	if (!reader || !counters_mask(reader->counters))
		return 0;
	for (size_t cpu = 0; cpu < reader->cpu_count; cpu++)
		count += reader->is_online[cpu] && !reader->is_counted[cpu];
	return count;
}

/* The events to count; without any of them there is a reason in @why. */
static int find_counters(struct switch_reader *reader, const struct activity_options *options,
			 char *why, size_t why_size)
{
	const char *names[COUNTER_USES];
	unsigned *cpus;
	size_t count = 0;
	int r;

	if (options->switches.counters == SWITCH_NEVER) {
		(void)snprintf(why, why_size, "switched off (--counters.enabled)");
		return 0;
	}
	cpus = calloc(reader->cpu_count, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < reader->cpu_count; cpu++) {
		if (reader->is_online[cpu])
			cpus[count++] = cpu;
	}
	for (size_t i = 0; i < COUNTER_USES; i++) {
		const char *name = options->switches.events[i];

		names[i] = name && name[0] ? name : "auto";
	}
	r = counters_find(reader->sysfs, names, cpus, count, &reader->counters, why, why_size);
	free(cpus);
	return r;
}

/* ---- loading ---- */

static bool is_wanted(const struct switch_reader *reader, const struct activity_options *options)
{
	return options->switches.switches == SWITCH_ALWAYS ||
	       (options->switches.switches == SWITCH_AUTO && counters_mask(reader->counters));
}

static void find_topology(struct switch_reader *reader)
{
	reader->has_places =
		cpu_sockets_differ(reader->sockets) && reader->sockets->count <= KEPLER_PLACES_MAX;
	for (unsigned cpu = 0; cpu < reader->cpu_count && !reader->has_siblings; cpu++)
		reader->has_siblings =
			reader->is_online[cpu] && find_sibling(reader, cpu) != KEPLER_CPU_NONE;
}

int switch_reader_configure(const struct switch_reader *reader, struct kepler_bpf *skeleton)
{
	uint32_t cpus = reader ? (uint32_t)reader->cpu_count : 0;
	int r;

	if (!reader) {
		r = bpf_map__set_autocreate(skeleton->maps.thread_work, false);
		if (r == 0)
			r = bpf_map__set_autocreate(skeleton->maps.cpus, false);
		return r < 0 ? r : bpf_map__set_autocreate(skeleton->maps.events, false);
	}
	skeleton->rodata->has_work = true;
	skeleton->rodata->counters = counters_mask(reader->counters);
	skeleton->rodata->has_siblings = reader->has_siblings;
	skeleton->rodata->has_places = reader->has_places;
	r = bpf_map__set_max_entries(skeleton->maps.works, KEPLER_RECORDS_MAX);
	if (r == 0)
		r = bpf_map__set_max_entries(skeleton->maps.cpus, cpus);
	if (r == 0)
		r = bpf_map__set_max_entries(skeleton->maps.events, cpus * KEPLER_COUNTERS_MAX);
	return r;
}

static int map_cpus(struct switch_reader *reader)
{
	void *cpus = mmap(NULL, reader->cpu_count * sizeof(*reader->cpus), PROT_READ | PROT_WRITE,
			  MAP_SHARED, bpf_map__fd(reader->skeleton->maps.cpus), 0);

	if (cpus == MAP_FAILED)
		return -errno;
	reader->cpus = cpus;
	for (unsigned cpu = 0; cpu < reader->cpu_count; cpu++) {
		reader->cpus[cpu].sibling = find_sibling(reader, cpu);
		reader->cpus[cpu].place = KEPLER_CPU_NONE;
		if (counters_mask(reader->counters) && reader->is_online[cpu])
			open_events(reader, cpu);
	}
	return 0;
}

int switch_reader_start(struct switch_reader *reader, struct kepler_bpf *skeleton,
			const struct bpf_program *switches, const struct bpf_program *flush)
{
	int r;

	reader->skeleton = skeleton;
	reader->flush_fd = flush ? bpf_program__fd(flush) : -1;
	reader->is_late = !flush;
	r = map_cpus(reader);
	if (r < 0)
		return r;
	/* New threads first: one that is made in between is found by the first pass. */
	reader->threads = bpf_program__attach(skeleton->progs.thread_made);
	if (!reader->threads)
		return -errno;
	reader->switches = bpf_program__attach(switches);
	if (!reader->switches)
		return -errno;
	switch_reader_flush(reader);
	return 0;
}

void switch_reader_stop(struct switch_reader *reader)
{
	(void)bpf_link__destroy(TAKE_PTR(reader->switches));
	(void)bpf_link__destroy(TAKE_PTR(reader->threads));
	if (reader->cpus)
		(void)munmap(TAKE_PTR(reader->cpus), reader->cpu_count * sizeof(*reader->cpus));
	reader->skeleton = NULL;
}

static void cleanup_reader(struct switch_reader **reader)
{
	switch_reader_close(*reader);
}

static int reserve(struct switch_reader *reader, const struct activity_options *options)
{
	int possible = libbpf_num_possible_cpus();

	reader->cpu_count = possible > 0 && possible <= CPUS_MAX ? (size_t)possible : 1;
	reader->sysfs = strdup(options->sysfs ? options->sysfs : "/sys");
	reader->is_online = calloc(reader->cpu_count, sizeof(*reader->is_online));
	reader->is_counted = calloc(reader->cpu_count, sizeof(*reader->is_counted));
	return reader->sysfs && reader->is_online && reader->is_counted ? 0 : -ENOMEM;
}

int switch_reader_plan(const struct activity_options *options, struct switch_reader **ret,
		       char *why, size_t why_size)
{
	CLEANUP(cleanup_reader) struct switch_reader *reader = calloc(1, sizeof(*reader));
	int r;

	*ret = NULL;
	why[0] = '\0';
	if (!reader)
		return -ENOMEM;
	reader->online_fd = reader->flush_fd = -1;
	r = reserve(reader, options);
	if (r < 0)
		return r;
	if (options->switches.switches == SWITCH_NEVER) {
		(void)snprintf(why, why_size, "switched off (--counters.switches)");
		return 0;
	}
	reader->sockets = options->sockets;
	reader->may_open_later = options->switches.counters == SWITCH_ALWAYS;
	set_online(reader);
	find_topology(reader);
	r = find_counters(reader, options, why, why_size);
	if (r < 0 || !is_wanted(reader, options))
		return r;
	*ret = TAKE_PTR(reader);
	return 0;
}

void switch_reader_close(struct switch_reader *reader)
{
	if (!reader)
		return;
	switch_reader_stop(reader);
	counters_free(reader->counters);
	if (reader->online_fd >= 0)
		(void)close(reader->online_fd);
	free(reader->sysfs);
	free(reader->is_online);
	free(reader->is_counted);
	free(reader);
}

/* ---- what passes need ---- */

uint32_t switch_reader_signals(const struct switch_reader *reader)
{
	uint32_t signals = SIGNAL_BIT(SIGNAL_COUNTED_TIME);

	if (!reader)
		return 0;
	if (reader->has_siblings)
		signals |= SIGNAL_BIT(SIGNAL_PAIRED_TIME);
	return signals | counters_mask(reader->counters) << SIGNAL_CPU_CYCLES;
}

static void follow_places(struct switch_reader *reader)
{
	if (!reader->has_places)
		return;
	for (uint32_t cpu = 0; cpu < reader->cpu_count; cpu++) {
		uint32_t place = cpu_sockets_of(reader->sockets, cpu);

		reader->cpus[cpu].place = place == SOCKET_NONE ? KEPLER_CPU_NONE : place;
	}
}

/* True if something may run there that is to be charged; or it is not known yet what does. */
static bool is_busy(const struct kepler_cpu *cpu)
{
	const volatile struct kepler_cpu *now = cpu;

	return !now->is_seen || now->idle >= 0;
}

void switch_reader_flush(struct switch_reader *reader)
{
	follow_cpus(reader);
	follow_places(reader);
	for (uint32_t cpu = 0; reader->flush_fd >= 0 && cpu < reader->cpu_count; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, run);
		int r;

		run.flags = BPF_F_TEST_RUN_ON_CPU;
		run.cpu = cpu;
		if (!reader->is_online[cpu] || !is_busy(&reader->cpus[cpu]))
			continue;
		r = bpf_prog_test_run_opts(reader->flush_fd, &run);
		if (r < 0 && r != -ENXIO) /* it has just gone offline */
			reader->is_late = true;
	}
}

bool switch_reader_is_late(const struct switch_reader *reader)
{
	return reader && reader->is_late;
}

bool switch_reader_has_wide_cores(const struct switch_reader *reader)
{
	return reader && reader->has_wide_cores;
}
