// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "base/macro.h"
#include "explain/explain_print.h"

const char *explained_level_name(enum level level)
{
	static const char *const names[] = { "process", "container", "pod", "vm", "namespace" };

	return (size_t)level < ARRAY_SIZE(names) ? names[level] : "unknown";
}

const char *explain_series_name(enum explain_series series)
{
	static const char *const names[] = { "shown",    "settles", "kept",       "waits",
					     "in_other", "hidden",  "unpublished" };

	return (size_t)series < ARRAY_SIZE(names) ? names[series] : "unknown";
}

const char *explained_flow_name(enum explained_flow flow)
{
	static const char *const names[] = { "nothing", "baseline", "unknown", "held", "counted" };

	return (size_t)flow < ARRAY_SIZE(names) ? names[flow] : "unknown";
}

static void add_text(struct strbuf *out, const char *key, const char *value)
{
	strbuf_addf(out, "\"%s\":\"", key);
	strbuf_add_json(out, value);
	strbuf_add_str(out, "\",");
}

static void add_number(struct strbuf *out, const char *key, uint64_t value)
{
	strbuf_addf(out, "\"%s\":%llu,", key, (unsigned long long)value);
}

/* The comma before the bracket that follows goes. */
static void end(struct strbuf *out, const char *bracket)
{
	if (out->len && out->data[out->len - 1] == ',')
		out->data[--out->len] = '\0';
	strbuf_add_str(out, bracket);
}

static void add_names(const struct explain_answer *answer, struct strbuf *out)
{
	strbuf_add_str(out, "\"names\":{");
	for (size_t key = 0; key < LABEL_KEY_COUNT; key++) {
		const struct label_info *info = &label_info[key];

		if (answer->names[key][0])
			add_text(out, info->page ? info->page : info->name, answer->names[key]);
	}
	end(out, "},");
}

static void add_mode(const struct explained_zone *zone, enum energy_mode which, struct strbuf *out)
{
	const struct explained_mode *mode = &zone->mode[which];

	strbuf_addf(out, "\"%s\":{", energy_mode_name(which));
	add_number(out, "energy_uj", mode->energy_uj);
	add_number(out, "named_uj", mode->named_uj);
	add_number(out, "named_weight", mode->named_weight);
	add_number(out, "dropped_weight", mode->dropped_weight);
	add_number(out, "unseen_weight", mode->unseen_weight);
	strbuf_add_str(out, "\"unattributed_uj\":{");
	for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
		add_number(out, unattributed_reason_name(reason), mode->unattributed_uj[reason]);
	end(out, "},");
	add_number(out, "weight", mode->weight);
	add_number(out, "parties", mode->parties);
	add_number(out, "charged_uj", mode->charged_uj);
	end(out, "},");
}

static void add_model(const struct explained_model *model, struct strbuf *out)
{
	strbuf_add_str(out, "\"model\":{");
	add_text(out, "name", model->name);
	if (!isnan(model->error_w))
		strbuf_addf(out, "\"error_w\":%.6f,", model->error_w);
	strbuf_addf(out, "\"outside\":%s,", model->outside ? "true" : "false");
	end(out, "},");
}

static void add_zone(const struct explained_zone *zone, const struct explained_model *model,
		     struct strbuf *out)
{
	char id[ZONE_ID_MAX];

	zone_id(&zone->zone, id);
	strbuf_add_str(out, "\n{");
	add_text(out, "zone", id);
	add_text(out, "source", zone->zone.source);
	add_text(out, "path", zone->zone.path);
	add_text(out, "quality", zone_quality_name(zone->zone.quality));
	if (model)
		add_model(model, out);
	add_text(out, "state", zone_state_name(zone->state));
	add_text(out, "flow", explained_flow_name(zone->flow));
	add_number(out, "from_ns", zone->from_ns);
	add_number(out, "to_ns", zone->to_ns);
	add_number(out, "energy_uj", zone->energy_uj);
	add_number(out, "counter_uj", zone->counter_uj);
	add_number(out, "asleep_uj", zone->asleep_uj);
	strbuf_addf(out, "\"gap\":%s,", zone->was_gap ? "true" : "false");
	strbuf_addf(out, "\"late\":%s,", zone->was_late ? "true" : "false");
	add_text(out, "idle_state", idle_state_name(zone->idle_state));
	add_text(out, "signal", share_rule_name(zone->rule));
	add_text(out, "unit", share_rule_unit(zone->rule));
	if (zone->factor > 0)
		strbuf_addf(out, "\"factor\":%.6f,", zone->factor);
	add_number(out, "idle_power_uw", zone->idle_power_uw);
	add_text(out, "idle_share", idle_share_name(zone->idle_share));
	if (zone->by_socket)
		add_number(out, "socket", zone->package);
	if (zone->by_parts)
		strbuf_add_str(out, "\"by_parts\":true,");
	if (zone->by_device)
		add_number(out, "device", zone->zone.domain.number);
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++)
		add_mode(zone, mode, out);
	end(out, "},");
}

/* The account of one counter of the row. */
static void add_account(const struct explained_account *account, struct strbuf *out)
{
	char id[ZONE_ID_MAX];

	zone_id(&account->zone, id);
	strbuf_add_str(out, "\n{");
	add_text(out, "zone", account->zones == 1 ? id : zone_kind_name(account->zone.kind));
	add_text(out, "source", account->zone.source);
	add_number(out, "zones", account->zones);
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
		strbuf_addf(out, "\"%s\":{", energy_mode_name(mode));
		add_number(out, "total_uj", account->total_uj[mode]);
		add_number(out, "shown_uj", account->shown_uj[mode]);
		end(out, "},");
	}
	end(out, "},");
}

static void add_near(const struct explain_answer *answer, struct strbuf *out)
{
	add_text(out, "result", answer->result == EXPLAIN_AMBIGUOUS ? "ambiguous" : "not_found");
	strbuf_add_str(out, "\"near\":[");
	for (size_t i = 0; i < answer->near_count; i++) {
		strbuf_add_char(out, '"');
		strbuf_add_json(out, answer->near[i]);
		strbuf_add_str(out, "\",");
	}
	end(out, "],");
	add_number(out, "near_total", answer->near_total);
	end(out, "}\n");
}

static void add_host(const struct explained_host *host, struct strbuf *out)
{
	strbuf_add_str(out, "\"host\":{");
	add_text(out, "source", host->source);
	add_number(out, "cpu_us", host->cpu_us);
	if (host->compared_own_us) {
		add_number(out, "compared_host_us", host->compared_host_us);
		add_number(out, "compared_own_us", host->compared_own_us);
	}
	end(out, "},");
}

void explain_print_json(const struct explain_answer *answer, struct strbuf *out)
{
	const struct explanation *explanation = &answer->explanation;

	strbuf_add_char(out, '{');
	add_text(out, "target", answer->target);
	if (answer->result != EXPLAIN_FOUND) {
		add_near(answer, out);
		return;
	}
	add_text(out, "result", "found");
	add_text(out, "level", explained_level_name(explanation->level));
	if (explanation->level == LEVEL_PROCESS) {
		add_number(out, "pid", answer->pid);
		add_text(out, "command", answer->comm);
		add_number(out, "start_ms", (uint64_t)answer->start_ms);
	}
	strbuf_addf(out, "\"ended\":%s,", answer->ended ? "true" : "false");
	add_names(answer, out);
	add_text(out, "series", explain_series_name(answer->series));
	add_number(out, "series_ms", (uint64_t)answer->series_ms);
	add_number(out, "snapshot", answer->sequence);
	add_number(out, "now_ms", (uint64_t)answer->now_ms);
	add_number(out, "now_ns", explanation->now_ns);
	add_number(out, "span_ns", explanation->span_ns);
	add_number(out, "cpu_ns", explanation->cpu_ns);
	add_number(out, "total_cpu_ns", explanation->total_cpu_ns);
	add_number(out, "node_cpu_ns", explanation->node_cpu_ns);
	if (answer->host.source)
		add_host(&answer->host, out);
	strbuf_add_str(out, "\"zones\":[");
	for (uint32_t z = 0; z < explanation->zone_count; z++)
		add_zone(&explanation->zone[z], explain_answer_model(answer, z), out);
	end(out, "\n],\"totals\":[");
	for (uint32_t i = 0; i < explanation->account_count; i++)
		add_account(&explanation->account[i], out);
	end(out, "\n]}\n");
}
