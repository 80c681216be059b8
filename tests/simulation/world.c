// SPDX-License-Identifier: Apache-2.0
#include "world.h"

#include <stdio.h>
#include <string.h>

#define CROWD 1500

const char *feature_name(enum feature feature)
{
	static const char *const names[FEATURE_COUNT] = {
		[FEATURE_FAULTS] = "faults",   [FEATURE_JUMPS] = "jumps",
		[FEATURE_TURNS] = "turns",     [FEATURE_LATE] = "late",
		[FEATURE_SLEEP] = "sleep",     [FEATURE_SOCKETS] = "sockets",
		[FEATURE_PASSES] = "passes",   [FEATURE_UNNAMED] = "unnamed",
		[FEATURE_BRIEF] = "brief",     [FEATURE_EXEC] = "exec",
		[FEATURE_CROWD] = "crowd",     [FEATURE_RESTART] = "restart",
		[FEATURE_NAMES] = "names",     [FEATURE_IDLE] = "idle",
		[FEATURE_RELOAD] = "reload",   [FEATURE_LIMITS] = "limits",
		[FEATURE_MEMORY] = "memory",   [FEATURE_CLIENTS] = "clients",
		[FEATURE_GPUS] = "gpus",       [FEATURE_COUNTERS] = "counters",
		[FEATURE_SIGNALS] = "signals",
	};

	return names[feature];
}

static const uint64_t spans[] = { 0, 1, 3, 15, 60, 300 };

static void draw_policy(struct world *world)
{
	struct chance *chance = &world->options;
	uint64_t draw = chance_next(chance);

	world->policy = (struct policy){
		.min_uj = chance_below(chance, 3) * chance_below(chance, 3000000),
		.settle_ns = spans[draw % 5] * SECOND_NS,
		.keep_ns = spans[draw / 8 % 6] * SECOND_NS,
		.max_rows = 5000,
		.idle = POLICY_IDLE_OFF,
		.share = POLICY_NODE,
	};
	if (world_has(world, FEATURE_LIMITS) && draw / 64 % 4 == 0)
		world->policy.max_rows = (uint32_t)(draw / 256 % 300);
	if (world_has(world, FEATURE_IDLE)) {
		world->policy.idle = (enum policy_idle)chance_below(chance, 3);
		world->policy.share = (enum policy_share)chance_below(chance, 4);
		world->policy.idle_watts = (uint32_t)chance_below(chance, 100);
	}
}

/* Texts of an owner that a runtime or Kubernetes reports; the id comes from a cgroup. */
static void draw_names(struct world *world, struct owner *owner)
{
	static const char *const spaces[] = { "", "default", "batch", "kube-system", "a", "b" };
	uint64_t draw = chance_next(&world->names);
	size_t pod = draw % 12;

	(void)snprintf(owner->name, WORLD_NAME_MAX, "name-%u", (unsigned)(draw / 16 % 40));
	(void)snprintf(owner->ns, WORLD_NAME_MAX, "%s", spaces[pod % 6]);
	owner->pod[0] = owner->pod_id[0] = owner->vm[0] = '\0';
	if (pod >= 3) {
		(void)snprintf(owner->pod, WORLD_NAME_MAX, "pod-%u", (unsigned)pod);
		(void)snprintf(owner->pod_id, WORLD_NAME_MAX, "uid-%u", (unsigned)pod);
	} else if (pod == 2) {
		(void)snprintf(owner->vm, WORLD_NAME_MAX, "vm-%u", (unsigned)(draw / 1024 % 20));
	}
	(void)snprintf(owner->label, WORLD_NAME_MAX, "%u", (unsigned)(draw / 65536 % 8 ? 0 : 1));
	owner->millicpu = draw / 1048576 % 3 ? 0 : (uint32_t)(draw / 4194304 % 4000);
}

static void begin_owner(struct world *world, struct owner *owner)
{
	(void)snprintf(owner->id, WORLD_NAME_MAX, "id-%u", (unsigned)++world->next_name);
	owner->waiting = owner->has_pod_names = false;
	if (world_has(world, FEATURE_NAMES) && chance_one_in(&world->names, 3)) {
		owner->waiting = true;
		owner->has_pod_names = chance_one_in(&world->names, 3);
	}
}

/* A container's own name says nothing of the machine but its id while it is awaited. */
static void note_change(struct world *world, struct owner *owner)
{
	owner->version++;
	owner->changed = world->interval.number;
}

static void change_owner(struct world *world, struct owner *owner)
{
	struct chance *chance = &world->names;
	uint64_t draw = chance_below(chance, 1200);

	if (owner->waiting && draw % 15 == 0) {
		owner->waiting = false;
		note_change(world, owner);
	}
	if (world_has(world, FEATURE_RESTART) && draw < 4) {
		begin_owner(world, owner); /* a container starts again in its pod */
		note_change(world, owner);
	}
	if (!world_has(world, FEATURE_NAMES) || draw < 20)
		return;
	if (draw == 20) {
		draw_names(world, owner);
		note_change(world, owner);
	}
	if (draw == 21) {
		owner->waiting = !owner->waiting;
		note_change(world, owner);
	}
}

static void task_ends(struct world *world, struct task *task)
{
	if (task->alive)
		world->pid_taken[task->pid] = false;
	task->alive = false;
}

static void begin_task(struct world *world, struct task *task)
{
	static const char *const commands[] = { "sh", "make", "cc1", "java", "idle", "x" };
	struct chance *chance = &world->tasks_chance;
	uint64_t draw = chance_next(chance);

	task_ends(world, task);
	*task = (struct task){
		.pid = 1 + (uint32_t)(draw % world->pid_limit),
		.owner = (uint32_t)chance_below(chance, world->owner_count),
		/* No two that have one pid start at the same time. */
		.start_ns = world->interval.boot_ns + ++world->births % 1000000,
		.alive = true,
		.load = (uint32_t)chance_below(chance, 3) *
			(uint32_t)chance_below(chance, 1 + 1024 * 8 / (world->task_count + 7)),
		.socket = (uint32_t)chance_below(chance, world->sockets),
	};
	(void)snprintf(task->comm, sizeof(task->comm), "%s", commands[draw / 16777216 % 6]);
	/* A pid is of one living process. */
	task->alive = !world->pid_taken[task->pid];
	world->pid_taken[task->pid] = true;
}

static void begin_tasks(struct world *world)
{
	struct chance *chance = &world->machine;
	uint64_t draw = chance_below(chance, 20);

	world->task_count = (uint32_t)chance_from(chance, 1, draw ? 40 : 400);
	world->pid_limit = world->task_count * 3 / 2 + 2;
	for (uint32_t i = 0; i < world->task_count; i++)
		begin_task(world, &world->tasks[i]);
}

void world_begin(struct world *world, uint64_t seed, uint32_t features)
{
	struct chance *machine = &world->machine;

	memset(world, 0, sizeof(*world));
	world->seed = seed;
	world->features = features;
	world->machine = chance_stream(seed, 1);
	world->power = chance_stream(seed, 2);
	world->faults = chance_stream(seed, 3);
	world->tasks_chance = chance_stream(seed, 4);
	world->names = chance_stream(seed, 5);
	world->options = chance_stream(seed, 6);
	world->memory = chance_stream(seed, 7);
	world->clients = chance_stream(seed, 8);
	world->gpus = chance_stream(seed, 9);
	world->counting = chance_stream(seed, 10);
	world->signals = chance_stream(seed, 11);
	world->interval.now_ns = world->interval.boot_ns = 1000 * SECOND_NS;
	world->sockets =
		(uint32_t)chance_from(machine, 1, chance_below(machine, 2) ? 1 : WORLD_SOCKETS_MAX);
	if (!world_has(world, FEATURE_SOCKETS))
		world->sockets = 1;
	world->cpus_a_socket = (uint32_t)chance_from(machine, 1, WORLD_CPUS_A_SOCKET);
	world->life = chance_from(machine, 1, 300);
	world->owner_count = chance_from(machine, 1, chance_below(machine, 15) ? 16 : 150);
	world->max_processes = 4096;
	world->max_containers = 512;
	if (world_has(world, FEATURE_LIMITS) && chance_one_in(machine, 3)) {
		world->max_processes = (uint32_t)chance_from(machine, 1, 30);
		world->max_containers = (uint32_t)chance_from(machine, 1, 12);
	}
	meters_begin(world);
	counters_begin(world);
	signals_begin(world);
	for (size_t i = 0; i < world->owner_count; i++) {
		draw_names(world, &world->owners[i]);
		begin_owner(world, &world->owners[i]);
		world->owners[i].version = 1;
	}
	begin_tasks(world);
	draw_policy(world);
}

/* Time passes; now and then much of it, or the machine sleeps. */
static void step_time(struct world *world)
{
	struct world_interval *interval = &world->interval;
	uint64_t draw = chance_next(&world->power);

	interval->number++;
	interval->dt_ns = SECOND_NS - 500000 + draw % 1000000;
	if (draw % 50 == 1)
		interval->dt_ns = 50000000 + draw / 64 % (30 * SECOND_NS);
	interval->asleep_ns = 0;
	if (world_has(world, FEATURE_SLEEP) && draw / 4096 % 80 == 0)
		interval->asleep_ns = SECOND_NS + draw / 524288 % (4000 * SECOND_NS);
	interval->now_ns += interval->dt_ns;
	interval->boot_ns += interval->dt_ns + interval->asleep_ns;
	interval->realtime_ms = (int64_t)(interval->boot_ns / 1000000);
	interval->pass_failed =
		world_has(world, FEATURE_PASSES) && interval->number > 1 && draw % 97 == 0;
}

static struct sample *add_sample(struct world *world, struct task *task, uint64_t cpu_ns)
{
	struct world_interval *interval = &world->interval;
	struct sample *sample = &world->samples[interval->count];

	if (interval->count == WORLD_SAMPLES_MAX)
		return NULL;
	interval->count++;
	*sample = (struct sample){
		.pid = task->pid,
		.owner = task->owner,
		.start_ns = task->start_ns,
		.cpu_ns = cpu_ns,
		.ended = !task->alive,
	};
	memcpy(sample->comm, task->comm, sizeof(sample->comm));
	sample->socket_ns[task->socket] = cpu_ns - cpu_ns / 3;
	if (chance_one_in(&world->tasks_chance, 12)) /* it moved */
		task->socket = (uint32_t)chance_below(&world->tasks_chance, world->sockets);
	sample->socket_ns[task->socket] += cpu_ns / 3;
	interval->busy_ns += cpu_ns;
	counters_count(world, sample);
	return sample;
}

static uint64_t run_time(struct world *world, const struct task *task)
{
	struct chance *chance = &world->tasks_chance;
	uint64_t load = task->load;

	if (!load)
		load = chance_one_in(chance, 40) ? 1 : 0;
	return load * (world->interval.dt_ns / 1024) * chance_below(chance, 1024) / 1024;
}

/* Processes come to boards and leave them, whether they run on a CPU or not. */
static void change_boards(struct world *world, struct task *task)
{
	uint64_t draw = chance_next(&world->gpus);

	if (draw % 8)
		return;
	task->boards = (uint32_t)(draw / 8 % (WORLD_USES_MAX + 2));
	task->boards = task->boards > WORLD_USES_MAX ? 0 : task->boards;
	task->board = (uint32_t)(draw / 64 % world->boards);
}

/* For so long, of the boards that it uses; they may be one. */
static void use_boards(struct world *world, const struct task *task, struct sample *sample)
{
	struct world_interval *interval = &world->interval;

	for (uint32_t i = 0; i < task->boards; i++) {
		uint32_t board = (task->board + i) % world->boards;
		uint64_t ns = chance_below(&world->gpus, 1 + interval->dt_ns / 4);

		sample->board[i] = board;
		sample->board_ns[i] = ns;
		interval->board_busy_ns[board] += ns;
	}
}

/* Time of a board that no process is known for. */
static void step_boards(struct world *world)
{
	struct world_interval *interval = &world->interval;

	for (uint32_t board = 0; board < world->boards; board++) {
		uint64_t draw = chance_next(&world->gpus);
		bool unnamed = world_has(world, FEATURE_UNNAMED) && interval->number > 1 &&
			       !interval->pass_failed;

		interval->board_dropped_ns[board] =
			unnamed && draw % 16 == 0 ? draw / 256 % 90000000 : 0;
		interval->board_unseen_ns[board] =
			unnamed && draw / 16 % 16 == 0 ? draw / 65536 % 90000000 : 0;
		interval->board_busy_ns[board] +=
			interval->board_dropped_ns[board] + interval->board_unseen_ns[board];
	}
}

static void change_task(struct world *world, struct task *task)
{
	static const char *const commands[] = { "sh", "make", "cc1", "java", "idle", "x" };
	uint64_t draw = chance_next(&world->tasks_chance);

	if (world_has(world, FEATURE_EXEC) && draw % 256 == 0)
		(void)snprintf(task->comm, sizeof(task->comm), "%s", commands[draw / 256 % 6]);
	if (world_has(world, FEATURE_EXEC) && draw % 256 == 1)
		task->owner = (uint32_t)chance_below(&world->tasks_chance, world->owner_count);
	if (world_has(world, FEATURE_BRIEF) && draw / 65536 % 64 == 0)
		task_ends(world, task);
	if (!task->alive && draw / 4194304 % 4 == 0)
		task->remainder_ns = draw / 16777216 % 4000000;
}

static void step_task(struct world *world, struct task *task)
{
	struct sample *sample = NULL;
	uint64_t cpu_ns;

	if (!task->alive) {
		if (task->remainder_ns) /* of a thread with a late report of its end */
			(void)add_sample(world, task, task->remainder_ns);
		task->remainder_ns = 0;
		if (world_has(world, FEATURE_BRIEF) && chance_one_in(&world->tasks_chance, 6))
			begin_task(world, task);
		return;
	}
	change_task(world, task);
	cpu_ns = world->interval.number > 1 ? run_time(world, task) : 0;
	if (world->boards)
		change_boards(world, task);
	if (cpu_ns || !task->alive || world->interval.number == 1 || task->boards)
		sample = add_sample(world, task, cpu_ns);
	if (sample && world->interval.number > 1)
		use_boards(world, task, sample);
}

/* Born and gone between two passes. */
static void add_brief(struct world *world, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct task brief = { 0 };

		begin_task(world, &brief);
		if (!brief.alive)
			continue;
		task_ends(world, &brief);
		(void)add_sample(world, &brief, chance_below(&world->tasks_chance, 30000000));
	}
}

static void step_tasks(struct world *world)
{
	struct world_interval *interval = &world->interval;
	struct chance *chance = &world->tasks_chance;

	interval->count = 0;
	interval->busy_ns = 0;
	memset(interval->board_busy_ns, 0, sizeof(interval->board_busy_ns));
	interval->samples = world->samples;
	if (interval->pass_failed)
		return;
	for (uint32_t i = 0; i < world->task_count; i++)
		step_task(world, &world->tasks[i]);
	if (world_has(world, FEATURE_BRIEF) && interval->number > 1 && chance_one_in(chance, 3))
		add_brief(world, (uint32_t)chance_below(chance, 6));
	if (world_has(world, FEATURE_CROWD) && chance_one_in(chance, 500))
		world->crowd_left = 1 + (uint32_t)chance_below(chance, 3);
	if (world->crowd_left && interval->number > 1) {
		uint32_t limit = world->pid_limit;

		world->crowd_left--;
		world->pid_limit = WORLD_PIDS - 1;
		add_brief(world, CROWD);
		world->pid_limit = limit;
	}
}

static void step_unnamed(struct world *world)
{
	struct world_interval *interval = &world->interval;
	uint64_t draw = chance_next(&world->tasks_chance);

	interval->dropped_ns = interval->unseen_ns = interval->dropped_owner_ns = 0;
	interval->sockets_vague = false;
	if (!world_has(world, FEATURE_UNNAMED) || interval->pass_failed || interval->number == 1)
		return;
	if (draw % 16 == 0)
		interval->dropped_ns = draw / 16 % 200000000;
	if (draw / 1024 % 8 == 0)
		interval->unseen_ns = draw / 8192 % 50000000;
	if (draw / 65536 % 16 == 0) {
		interval->dropped_owner =
			(uint32_t)chance_below(&world->tasks_chance, world->owner_count);
		interval->dropped_owner_ns = draw / 4194304 % 90000000;
	}
	interval->busy_ns +=
		interval->dropped_ns + interval->unseen_ns + interval->dropped_owner_ns;
	interval->sockets_vague = draw % 301 == 0;
	for (size_t i = 0; interval->sockets_vague && i < interval->count; i++)
		memset(world->samples[i].socket_ns, 0, sizeof(world->samples[i].socket_ns));
}

/* Options are reloaded, or series settle as the gaps between scrapes require now. */
static void step_policy(struct world *world)
{
	uint64_t before_ns = world->policy.settle_ns;

	if (world->interval.reload)
		draw_policy(world);
	else if (world_has(world, FEATURE_RELOAD) && chance_one_in(&world->options, 30))
		world->policy.settle_ns = spans[chance_below(&world->options, 5)] * SECOND_NS;
	meters_settle(world, before_ns, world->policy.settle_ns);
}

static void step_machine(struct world *world)
{
	struct world_interval *interval = &world->interval;

	interval->cpus = 0;
	for (uint32_t socket = 0; socket < world->sockets; socket++) {
		/* CPUs come and go. */
		if (interval->number == 1 || chance_one_in(&world->power, 200))
			interval->socket_cpus[socket] =
				(uint32_t)chance_from(&world->power, 1, world->cpus_a_socket);
		interval->cpus += interval->socket_cpus[socket];
	}
	interval->reload = world_has(world, FEATURE_RELOAD) && interval->number > 1 &&
			   chance_one_in(&world->options, 40);
	step_policy(world);
	interval->refuse_one_in = 0;
	if (world_has(world, FEATURE_MEMORY) && world->seed % 4 == 3 &&
	    chance_one_in(&world->memory, 5))
		interval->refuse_one_in = (uint32_t)chance_from(&world->memory, 1, 5);
}

void world_step(struct world *world)
{
	step_time(world);
	step_machine(world);
	for (size_t i = 0; i < world->owner_count; i++) {
		if (world->interval.number > 1)
			change_owner(world, &world->owners[i]);
		if (world->owners[i].waiting)
			world->waited_ns = world->interval.now_ns;
	}
	counters_step(world);
	step_tasks(world);
	step_unnamed(world);
	step_boards(world);
	signals_step(world);
	meters_step(world);
}
