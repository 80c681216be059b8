// SPDX-License-Identifier: Apache-2.0
/*
 * A library that stands in for libnvidia-ml.so.1, after NVIDIA's public API reference: for tests,
 * and for machines without such a board. It shares no declaration with the program.
 *
 * $NVML_LAB_STATE names a file that is read in each call:
 *
 *   init CODE                what nvmlInit_v2 returns (0; 9: the driver is not loaded)
 *   gpu IDX MILLIWATT        a board; it draws that much until a later call finds another number
 *   error IDX CODE           what its energy and power return (15: lost; 3: not supported)
 *   nocounter IDX            it has no counter of energy, as before Volta
 *   nosamples IDX            processes are not sampled, as with MIG
 *   delay IDX MILLISECONDS   reading its energy takes so long
 *   proc IDX PID SM MEBIBYTE [GI]  a process, by its per cent of the board and its memory; where
 *                            it runs
 *   mps IDX PID SM MEBIBYTE  the same of a client of MPS: it is in the list of those, too
 *   mig IDX GI SMS SLICES PERCENT  a GPU instance with one compute instance, and its activity; the
 *                            board is in MIG mode then
 *   sms IDX SMS              the board's multiprocessors (132)
 *   gpm IDX NUMBER           what it has of GPM: 0 nothing, 1 the activity of multiprocessors, 2
 *                            only that of anything
 *   private IDX              in MIG mode the board does not list processes, its devices do
 *   migsamples IDX           processes are sampled in instances
 *   vgpu IDX PERCENT UUID    a vGPU of the virtual machine of that UUID, and how busy it is
 *   ahead IDX SECONDS        samples of processes say that they are of so much later
 *   stale IDX                there is no newer sample of processes
 *   boast IDX NUMBER         so many more processes are announced than are listed
 *
 * $NVML_LAB_TRUTH is the number of a descriptor (the program may not be permitted to write files):
 * at IDX × 32 bytes of it the last reported energy of each board stands, "MILLIJOULE\n".
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GPUS      128
#define INSTANCES 8
#define SLICES    7 /* of each board in MIG mode */
#define PROCESSES 4096
#define VGPUS     16
#define EXPORT    __attribute__((visibility("default")))

enum {
	OK = 0,
	UNINITIALIZED = 1,
	INVALID = 2,
	NOT_SUPPORTED = 3,
	NO_PERMISSION = 4,
	NOT_FOUND = 6,
	TOO_SMALL = 7,
	LOST = 15,
};

struct instance {
	int id, sms, slices, per_cent;
	double busy_s; /* in all, of one second a second */
};

/* Or a MIG device: that instance of the board of that index. */
struct board {
	int index;
	const struct instance *instance;
	bool is_there, has_no_counter, has_no_samples, is_stale, is_private, samples_instances;
	int error, delay_ms, ahead_s, boast, sms, gpm;
	double power_mw, energy_mj;
	struct instance instances[INSTANCES];
	int instance_count;
};

struct vgpu {
	int gpu;
	unsigned per_cent;
	char uuid[40];
};

struct process {
	int gpu;
	unsigned pid, sm, memory_mib;
	int instance; /* -1: none */
	bool is_mps;
};

struct sample {
	unsigned pid;
	unsigned long long time_us;
	unsigned sm, memory, encoder, decoder;
};

struct vgpu_sample {
	unsigned id;
	unsigned long long time_us;
	union {
		double as_double; /* so large is the union */
		unsigned as_unsigned;
	} sm, memory, encoder, decoder;
};

struct running {
	unsigned pid;
	unsigned long long memory_bytes;
	unsigned gpu_instance, compute_instance;
};

struct attributes {
	unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa;
	unsigned gpu_slices, compute_slices;
	unsigned long long memory_mib;
};

struct profile {
	unsigned id, p2p, slices, instances, multiprocessors, copy_engines, decoders, encoders,
		jpeg;
	unsigned ofa;
	unsigned long long memory_mib;
};

struct gpm_sample {
	const struct board *board;
	double time_s, busy_s;
};

struct gpm_support {
	unsigned version, is_supported;
};

struct gpm_request {
	unsigned version, count;
	const struct gpm_sample *from, *to;
	struct {
		unsigned id;
		int result;
		double value;
		const char *names[3];
	} metrics[];
};

struct rates {
	unsigned gpu, memory;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct board boards[GPUS];
static struct board mig_devices[GPUS][INSTANCES];
static struct process processes[PROCESSES];
static size_t process_count;
static struct vgpu vgpus[VGPUS]; /* the number of one is 100 + its index here */
static size_t vgpu_count;
static int init_code;
static unsigned starts;
static double read_s; /* when the state was read last */

static double now_s(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Known ones stay what they are, busy time and all. */
static void add_instance(struct board *board, const struct instance *what)
{
	struct board *device;
	struct instance *instance;

	if (board->instance_count == INSTANCES)
		return;
	device = &mig_devices[board->index][board->instance_count];
	instance = &board->instances[board->instance_count++];
	*instance = (struct instance){ what->id, what->sms, what->slices, what->per_cent,
				       instance->id == what->id ? instance->busy_s : 0 };
	*device = (struct board){ .index = board->index, .instance = instance };
}

static void take_board_line(const char *word, struct board *board, const int number[4])
{
	if (strcmp(word, "gpu") == 0) {
		board->is_there = true;
		board->power_mw = number[0];
	} else if (strcmp(word, "error") == 0) {
		board->error = number[0];
	} else if (strcmp(word, "nocounter") == 0) {
		board->has_no_counter = true;
	} else if (strcmp(word, "nosamples") == 0) {
		board->has_no_samples = true;
	} else if (strcmp(word, "stale") == 0) {
		board->is_stale = true;
	} else if (strcmp(word, "delay") == 0) {
		board->delay_ms = number[0];
	} else if (strcmp(word, "ahead") == 0) {
		board->ahead_s = number[0];
	} else if (strcmp(word, "boast") == 0) {
		board->boast = number[0];
	} else if (strcmp(word, "mig") == 0) {
		add_instance(board,
			     &(struct instance){ number[0], number[1], number[2], number[3], 0 });
	} else if (strcmp(word, "sms") == 0) {
		board->sms = number[0];
	} else if (strcmp(word, "gpm") == 0) {
		board->gpm = number[0];
	} else if (strcmp(word, "private") == 0) {
		board->is_private = true;
	} else if (strcmp(word, "migsamples") == 0) {
		board->samples_instances = true;
	}
}

static void take_line(const char *line)
{
	char word[16];
	int gpu, number[4] = { 0 };
	int fields = sscanf(line, "%15s %d %d %d %d %d", word, &gpu, &number[0], &number[1],
			    &number[2], &number[3]);
	bool is_mps = strcmp(word, "mps") == 0;
	struct vgpu vgpu;

	if (fields < 2)
		return;
	if (sscanf(line, "vgpu %d %u %39s", &vgpu.gpu, &vgpu.per_cent, vgpu.uuid) == 3 &&
	    vgpu_count < VGPUS)
		vgpus[vgpu_count++] = vgpu;
	if (strcmp(word, "init") == 0)
		init_code = gpu;
	else if ((is_mps || strcmp(word, "proc") == 0) && process_count < PROCESSES)
		processes[process_count++] = (struct process){ gpu,
							       (unsigned)number[0],
							       (unsigned)number[1],
							       (unsigned)number[2],
							       fields > 5 ? number[3] : -1,
							       is_mps };
	else if (gpu >= 0 && gpu < GPUS)
		take_board_line(word, &boards[gpu], number);
}

/* Until now, boards draw the power stated before, and instances are as busy. */
static void pass_time(struct board *board, double passed_s)
{
	struct board next = { .index = (int)(board - boards), .sms = 132, .gpm = 1 };

	next.energy_mj = board->energy_mj + board->power_mw * passed_s;
	memcpy(next.instances, board->instances, sizeof(next.instances));
	for (int i = 0; i < board->instance_count; i++)
		next.instances[i].busy_s += next.instances[i].per_cent / 100.0 * passed_s;
	*board = next;
}

static void read_state(void)
{
	const char *path = getenv("NVML_LAB_STATE");
	FILE *file = path ? fopen(path, "re") : NULL;
	double now = now_s(CLOCK_MONOTONIC), passed_s = read_s > 0 ? now - read_s : 0;
	char line[256];

	read_s = now;
	for (int i = 0; i < GPUS; i++)
		pass_time(&boards[i], passed_s);
	process_count = vgpu_count = 0;
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
	int len = snprintf(ret, size, "%s-%08x-0000-4000-8000-%012x",
			   board->instance ? "MIG" : "GPU", (unsigned)board->index,
			   (unsigned)(board->instance ? board->instance->id : board->index));

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
	board = &boards[board->index];
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
	return leave(board->has_no_samples || board->instance_count ? NOT_SUPPORTED
								    : state_of(board));
}

static bool is_on(const struct process *process, const struct board *board)
{
	return process->gpu == board->index &&
	       (!board->instance || process->instance == board->instance->id);
}

static unsigned processes_of(const struct board *board)
{
	unsigned count = 0;

	for (size_t i = 0; i < process_count; i++)
		count += is_on(&processes[i], board);
	return count;
}

static bool is_sampled(const struct board *board)
{
	if (board->instance)
		return boards[board->index].samples_instances;
	return !board->has_no_samples && !board->instance_count;
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
	result = is_sampled(board) ? state_of(board) : NOT_SUPPORTED;
	if (result == OK && (!have || board->is_stale || since_us >= time_us))
		result = NOT_FOUND;
	else if (result == OK && (!ret || *count < have))
		result = TOO_SMALL;
	for (size_t i = 0; result == OK && i < process_count; i++) {
		if (is_on(&processes[i], board))
			ret[put++] = (struct sample){ .pid = processes[i].pid,
						      .time_us = time_us,
						      .sm = processes[i].sm };
	}
	*count = have + (unsigned)board->boast;
	return leave(result);
}

static int list_processes(struct board *board, bool mps_alone, unsigned *count, struct running *ret)
{
	unsigned put = 0, have = 0;
	int result;

	enter();
	result = state_of(board);
	if (result == OK && board->is_private && board->instance_count)
		result = NO_PERMISSION;
	for (size_t i = 0; i < process_count; i++)
		have += is_on(&processes[i], board) && (processes[i].is_mps || !mps_alone);
	if (result == OK && have > *count)
		result = TOO_SMALL;
	for (size_t i = 0; result == OK && i < process_count; i++) {
		if (is_on(&processes[i], board) && (processes[i].is_mps || !mps_alone))
			ret[put++] = (struct running){
				.pid = processes[i].pid,
				.memory_bytes = (unsigned long long)processes[i].memory_mib << 20,
				.gpu_instance =
					board->instance ? ~0U : (unsigned)processes[i].instance,
				.compute_instance = ~0U,
			};
	}
	*count = have + (unsigned)(mps_alone ? 0 : board->boast);
	return leave(result);
}

EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct board *board, unsigned *count,
						   struct running *ret);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(struct board *board, unsigned *count,
						   struct running *ret)
{
	return list_processes(board, false, count, ret);
}

EXPORT int nvmlDeviceGetMPSComputeRunningProcesses_v3(struct board *board, unsigned *count,
						      struct running *ret);
EXPORT int nvmlDeviceGetMPSComputeRunningProcesses_v3(struct board *board, unsigned *count,
						      struct running *ret)
{
	return list_processes(board, true, count, ret);
}

/* ---- MIG ---- */

EXPORT int nvmlDeviceGetMigMode(struct board *board, unsigned *current, unsigned *pending);
EXPORT int nvmlDeviceGetMigMode(struct board *board, unsigned *current, unsigned *pending)
{
	enter();
	*current = *pending = board->instance_count > 0;
	return leave(state_of(board));
}

EXPORT int nvmlDeviceGetMaxMigDeviceCount(struct board *board, unsigned *ret);
EXPORT int nvmlDeviceGetMaxMigDeviceCount(struct board *board, unsigned *ret)
{
	enter();
	*ret = board->instance_count ? SLICES : 0;
	return leave(state_of(board));
}

EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(struct board *board, unsigned index,
					       struct board **ret);
EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(struct board *board, unsigned index,
					       struct board **ret)
{
	int result;

	enter();
	result = state_of(board);
	if (result == OK && index >= (unsigned)board->instance_count)
		result = NOT_FOUND;
	if (result == OK)
		*ret = &mig_devices[board->index][index];
	return leave(result);
}

EXPORT int nvmlDeviceGetGpuInstanceId(struct board *device, unsigned *ret);
EXPORT int nvmlDeviceGetGpuInstanceId(struct board *device, unsigned *ret)
{
	enter();
	*ret = device->instance ? (unsigned)device->instance->id : 0;
	return leave(device->instance ? OK : INVALID);
}

EXPORT int nvmlDeviceGetAttributes_v2(struct board *device, struct attributes *ret);
EXPORT int nvmlDeviceGetAttributes_v2(struct board *device, struct attributes *ret)
{
	enter();
	if (!device->instance)
		return leave(INVALID);
	*ret = (struct attributes){ .multiprocessors = (unsigned)device->instance->sms,
				    .gpu_slices = (unsigned)device->instance->slices,
				    .compute_slices = (unsigned)device->instance->slices };
	return leave(OK);
}

EXPORT int nvmlDeviceGetGpuInstanceProfileInfo(struct board *board, unsigned profile,
					       struct profile *ret);
EXPORT int nvmlDeviceGetGpuInstanceProfileInfo(struct board *board, unsigned profile,
					       struct profile *ret)
{
	enter();
	if (profile != 0 && profile != 4) /* of one slice, of seven */
		return leave(profile < 18 ? NOT_SUPPORTED : INVALID);
	*ret = (struct profile){ .slices = profile ? SLICES : 1,
				 .multiprocessors =
					 (unsigned)(profile ? board->sms : board->sms / SLICES) };
	return leave(OK);
}

EXPORT int nvmlGpmQueryDeviceSupport(struct board *board, struct gpm_support *ret);
EXPORT int nvmlGpmQueryDeviceSupport(struct board *board, struct gpm_support *ret)
{
	enter();
	ret->is_supported = board->gpm > 0;
	return leave(ret->version == 1 ? OK : INVALID);
}

EXPORT int nvmlGpmSampleAlloc(struct gpm_sample **ret);
EXPORT int nvmlGpmSampleAlloc(struct gpm_sample **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? OK : INVALID;
}

EXPORT int nvmlGpmSampleFree(struct gpm_sample *sample);
EXPORT int nvmlGpmSampleFree(struct gpm_sample *sample)
{
	free(sample);
	return OK;
}

EXPORT int nvmlGpmMigSampleGet(struct board *board, unsigned id, struct gpm_sample *sample);
EXPORT int nvmlGpmMigSampleGet(struct board *board, unsigned id, struct gpm_sample *sample)
{
	int result = INVALID;

	enter();
	for (int i = 0; i < board->instance_count; i++) {
		if (board->instances[i].id != (int)id)
			continue;
		*sample = (struct gpm_sample){ board, read_s, board->instances[i].busy_s };
		result = state_of(board);
	}
	return leave(board->gpm ? result : NOT_SUPPORTED);
}

EXPORT int nvmlGpmMetricsGet(struct gpm_request *request);
EXPORT int nvmlGpmMetricsGet(struct gpm_request *request)
{
	const struct gpm_sample *from = request->from, *to = request->to;

	enter();
	if (request->version != 1 || from->board != to->board || to->time_s <= from->time_s)
		return leave(INVALID);
	for (unsigned i = 0; i < request->count; i++) {
		unsigned id = request->metrics[i].id; /* 1: anything; 2: multiprocessors */

		request->metrics[i].result =
			id == 1 || (id == 2 && to->board->gpm == 1) ? OK : NOT_SUPPORTED;
		request->metrics[i].value =
			100 * (to->busy_s - from->busy_s) / (to->time_s - from->time_s);
	}
	return leave(OK);
}

/* ---- vGPU ---- */

EXPORT int nvmlDeviceGetActiveVgpus(struct board *board, unsigned *count, unsigned *ret);
EXPORT int nvmlDeviceGetActiveVgpus(struct board *board, unsigned *count, unsigned *ret)
{
	unsigned put = 0;

	enter();
	for (unsigned i = 0; i < vgpu_count; i++) {
		if (vgpus[i].gpu == board->index && put < *count)
			ret[put++] = 100 + i;
	}
	*count = put;
	return leave(put ? state_of(board) : NOT_SUPPORTED);
}

EXPORT int nvmlDeviceGetVgpuUtilization(struct board *board, unsigned long long since_us,
					unsigned *type, unsigned *count, struct vgpu_sample *ret);
EXPORT int nvmlDeviceGetVgpuUtilization(struct board *board, unsigned long long since_us,
					unsigned *type, unsigned *count, struct vgpu_sample *ret)
{
	unsigned long long now_us = (unsigned long long)(now_s(CLOCK_REALTIME) * 1e6);
	unsigned put = 0;

	enter();
	for (unsigned i = 0; now_us > since_us && i < vgpu_count; i++) {
		if (vgpus[i].gpu == board->index && put < *count)
			ret[put++] = (struct vgpu_sample){ .id = 100 + i,
							   .time_us = now_us,
							   .sm.as_unsigned = vgpus[i].per_cent };
	}
	*count = put;
	*type = 1; /* unsigned */
	return leave(put ? state_of(board) : NOT_FOUND);
}

EXPORT int nvmlVgpuInstanceGetVmID(unsigned vgpu, char *ret, unsigned size, unsigned *type);
EXPORT int nvmlVgpuInstanceGetVmID(unsigned vgpu, char *ret, unsigned size, unsigned *type)
{
	int result = INVALID;

	enter();
	*type = 1; /* a UUID */
	if (vgpu >= 100 && vgpu - 100 < vgpu_count)
		result = snprintf(ret, size, "%s", vgpus[vgpu - 100].uuid) < (int)size ? OK
										       : TOO_SMALL;
	return leave(result);
}
