// SPDX-License-Identifier: Apache-2.0
#include "stat/tree_page.h"

#include <errno.h>
#include <math.h>

#include "base/num.h"

static void add_micro(struct strbuf *out, const char *key, uint64_t value, bool is_coarse)
{
	if (is_coarse)
		value -= value % 1000;
	strbuf_addf(out, "\"%s\":%llu.%06llu", key, (unsigned long long)(value / 1000000),
		    (unsigned long long)(value % 1000000));
}

/* The error of an account is known or not: 0 is not known. */
static void add_zone(struct strbuf *out, const struct zone *zone, enum energy_mode mode,
		     uint64_t energy_uj, bool is_of_node, bool is_coarse)
{
	strbuf_addf(out, "%s\n{\"zone\":\"%s\",\"mode\":\"%s\",\"source\":\"",
		    out->data[out->len - 1] == '}' ? "," : "", zone_kind_name(zone->kind),
		    mode == MODE_IDLE ? "idle" : "dynamic");
	strbuf_add_json(out, zone->source);
	strbuf_addf(out, "\",\"quality\":\"%s\",\"of_node\":%s,", zone_quality_name(zone->quality),
		    is_of_node ? "true" : "false");
	add_micro(out, "joules", energy_uj, is_coarse);
}

static void end_zone(struct strbuf *out, const struct tree_account *sum, double error_uj)
{
	strbuf_addf(out, ",\"in_total\":%s,\"late\":%s,\"read_ns\":%llu,\"error_joules\":%.6f}",
		    sum->in_total ? "true" : "false", sum->is_lost ? "true" : "false",
		    (unsigned long long)(sum->read_ns < INT64_MAX ? sum->read_ns : INT64_MAX),
		    error_uj / 1e6);
}

static void add_account(struct strbuf *out, const struct process_tree *tree,
			const struct layout *layout, uint32_t a, bool is_coarse)
{
	const struct tree_account *sum = &tree->accounts[a];
	const struct zone *zone = layout_account_zone(layout, a);

	if (account_has_ended(&layout->accounts[a]) && !sum->energy_uj[MODE_DYNAMIC])
		return;
	add_zone(out, zone, MODE_DYNAMIC, sum->energy_uj[MODE_DYNAMIC], false, is_coarse);
	end_zone(out, sum, sum->error_uj);
	if (sum->energy_uj[MODE_IDLE]) {
		add_zone(out, zone, MODE_IDLE, sum->energy_uj[MODE_IDLE], false, is_coarse);
		end_zone(out, sum, 0);
	} else if (sum->node_idle_uj) {
		add_zone(out, zone, MODE_IDLE, sum->node_idle_uj, true, is_coarse);
		end_zone(out, sum, 0);
	}
}

static void add_commands(struct strbuf *out, const struct process_tree *tree, bool is_coarse)
{
	strbuf_add_str(out, ",\"commands\":[");
	for (uint32_t i = 0; i < tree->command_count; i++) {
		const struct tree_command *command = &tree->commands[i];

		strbuf_addf(out, "%s\n{\"command\":\"", i ? "," : "");
		strbuf_add_json(out, command->comm);
		strbuf_addf(out, "\",\"processes\":%u,", command->processes);
		add_micro(out, "joules", command->energy_uj, is_coarse);
		strbuf_add_char(out, ',');
		add_micro(out, "cpu_seconds", command->cpu_ns / 1000, is_coarse);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void add_left(struct strbuf *out, const struct process_trees *trees, uint32_t tree)
{
	struct tree_left left[TREE_LEFT_MAX];
	uint32_t count = process_trees_left(trees, tree, left, TREE_LEFT_MAX);

	strbuf_addf(out, ",\"left_count\":%u,\"left\":[", count);
	for (uint32_t i = 0; i < count && i < TREE_LEFT_MAX; i++) {
		strbuf_addf(out, "%s\n{\"pid\":%u,\"command\":\"", i ? "," : "", left[i].pid);
		strbuf_add_json(out, left[i].comm);
		strbuf_add_str(out, "\"}");
	}
	strbuf_add_char(out, ']');
}

/* A rate that is not known has no key. */
static void add_rate(struct strbuf *out, const char *key, double rate)
{
	if (isfinite(rate))
		strbuf_addf(out, "\"%s\":%.9g,", key, rate);
}

static void add_rates(struct strbuf *out, const struct rate_values *rates)
{
	strbuf_add_str(out, ",\"rates\":{");
	add_rate(out, "price_per_kwh", rates->price_per_kwh);
	add_rate(out, "carbon_grams_per_kwh", rates->carbon_g_per_kwh);
	add_rate(out, "pue", rates->pue);
	strbuf_addf(out, "\"currency\":\"%s\",\"carbon_kind\":\"", rates->currency);
	strbuf_add_json(out, rates->carbon_kind);
	strbuf_add_str(out, "\"}");
}

int tree_page(const struct process_trees *trees, uint32_t tree, const struct layout *layout,
	      const struct rate_values *rates, bool is_coarse, struct strbuf *out)
{
	const struct process_tree *of = process_trees_at(trees, tree);

	if (!of)
		return -ENOENT;
	strbuf_addf(out, "{\"processes\":%u,\"short_processes\":%u,\"missed\":%u,", of->processes,
		    of->short_processes, of->missed);
	add_micro(out, "cpu_seconds", of->cpu_ns / 1000, is_coarse);
	strbuf_add_str(out, ",\"zones\":[");
	for (uint32_t a = 0; a < of->account_count; a++)
		add_account(out, of, layout, a, is_coarse);
	strbuf_add_char(out, ']');
	add_commands(out, of, is_coarse);
	add_left(out, trees, tree);
	if (rates)
		add_rates(out, rates);
	strbuf_add_str(out, "}\n");
	return strbuf_error(out);
}
