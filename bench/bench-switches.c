// SPDX-License-Identifier: Apache-2.0
/*
 * bench-switches OBJECT [ROUNDS | --empty] - what counting context switches costs at each of them:
 * Kepler's program, the shape of tables (OBJECT is switch_shapes.bpf.o), and a program that does
 * nothing, with 0, 1 and 3 events, between 2 processes and along a ring of 2,000, on one CPU. Then
 * Kepler's program as it is on a core with two threads, without events.
 *
 * The kernel itself takes the time of each program (BPF_STATS_RUN_TIME); the cost is this time less
 * the time of the program that does nothing. All rounds are in one run, each with all shapes in
 * turn. The events are the time stamp counter (PMU msr), read as others are, with an instruction.
 *
 * With --empty: the time of the program that does nothing, in ns, at the switches of other
 * processes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "activity/activity.h"

#define COLD_TASKS 2000
#define ROUNDS_MAX 64
#define SHAPES     4
#define LOADS      2
#define SECONDS    1
#define PAIRED     UINT_MAX /* in place of a number of events */

static const unsigned counter_counts[] = { 0, 1, 3 };
static const char *const shapes[SHAPES] = { "shape_empty", "switch_typed", "shape_tables",
					    "shape_clock" };
static const char *const loads[LOADS] = { "2 tasks", "2,000 tasks" };
static uint32_t msr_type;

static void fail(const char *what)
{
	(void)fprintf(stderr, "bench-switches: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- load: a byte travels along a ring ---- */

struct ring {
	int start; /* where the byte is written */
	pid_t group;
	size_t count;
};

static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		fail("sched_setaffinity");
}

static void hand_on(int from, int to)
{
	char byte;

	pin();
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1)
		;
	_exit(0);
}

static struct ring make_ring(size_t count)
{
	struct ring ring = { .count = count };
	int first[2], from[2], to[2];

	if (pipe(first) < 0)
		fail("pipe");
	from[0] = first[0];
	for (size_t i = 0; i < count; i++) {
		bool is_last = i + 1 == count;
		pid_t pid;

		if (is_last)
			to[1] = first[1];
		else if (pipe(to) < 0)
			fail("pipe");
		pid = fork();
		if (pid < 0)
			fail("fork");
		(void)setpgid(pid, ring.group);
		if (pid == 0)
			hand_on(from[0], to[1]);
		if (!ring.group)
			ring.group = pid;
		(void)close(from[0]);
		if (!is_last) {
			(void)close(to[1]);
			from[0] = to[0];
		}
	}
	ring.start = first[1];
	return ring;
}

static void run_for(const struct ring *ring, unsigned seconds)
{
	const struct timespec pause = { .tv_sec = seconds };
	static bool has_byte[2];
	bool *its = &has_byte[ring->count > 2];

	if (*its)
		(void)kill(-ring->group, SIGCONT);
	else if (write(ring->start, "x", 1) != 1)
		fail("write");
	*its = true;
	(void)nanosleep(&pause, NULL);
	(void)kill(-ring->group, SIGSTOP);
}

static void end_ring(const struct ring *ring)
{
	(void)kill(-ring->group, SIGKILL);
	for (size_t i = 0; i < ring->count; i++)
		(void)waitpid(-ring->group, NULL, 0);
}

/* ---- programs ---- */

static struct bpf_object *load_shapes(const char *path, const char *program, unsigned counters)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *each;
	struct bpf_map *map;

	if (!object)
		fail(path);
	bpf_object__for_each_program(each, object)(void)
		bpf_program__set_autoload(each, strcmp(bpf_program__name(each), program) == 0);
	map = bpf_object__find_map_by_name(object, ".rodata");
	if (!map || bpf_map__set_initial_value(map, &counters, sizeof(counters)) < 0 ||
	    bpf_object__load(object) < 0)
		fail(program);
	for (unsigned i = 0; i < counters; i++) {
		struct perf_event_attr attr = { .type = msr_type, .size = sizeof(attr) };
		uint32_t cpu = 0;
		char name[32];
		int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

		(void)snprintf(name, sizeof(name), "shape_event_%u", i);
		if (fd < 0 || bpf_map_update_elem(bpf_object__find_map_fd_by_name(object, name),
						  &cpu, &fd, BPF_ANY) < 0)
			fail(name);
		(void)close(fd);
	}
	return object;
}

/* The newest program of that name. */
static struct bpf_prog_info find_program(const char *name)
{
	struct bpf_prog_info found = { 0 };
	uint32_t id = 0;

	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && strcmp(info.name, name) == 0)
			found = info;
		(void)close(fd);
	}
	return found;
}

static double cost_ns(const char *program, const struct ring *ring)
{
	struct bpf_prog_info before, after;

	run_for(ring, SECONDS); /* warm */
	before = find_program(program);
	run_for(ring, SECONDS);
	after = find_program(program);
	if (!before.id || after.run_cnt == before.run_cnt)
		return 0;
	return (double)(after.run_time_ns - before.run_time_ns) /
	       (double)(after.run_cnt - before.run_cnt);
}

/* A tree in which the CPUs 0 and 1 are of one core. */
static const char *sysfs_of_pairs(void)
{
	static char root[] = "/tmp/bench-switches-XXXXXX";
	char command[256];

	if (!mkdtemp(root))
		fail("mkdtemp");
	(void)snprintf(command, sizeof(command),
		       "d=%s/devices/system/cpu; mkdir -p $d/cpu0/topology; echo 0-1 >$d/online; "
		       "echo 0-1 >$d/cpu0/topology/thread_siblings_list",
		       root);
	if (system(command) != 0)
		fail("mkdir");
	return root;
}

static double measure_kepler(const struct ring *ring, unsigned events)
{
	static const char *pairs;
	const unsigned counters = events == PAIRED ? 0 : events;
	struct activity_options options = {
		.allow_bpf = true,
		.allow_walk = true,
		.switches = { .switches = SWITCH_ALWAYS,
			      .counters = counters ? SWITCH_ALWAYS : SWITCH_NEVER,
			      .events = { "msr:0x0", counters > 1 ? "msr:0x0" : "none",
					  counters > 2 ? "msr:0x0" : "none", "none" } },
	};
	struct activity_reader *reader;
	struct activity activity;
	double cost;

	if (events == PAIRED && !pairs)
		pairs = sysfs_of_pairs();
	options.sysfs = events == PAIRED ? pairs : NULL;
	if (activity_open(&options, &reader) < 0 || activity_read(reader, &activity) < 0)
		fail("activity");
	cost = cost_ns("switch_typed", ring);
	activity_close(reader);
	return cost;
}

static double measure(const char *path, int shape, unsigned counters, const struct ring *ring)
{
	struct bpf_object *object;
	struct bpf_link *link;
	double cost;

	if (shape == 1)
		return measure_kepler(ring, counters);
	object = load_shapes(path, shapes[shape], shape == 2 ? counters : 0);
	link = bpf_program__attach(bpf_object__find_program_by_name(object, shapes[shape]));
	if (!link)
		fail("attach");
	cost = cost_ns(shapes[shape], ring);
	(void)bpf_link__destroy(link);
	bpf_object__close(object);
	return cost;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static uint32_t read_msr_type(void)
{
	FILE *file = fopen("/sys/bus/event_source/devices/msr/type", "re");
	unsigned type = 0;

	if (!file || fscanf(file, "%u", &type) != 1)
		fail("PMU msr");
	(void)fclose(file);
	return type;
}

/* Rows by number of events: Kepler, tables, the clock alone, and the empty program as it is. */
static void measure_load(const char *path, int load, size_t rounds)
{
	static double costs[SHAPES][3][ROUNDS_MAX], paired[ROUNDS_MAX];
	struct ring ring = make_ring(load ? COLD_TASKS : 2);

	for (size_t round = 0; round < rounds; round++) {
		for (int shape = 0; shape < SHAPES; shape++) {
			for (int c = 0; c < (shape == 1 || shape == 2 ? 3 : 1); c++)
				costs[shape][c][round] =
					measure(path, shape, counter_counts[c], &ring);
		}
		paired[round] = measure_kepler(&ring, PAIRED);
	}
	end_ring(&ring);
	for (int c = 0; c < 3; c++) {
		double empty = median(costs[0][0], rounds);

		(void)printf("| %s, %u counters | %.0f ns | %.0f ns | %.0f ns | %.0f ns |\n",
			     loads[load], counter_counts[c], median(costs[1][c], rounds) - empty,
			     median(costs[2][c], rounds) - empty,
			     median(costs[3][0], rounds) - empty, empty);
		(void)fflush(stdout);
	}
	(void)printf("| %s, 0 counters, cores with two threads | %.0f ns | | | |\n", loads[load],
		     median(paired, rounds) - median(costs[0][0], rounds));
}

static int measure_empty(const char *path)
{
	const struct timespec pause = { .tv_sec = SECONDS };
	struct bpf_object *object = load_shapes(path, shapes[0], 0);
	struct bpf_link *link =
		bpf_program__attach(bpf_object__find_program_by_name(object, shapes[0]));
	struct bpf_prog_info info;

	if (!link)
		fail("attach");
	(void)nanosleep(&pause, NULL);
	info = find_program(shapes[0]);
	(void)printf("%.1f\n", (double)info.run_time_ns / (double)(info.run_cnt ?: 1));
	(void)bpf_link__destroy(link);
	bpf_object__close(object);
	return 0;
}

int main(int argc, char **argv)
{
	const struct rlimit files = { 65536, 65536 };
	bool is_empty = argc > 2 && strcmp(argv[2], "--empty") == 0;
	size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 5;

	if (argc < 2 || (!is_empty && (rounds == 0 || rounds > ROUNDS_MAX))) {
		(void)fprintf(stderr,
			      "usage: bench-switches switch_shapes.bpf.o [ROUNDS | --empty]\n");
		return 2;
	}
	(void)setrlimit(RLIMIT_NOFILE, &files);
	msr_type = read_msr_type();
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		fail("bpf_enable_stats");
	if (is_empty)
		return measure_empty(argv[1]);
	for (int load = 0; load < LOADS; load++)
		measure_load(argv[1], load, rounds);
	return 0;
}
