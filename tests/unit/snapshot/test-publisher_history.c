// SPDX-License-Identifier: Apache-2.0
/*
 * Random histories of a small machine: processes are born, run, exec, move, die (seen or not),
 * their pids are used again, their last run time comes late; containers come and go, wait for their
 * names, get others, restart in their pod, are too many; options are reloaded and zones added.
 * After each interval a watcher looks for a broken promise (snapshot_check.h). It knows all charges
 * from a book of its own, one line a row of the ledger.
 */
#include "snapshot_check.h"
#include "tests/rig/property.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

#define SECOND_NS  1000000000ULL
#define TASKS      7
#define NAMES      3
#define CONTAINERS 7
#define ROWS       64 /* of containers in the ledger, never so many */
#define HELD       3  /* old snapshots that slow readers hold */

struct task {
	uint64_t start_ns;
	uint32_t comm, container;
	bool alive;
};

/* A container's names in a runtime and Kubernetes now. */
struct names {
	uint32_t life;    /* a restart makes another id */
	uint32_t pod, vm; /* 0 none */
	uint32_t name, label;
	bool waiting, has_pod_names;
};

/* The watcher's own book of a container row. */
struct line {
	uint64_t serial;
	uint64_t interval[CHECK_COLUMNS_MAX];            /* charged in this interval */
	uint64_t waited[LEVEL_COUNT][CHECK_COLUMNS_MAX]; /* before, at levels it was not at yet */
	bool joined[LEVEL_COUNT];                        /* it has been there, or never will be */
};

struct world {
	struct property_source *source;
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct publisher *publisher;
	struct publisher_options options;
	struct snapshot_check *check;
	struct task tasks[TASKS]; /* pid: place + 1, or 0 for the last */
	struct names names[CONTAINERS];
	uint64_t now_ns;
	struct line lines[ROWS];
	struct snapshot_truth truth;
	struct {
		const struct snapshot *snapshot;
		uint64_t digest;
	} held[HELD];
};

static void draw_options(struct world *w)
{
	w->options = (struct publisher_options){
		.min_uj = draw_below(w->source, 4) * 40,
		.settle_ns = draw_below(w->source, 4) * SECOND_NS,
		.keep_ns = draw_below(w->source, 6) * SECOND_NS,
		.max_rows = (uint32_t)draw_below(w->source, 60),
	};
}

static void open_world(struct world *w, struct property_source *source)
{
	const struct ledger_options options = {
		.max_processes = 2 + (uint32_t)draw_below(source, 11),
		.max_containers = 4,
	};

	*w = (struct world){ .source = source, .now_ns = SECOND_NS };
	draw_options(w);
	assert_int_equal(ledger_new(&options, &w->ledger), 0);
	assert_int_equal(test_add_zones(w->ledger, 1), 0);
	assert_int_equal(snapshot_holder_new(&w->holder), 0);
	assert_int_equal(publisher_new(&w->options, w->ledger, w->holder, &w->publisher), 0);
	w->check = snapshot_check_new();
}

static void close_world(struct world *w)
{
	snapshot_check_free(w->check);
	publisher_free(w->publisher); /* before its readers: what they hold stays good */
	for (size_t i = 0; i < HELD; i++) {
		if (w->held[i].snapshot)
			(void)snapshot_digest(w->held[i].snapshot);
		snapshot_put(w->holder, w->held[i].snapshot);
	}
	snapshot_holder_free(w->holder);
	ledger_free(w->ledger);
}

static uint32_t container_row(struct world *w, uint32_t container)
{
	static const char *const namespaces[] = { "system", "batch", "", "a", "b", "c", "d" };
	static const char *const pods[] = { "", "pod-1", "pod-2", "pod-3" };
	static const struct label labels[] = { { "", "" }, { "label_a", "1" }, { "label_a", "2" } };
	static const char *const vms[] = { "", "", "vm-1", "vm-2", "vm-3" };
	const struct names *names = &w->names[container];
	char id[32], name[32];
	const struct test_owner owner = {
		.names.text[LABEL_CONTAINER_ID] = id,
		.names.text[LABEL_CONTAINER_NAME] = name,
		.names.text[LABEL_NAMESPACE] = namespaces[(container + names->name) % 7],
		.names.text[LABEL_POD_NAME] = pods[names->pod],
		.names.text[LABEL_POD_ID] = pods[names->pod],
		.names.extra = &labels[names->label],
		.names.extra_count = 1,
		.names.text[LABEL_VM_ID] = vms[names->vm],
		.waiting = names->waiting,
		.has_pod_names = names->has_pod_names,
	};

	(void)snprintf(id, sizeof(id), "unit-%u-%u", container, names->life);
	(void)snprintf(name, sizeof(name), "name-%u", names->name);
	return enter_owner(w->ledger, &owner);
}

/* More becomes known about a container, or it restarts in its pod. */
static void change_names(struct world *w, uint32_t container)
{
	struct names *names = &w->names[container];

	switch (draw_below(w->source, 7)) {
	case 0:
		names->pod = (uint32_t)draw_below(w->source, 4);
		break;
	case 1:
		names->vm = (uint32_t)draw_below(w->source, 5);
		break;
	case 2:
		names->label = (uint32_t)draw_below(w->source, 3);
		break;
	case 3:
		names->life++;
		names->waiting = draw_chance(w->source, 2);
		break;
	case 4:
		names->waiting = !names->waiting;
		break;
	case 5:
		names->has_pod_names = !names->has_pod_names;
		break;
	default:
		names->name = (uint32_t)draw_below(w->source, 3);
	}
}

/* Charges some of each column, to the process where it has a row. */
static void charge(struct world *w, uint32_t process, uint32_t container)
{
	uint32_t columns = ledger_columns(w->ledger);

	assert_true(container < ROWS);
	for (uint32_t column = 0; column < columns; column++) {
		const struct column *of = &ledger_layout(w->ledger)->column[column];
		uint64_t amount = draw_chance(w->source, 3) ? draw_below(w->source, 90) : 0;

		if (process == LEDGER_NONE)
			ledger_charge_container(w->ledger, container, column, amount);
		else
			ledger_charge(w->ledger, process, column, amount);
		w->lines[container].interval[column] += amount;
		if (column != COLUMN_CPU)
			ledger_node(w->ledger, of->account, of->mode, amount);
	}
}

static bool is_at_level(const struct owner_names *names, size_t level)
{
	if (level == LEVEL_POD)
		return names->text[LABEL_POD_ID][0] != '\0';
	return level != LEVEL_VM || names->text[LABEL_VM_ID][0] != '\0';
}

/* While its own name is awaited a container may be in a known pod already. */
static bool is_booked(const struct ledger_container *row, size_t level)
{
	return is_at_level(row->names, level) &&
	       (!row->waiting ||
		(row->has_pod_names && (level == LEVEL_POD || level == LEVEL_NAMESPACE)));
}

static void book_line(struct world *w, size_t level, struct line *line, bool booked)
{
	for (size_t column = 0; column < CHECK_COLUMNS_MAX; column++) {
		uint64_t now = line->interval[column], before = line->waited[level][column];

		if (booked) {
			w->truth.used[level][column] += now + before;
			w->truth.deltas[level][column] += now;
			w->truth.carried[level][column] += before;
		} else if (!line->joined[level]) {
			line->waited[level][column] += now;
		}
	}
}

/* Another row is in this place now; what it was charged in this interval is its own. */
static void forget_line(struct line *line, uint64_t serial)
{
	memset(line->waited, 0, sizeof(line->waited));
	memset(line->joined, 0, sizeof(line->joined));
	line->serial = serial;
}

/* To be done when the ledger is closed: then it is known who waits still. */
static void book_truth(struct world *w)
{
	uint32_t slots = ledger_slots(w->ledger, LEVEL_CONTAINER);

	memset(w->truth.deltas, 0, sizeof(w->truth.deltas));
	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_container *row = ledger_container_at(w->ledger, i);
		struct line *line = &w->lines[i];

		if (!row->row.used || row->row.serial != line->serial)
			forget_line(line, row->row.serial);
		for (size_t level = 0; row->row.used && level < LEVEL_COUNT; level++) {
			bool booked = is_booked(row, level);

			book_line(w, level, line, booked);
			line->joined[level] |= booked || !row->waiting;
			if (line->joined[level])
				memset(line->waited[level], 0, sizeof(line->waited[level]));
		}
		memset(line->interval, 0, sizeof(line->interval));
	}
}

/* A waiting sum is pending, and is used as well. */
static struct snapshot_truth truth_with_waiting(const struct world *w)
{
	uint32_t slots = ledger_slots(w->ledger, LEVEL_CONTAINER);
	struct snapshot_truth truth = w->truth;

	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_container *row = ledger_container_at(w->ledger, i);

		for (size_t level = 0; row->row.used && row->waiting && level < LEVEL_COUNT;
		     level++) {
			for (size_t column = 0; column < CHECK_COLUMNS_MAX; column++) {
				if (is_at_level(row->names, level))
					truth.used[level][column] +=
						w->lines[i].waited[level][column];
			}
		}
	}
	return truth;
}

static uint32_t pid_of(size_t task)
{
	return task + 1 < TASKS ? (uint32_t)task + 1 : 0;
}

static void run_task(struct world *w, size_t i)
{
	static const char *const names[NAMES] = { "sh", "x\xfe", "x\x80" };
	struct task *task = &w->tasks[i];
	uint32_t container = container_row(w, task->container), process;

	process =
		ledger_process(w->ledger, pid_of(i), task->start_ns, names[task->comm], container);
	if (!draw_chance(w->source, 8))
		charge(w, process, container);
	if (!task->alive && process != LEDGER_NONE) /* its last run time came late */
		ledger_end_process(w->ledger, process);
}

static void change_task(struct world *w, size_t i)
{
	struct task *task = &w->tasks[i];
	uint32_t process;

	switch (draw_below(w->source, 5)) {
	case 0: /* exec */
		task->comm = (uint32_t)draw_below(w->source, NAMES);
		break;
	case 1: /* moved */
		task->container = (uint32_t)draw_below(w->source, CONTAINERS);
		break;
	case 2: /* dies */
		task->alive = false;
		process = ledger_find_process(w->ledger, pid_of(i), task->start_ns);
		if (process != LEDGER_NONE)
			ledger_end_process(w->ledger, process);
		break;
	default: /* its pid is used again, often by one just like it; its end may be unseen */
		if (draw_chance(w->source, 2)) {
			task->comm = (uint32_t)draw_below(w->source, NAMES);
			task->container = (uint32_t)draw_below(w->source, CONTAINERS);
		}
		task->start_ns = w->now_ns;
		task->alive = true;
	}
}

static void live_interval(struct world *w)
{
	for (size_t i = 0; i < TASKS; i++) {
		uint64_t what = draw_below(w->source, 8);

		if (what >= 6)
			change_task(w, i);
		if (what >= 3 && (w->tasks[i].alive || draw_chance(w->source, 6)))
			run_task(w, i);
	}
	if (draw_chance(w->source, 3))
		change_names(w, (uint32_t)draw_below(w->source, CONTAINERS));
	if (draw_chance(w->source, 4)) {
		uint32_t container = container_row(w, (uint32_t)draw_below(w->source, CONTAINERS));

		charge(w, LEDGER_NONE, container);
	}
	if (draw_chance(w->source, 3)) {
		uint64_t amount = draw_below(w->source, 50);

		ledger_node(w->ledger, 0, MODE_IDLE, amount);
		ledger_unattributed(w->ledger, 0, MODE_IDLE, UNATTRIBUTED_IDLE_POLICY, amount);
	}
}

/* A slow reader takes this snapshot and gives back an old one, which must be what it was. */
static const char *change_reader(struct world *w)
{
	size_t i = draw_below(w->source, HELD * 2);
	const char *wrong = NULL;

	if (i >= HELD)
		return NULL;
	if (w->held[i].snapshot && snapshot_digest(w->held[i].snapshot) != w->held[i].digest)
		wrong = "a snapshot changed while it was held";
	snapshot_put(w->holder, w->held[i].snapshot);
	w->held[i].snapshot = snapshot_get(w->holder);
	w->held[i].digest = snapshot_digest(w->held[i].snapshot);
	return wrong;
}

static const char *one_interval(struct world *w)
{
	struct snapshot_zone zones[3] = { 0 };
	const struct snapshot_node node = { .cpus = 4 };
	const struct snapshot *snapshot;
	struct snapshot_truth truth;
	const char *wrong;

	w->now_ns += draw_chance(w->source, 10) ? draw_below(w->source, 40) * SECOND_NS : SECOND_NS;
	ledger_begin(w->ledger, w->now_ns);
	if (draw_chance(w->source, 30) && ledger_zones(w->ledger) < 3)
		assert_int_equal(test_add_zones(w->ledger, ledger_zones(w->ledger) + 1), 0);
	if (draw_chance(w->source, 20)) {
		draw_options(w);
		publisher_set_options(w->publisher, &w->options);
	}
	live_interval(w);
	ledger_close(w->ledger);
	book_truth(w);
	truth = truth_with_waiting(w);
	if (publisher_publish(w->publisher,
			      &(struct publication_time){ w->now_ns, (int64_t)(w->now_ns / 1000000),
							  (int64_t)(w->now_ns / 1000000) },
			      zones, &node) < 0)
		return "refused";
	snapshot = snapshot_get(w->holder);
	wrong = snapshot_check_next(w->check, snapshot, &w->options, &truth);
	snapshot_put(w->holder, snapshot);
	return wrong ? wrong : change_reader(w);
}

static const char *promises_hold(struct property_source *source, void *userdata)
{
	struct world w;
	const char *wrong = NULL;
	uint64_t intervals;

	(void)userdata;
	open_world(&w, source);
	intervals = draw_below(source, 60);
	for (uint64_t i = 0; i < intervals && !wrong; i++)
		wrong = one_interval(&w);
	close_world(&w);
	return wrong;
}

static void test_random_histories(void **state)
{
	assert_true(property_check("publisher", promises_hold, NULL, 10000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_histories),
	};

	return unit_run(tests);
}
