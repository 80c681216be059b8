// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "energy/total.h"
#include "snapshot/account_picture.h"

#define BIRTH_MS 1760000000123LL

static void *zalloc(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	assert(memory);
	return memory;
}

#define SET(field, text) ((void)snprintf(field, sizeof(field), "%s", text))

static void make_zone(struct snapshot_zone *zone, enum zone_kind kind, const char *instance,
		      const char *path)
{
	zone->zone = (struct zone){ .kind = kind, .source = "rapl-sysfs" };
	SET(zone->zone.instance, instance);
	SET(zone->zone.path, path);
	zone->state = ZONE_UP;
	zone->idle_state = IDLE_LEARNED;
	zone->has_mode[MODE_DYNAMIC] = zone->has_mode[MODE_IDLE] = true;
	zone->rows_have_mode[MODE_DYNAMIC] = true;
	zone->watts[MODE_DYNAMIC] = 12.25;
	zone->watts[MODE_IDLE] = 7.5;
	zone->span_ns = 1000000000;
	zone->idle_estimate_w = 7.5;
	zone->coverage_ratio = zone->deviation_ratio = zone->delay_s = zone->window_s = (double)NAN;
	zone->share_error_ratio = zone->share_half_width = zone->smt_factor = (double)NAN;
	zone->unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY] = 123456789;
	zone->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY] = 1;
	zone->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_DROPPED] = 2000000;
	zone->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_UNSEEN] = 4000000;
	zone->reads = 100;
	zone->errors = 3;
	zone->dropped = 1;
	zone->wraps = 2;
	zone->age_s = 0.125;
	zone->created_ms = BIRTH_MS;
}

static const double interval_bounds[HEALTH_BUCKETS_MAX] = { 0.0001, 0.0005, 0.001, 0.01, 0.1, 1 };
static const struct health_label reader_labels[] = {
	{ "reader", offsetof(struct fixture_health, reader) },
	{ 0 },
};
static const struct health_label state_labels[] = {
	{ "state", offsetof(struct fixture_state, name) },
	{ 0 },
};
static const struct health_variant results[] = {
	{ "success", HEALTH_VALUE(struct fixture_health, success) },
	{ "failure", HEALTH_VALUE(struct fixture_health, failure) },
	{ 0 },
};
static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_cpu_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "CPU time used by Kepler.",
	  .value = HEALTH_VALUE(struct fixture_health, cpu_seconds) },
	{ .name = "kepler_exporter_open_fds",
	  .type = FAMILY_GAUGE,
	  .help = "Open file descriptors of Kepler.",
	  .value = HEALTH_VALUE(struct fixture_health, open_fds) },
	{ .name = "kepler_exporter_activity_reader",
	  .type = FAMILY_INFO,
	  .help = "The reader that measures the run time of processes.",
	  .labels = reader_labels },
	{ .name = "kepler_exporter_config_last_reload_successful",
	  .type = FAMILY_GAUGE,
	  .help = "1 if the last reload succeeded, otherwise 0.",
	  .value = HEALTH_VALUE(struct fixture_health, last_succeeded) },
	{ .name = "kepler_exporter_config_reloads",
	  .type = FAMILY_COUNTER,
	  .help = "Requested reloads of the configuration.",
	  .variant_label = "result",
	  .variants = results },
	{ .name = "kepler_exporter_interval_duration_seconds",
	  .type = FAMILY_HISTOGRAM,
	  .unit = "seconds",
	  .help = "Time that reading, attributing and publishing took in each interval.",
	  .value.offset = offsetof(struct fixture_health, intervals),
	  .bounds = interval_bounds },
	{ .name = "kepler_node_cpu_idle_state_seconds",
	  .type = FAMILY_COUNTER,
	  .unit = "seconds",
	  .help = "Time in this idle state, summed over all CPUs, since Kepler started.",
	  .value = HEALTH_VALUE(struct fixture_state, seconds),
	  .labels = state_labels,
	  .array = HEALTH_ARRAY(struct fixture_health, states, state_count) },
};

static const struct health_part health_part = {
	.size = sizeof(struct fixture_health),
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

static void make_health(struct fixture *fixture)
{
	fixture->health = (struct fixture_health){
		.cpu_seconds = 1.5,
		.open_fds = 12,
		.reader = "bpf-walk",
		.last_succeeded = true,
		.success = 1,
		.failure = 1,
		.intervals = { { 1, 2, 3, 4, 5, 6 }, 22, 0.75 },
		.states = { { "C1E", 12.5 }, { "C6", 8000.25 }, { "C7", (double)NAN } },
		.state_count = 3,
	};
	fixture->block = (struct health_block){ &health_part, &fixture->health };
	fixture->snapshot.health = &fixture->block;
	fixture->snapshot.health_count = 1;
}

static void make_node(struct snapshot_node *node)
{
	static const struct snapshot_cpu cpus[] = {
		{ 0, 0, 17 },
		{ 130, SNAPSHOT_CPU_UNKNOWN, SNAPSHOT_CPU_UNKNOWN },
	};

	SET(node->version, "0.1.0");
	SET(node->revision, "abcdef");
	SET(node->branch, "main");
	SET(node->node_name, "node-1");
	SET(node->cpu_architecture, "Zen 3");
	SET(node->kernel, "6.1.0");
	SET(node->components_source, "rapl-sysfs");
	SET(node->activity_reader, "bpf-walk");
	node->start_time_s = 1760000000;
	node->busy_ratio = 0.25;
	node->cpu_ns = 123456789012345;
	node->cpu_steal_seconds = node->vm_host_share_ratio = (double)NAN;
	node->vm_load_low = node->vm_load_high = (double)NAN;
	node->cpus = 2;
	SET(node->cpu_vendor, "AuthenticAMD");
	SET(node->cpu_model, "AMD EPYC 7763 64-Core Processor");
	node->cpu_list = cpus;
	node->cpu_list_count = ARRAY_SIZE(cpus);
}

/* Values that no rounding would leave alone, from the row and column; CPU time is the last here. */
static void fill_cells(uint64_t *cells, size_t rows, uint32_t columns, uint64_t scale)
{
	for (size_t row = 0; row < rows; row++) {
		for (uint32_t i = 0; i < columns; i++)
			cells[row * columns + (i + 1) % columns] =
				(row * 7919 + i * 104729 + 13) * scale % 98765432109ULL;
	}
}

static uint64_t *make_cells(const struct fixture *fixture, size_t rows, uint64_t scale)
{
	uint32_t columns = fixture->snapshot.columns;
	uint64_t *cells = zalloc(rows * columns, sizeof(*cells));

	fill_cells(cells, rows, columns, scale);
	return cells;
}

static struct snapshot_row *make_rows(const struct series_labels *labels, size_t count)
{
	struct snapshot_row *rows = zalloc(count, sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct snapshot_row){ .labels = &labels[i],
						 .created_ms = BIRTH_MS + (int64_t)i,
						 .ended = i % 5 == 4 };
	return rows;
}

/* As interning leaves them: no text is NULL. */
#define NO_TEXT                                                                                    \
	{                                                                                          \
		"", "", "", "", "", "", "", "", "", "", "", ""                                     \
	}
static const struct owner_names no_names = { .text = NO_TEXT };
_Static_assert(LABEL_KEY_COUNT == 12, "NO_TEXT has all of them");

static struct owner_names unnamed(void)
{
	struct owner_names names = no_names;

	names.text[LABEL_NAMESPACE] = "system";
	return names;
}

static void make_containers(struct fixture *fixture, const struct fixture_shape *shape)
{
	struct series_labels *containers = zalloc(shape->containers, sizeof(*containers));

	for (uint32_t i = 0; i < shape->containers; i++) {
		struct fixture_names *names = &fixture->names[i];
		const char **text = names->text.text;

		(void)snprintf(names->id, sizeof(names->id), "unit-%u.service", i);
		(void)snprintf(names->name, sizeof(names->name), "unit-%u", i);
		names->text = unnamed();
		text[LABEL_CONTAINER_ID] = names->id;
		text[LABEL_CONTAINER_NAME] = text[LABEL_POD_NAME] = names->name;
		if (shape->groups && i == 1) {
			text[LABEL_POD_ID] = "0b5c";
			text[LABEL_RUNTIME] = "containerd";
		}
		containers[i] = (struct series_labels){ .slot = i,
							.serial = 1000 + i,
							.names = &names->text };
	}
	fixture->labels[LEVEL_CONTAINER] = containers;
}

static void make_processes(struct fixture *fixture, const struct fixture_shape *shape)
{
	struct series_labels *containers = fixture->labels[LEVEL_CONTAINER];
	struct series_labels *processes = zalloc(shape->processes, sizeof(*processes));

	for (uint32_t i = 0; i < shape->processes; i++) {
		struct series_labels *one = &processes[i];

		*one = containers[i % shape->containers];
		one->slot = i;
		one->serial = 5000 + i;
		one->pid = i < shape->containers ? 0 : 1000 + i;
		(void)snprintf(one->command, sizeof(one->command), one->pid ? "worker-%u" : "other",
			       i % 100000);
	}
	fixture->labels[LEVEL_PROCESS] = processes;
}

#define GROUPS 2 /* rows of each */

static void name_pod(struct fixture_names *names, uint32_t i)
{
	static const struct label app = { "label_app", "shop" };
	const char **text = names->text.text;

	text[LABEL_POD_ID] = names->id;
	text[LABEL_POD_NAME] = names->name;
	text[LABEL_NAMESPACE] = i ? "prod" : "a\"} 1\nb\\";
	text[LABEL_WORKLOAD] = "shop";
	text[LABEL_WORKLOAD_TYPE] = "Deployment";
	names->text.extra = &app;
	names->text.extra_count = i;
	names->facts = no_names;
	names->facts.text[LABEL_QOS_CLASS] = "Burstable";
}

static void name_vm(struct fixture_names *names)
{
	const char **text = names->text.text;

	text[LABEL_NAMESPACE] = "";
	text[LABEL_VM_ID] = names->id;
	text[LABEL_VM_NAME] = names->name;
	text[LABEL_HYPERVISOR] = "qemu";
}

static void make_groups(struct fixture *fixture, struct fixture_names *names)
{
	for (enum level level = LEVEL_POD; level < LEVEL_COUNT; level++) {
		struct series_labels *groups = zalloc(GROUPS, sizeof(*groups));

		for (uint32_t i = 0; i < GROUPS; i++, names++) {
			names->text = unnamed();
			(void)snprintf(names->id, sizeof(names->id), "0b5c-%u", i);
			(void)snprintf(names->name, sizeof(names->name), "shop-%u", i);
			groups[i] = (struct series_labels){ .slot = i,
							    .serial = 2000 + i,
							    .names = &names->text };
			if (level == LEVEL_POD) {
				name_pod(names, i);
				groups[i].facts = i ? &names->facts : NULL;
			} else if (level == LEVEL_VM) {
				name_vm(names);
			} else if (i) {
				names->text.text[LABEL_NAMESPACE] = "prod";
			}
		}
		fixture->labels[level] = groups;
	}
}

static void make_labels(struct fixture *fixture, const struct fixture_shape *shape)
{
	size_t names = shape->containers + (size_t)GROUPS * GROUP_LEVELS;

	fixture->names = zalloc(names + 1, sizeof(*fixture->names));
	make_containers(fixture, shape);
	make_processes(fixture, shape);
	make_groups(fixture, fixture->names + shape->containers);
	fixture->names[names].text = unnamed();
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		struct series_labels *retired = zalloc(1, sizeof(*retired));

		*retired = (struct series_labels){ .slot = 100000,
						   .serial = 1,
						   .names = &fixture->names[names].text };
		fixture->retired_labels[level] = retired;
	}
}

static void make_table(struct fixture *fixture, enum level level, size_t count)
{
	struct snapshot_table *table = &fixture->snapshot.level[level];
	uint64_t *pending = make_cells(fixture, 1, 3);

	table->count = count;
	table->rows = make_rows(fixture->labels[level], count);
	table->values = make_cells(fixture, count, level == LEVEL_PROCESS ? 1009 : 50021);
	table->deltas = make_cells(fixture, count, 11);
	table->retired_count = 1;
	table->retired = make_rows(fixture->retired_labels[level], 1);
	table->retired_values = make_cells(fixture, 1, 17);
	table->pending = pending;
	table->merged = 4;
}

static uint64_t table_sum(const struct fixture *fixture, enum level level, uint32_t column)
{
	const struct snapshot_table *table = &fixture->snapshot.level[level];
	uint32_t columns = fixture->snapshot.columns;
	uint64_t sum = table->pending[column];

	for (size_t row = 0; row < table->count; row++)
		sum += table->values[row * columns + column];
	for (size_t row = 0; row < table->retired_count; row++)
		sum += table->retired_values[row * columns + column];
	return sum;
}

static const enum level whole[] = { LEVEL_PROCESS, LEVEL_CONTAINER, LEVEL_NAMESPACE };

/* The difference between one level and another is pending there, so that all make the same sum. */
static uint64_t balance_column(struct fixture *fixture, uint32_t column)
{
	uint64_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		uint64_t sum = table_sum(fixture, whole[i], column);

		most = sum > most ? sum : most;
	}
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		const struct snapshot_table *table = &fixture->snapshot.level[whole[i]];

		((uint64_t *)(uintptr_t)table->pending)[column] +=
			most - table_sum(fixture, whole[i], column);
	}
	return most;
}

/* The first zone of a row's account brings a third of it if there is another. */
static void balance_zone(struct fixture *fixture, const struct account *account, uint32_t z,
			 enum energy_mode mode)
{
	uint32_t column = account->column[mode];
	uint64_t rows = column == COLUMN_NONE ? 0 : balance_column(fixture, column);
	struct snapshot_zone *zone = &fixture->zones[z];
	uint64_t third = account->zones == 1 ? rows : rows / 3;

	zone->node_uj[mode] = z == account->first_zone ? third : rows - third;
	for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
		zone->node_uj[mode] += zone->unattributed_uj[mode][reason];
}

void fixture_balance(struct fixture *fixture)
{
	for (uint32_t z = 0; z < fixture->snapshot.zone_count; z++) {
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++)
			balance_zone(fixture, layout_account_of(&fixture->layout, z), z, mode);
	}
	for (uint32_t i = 0; i < fixture->snapshot.columns; i++) {
		struct snapshot_column *column = &fixture->columns[i];

		if (column->of.quantity->counted)
			column->node = balance_column(fixture, i) + column->unattributed;
	}
}

static void choose_total(struct fixture *fixture, uint32_t known, uint32_t count)
{
	const struct zone *zones[4] = { NULL };
	uint32_t total[4] = { TOTAL_NONE };

	for (uint32_t z = 0; z < count; z++) {
		zones[z] = &fixture->zones[z].zone;
		total[z] = fixture->zones[z].total;
	}
	(void)total_choose(zones, known, count, PSYS_GPUS_AUTO, total);
	for (uint32_t z = 0; z < count; z++)
		fixture->zones[z].total = total[z];
}

void fixture_follow_zones(struct fixture *fixture)
{
	account_pictures(&fixture->layout, fixture->zones, fixture->accounts);
}

static void make_columns(struct fixture *fixture, uint32_t signals)
{
	struct layout *layout = &fixture->layout;
	struct snapshot_column *column =
		zalloc(layout->columns + SIGNAL_COUNT, sizeof(*fixture->columns));

	fixture->columns = column;
	for (uint32_t i = 0; i < layout->columns; i++)
		column[i].of = layout->column[i];
	for (; signals; signals &= signals - 1) {
		uint32_t i = layout->columns;
		int signal = __builtin_ctz(signals);

		layout_count(layout, &signal_info[signal]);
		column[i] = (struct snapshot_column){ .of = layout->column[i],
						      .unattributed = 1000 + (uint64_t)signal };
	}
}

#define COLUMNS_MAX (1 + 4 * MODE_COUNT + SIGNAL_COUNT)

static void make_accounts(struct fixture *fixture, const struct fixture_shape *shape)
{
	struct snapshot *snapshot = &fixture->snapshot;

	int r = layout_init(&fixture->layout, shape->by_zone);

	assert(r == 0);
	if (shape->idle_on_rows)
		layout_bear_idle(&fixture->layout);
	for (uint32_t z = 0; z < shape->zones; z++) {
		r = layout_reserve(&fixture->layout, COLUMNS_MAX);
		assert(r == 0);
		layout_add_zone(&fixture->layout, &fixture->zones[z].zone);
	}
	(void)r;
	make_columns(fixture, shape->counters);
	snapshot->column = fixture->columns;
	fixture->accounts = zalloc(fixture->layout.account_count, sizeof(*fixture->accounts));
	fixture_follow_zones(fixture);
	snapshot->by_zone = shape->by_zone;
	snapshot->accounts = fixture->accounts;
	snapshot->account_count = fixture->layout.account_count;
	snapshot->columns = fixture->layout.columns;
}

void fixture_make(struct fixture *fixture, const struct fixture_shape *shape)
{
	*fixture = (struct fixture){ 0 };
	fixture->zones = zalloc(4, sizeof(*fixture->zones));
	make_zone(&fixture->zones[0], ZONE_PACKAGE, "0", "intel-rapl:0");
	make_zone(&fixture->zones[1], ZONE_PACKAGE, "1", "intel-rapl:1");
	make_zone(&fixture->zones[2], ZONE_DRAM, "0", "intel-rapl:0:1");
	make_zone(&fixture->zones[3], ZONE_PSYS, "", "intel-rapl:2");
	if (shape->taken_over) {
		make_zone(&fixture->zones[0], ZONE_PLATFORM, "", "specpower-1");
		fixture->zones[0].zone.quality = QUALITY_ESTIMATED;
		fixture->zones[0].zone.source = "trained_power_model";
		fixture->zones[0].ended = true;
		choose_total(fixture, 0, 1);
	}
	for (uint32_t z = 0; z < 4; z++)
		fixture->zones[z].rows_have_mode[MODE_IDLE] = shape->idle_on_rows;
	choose_total(fixture, shape->taken_over, shape->zones);
	fixture->snapshot.power = &fixture->power;
	fixture->snapshot.zones = fixture->zones;
	fixture->snapshot.zone_count = shape->zones;
	make_accounts(fixture, shape);
	fixture->snapshot.sequence = 7;
	fixture->snapshot.realtime_ms = BIRTH_MS + 7000;
	make_node(&fixture->snapshot.node);
	make_health(fixture);
	make_labels(fixture, shape);
	make_table(fixture, LEVEL_PROCESS, shape->processes);
	make_table(fixture, LEVEL_CONTAINER, shape->containers);
	make_table(fixture, LEVEL_POD, shape->groups ? GROUPS : 0);
	make_table(fixture, LEVEL_VM, shape->groups ? GROUPS : 0);
	make_table(fixture, LEVEL_NAMESPACE, shape->groups ? GROUPS : 1);
	fixture_balance(fixture);
}

void fixture_power(struct fixture *fixture)
{
	static const struct power_part parts[] = {
		{ .kind = ZONE_PACKAGE, .power_uw = 92000000 },
		{ .kind = ZONE_DRAM, .power_uw = 9000000 },
		{ .kind = ZONE_PSYS, .is_rest = true, .power_uw = 97000000 },
	};
#define NOT_IN_A_GROUP POWER_ROW_NONE, POWER_ROW_NONE, POWER_ROW_NONE
	static const struct power_row rows[] = {
		{ 140000000,
		  5000000,
		  1500000000,
		  70,
		  { POWER_ROW_NONE, 2, NOT_IN_A_GROUP },
		  7,
		  0,
		  "burner",
		  "shop/checkout-7d9f" },
		{ 30000000,
		  4000000,
		  250000000,
		  80,
		  { POWER_ROW_NONE, 2, NOT_IN_A_GROUP },
		  8,
		  0,
		  "reader",
		  "shop/checkout-7d9f" },
		{ 170000000,
		  9000000,
		  1750000000,
		  0,
		  { POWER_ROW_NONE, POWER_ROW_NONE, NOT_IN_A_GROUP },
		  0,
		  0,
		  "",
		  "web in shop/checkout-7d9f" },
	};
	struct power_picture *power = &fixture->power;

	*power = (struct power_picture){
		.realtime_ms = BIRTH_MS,
		.elapsed_ns = 1000000000,
		.is_known = true,
		.total_uw = 198000000,
		.has_idle = true,
		.idle_uw = 26000000,
		.unattributed_uw = 1000000,
		.part_count = ARRAY_SIZE(parts),
		.view[LEVEL_PROCESS] = { .count = 2, .left_out = 3, .other_uw = 1000000 },
		.view[LEVEL_CONTAINER] = { .first = 2, .count = 1, .other_uw = 1000000 },
		.row_count = ARRAY_SIZE(rows),
		.rows = fixture->power_rows,
	};
	memcpy(fixture->power_rows, rows, sizeof(rows));
	memcpy(power->parts, parts, sizeof(parts));
}

void fixture_node(struct fixture *fixture)
{
	static const struct fixture_shape shape = {
		.zones = 3, .containers = 2, .processes = 6, .groups = true
	};
	struct series_labels *processes;

	fixture_make(fixture, &shape);
	processes = fixture->labels[LEVEL_PROCESS];
	SET(processes[2].command, "a\"} 1\nb\\");
	SET(processes[3].command, "\xff\x01 ok \xc3\xbc");
	SET(fixture->names[1].id, "bad\xfe.service");
	fixture->zones[2].span_ns = 0;
	fixture->zones[2].watts[MODE_DYNAMIC] = fixture->zones[2].watts[MODE_IDLE] = (double)NAN;
	fixture->zones[2].idle_estimate_w = (double)NAN;
	fixture->zones[2].deviation_ratio = -0.0625;
	fixture->zones[2].coverage_ratio = 0.9375;
	fixture->zones[2].share_error_ratio = 0.0625;
	fixture->zones[2].share_half_width = 0.03125;
	fixture->zones[2].smt_factor = 0.625;
	fixture->zones[2].delay_s = 6.25;
	fixture->zones[2].window_s = 30;
	fixture->zones[2].state = ZONE_ERROR;
	fixture->zones[2].caveat = CAVEAT_OUTPUT;
	fixture_follow_zones(fixture);
}

void fixture_counters(struct fixture *fixture)
{
	static const struct fixture_shape shape = {
		.zones = 1,
		.containers = 1,
		.processes = 2,
		.groups = true,
		.counters = SIGNAL_BIT(SIGNAL_INSTRUCTIONS) | SIGNAL_BIT(SIGNAL_PAGE_CACHE_HITS) |
			    SIGNAL_BIT(SIGNAL_NET_BYTES),
	};

	fixture_make(fixture, &shape);
}

void fixture_vm(struct fixture *fixture)
{
	static const struct fixture_shape shape = { .zones = 1, .containers = 1, .processes = 2 };
	struct snapshot_zone *zone;

	fixture_make(fixture, &shape);
	zone = &fixture->zones[0];
	zone->zone = (struct zone){
		.kind = ZONE_PLATFORM,
		.quality = QUALITY_ESTIMATED,
		.scope = SCOPE_VM_DYNAMIC,
		.path = "specpower-1",
		.source = "trained_power_model",
	};
	zone->model = 1;
	zone->model_changes = 3;
	zone->model_error_w = 4.5;
	zone->model_outside = 1;
	fixture->block.data = NULL; /* it is not configured */
	SET(fixture->snapshot.node.models[0].name, "lab \"1\"");
	SET(fixture->snapshot.node.models[0].output, "DynPower");
	SET(fixture->snapshot.node.models[0].features, "BPFOnly");
	SET(fixture->snapshot.node.models[0].machine, "lab_cpu");
	zone->idle_state = IDLE_ABSENT;
	zone->has_mode[MODE_IDLE] = zone->rows_have_mode[MODE_IDLE] = false;
	zone->watts[MODE_IDLE] = zone->idle_estimate_w = (double)NAN;
	fixture_follow_zones(fixture);
	SET(fixture->snapshot.node.components_source, "");
	SET(fixture->snapshot.node.platform_source, "trained_power_model");
	fixture->snapshot.node.cpu_steal_seconds = 3.5;
	fixture->snapshot.node.vm_host_share_ratio = 0.125;
	SET(fixture->snapshot.node.vm_host_cpus_source, "instance_type");
	fixture->snapshot.node.vm_load_low = 0.25;
	fixture->snapshot.node.vm_load_high = 0.75;
}

void fixture_bare(struct fixture *fixture)
{
	static const struct fixture_shape shape = { .zones = 0, .containers = 1, .processes = 2 };

	fixture_make(fixture, &shape);
	SET(fixture->snapshot.node.components_source, "");
	SET(fixture->snapshot.node.activity_reader, "procfs");
}

void fixture_release(struct fixture *fixture)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &fixture->snapshot.level[level];

		free((void *)(uintptr_t)table->rows);
		free((void *)(uintptr_t)table->values);
		free((void *)(uintptr_t)table->deltas);
		free((void *)(uintptr_t)table->retired);
		free((void *)(uintptr_t)table->retired_values);
		free((void *)(uintptr_t)table->pending);
		free(fixture->labels[level]);
		free(fixture->retired_labels[level]);
	}
	free(fixture->names);
	free(fixture->zones);
	free(fixture->columns);
	free(fixture->accounts);
	layout_release(&fixture->layout);
}

static const struct snapshot *held;
static unsigned references;

void fixture_hold(const struct snapshot *snapshot)
{
	__atomic_store_n(&held, snapshot, __ATOMIC_SEQ_CST);
}

unsigned fixture_references(void)
{
	return __atomic_load_n(&references, __ATOMIC_SEQ_CST);
}

const struct snapshot *__wrap_snapshot_get(struct snapshot_holder *holder)
{
	const struct snapshot *snapshot = __atomic_load_n(&held, __ATOMIC_SEQ_CST);

	(void)holder;
	if (snapshot)
		__atomic_fetch_add(&references, 1, __ATOMIC_SEQ_CST);
	return snapshot;
}

void __wrap_snapshot_put(struct snapshot_holder *holder, const struct snapshot *snapshot)
{
	(void)holder;
	if (snapshot)
		__atomic_fetch_sub(&references, 1, __ATOMIC_SEQ_CST);
}
