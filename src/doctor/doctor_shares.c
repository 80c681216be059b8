// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_shares.h"

#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/watts_text.h"

/* "learned", "idle ≤ 14.00 W (provisional): …" */
static void add_idle_state(const struct interval_engine *engine, size_t z, struct strbuf *out)
{
	enum idle_state state = interval_engine_view(engine, z).idle_state;
	uint64_t power_uw = interval_engine_view(engine, z).idle_power_uw;
	char watts[WATTS_TEXT_MAX];

	if (state != IDLE_PROVISIONAL) {
		strbuf_add_str(out, idle_state_name(state));
		return;
	}
	if (power_uw) {
		watts_text(watts, (double)power_uw / 1e6);
		strbuf_addf(out, "idle ≤ %s W (provisional)", watts);
	} else {
		strbuf_add_str(out, "provisional, nothing bounds it yet");
	}
	strbuf_add_str(out, ": a running exporter learns it within a minute of load that varies by "
			    "20 percentage points and is light at times, or within ten minutes at "
			    "rest");
}

static void examine_idle(struct findings *findings, const struct interval_engine *engine,
			 const struct config *config)
{
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		const struct zone *zone = interval_engine_zone(engine, z);
		enum idle_state state = interval_engine_view(engine, z).idle_state;
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
		char id[ZONE_ID_MAX];

		zone_id(zone, id);
		if (state == IDLE_ABSENT) {
			findings_add(findings, FINDING_NOTE, "idle power", NULL,
				     "%s: this zone has no idle part", id);
			continue;
		}
		add_idle_state(engine, z, &text);
		findings_add(findings, FINDING_NOTE, "idle power", NULL, "%s: %s; %s%s", id,
			     strbuf_error(&text) ? "" : text.data,
			     config->idle.share == IDLE_SHARE_NODE ? "it stays with the "
								   : "shared by ",
			     idle_share_name(config->idle.share));
	}
}

/* "smt-time (needs counted_time, paired_time)" */
static void add_rule(struct strbuf *out, enum share_rule rule, uint32_t signals)
{
	uint32_t missing = share_rule_signals(rule) & ~signals;
	const char *before = " (needs ";

	strbuf_addf(out, "%s%s", out->len ? ", " : "", share_rule_name(rule));
	for (enum signal signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (!(missing & SIGNAL_BIT(signal)))
			continue;
		strbuf_addf(out, "%s%s", before, signal_name(signal));
		before = ", ";
	}
	strbuf_add_str(out, missing ? ")" : "");
}

/* Rules that are preferred to @used: the configured rule, and earlier ones in the list. */
static void add_better(struct strbuf *out, enum zone_kind kind, enum share_rule used,
		       enum share_rule asked, uint32_t signals)
{
	enum share_rule rule;

	if (asked != SHARE_AUTO)
		add_rule(out, asked, signals);
	for (uint32_t i = 0; share_rule_in_list(kind, i, &rule) && rule != used; i++) {
		if (rule != asked)
			add_rule(out, rule, signals);
	}
}

/* The rule of a kind of zones, by the first zone that is charged. */
static void examine_rule(struct findings *findings, const struct interval_engine *engine, size_t z,
			 const struct config *config)
{
	CLEANUP(strbuf_release) struct strbuf better = STRBUF_INIT;
	enum zone_kind kind = interval_engine_zone(engine, z)->kind;
	enum share_rule rule = interval_engine_view(engine, z).rule;
	enum share_rule asked = config->share.rule[kind];
	bool has_option = zone_kind_info[kind].is_metered && !zone_kind_info[kind].is_device;
	bool is_asked = has_option && asked == rule;
	const char *kind_name = zone_kind_name(kind);

	if (has_option && !is_asked && rule != SHARE_FIT)
		add_better(&better, kind, rule, asked,
			   interval_engine_books(engine)->accountant.work.signals);
	findings_add(findings, FINDING_NOTE, "attribution", NULL,
		     "%s: dynamic energy is shared by %s (%s)%s%s%s%s", kind_name,
		     share_rule_words(rule), share_rule_name(rule),
		     is_asked ? ", as --attribution." : "", is_asked ? kind_name : "",
		     better.len ? "; not possible here: " : "", better.len ? better.data : "");
}

static void examine_rules(struct findings *findings, const struct interval_engine *engine,
			  const struct config *config)
{
	bool has[ZONE_KIND_COUNT] = { false };

	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		enum zone_kind kind = interval_engine_zone(engine, z)->kind;

		if (!has[kind] && interval_engine_view(engine, z).is_charged)
			examine_rule(findings, engine, z, config);
		has[kind] |= interval_engine_view(engine, z).is_charged;
	}
}

void doctor_examine_shares(struct findings *findings, const struct interval_engine *engine,
			   const struct config *config)
{
	examine_idle(findings, engine, config);
	examine_rules(findings, engine, config);
}
