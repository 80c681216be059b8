// SPDX-License-Identifier: Apache-2.0
/*
 * A library that stands in for libnvidia-ml.so.1, after NVIDIA's public API reference: for tests,
 * and for whoever has no such board. It shares no declaration with the program.
 *
 * $NVML_LAB_STATE names a file that is read in each call:
 *
 *   init CODE                what nvmlInit_v2 returns (0; 9: the driver is not loaded)
 *   gpu IDX MILLIWATT        a board; it draws that much until a later call finds another number
 *   error IDX CODE           what its energy and power return (15: lost; 3: not supported)
 *   nocounter IDX            it has no counter of energy, as before Volta
 *   nosamples IDX            processes are not sampled, as with MIG
 *   delay IDX MILLISECONDS   reading its energy takes so long
 *   proc IDX PID SM MEBIBYTE a process, by its per cent of the board and its memory
 *   ahead IDX SECONDS        samples of processes say that they are of so much later
 *   stale IDX                there is no newer sample of processes
 *   boast IDX NUMBER         so many more processes are said to be told than are
 *
 * $NVML_LAB_TRUTH is the number of a descriptor (the program may not be permitted to write files):
 * at IDX × 32 bytes of it the last energy that was told of each board stands, "MILLIJOULE\n".
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GPUS      128
#define PROCESSES 4096
#define EXPORT    __attribute__((visibility("default")))

enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID = 2,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	TOO_SMALL = 7,
	LOST = 15,
};

struct board {
	int index;
	bool is_there, has_no_counter, has_no_samples, is_stale;
	int error, delay_ms, ahead_s, boast;
	double power_mw, energy_mj;
};

struct process {
	int gpu;
	unsigned pid, sm, memory_mib;
};

struct sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder;
};

struct running {
	unsigned pid;
	unsigned long long memory_bytes;
	unsigned gpu_instance, compute_instance;
};

struct rates {
	unsigned gpu, memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct board boards[GPUS];
static struct process processes[PROCESSES];
static size_t process_count;
static int init_code;
static unsigned starts;
static double read_s; /* when the state was read last */

static double now_s(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void take_line(const char *line)
{
	char word[16];
	int gpu, a = 0, b = 0, c = 0;
	int fields = sscanf(line, "%15s %d %d %d %d", word, &gpu, &a, &b, &c);
	struct board *board = &boards[fields >= 2 && gpu >= 0 && gpu < GPUS ? gpu : 0];

	if (fields < 2)
		return;
	if (strcmp(word, "init") == 0) {
		init_code = gpu;
	} else if (strcmp(word, "gpu") == 0) {
		board->is_there = true;
		board->power_mw = a;
	} else if (strcmp(word, "error") == 0) {
		board->error = a;
	} else if (strcmp(word, "nocounter") == 0) {
		board->has_no_counter = true;
	} else if (strcmp(word, "nosamples") == 0) {
		board->has_no_samples = true;
	} else if (strcmp(word, "stale") == 0) {
		board->is_stale = true;
	} else if (strcmp(word, "delay") == 0) {
		board->delay_ms = a;
	} else if (strcmp(word, "ahead") == 0) {
		board->ahead_s = a;
	} else if (strcmp(word, "boast") == 0) {
		board->boast = a;
	} else if (strcmp(word, "proc") == 0 && process_count < PROCESSES) {
		processes[process_count++] =
			(struct process){ gpu, (unsigned)a, (unsigned)b, (unsigned)c };
	}
}

/* Boards draw what was said before until now. */
static void read_state(void)
{
	const char *path = getenv("NVML_LAB_STATE");
	FILE *file = path ? fopen(path, "re") : NULL;
	double now = now_s(CLOCK_MONOTONIC), passed_s = read_s > 0 ? now - read_s : 0;
	char line[256];

	read_s = now;
	for (int i = 0; i < GPUS; i++) {
		double energy_mj = boards[i].energy_mj + boards[i].power_mw * passed_s;

		boards[i] = (struct board){ .index = i, .energy_mj = energy_mj };
	}
	process_count = 0;
	init_code = OK;
	while (file && fgets(line, sizeof(line), file))
		take_line(line);
	if (file)
		(void)fclose(file);
}

static void enter(void)
{
	(void)pthread_mutex_lock(&lock);
	read_state();
}

static int leave(int result)
{
	(void)pthread_mutex_unlock(&lock);
	return result;
}

static void tell_truth(const struct board *board)
{
	const char *number = getenv("NVML_LAB_TRUTH");
	int fd = number ? atoi(number) : -1;
	char text[33];

	if (fd < 0)
		return;
	(void)snprintf(text, sizeof(text), "%-31llu\n", (unsigned long long)board->energy_mj);
	if (pwrite(fd, text, 32, (off_t)board->index * 32) != 32)
		abort();
}

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	enter();
	starts += init_code == OK;
	return leave(init_code);
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	enter();
	if (!starts)
		return leave(UNINITIALIZED);
	starts--;
	return leave(OK);
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *ret);
EXPORT int nvmlDeviceGetCount_v2(unsigned *ret)
{
	enter();
	*ret = 0;
	for (int i = 0; i < GPUS; i++)
		*ret += boards[i].is_there;
	return leave(starts ? OK : UNINITIALIZED);
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct board **ret);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct board **ret)
{
	enter();
	for (int i = 0; i < GPUS; i++) {
		if (!boards[i].is_there || index--)
			continue;
		*ret = &boards[i];
		return leave(OK);
	}
	return leave(INVALID);
}

EXPORT int nvmlDeviceGetUUID(struct board *board, char *ret, unsigned size);
EXPORT int nvmlDeviceGetUUID(struct board *board, char *ret, unsigned size)
{
	int len = snprintf(ret, size, "GPU-%08x-0000-4000-8000-%012x", (unsigned)board->index,
			   (unsigned)board->index);

	return len < (int)size ? OK : TOO_SMALL;
}

EXPORT int nvmlDeviceGetMinorNumber(struct board *board, unsigned *ret);
EXPORT int nvmlDeviceGetMinorNumber(struct board *board, unsigned *ret)
{
	*ret = (unsigned)board->index;
	return OK;
}

static int state_of(const struct board *board)
{
	if (!starts)
		return UNINITIALIZED;
	return board->is_there ? board->error : LOST;
}

static void wait_for(const struct board *board)
{
	(void)usleep((useconds_t)board->delay_ms * 1000);
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(struct board *board, unsigned long long *ret_mj);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(struct board *board, unsigned long long *ret_mj)
{
	struct board now;
	int result;

	enter();
	result = board->has_no_counter ? NOT_SUPPORTED : state_of(board);
	*ret_mj = (unsigned long long)board->energy_mj;
	if (result == OK)
		tell_truth(board);
	now = *board;
	(void)leave(OK);
	wait_for(&now); /* others can be asked meanwhile */
	return result;
}

EXPORT int nvmlDeviceGetPowerUsage(struct board *board, unsigned *ret_mw);
EXPORT int nvmlDeviceGetPowerUsage(struct board *board, unsigned *ret_mw)
{
	enter();
	*ret_mw = (unsigned)board->power_mw;
	tell_truth(board);
	return leave(state_of(board));
}

EXPORT int nvmlDeviceGetUtilizationRates(struct board *board, struct rates *ret);
EXPORT int nvmlDeviceGetUtilizationRates(struct board *board, struct rates *ret)
{
	enter();
	*ret = (struct rates){ 0 };
	for (size_t i = 0; i < process_count; i++)
		ret->gpu += processes[i].gpu == board->index ? processes[i].sm : 0;
	return leave(board->has_no_samples ? NOT_SUPPORTED : state_of(board));
}

static unsigned processes_of(const struct board *board)
{
	unsigned count = 0;

	for (size_t i = 0; i < process_count; i++)
		count += processes[i].gpu == board->index;
	return count;
}

EXPORT int nvmlDeviceGetProcessUtilization(struct board *board, struct sample *ret, unsigned *count,
					   unsigned long long since_us);
EXPORT int nvmlDeviceGetProcessUtilization(struct board *board, struct sample *ret, unsigned *count,
					   unsigned long long since_us)
{
	unsigned long long now_us = (unsigned long long)(now_s(CLOCK_REALTIME) * 1e6), time_us;
	unsigned have, put = 0;
	int result;

	enter();
	have = processes_of(board);
	time_us = now_us + (unsigned long long)board->ahead_s * 1000000;
	result = board->has_no_samples ? NOT_SUPPORTED : state_of(board);
	if (result == OK && (!have || board->is_stale || since_us >= time_us))
		result = NOT_FOUND;
	else if (result == OK && (!ret || *count < have))
		result = TOO_SMALL;
	for (size_t i = 0; result == OK && i < process_count; i++) {
		if (processes[i].gpu == board->index)
			ret[put++] = (struct sample){ .pid = processes[i].pid,
						      .time_us = time_us,
						      .sm = processes[i].sm };
	}
	*count = have + (unsigned)board->boast;
	return leave(result);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct board *board, unsigned *count,
						   struct running *ret);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct board *board, unsigned *count,
						   struct running *ret)
{
	unsigned have, put = 0;
	int result;

	enter();
	have = processes_of(board);
	result = state_of(board);
	if (result == OK && have > *count)
		result = TOO_SMALL;
	for (size_t i = 0; result == OK && i < process_count; i++) {
		if (processes[i].gpu == board->index)
			ret[put++] = (struct running){
				.pid = processes[i].pid,
				.memory_bytes = (unsigned long long)processes[i].memory_mib << 20,
				.gpu_instance = ~0U,
				.compute_instance = ~0U,
			};
	}
	*count = have + (unsigned)board->boast;
	return leave(result);
}
