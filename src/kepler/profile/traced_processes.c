// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/traced_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "kepler/profile/kernel_names.h"
#include "kepler/profile/mapped_files.h"
#include "kepler/profile/name_reader.h"
#include "kepler/profile/process_maps.h"

#define KEPT_INTERVALS  3 /* after the end: a part of the energy may be late */
#define NAME_BYTES      16
#define COMPILED_MAX    65536U /* addresses of a process whose frame is remembered */

#define STACK_DEPTH_MAX 256

struct traced_process {
	uint32_t pid, parent;
	uint32_t name;  /* its frame */
	uint32_t ended; /* intervals since; 0: it lives */
	bool is_used, is_followed, has_maps;
	bool is_unreadable; /* its maps, one of its files or the list of its runtime */
	bool reads_list;    /* that list may be read again in this interval */
	struct process_maps maps;
	struct map compiled; /* address → frame; 0: not in the list */
	struct sample_share share;
};

/* Broken stacks by the name of the process. */
struct broken_name {
	uint32_t frame;
	uint64_t count;
};

struct traced_processes {
	struct profile *profile;
	struct traced_options options;
	struct traced_process *processes; /* [count], with holes */
	uint32_t count, size;
	uint32_t first_hole; /* none is before it */
	struct map by_pid;
	struct name_reader reader;
	struct mapped_files *files;
	struct kernel_names kernel;
	struct share_scratch scratch;
	struct broken_name *broken; /* [broken_count] */
	size_t broken_count, broken_size;
	struct traced_stats stats;
};

int traced_processes_new(struct profile *profile, const struct traced_options *options,
			 struct traced_processes **ret)
{
	struct traced_processes *traced = calloc(1, sizeof(*traced));

	if (!traced)
		return -ENOMEM;
	traced->profile = profile;
	traced->options = *options;
	kernel_names_init(&traced->kernel, options->kallsyms);
	map_init(&traced->by_pid, TRACED_PROCESSES_MAX);
	if (mapped_files_new(profile, &traced->reader, &traced->files) < 0) {
		traced_processes_free(traced);
		return -ENOMEM;
	}
	*ret = traced;
	return 0;
}

static void forget_compiled(struct traced_processes *traced, struct traced_process *process)
{
	if (process->compiled.used)
		name_reader_forget(&traced->reader, process->pid);
	map_release(&process->compiled);
	map_init(&process->compiled, COMPILED_MAX);
	process->reads_list = true;
}

static void release_process(struct traced_processes *traced, struct traced_process *process)
{
	process_maps_release(&process->maps);
	forget_compiled(traced, process);
	map_release(&process->compiled);
	sample_share_release(&process->share);
	*process = (struct traced_process){ .pid = 0 };
}

void traced_processes_free(struct traced_processes *traced)
{
	if (!traced)
		return;
	name_reader_close(&traced->reader);
	for (uint32_t i = 0; i < traced->count; i++)
		release_process(traced, &traced->processes[i]);
	free(traced->processes);
	free(traced->broken);
	map_release(&traced->by_pid);
	mapped_files_free(traced->files);
	kernel_names_release(&traced->kernel);
	share_scratch_release(&traced->scratch);
	free(traced);
}

static struct traced_process *find(const struct traced_processes *traced, uint32_t pid)
{
	uint32_t at = map_find(&traced->by_pid, (struct map_key){ .lo = pid });

	return at == MAP_NONE ? NULL : &traced->processes[at];
}

/* A process that is not known; NULL: no room or memory. It invalidates others' pointers. */
static struct traced_process *add(struct traced_processes *traced, uint32_t pid)
{
	uint32_t at = traced->first_hole;

	while (traced->processes && at < traced->count && traced->processes[at].is_used)
		at++;
	if (at >= TRACED_PROCESSES_MAX ||
	    ARRAY_RESERVE(traced->processes, traced->size, at + 1) < 0 ||
	    map_put(&traced->by_pid, (struct map_key){ .lo = pid }, at) < 0) {
		traced->stats.lost++;
		return NULL;
	}
	if (at == traced->count)
		traced->count++;
	traced->first_hole = at + 1;
	traced->processes[at] =
		(struct traced_process){ .pid = pid, .is_used = true, .reads_list = true };
	map_init(&traced->processes[at].compiled, COMPILED_MAX);
	return &traced->processes[at];
}

static void set_name(struct traced_processes *traced, struct traced_process *process,
		     const char *name)
{
	process->name = profile_frame(traced->profile, *name ? name : "[no name]", FRAME_OWNER);
}

static void read_name(struct traced_processes *traced, struct traced_process *process)
{
	char path[32], name[NAME_BYTES + 2];

	(void)snprintf(path, sizeof(path), "/proc/%u/comm", process->pid);
	if (read_file_at(AT_FDCWD, path, name, sizeof(name)) <= 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	set_name(traced, process, name);
}

static struct traced_process *find_or_add(struct traced_processes *traced, uint32_t pid)
{
	struct traced_process *process = find(traced, pid);

	if (!process)
		process = add(traced, pid);
	return process;
}

static bool is_wanted(const struct traced_processes *traced, const struct traced_process *process)
{
	return process->is_followed || !traced->options.follows;
}

int traced_processes_follow(struct traced_processes *traced, uint32_t pid)
{
	struct traced_process *process = find_or_add(traced, pid);

	if (!process)
		return -ENOMEM;
	process->is_followed = true;
	return 0;
}

/* The child has what its parent has mapped. */
static void take_fork(struct traced_processes *traced, const struct perf_event *event)
{
	const struct traced_process *parent = find(traced, event->parent);
	bool is_followed = parent && parent->is_followed;
	struct traced_process *process;

	if (event->pid == event->parent || (traced->options.follows && !is_followed))
		return;
	process = find_or_add(traced, event->pid);
	parent = find(traced, event->parent);
	if (!process)
		return;
	process->parent = event->parent;
	process->is_followed |= is_followed;
	process->ended = 0;
	if (!parent || !parent->has_maps)
		return;
	process->has_maps = true;
	process->is_unreadable = parent->is_unreadable;
	process->name = parent->name;
	process_maps_copy(&process->maps, &parent->maps);
}

static void take_mapping(struct traced_processes *traced, struct traced_process *process,
			 const struct perf_mapping *mapping)
{
	const struct process_map map = {
		mapping->start,
		mapping->len,
		mapping->offset,
		mapped_files_add(traced->files, mapping->path, mapping->inode, mapping->device),
	};

	/* Earlier mappings are read with the first sample. */
	if (process->has_maps && map.file != MAPPED_FILE_NONE)
		process_maps_add(&process->maps, &map);
}

static void take_exec(struct traced_processes *traced, struct traced_process *process,
		      const char *name)
{
	process_maps_clear(&process->maps);
	forget_compiled(traced, process);
	process->is_unreadable = false;
	process->has_maps = true;
	process->ended = 0;
	set_name(traced, process, name);
}

/* The frame of what the process' runtime has compiled; 0: not known. */
static uint32_t compiled_frame(struct traced_processes *traced, struct traced_process *process,
			       uint64_t address)
{
	const struct map_key key = { .lo = address };
	uint32_t frame = map_find(&process->compiled, key);
	char name[PROGRAM_NAME_MAX] = "";
	int r;

	if (frame != MAP_NONE || process->is_unreadable)
		return frame == MAP_NONE ? 0 : frame;
	r = name_reader_compiled(&traced->reader, process->pid, address, process->reads_list, name);
	process->is_unreadable = r == -ETIMEDOUT;
	frame = r == 0 && name[0] ? profile_frame(traced->profile, name, FRAME_JIT) : 0;
	if (!frame)
		process->reads_list = false;
	(void)map_put(&process->compiled, key, frame); /* else it is looked up again */
	return frame;
}

/*
 * The user stack by the unwind tables of its functions and, where these have none, by the frame
 * pointer: addresses, the innermost first.
 */
static size_t walk_stack(struct traced_processes *traced, struct traced_process *process,
			 const struct perf_event *event, uint64_t ret[STACK_DEPTH_MAX],
			 bool *ret_is_whole)
{
	struct stack_registers registers = event->registers;
	enum stack_step step = STACK_CALLER;
	size_t count = 0;

	while (count < STACK_DEPTH_MAX && step == STACK_CALLER) {
		const uint64_t address = registers.ip - (count > 0);
		const struct process_map *map = process_maps_find(&process->maps, address);
		struct unwind_rule rule = { .kind = UNWIND_UNKNOWN };
		struct mapped_place place = { .pid = process->pid, .parent = process->parent };

		ret[count++] = registers.ip;
		if (map) {
			place.start = map->start;
			place.len = map->len;
			process->is_unreadable |=
				mapped_files_unwind(traced->files, map->file,
						    address - map->start + map->offset, &place,
						    !process->is_unreadable, &rule) < 0;
		}
		step = stack_walk_step(&rule, &event->stack, &registers);
	}
	*ret_is_whole = step == STACK_END;
	return count;
}

/* @is_call: the address is that behind a call. */
static struct frame_list user_frames(struct traced_processes *traced,
				     struct traced_process *process, uint64_t address, bool is_call,
				     bool *ret_is_start)
{
	const struct process_map *map = process_maps_find(&process->maps, address - is_call);
	struct mapped_files *files = traced->files;
	struct mapped_place place = {
		.pid = process->pid,
		.parent = process->parent,
		.start = map ? map->start : 0,
		.len = map ? map->len : 0,
	};
	bool is_memory = map && mapped_files_is_memory(files, map->file);
	uint32_t frame = is_memory ? compiled_frame(traced, process, address - is_call) : 0;

	*ret_is_start = map && mapped_files_is_start(files, map->file);
	if (!frame && (!map || is_memory) && process->is_unreadable)
		frame = mapped_files_unreadable(files);
	else if (!frame && !map)
		frame = profile_frame(traced->profile, "[unknown]", FRAME_NOTE);
	if (frame || !map)
		return mapped_files_single(files, frame);
	return mapped_files_frames(files, map->file, address - is_call - map->start + map->offset,
				   &place, !process->is_unreadable);
}

/* Names of functions in which a thread, or a program without a C library, begins. */
static bool is_first_function(const char *name)
{
	static const char *const first[] = { "_start",
					     "start_thread",
					     "clone",
					     "clone3",
					     "__clone",
					     "__clone3",
					     "__libc_start_main",
					     "runtime.goexit",
					     "runtime.mstart",
					     "runtime.rt0_go" };

	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		size_t len = strlen(first[i]);

		/* "runtime.goexit.abi0", "__libc_start_main@@GLIBC_2.34" */
		if (strncmp(name, first[i], len) == 0 &&
		    (!name[len] || name[len] == '.' || name[len] == '@'))
			return true;
	}
	return false;
}

static void count_broken(struct traced_processes *traced, uint32_t name)
{
	traced->stats.broken++;
	for (size_t i = 0; i < traced->broken_count; i++) {
		if (traced->broken[i].frame == name) {
			traced->broken[i].count++;
			return;
		}
	}
	if (ARRAY_RESERVE(traced->broken, traced->broken_size, traced->broken_count + 1) == 0)
		traced->broken[traced->broken_count++] = (struct broken_name){ name, 1 };
}

/* A user stack: addresses, the innermost first. */
struct user_stack {
	const uint64_t *ips;
	size_t count;
	bool is_whole; /* it is known to end with the first function of the thread */
};

/* The kernel walks by frame pointers only; what the tables find is used unless it is less. */
static struct user_stack user_stack_of(struct traced_processes *traced,
				       struct traced_process *process,
				       const struct perf_event *event,
				       uint64_t walked[STACK_DEPTH_MAX])
{
	struct user_stack stack = { event->user_ips, event->user_count, false };
	size_t count;
	bool is_whole;

	if (!event->stack.size || !event->user_count)
		return stack;
	count = walk_stack(traced, process, event, walked, &is_whole);
	return is_whole || count >= stack.count ? (struct user_stack){ walked, count, is_whole }
						: stack;
}

/* Below @node; several frames without a name one after the other are one. */
static uint32_t add_frames(struct profile *profile, const struct frame_list *list, uint32_t node)
{
	for (size_t i = 0; i < list->count; i++) {
		uint32_t frame = list->frames[i];

		if (profile->frames[frame].kind != FRAME_NOTE ||
		    profile->nodes[node].frame != frame)
			node = profile_child(profile, node, frame);
	}
	return node;
}

static uint32_t add_user_frames(struct traced_processes *traced, struct traced_process *process,
				const struct user_stack *stack, uint32_t node)
{
	const struct profile *profile = traced->profile;
	bool is_unreadable = false;

	for (size_t i = stack->count; i-- > 0;) {
		bool is_start;
		const struct frame_list list =
			user_frames(traced, process, stack->ips[i], i > 0, &is_start);
		const struct profile_frame *shown = &profile->frames[list.frames[0]];

		if (shown->kind == FRAME_NOTE && strcmp(shown->name, "[unreadable]") == 0)
			is_unreadable = process->is_unreadable = true;
		is_start = is_start && stack->count > 1; /* else it was only called */
		if (i + 1 == stack->count && !stack->is_whole && !is_start && !is_unreadable &&
		    !is_first_function(shown->name))
			count_broken(traced, process->name);
		node = add_frames(traced->profile, &list, node);
	}
	traced->stats.user_samples += stack->count > 0;
	traced->stats.unreadable += is_unreadable;
	return node;
}

static void take_sample(struct traced_processes *traced, struct traced_process *process,
			const struct perf_event *event)
{
	uint64_t walked[STACK_DEPTH_MAX];
	struct user_stack stack;
	uint32_t node;

	if (!process->name)
		read_name(traced, process);
	if (!process->name)
		set_name(traced, process, "");
	if (!process->has_maps && event->user_count) {
		process->is_unreadable = !process_maps_read(&process->maps, process->pid,
							    traced->files, &traced->reader);
		process->has_maps = true;
	}
	node = profile_child(traced->profile, PROFILE_ROOT, process->name);
	stack = user_stack_of(traced, process, event, walked);
	node = add_user_frames(traced, process, &stack, node);
	for (size_t i = event->kernel_count; i-- > 0;)
		node = profile_child(traced->profile, node,
				     kernel_names_frame(&traced->kernel, traced->profile,
							event->kernel_ips[i] - (i > 0)));
	traced->stats.samples[event->clock]++;
	if (sample_share_add(&process->share, event->clock, node, event->weight) < 0)
		traced->stats.lost++;
}

void traced_processes_take(struct traced_processes *traced, const struct perf_event *event)
{
	struct traced_process *process = find(traced, event->pid);

	if (event->kind == PERF_FORKED) {
		take_fork(traced, event);
		return;
	}
	if (!process && !traced->options.follows &&
	    (event->kind == PERF_SAMPLED || event->kind == PERF_EXECUTED))
		process = add(traced, event->pid);
	if (!process || !is_wanted(traced, process))
		return;
	switch (event->kind) {
	case PERF_SAMPLED:
		take_sample(traced, process, event);
		break;
	case PERF_MAPPED:
		take_mapping(traced, process, &event->mapping);
		break;
	case PERF_EXECUTED:
		take_exec(traced, process, event->name);
		break;
	case PERF_NAMED:
		set_name(traced, process, event->name);
		break;
	case PERF_ENDED:
		process->ended = 1;
		break;
	case PERF_FORKED:
		break;
	}
}

bool traced_processes_has(const struct traced_processes *traced, uint32_t pid)
{
	const struct traced_process *process = find(traced, pid);

	return !traced->options.follows || (process && process->is_followed);
}

static void charge_without_sample(struct traced_processes *traced, uint32_t name,
				  const struct share_amounts *amounts)
{
	const uint64_t energy_uj = share_amounts_uj(amounts);
	uint32_t node = profile_child(traced->profile, PROFILE_ROOT, name);

	node = profile_child(traced->profile, node,
			     profile_frame(traced->profile, "[no sample]", FRAME_NOTE));
	traced->profile->nodes[node].energy_uj[RUN_NOW] += energy_uj;
	traced->profile->nodes[node].cpu_ns += amounts->cpu_ns;
	traced->stats.no_sample_uj += energy_uj;
}

void traced_processes_charge(struct traced_processes *traced, uint32_t pid, const char *comm,
			     const struct share_amounts *amounts)
{
	struct traced_process *process = find_or_add(traced, pid);

	if (!process) {
		charge_without_sample(traced, profile_frame(traced->profile, comm, FRAME_OWNER),
				      amounts);
		return;
	}
	if (!process->name)
		set_name(traced, process, comm);
	sample_share_charge(&process->share, traced->profile, amounts, &traced->scratch);
}

/* Energy that still waits has no sample. */
static void settle(struct traced_processes *traced, struct traced_process *process)
{
	struct share_amounts waiting =
		sample_share_end(&process->share, traced->profile, &traced->scratch);

	if (share_amounts_uj(&waiting) || waiting.cpu_ns)
		charge_without_sample(traced, process->name, &waiting);
}

void traced_processes_end_interval(struct traced_processes *traced)
{
	for (uint32_t i = 0; i < traced->count; i++) {
		struct traced_process *process = &traced->processes[i];

		if (!process->is_used)
			continue;
		if (!process->reads_list) { /* an address was not in it */
			map_release(&process->compiled);
			map_init(&process->compiled, COMPILED_MAX);
			process->reads_list = true;
		}
		if (!process->ended || process->ended++ <= KEPT_INTERVALS)
			continue;
		settle(traced, process);
		(void)map_remove(&traced->by_pid, (struct map_key){ .lo = process->pid });
		release_process(traced, process);
		traced->first_hole = i < traced->first_hole ? i : traced->first_hole;
	}
}

static void name_worst(struct traced_processes *traced)
{
	const struct broken_name *worst = NULL;

	for (size_t i = 0; i < traced->broken_count; i++) {
		if (!worst || traced->broken[i].count > worst->count)
			worst = &traced->broken[i];
	}
	if (worst)
		(void)snprintf(traced->stats.worst, sizeof(traced->stats.worst), "%.*s",
			       TRACED_NAME_MAX - 1, traced->profile->frames[worst->frame].name);
}

void traced_processes_end(struct traced_processes *traced, struct traced_stats *ret)
{
	for (uint32_t i = 0; i < traced->count; i++) {
		if (traced->processes[i].is_used)
			settle(traced, &traced->processes[i]);
	}
	name_worst(traced);
	(void)kernel_names_settle(&traced->kernel, traced->profile); /* else they are addresses */
	traced->stats.hangs = traced->reader.hangs;
	traced->stats.files_refused = mapped_files_refused(traced->files);
	*ret = traced->stats;
}
