// SPDX-License-Identifier: Apache-2.0
/*
 * pmu-loop MILLIONS - runs a loop of so many million turns and prints "PID CYCLES INSTRUCTIONS", as
 * events of its own have counted them in user space and in the kernel; then it waits for a signal.
 *
 * pmu-loop --hog CPU COUNT - takes counters: opens COUNT events of instructions on a CPU, prints
 * how many of them opened, and waits.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(uint64_t config, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);
}

/* The count of an event, extrapolated; 0 without one. */
static uint64_t read_event(int fd)
{
	uint64_t value[3] = { 0 };

	if (fd < 0 || read(fd, value, sizeof(value)) != (ssize_t)sizeof(value) || !value[2])
		return 0;
	return (uint64_t)((double)value[0] * (double)value[1] / (double)value[2]);
}

static void wait_for_a_signal(void)
{
	(void)fflush(stdout);
	for (;;)
		(void)pause();
}

static void hog(int cpu, int count)
{
	int opened = 0;

	for (int i = 0; i < count; i++)
		opened += open_event(PERF_COUNT_HW_INSTRUCTIONS, -1, cpu) >= 0;
	(void)printf("%d\n", opened);
	wait_for_a_signal();
}

int main(int argc, char **argv)
{
	uint64_t turns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	uint64_t counted_cycles, counted_instructions;
	int cycles, instructions;

	if (argc == 4 && strcmp(argv[1], "--hog") == 0)
		hog(atoi(argv[2]), atoi(argv[3]));
	if (!turns) {
		(void)fprintf(stderr, "usage: pmu-loop MILLIONS | --hog CPU COUNT\n");
		return 2;
	}
	cycles = open_event(PERF_COUNT_HW_CPU_CYCLES, 0, -1);
	instructions = open_event(PERF_COUNT_HW_INSTRUCTIONS, 0, -1);
	for (uint64_t i = 0; i < turns; i++)
		__asm__ volatile("" : "+r"(i));
	counted_cycles = read_event(cycles);
	counted_instructions = read_event(instructions);
	(void)printf("%d %llu %llu\n", (int)getpid(), (unsigned long long)counted_cycles,
		     (unsigned long long)counted_instructions);
	wait_for_a_signal();
}
