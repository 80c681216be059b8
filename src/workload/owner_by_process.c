// SPDX-License-Identifier: Apache-2.0
#include "workload/owner_by_process.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define PROCESSES_MAX 65536
#define SWEEP_MIN     1024

struct process_row {
	struct map_key key;
	uint64_t cgroup_id;
	uint64_t cgroup_set;
	uint64_t read_ns, used_ns;
	struct owner *owner;
	bool is_confirmed; /* two readings with this set were equal */
	char comm[16];
};

static struct map_key key_of(const struct process_ref *process)
{
	return (struct map_key){ process->pid, process->start_ns };
}

void process_owners_init(struct process_owners *processes, struct owner_table *owners)
{
	*processes = (struct process_owners){ .owners = owners };
	map_init(&processes->map, PROCESSES_MAX);
}

void process_owners_release(struct process_owners *processes)
{
	for (uint32_t i = 0; i < processes->count; i++)
		owner_unref(processes->owners, processes->rows[i].owner);
	free(processes->rows);
	map_release(&processes->map);
	*processes = (struct process_owners){ 0 };
}

static uint64_t trust_ns(const struct process_row *row)
{
	return row->is_confirmed ? PROCESS_OWNERS_TRUST_SET_NS : PROCESS_OWNERS_TRUST_NS;
}

struct owner *process_owners_find(struct process_owners *processes,
				  const struct process_ref *process, uint64_t now_ns,
				  bool *ret_is_trusted)
{
	uint32_t index = map_find(&processes->map, key_of(process));
	struct process_row *row;

	*ret_is_trusted = false;
	if (index == MAP_NONE)
		return NULL;
	row = &processes->rows[index];
	if (row->cgroup_id != process->cgroup_id || row->cgroup_set != process->cgroup_set)
		return NULL;
	row->used_ns = now_ns;
	*ret_is_trusted = now_ns - row->read_ns < trust_ns(row) &&
			  strncmp(row->comm, process->comm, sizeof(row->comm) - 1) == 0;
	return row->owner;
}

/* Drops processes that have ended or sleep: they are read again if they come back. */
static void sweep(struct process_owners *processes, uint64_t now_ns)
{
	for (uint32_t i = processes->count; i-- > 0;) {
		struct process_row *row = &processes->rows[i];

		if (now_ns - row->used_ns < PROCESS_OWNERS_KEEP_NS)
			continue;
		owner_unref(processes->owners, row->owner);
		(void)map_remove(&processes->map, row->key);
		*row = processes->rows[--processes->count];
		if (i < processes->count)
			(void)map_put(&processes->map, row->key, i);
	}
	processes->swept_count = processes->count;
}

static struct process_row *row_for(struct process_owners *processes, struct map_key key,
				   uint64_t now_ns)
{
	uint32_t index = map_find(&processes->map, key);

	if (index != MAP_NONE)
		return &processes->rows[index];
	if (processes->count > SWEEP_MIN + processes->swept_count * 2 ||
	    processes->count >= PROCESSES_MAX)
		sweep(processes, now_ns);
	if (ARRAY_RESERVE(processes->rows, processes->size, processes->count + 1U) < 0)
		return NULL;
	if (map_put(&processes->map, key, processes->count) < 0)
		return NULL;
	processes->rows[processes->count] = (struct process_row){ .key = key };
	return &processes->rows[processes->count++];
}

void process_owners_put(struct process_owners *processes, const struct process_ref *process,
			struct owner *owner, uint64_t now_ns)
{
	struct process_row *row = row_for(processes, key_of(process), now_ns);
	struct owner *before;

	if (!row)
		return;
	before = row->owner;
	/* The owner was read after the set: the process may have moved away and back in between. */
	row->is_confirmed = process->cgroup_set && row->cgroup_set == process->cgroup_set &&
			    row->cgroup_id == process->cgroup_id && before == owner;
	row->owner = owner_ref(owner);
	row->cgroup_id = process->cgroup_id;
	row->cgroup_set = process->cgroup_set;
	row->read_ns = row->used_ns = now_ns;
	memset(row->comm, 0, sizeof(row->comm));
	memcpy(row->comm, process->comm, strnlen(process->comm, sizeof(row->comm) - 1));
	owner_unref(processes->owners, before);
}
