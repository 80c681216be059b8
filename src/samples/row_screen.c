// SPDX-License-Identifier: Apache-2.0
#include "samples/row_screen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "energy/zone.h"
#include "samples/power_column.h"

/* Counters of CPU time are read a little before or after the time that they are divided by. */
#define TIME_SLACK 1.1
/* A processor can end several instructions in a cycle. */
#define INSTRUCTIONS_PER_CYCLE 16

/* By the machine's CPUs: how much of it there can be in a second. */
static const struct {
	const char *name;
	double for_each_cpu;
} rates[] = {
	{ "bpf_cpu_time_ms", 1e3 * TIME_SLACK },
	{ "bpf_cpu_time_us", 1e6 * TIME_SLACK },
	{ "cgroupfs_cpu_usage_us", 1e6 * TIME_SLACK },
	{ "cgroupfs_system_cpu_usage_us", 1e6 * TIME_SLACK },
	{ "cgroupfs_user_cpu_usage_us", 1e6 * TIME_SLACK },
	{ "kubelet_cpu_usage", TIME_SLACK },
	{ "cpu_steal_seconds", TIME_SLACK },
	{ "cpu_cycles", SCREEN_CLOCK_HZ },
	{ "cpu_ref_cycles", SCREEN_CLOCK_HZ },
	{ "cpu_instructions", SCREEN_CLOCK_HZ *INSTRUCTIONS_PER_CYCLE },
	{ "cache_miss", SCREEN_CLOCK_HZ },
	{ "bpf_page_cache_hit", SCREEN_CLOCK_HZ },
	{ "bpf_net_tx_irq", SCREEN_CLOCK_HZ },
	{ "bpf_net_rx_irq", SCREEN_CLOCK_HZ },
	{ "bpf_block_irq", SCREEN_CLOCK_HZ },
};

static double most_watts(const struct screen_machine *machine, const char *component)
{
	double sockets = machine->sockets ? machine->sockets : SCREEN_SOCKETS_MAX, watts;
	enum zone_kind kind = 0;

	while (kind < ZONE_KIND_COUNT && strcmp(zone_kind_name(kind), component) != 0)
		kind++;
	/* A single board draws no more than the machine. */
	if (kind == ZONE_KIND_COUNT || zone_kind_info[kind].is_device)
		kind = ZONE_PLATFORM;
	watts = (double)zone_kind_info[kind].max_power_uw / 1e6;
	return zone_domain(kind, "0").kind == DOMAIN_NODE ? watts : watts * sockets;
}

static double most_of(const struct screen_machine *machine, const char *name, bool *ret_is_power)
{
	double cpus = machine->cpus ? machine->cpus : SCREEN_CPUS_MAX;
	char component[SAMPLE_NAME_MAX];

	*ret_is_power = power_column_component(name, component);
	if (*ret_is_power)
		return most_watts(machine, component);
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		if (strcmp(rates[i].name, name) == 0)
			return rates[i].for_each_cpu * cpus;
	}
	return (double)INFINITY;
}

int row_screen_add(struct row_screen *screen, const char *name)
{
	struct screened_column *column;

	if (ARRAY_RESIZE(screen->columns, screen->count + 1) < 0)
		return -ENOMEM;
	column = &screen->columns[screen->count++];
	*column = (struct screened_column){ .lowest = (double)INFINITY,
					    .highest = -(double)INFINITY };
	(void)snprintf(column->name, sizeof(column->name), "%s", name);
	column->most = most_of(&screen->machine, column->name, &column->is_power);
	return 0;
}

void row_screen_release(struct row_screen *screen)
{
	free(screen->columns);
	*screen = (struct row_screen){ .count = 0 };
}

static enum cell_fault fault_of(const struct screened_column *column, double value)
{
	if (!isfinite(value))
		return CELL_IS_NO_NUMBER;
	if (isinf(column->most))
		return CELL_FAULT_COUNT;
	if (value < 0)
		return CELL_IS_NEGATIVE;
	return value > column->most ? CELL_IS_ABOVE : CELL_FAULT_COUNT;
}

static uint64_t fault_count(const struct screened_column *column)
{
	uint64_t count = 0;

	for (size_t i = 0; i < CELL_FAULT_COUNT; i++)
		count += column->faults[i];
	return count;
}

double row_screen_cell(struct row_screen *screen, size_t index, double value, const char *file,
		       uint64_t line)
{
	struct screened_column *column = &screen->columns[index];
	enum cell_fault fault = fault_of(column, value);

	column->cells++;
	if (fault == CELL_FAULT_COUNT) {
		column->lowest = fmin(column->lowest, value);
		column->highest = fmax(column->highest, value);
		return value;
	}
	if (fault_count(column) == 0) {
		(void)snprintf(column->file, sizeof(column->file), "%s", file);
		column->line = line;
		column->value = value;
	}
	column->faults[fault]++;
	return (double)NAN;
}

size_t row_screen_index(const struct row_screen *screen, const char *name)
{
	for (size_t i = 0; i < screen->count; i++) {
		if (strcmp(screen->columns[i].name, name) == 0)
			return i;
	}
	return SAMPLE_COLUMN_NONE;
}

bool screened_column_is_constant(const struct screened_column *column)
{
	return column->cells > fault_count(column) + 1 && column->lowest >= column->highest;
}

/* "2 are no numbers, 1 is above 4000" */
static void add_faults(const struct screened_column *column, struct strbuf *out)
{
	static const char *const words[CELL_FAULT_COUNT][2] = {
		[CELL_IS_NO_NUMBER] = { "is not a number", "are not numbers" },
		[CELL_IS_NEGATIVE] = { "is negative", "are negative" },
		[CELL_IS_ABOVE] = { "is above", "are above" },
	};
	bool any = false;

	for (size_t i = 0; i < CELL_FAULT_COUNT; i++) {
		if (column->faults[i] == 0)
			continue;
		strbuf_addf(out, "%s%llu %s", any ? ", " : "",
			    (unsigned long long)column->faults[i], words[i][column->faults[i] > 1]);
		if (i == CELL_IS_ABOVE)
			strbuf_addf(out, " %g%s", column->most, column->is_power ? " W" : "");
		any = true;
	}
}

static void add_first(const struct screened_column *column, struct strbuf *out)
{
	strbuf_addf(out, "the first is %.200s:%llu", column->file,
		    (unsigned long long)column->line);
	if (isfinite(column->value))
		strbuf_addf(out, ": %g", column->value);
}

/* Advice about a column with many impossible cells. */
static const char *advice(const struct screened_column *column)
{
	if (!column->faults[CELL_IS_ABOVE])
		return column->is_power ? "power cannot be negative" : "a rate cannot be negative";
	return column->is_power ? "power must be in W, not mW; a machine of more sockets needs "
				  "--machine.chips"
				: "rates are in the unit of the feature for each second; "
				  "--machine.cores gives the number of CPUs";
}

bool screened_column_is_impossible(const struct screened_column *column)
{
	uint64_t impossible = column->faults[CELL_IS_NEGATIVE] + column->faults[CELL_IS_ABOVE];

	return (double)impossible > SCREEN_TOLERATED * (double)column->cells;
}

int screened_column_check(const struct screened_column *column, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	bool is_wrong = screened_column_is_impossible(column);

	if (!is_wrong && fault_count(column) < column->cells)
		return 0;
	strbuf_addf(&text, "%s: of %llu cells ", column->name, (unsigned long long)column->cells);
	add_faults(column, &text);
	strbuf_add_str(&text, "; ");
	add_first(column, &text);
	if (is_wrong)
		strbuf_addf(&text, "; %s", advice(column));
	return diag_set(diag, -EINVAL, "%s", text.data ? text.data : "out of memory");
}

void screened_column_describe(const struct screened_column *column, struct strbuf *out)
{
	if (fault_count(column) == 0)
		return;
	strbuf_addf(out, "%s: %llu of %llu cells are left out: ", column->name,
		    (unsigned long long)fault_count(column), (unsigned long long)column->cells);
	add_faults(column, out);
	strbuf_add_str(out, "; ");
	add_first(column, out);
	strbuf_add_char(out, '\n');
}
