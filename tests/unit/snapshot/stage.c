// SPDX-License-Identifier: Apache-2.0
#include "stage.h"

#include <string.h>

#include "tests/rig/test_zones.h"

struct publisher_options default_options(void)
{
	return (struct publisher_options){ .min_uj = MIN_UJ,
					   .settle_ns = 15 * SECOND_NS,
					   .keep_ns = 300 * SECOND_NS,
					   .max_rows = 1000 };
}

void open_stage(struct stage *s, const struct publisher_options *options)
{
	open_stage_for(s, options, 1000, 100);
}

void open_stage_for(struct stage *s, const struct publisher_options *options,
		    uint32_t max_processes, uint32_t max_containers)
{
	const struct ledger_options book = { .max_processes = max_processes,
					     .max_containers = max_containers };

	*s = (struct stage){ .now_s = 1000 };
	assert_int_equal(ledger_new(&book, &s->ledger), 0);
	assert_int_equal(test_add_zones(s->ledger, 1), 0);
	assert_int_equal(snapshot_holder_new(&s->holder), 0);
	assert_null(snapshot_get(s->holder));
	assert_int_equal(publisher_new(options, s->ledger, s->holder, &s->publisher), 0);
	ledger_begin(s->ledger, s->now_s * SECOND_NS);
}

void close_stage(struct stage *s)
{
	snapshot_put(s->holder, s->snapshot);
	publisher_free(s->publisher);
	snapshot_holder_free(s->holder);
	ledger_free(s->ledger);
}

void publish(struct stage *s, uint64_t later_s)
{
	const struct snapshot_zone zones[3] = { { .zone = { .kind = ZONE_PACKAGE,
							    .instance = "0",
							    .path = "intel-rapl:0",
							    .source = "rapl-sysfs" },
						  .has_mode[MODE_DYNAMIC] = true,
						  .rows_have_mode[MODE_DYNAMIC] = true,
						  .span_ns = SECOND_NS } };
	const struct snapshot_node node = { .cpus = 2 };

	snapshot_put(s->holder, s->snapshot);
	assert_int_equal(publisher_publish(s->publisher,
					   &(struct publication_time){ s->now_s * SECOND_NS,
								       (int64_t)s->now_s * 1000,
								       (int64_t)s->now_s * 1000 },
					   zones, &node),
			 0);
	s->snapshot = snapshot_get(s->holder);
	s->now_s += later_s;
	ledger_begin(s->ledger, s->now_s * SECOND_NS);
}

uint32_t use(struct stage *s, uint32_t pid, uint64_t start_ns, const char *comm, uint64_t amount_uj)
{
	uint32_t process = ledger_process(s->ledger, pid, start_ns, comm, 0);

	ledger_charge(s->ledger, process, ENERGY, amount_uj);
	ledger_charge(s->ledger, process, COLUMN_CPU, amount_uj);
	ledger_node(s->ledger, 0, MODE_DYNAMIC, amount_uj);
	return process;
}

uint64_t shown(const struct stage *s, uint32_t pid, const char *command)
{
	const struct snapshot_table *table = &s->snapshot->level[LEVEL_PROCESS];

	for (size_t i = 0; i < table->count; i++) {
		const struct series_labels *labels = table->rows[i].labels;

		if (labels->pid == pid && strcmp(labels->command, command) == 0)
			return table->values[i * s->snapshot->columns + ENERGY];
	}
	return NOT_SHOWN;
}

uint64_t other(const struct stage *s)
{
	return shown(s, 0, "other");
}

uint64_t pending(const struct stage *s)
{
	return s->snapshot->level[LEVEL_PROCESS].pending[ENERGY];
}

uint64_t retired(const struct stage *s)
{
	const struct snapshot_table *table = &s->snapshot->level[LEVEL_PROCESS];

	return table->retired_count ? table->retired_values[ENERGY] : 0;
}
