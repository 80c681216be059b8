// SPDX-License-Identifier: Apache-2.0
#include "host/cpu_idle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "host/topology.h"

#define PATH_BYTES    4096
#define LIST_BYTES    4096
#define CPUS_MAX      8192
#define STATES_OF_CPU 10
#define NO_STATE      UINT8_MAX

/* One file. */
struct idle_file {
	uint32_t cpu;
	uint8_t number; /* of the state's directory */
	uint8_t state;  /* in the list of names; NO_STATE: there is no room */
	bool has_last;
	uint64_t last_us;
};

struct cpu_idle {
	char dir[PATH_BYTES];
	char online[LIST_BYTES]; /* that the files are of */
	struct idle_file *files;
	size_t count, size;
	size_t next; /* whose turn it is */
	struct cpu_idle_state states[CPU_IDLE_STATES_MAX];
	size_t state_count;
};

int cpu_idle_open(const char *sysfs, struct cpu_idle **ret)
{
	struct cpu_idle *idle = calloc(1, sizeof(*idle));

	if (!idle)
		return -ENOMEM;
	if (path_join(idle->dir, sizeof(idle->dir), sysfs, "devices/system/cpu") < 0)
		idle->dir[0] = '\0';
	*ret = idle;
	return 0;
}

void cpu_idle_close(struct cpu_idle *idle)
{
	if (!idle)
		return;
	free(idle->files);
	free(idle);
}

static ssize_t read_of_state(const struct cpu_idle *idle, uint32_t cpu, unsigned number,
			     const char *name, char *text, size_t size)
{
	char path[PATH_BYTES + 64];

	(void)snprintf(path, sizeof(path), "%s/cpu%u/cpuidle/state%u/%s", idle->dir, cpu, number,
		       name);
	return read_file_nowait_at(AT_FDCWD, path, text, size);
}

/* The place of the state with the name in @text, which is new or not. */
static uint8_t state_of(struct cpu_idle *idle, const char *text)
{
	struct cpu_idle_state state = { .time_us = 0 };
	size_t len = strcspn(text, "\n");

	len = len < CPU_IDLE_NAME_MAX ? len : CPU_IDLE_NAME_MAX - 1;
	for (size_t i = 0; i < len; i++) {
		bool may_be = text[i] >= ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\';

		state.name[i] = may_be ? text[i] : '_';
	}
	for (size_t i = 0; i < idle->state_count; i++) {
		if (strcmp(idle->states[i].name, state.name) == 0)
			return (uint8_t)i;
	}
	if (!len || idle->state_count == CPU_IDLE_STATES_MAX)
		return NO_STATE;
	idle->states[idle->state_count] = state;
	return (uint8_t)idle->state_count++;
}

static bool has_file(const struct cpu_idle *idle, uint32_t cpu)
{
	for (size_t i = 0; i < idle->count; i++) {
		if (idle->files[i].cpu == cpu)
			return true;
	}
	return false;
}

/* 0 or -ENOMEM; all of its states, or none. */
static int add_cpu(struct cpu_idle *idle, uint32_t cpu)
{
	char text[64];

	if (idle->count + STATES_OF_CPU > CPU_IDLE_FILES_MAX)
		return 0;
	if (ARRAY_RESERVE(idle->files, idle->size, idle->count + STATES_OF_CPU) < 0)
		return -ENOMEM;
	for (uint8_t number = 0; number < STATES_OF_CPU; number++) {
		if (read_of_state(idle, cpu, number, "name", text, sizeof(text)) <= 0)
			break;
		idle->files[idle->count++] = (struct idle_file){ .cpu = cpu,
								 .number = number,
								 .state = state_of(idle, text) };
	}
	return 0;
}

/* CPUs that are gone keep their files, which cannot be read until the CPU is back. */
int cpu_idle_scan(struct cpu_idle *idle)
{
	CLEANUP_FREE unsigned *cpus = NULL;
	char path[PATH_BYTES + 64], online[LIST_BYTES];
	size_t count;
	int r = 0;

	(void)snprintf(path, sizeof(path), "%s/online", idle->dir);
	if (read_file_nowait_at(AT_FDCWD, path, online, sizeof(online)) <= 0 ||
	    strcmp(online, idle->online) == 0)
		return 0;
	cpus = calloc(CPUS_MAX, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	count = topology_list_cpus(online, cpus, CPUS_MAX);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (!has_file(idle, cpus[i]))
			r = add_cpu(idle, cpus[i]);
	}
	if (r == 0)
		memcpy(idle->online, online, sizeof(online));
	return r;
}

static void read_one(struct cpu_idle *idle, struct idle_file *file)
{
	char text[32];
	uint64_t now_us;
	ssize_t len;

	if (file->state == NO_STATE)
		return;
	len = read_of_state(idle, file->cpu, file->number, "time", text, sizeof(text));
	if (len <= 0 || parse_u64(text, (size_t)len, &now_us) < 0)
		return;
	if (file->has_last && now_us > file->last_us)
		idle->states[file->state].time_us += now_us - file->last_us;
	file->last_us = now_us;
	file->has_last = true;
}

bool cpu_idle_read(struct cpu_idle *idle)
{
	size_t reads = idle->count < CPU_IDLE_READS ? idle->count : CPU_IDLE_READS;

	for (; reads; reads--) {
		read_one(idle, &idle->files[idle->next]);
		idle->next = (idle->next + 1) % idle->count;
	}
	return idle->state_count != 0;
}

const struct cpu_idle_state *cpu_idle_list(const struct cpu_idle *idle, size_t *ret_count)
{
	*ret_count = idle->state_count;
	return idle->states;
}
