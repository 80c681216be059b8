// SPDX-License-Identifier: Apache-2.0
/*
 * An explanation as text: the workload, the series that show it, then a paragraph for each zone
 * with the readings and every factor, and last the sums.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/utf8.h"
#include "base/text/watts_text.h"
#include "explain/explain_lines.h"
#include "explain/explain_print.h"

/* ---- what it is ---- */

static void add_owner(const struct explain_answer *answer, struct strbuf *out)
{
	const char(*names)[OWNER_NAME_MAX + 1] = answer->names;
	const char *id = names[LABEL_CONTAINER_ID], *name = names[LABEL_CONTAINER_NAME];
	const char *runtime = names[LABEL_RUNTIME];

	if (answer->explanation.level == LEVEL_PROCESS && strcmp(id, name) != 0)
		say(out, "container", "%s, %.12s%s%s", name, id, runtime[0] ? ", " : "", runtime);
	else if (answer->explanation.level == LEVEL_PROCESS)
		say(out, "owner", "%s", id);
	else if (runtime[0])
		say(out, "runtime", "%s", runtime);
	if (answer->explanation.level == LEVEL_CONTAINER && strcmp(id, name) != 0)
		say(out, "id", "%s", id);
	if (names[LABEL_VM_ID][0] && answer->explanation.level < LEVEL_VM)
		say(out, "vm", "%s (%s)", names[LABEL_VM_NAME], names[LABEL_VM_ID]);
	if (names[LABEL_POD_ID][0] && answer->explanation.level < LEVEL_POD)
		say(out, "pod", "%s/%s", names[LABEL_NAMESPACE], names[LABEL_POD_NAME]);
	else if (names[LABEL_NAMESPACE][0] && answer->explanation.level < LEVEL_POD)
		say(out, "namespace", "%s", names[LABEL_NAMESPACE]);
	if (names[LABEL_WORKLOAD][0])
		say(out, "workload", "%s %s", names[LABEL_WORKLOAD_TYPE], names[LABEL_WORKLOAD]);
}

static void add_title(const struct explain_answer *answer, struct strbuf *out)
{
	const char(*names)[OWNER_NAME_MAX + 1] = answer->names;
	const char *id = names[LABEL_CONTAINER_ID], *name = names[LABEL_CONTAINER_NAME];
	enum level level = answer->explanation.level;
	const struct level_info *info = &level_info[level];
	char title[2 * OWNER_NAME_MAX + 64];

	if (level == LEVEL_PROCESS)
		(void)snprintf(title, sizeof(title), "process %u (%s), started %s", answer->pid,
			       answer->comm, CLOCK(answer->start_ms, true));
	else if (level == LEVEL_CONTAINER && strcmp(name, id) == 0)
		(void)snprintf(title, sizeof(title), "owner %s", id);
	else if (level == LEVEL_CONTAINER)
		(void)snprintf(title, sizeof(title), "container %s (%.12s)", name, id);
	else if (level == LEVEL_POD)
		(void)snprintf(title, sizeof(title), "pod %s/%s", names[LABEL_NAMESPACE],
			       names[LABEL_POD_NAME]);
	else if (info->called == info->id)
		(void)snprintf(title, sizeof(title), "%s %s", info->name, names[info->id]);
	else
		(void)snprintf(title, sizeof(title), "%s %s (%s)",
			       level == LEVEL_VM ? "virtual machine" : info->name,
			       names[info->called], names[info->id]);
	explain_add_clean(out, title, false);
	strbuf_add_str(out, answer->ended ? ", has ended\n" : "\n");
}

/* The energy that decides on admission: dynamic and idle of the largest account. */
static uint64_t used_uj(const struct explanation *explanation)
{
	uint64_t most_uj = 0;

	for (uint32_t i = 0; i < explanation->account_count; i++) {
		const uint64_t *total_uj = explanation->account[i].total_uj;
		uint64_t account_uj = total_uj[MODE_DYNAMIC] + total_uj[MODE_IDLE];

		most_uj = account_uj > most_uj ? account_uj : most_uj;
	}
	return most_uj;
}

/* Only what is so whatever the history: a row may have had a series before, and lost it. */
static void add_no_series(const struct explain_answer *answer, struct strbuf *out)
{
	bool counts_all = answer->counts_uj >= used_uj(&answer->explanation);

	if (answer->ended || answer->is_gone) {
		say(out, "series", "none: the process has ended, and its series has expired.");
		return;
	}
	if (answer->counts_uj < answer->min_uj)
		say(out, "series",
		    "none of its own: %s µJ of its energy count towards a series, which needs "
		    "%s µJ (--metrics.process.min-joules).%s",
		    COUNT(answer->counts_uj), COUNT(answer->min_uj),
		    counts_all ? ""
			       : " Energy from before it lost an earlier series, and energy of "
				 "zones that have ended, does not count.");
	else
		say(out, "series",
		    "none of its own: it has used enough for a series, and gets it in an interval "
		    "in which it runs, unless the limit of series is reached "
		    "(--metrics.max-series), "
		    "or the series of an earlier process with its pid and name is still kept.");
	say(out, "",
	    "Energy that it uses without a series is in the series command=\"other\" of "
	    "its container.");
}

static void add_series(const struct explain_answer *answer, struct strbuf *out)
{
	switch (answer->series) {
	case EXPLAIN_SHOWN:
		say(out, "series", "own series, since %s", CLOCK(answer->series_ms, true));
		break;
	case EXPLAIN_SETTLES:
		say(out, "series",
		    "own series, since %s. It shows 0 until it has settled, %s later "
		    "(--metrics.settle), so that increase() sees its first joules.",
		    CLOCK(answer->series_ms, false), DURATION(answer->settle_ns));
		break;
	case EXPLAIN_KEPT:
		say(out, "series",
		    "own series, since %s. The series keeps its last value for %s after the end "
		    "(--metrics.keep); then its sum moves to the retired series.",
		    CLOCK(answer->series_ms, true), DURATION(answer->keep_ns));
		break;
	case EXPLAIN_WAITS:
		say(out, "series",
		    "none yet: waiting for the names of its container, for at most 60 s. Energy "
		    "used until then is pending, and will be in its series.");
		break;
	case EXPLAIN_IN_OTHER:
		add_no_series(answer, out);
		break;
	case EXPLAIN_HIDDEN:
		say(out, "series", "none, or it has expired.");
		break;
	case EXPLAIN_UNPUBLISHED:
		say(out, "series",
		    "unknown: this interval could not be published; an earlier one is shown.");
		break;
	}
}

/* ---- one zone ---- */

/* "total × weight / sum", and below it what that is and what rounding put on or left off. */
static void add_product(struct strbuf *out, uint64_t total, uint64_t weight, uint64_t sum,
			const char *unit, uint64_t part)
{
	uint64_t floor_uj = muldiv_u64(total, weight, sum);
	bool more = part > floor_uj;

	say(out, "", "%s µJ × %s%s / %s%s", COUNT(total), COUNT(weight), unit, COUNT(sum), unit);
	if (part == floor_uj)
		say(out, "", "= %s µJ", COUNT(part));
	else
		say(out, "", "= %s µJ %s %s µJ of rounding = %s µJ", COUNT(floor_uj),
		    more ? "+" : "-", COUNT(more ? part - floor_uj : floor_uj - part), COUNT(part));
}

/* The sides of the first split, if there is any other than named work. */
static void add_sides(const struct explained_mode *mode, const char *unit, struct strbuf *out)
{
	uint64_t sum = mode->named_weight + mode->dropped_weight + mode->unseen_weight;

	if (sum == mode->named_weight)
		return;
	add_product(out, mode->energy_uj, mode->named_weight, sum, unit, mode->named_uj);
	say(out, "",
	    "are for work that is known by name; %s µJ (dropped) and %s µJ (unseen) are "
	    "unattributed",
	    COUNT(mode->unattributed_uj[UNATTRIBUTED_DROPPED]),
	    COUNT(mode->unattributed_uj[UNATTRIBUTED_UNSEEN]));
}

static void add_share(const struct explained_mode *mode, const char *unit, struct strbuf *out)
{
	if (!mode->energy_uj) {
		say(out, "", "0 µJ: nothing to share");
		return;
	}
	if (!(mode->named_weight + mode->dropped_weight + mode->unseen_weight) ||
	    mode->unattributed_uj[UNATTRIBUTED_NO_ACTIVITY]) {
		say(out, "", "no activity is known: %s µJ are unattributed (no_activity)",
		    COUNT(mode->energy_uj));
		return;
	}
	add_sides(mode, unit, out);
	if (!mode->weight) {
		say(out, "", "its share is 0 of %s%s: 0 µJ", COUNT(mode->named_weight), unit);
		return;
	}
	add_product(out, mode->named_uj, mode->weight, mode->named_weight, unit, mode->charged_uj);
	if (mode->parties > 1)
		say(out, "", "(the sum of %u parts, each rounded separately)", mode->parties);
}

static void add_dynamic(const struct explained_zone *zone, struct strbuf *out)
{
	const char *since = zone->was_late  ? " while that energy flowed"
			    : zone->was_gap ? " since the previous reading"
					    : "";
	const char *energy = COUNT(zone->mode[MODE_DYNAMIC].energy_uj);
	enum share_rule rule = zone->by_parts    ? SHARE_PARTS
			       : zone->by_device ? SHARE_DEVICE_TIME
						 : zone->rule;
	const char *words = share_rule_words(rule);
	char unit[32];

	(void)snprintf(unit, sizeof(unit), " %s", share_rule_unit(rule));
	if (zone->by_parts || zone->by_device)
		say(out, "dynamic", "%s µJ, shared by the %s%s:", energy, words, since);
	else if (zone->by_socket)
		say(out, "dynamic", "%s µJ, shared by the %s of socket %u%s:", energy, words,
		    zone->package, since);
	else
		say(out, "dynamic", "%s µJ, shared by the %s of the machine%s:", energy, words,
		    since);
	if (zone->smt_ppm < SHARE_PPM && (rule == SHARE_SMT_TIME || rule == SHARE_CYCLES))
		say(out, "",
		    "(time next to a busy thread of the same core counts %.3f of that, "
		    "--attribution.smt-factor)",
		    (double)zone->smt_ppm / SHARE_PPM);
	if (zone->smt_ppm < SHARE_PPM && rule == SHARE_CYCLES_INSTRUCTIONS)
		say(out, "",
		    "(a cycle next to a busy thread of the same core counts %.3f, "
		    "an instruction %.3f of a cycle alone)",
		    (double)zone->smt_ppm / SHARE_PPM,
		    (double)SHARE_MIX_INSTRUCTION_PPM / SHARE_PPM);
	if (zone->factor > 0)
		say(out, "",
		    "(the container's counters are multiplied by %.3f, as learned from the zone's "
		    "meter)",
		    zone->factor);
	add_share(&zone->mode[MODE_DYNAMIC], unit, out);
}

static const char *why_no_idle(const struct explained_zone *zone)
{
	switch (zone->idle_state) {
	case IDLE_OFF:
		return "not separated (--idle.mode, --idle.watts); all energy counts as dynamic";
	case IDLE_ABSENT:
		return "the zone has no idle part; idle power is the host's";
	case IDLE_PROVISIONAL:
		if (!zone->idle_power_uw)
			return "nothing bounds idle power yet; all energy counts as dynamic";
		break;
	case IDLE_LEARNED:
	case IDLE_FIXED:
		if (!zone->idle_power_uw)
			return "idle power is 0 W";
		break;
	case IDLE_MODEL:
		break;
	}
	return zone->idle_settles ? "the idle series is new and shows 0 for a while"
				  : "none in this time";
}

static const char *idle_rule(const struct explained_zone *zone)
{
	static const char *const rules[] = {
		[IDLE_SHARE_NODE] = "stays with the node (--idle.share=node, or another that has "
				    "not settled yet): unattributed (idle_policy)",
		[IDLE_SHARE_SIZE] = "shared by requested CPU (--idle.share=size):",
		[IDLE_SHARE_USAGE] = "shared by CPU time (--idle.share=usage):",
		[IDLE_SHARE_EQUAL] = "shared equally by all processes (--idle.share=equal):",
		[IDLE_SHARE_RESIDENT] = "shared by the memory that each container holds "
					"(--idle.share=size):",
	};
	static const char *const device_rules[] = {
		[IDLE_SHARE_NODE] = "stays with the node (--gpu.idle, --idle.share, or a policy "
				    "that has not settled yet): unattributed (idle_policy)",
		[IDLE_SHARE_USAGE] = "shared by the time for which each process kept it busy:",
		[IDLE_SHARE_EQUAL] = "shared equally by the processes that used it "
				     "(--idle.share=equal):",
		[IDLE_SHARE_HOLDER] = "shared by the processes that hold it, by how much of it "
				      "each holds (--gpu.idle=holder):",
		[IDLE_SHARE_ALLOCATION] = "shared by the ids of it, in millionths, that the "
					  "kubelet gave to each container (--gpu.idle=holder):",
	};
	static const char *const parts_rules[] = {
		[IDLE_SHARE_NODE] = ("stays with the node (--idle.share=node, or another that has "
				     "not settled yet): unattributed (idle_policy)"),
		[IDLE_SHARE_SIZE] = "shared by the idle energy that each has of the parts:",
		[IDLE_SHARE_USAGE] = "shared by the dynamic energy that each used of the parts:",
		[IDLE_SHARE_EQUAL] = "shared by the idle energy that each has of the parts:",
	};

	if (zone->by_parts)
		return parts_rules[zone->idle_share];
	return zone->by_device ? device_rules[zone->idle_share] : rules[zone->idle_share];
}

static const char *idle_unit(const struct explained_zone *zone)
{
	if (zone->by_parts)
		return " µJ";
	switch (zone->idle_share) {
	case IDLE_SHARE_EQUAL:
	case IDLE_SHARE_HOLDER:
	case IDLE_SHARE_ALLOCATION:
		return "";
	case IDLE_SHARE_RESIDENT:
		return " B";
	case IDLE_SHARE_NODE:
	case IDLE_SHARE_SIZE:
	case IDLE_SHARE_USAGE:
	default:
		return " ns";
	}
}

static void add_idle(const struct explained_zone *zone, struct strbuf *out)
{
	const struct explained_mode *mode = &zone->mode[MODE_IDLE];
	char power[96] = "";
	bool limited = !zone->asleep_ns &&
		       mode->energy_uj < muldiv_u64(zone->idle_power_uw,
						    zone->to_ns - zone->from_ns, NSEC_PER_SEC);

	if (!mode->energy_uj) {
		say(out, "idle", "0 µJ: %s", why_no_idle(zone));
		return;
	}
	if (idle_state_has_power(zone->idle_state))
		(void)snprintf(power, sizeof(power), " (%s%.3f W, %s%s)",
			       zone->idle_state == IDLE_PROVISIONAL ? "≤ " : "",
			       (double)zone->idle_power_uw / 1e6, idle_state_name(zone->idle_state),
			       limited ? ", limited to what was measured" : "");
	else
		(void)snprintf(power, sizeof(power), " (as the source reports)");
	say(out, "idle", "%s µJ%s, %s", COUNT(mode->energy_uj), power, idle_rule(zone));
	if (zone->idle_share != IDLE_SHARE_NODE)
		add_share(mode, idle_unit(zone), out);
}

static void add_unread(const struct explained_zone *zone, struct strbuf *out)
{
	if (zone->state == ZONE_ABSENT && zone_is_modelled(&zone->zone))
		say(out, "reading", "none: the estimate has ended, a meter is used instead");
	else if (zone->state == ZONE_ABSENT)
		say(out, "reading",
		    "none: the zone is gone. The energy until it is back is unknown.");
	else if (zone->state == ZONE_UP)
		say(out, "reading", "no new value yet: nothing is charged in this interval");
	else
		say(out, "reading",
		    "none (%s%s%s): nothing is charged in this interval. The energy of this time "
		    "is "
		    "charged with the next good reading, to all that has run until then.",
		    zone_state_name(zone->state), zone->error ? ": " : "",
		    zone->error ? strerrordesc_np(-zone->error) : "");
}

static void add_reading(const struct explained_zone *zone, struct strbuf *out)
{
	switch (zone->flow) {
	case EXPLAINED_NOTHING:
		add_unread(zone, out);
		return;
	case EXPLAINED_BASELINE:
		say(out, "reading", "the first one: energy is counted from here on");
		return;
	case EXPLAINED_UNKNOWN:
		say(out, "reading",
		    "refused, or the counter was reset: the energy since the previous reading is "
		    "unknown and is not charged");
		return;
	case EXPLAINED_HELD:
		say(out, "reading",
		    "not counted yet: the zone was found after the start, and its series show 0 "
		    "for a "
		    "while");
		return;
	case EXPLAINED_COUNTED:
		break;
	}
	say(out, "counted", "%s µJ so far, %s µJ %.6f s earlier%s", COUNT(zone->counter_uj),
	    COUNT(zone->counter_uj - zone->energy_uj), (double)(zone->to_ns - zone->from_ns) / 1e9,
	    zone->was_late  ? " (read late)"
	    : zone->was_gap ? " (after a gap)"
			    : "");
}

static void add_model(const struct explained_model *model, struct strbuf *out)
{
	const char *outside = model->outside ? "; this machine is outside its training data" : "";

	char bound[WATTS_TEXT_MAX];

	if (isnan(model->error_w)) {
		say(out, "model", "%s, whose error is not known%s", model->name, outside);
		return;
	}
	watts_bound_text(bound, model->error_w);
	say(out, "model", "%s: in nine of ten cases within ±%s W of the zone's power%s",
	    model->name, bound, outside);
}

static void add_zone(const struct explained_zone *zone, const struct explained_model *model,
		     struct strbuf *out)
{
	double seconds = (double)(zone->to_ns - zone->from_ns + zone->asleep_ns) / 1e9;
	uint64_t charged_uj =
		zone->mode[MODE_DYNAMIC].charged_uj + zone->mode[MODE_IDLE].charged_uj;
	char id[ZONE_ID_MAX];

	zone_id(&zone->zone, id);
	strbuf_addf(out, "\n%s, %s by %s%s%s\n", id, zone_quality_name(zone->zone.quality),
		    zone->zone.source, zone_is_modelled(&zone->zone) ? ", model " : "",
		    zone_is_modelled(&zone->zone) ? zone->zone.path : "");
	if (model)
		add_model(model, out);
	add_reading(zone, out);
	if (zone->flow != EXPLAINED_COUNTED)
		return;
	say(out, "energy", "%s µJ, on average %.3f W", COUNT(zone->energy_uj),
	    seconds > 0 ? (double)zone->energy_uj / 1e6 / seconds : 0.0);
	if (!zone->energy_uj)
		return;
	if (zone->asleep_ns)
		say(out, "asleep", "%s µJ are unattributed: the machine was suspended",
		    COUNT(zone->asleep_uj));
	add_idle(zone, out);
	add_dynamic(zone, out);
	say(out, "charged", "%s µJ", COUNT(charged_uj));
}

/* ---- the host's account of this machine ---- */

static bool is_hosts(const struct explained_host *host, const struct explained_zone *zone)
{
	return strcmp(zone->zone.source, host->source) == 0;
}

/* The paragraphs of the zones then show how this machine divides it. */
static void add_host(const struct explain_answer *answer, struct strbuf *out)
{
	const struct explanation *explanation = &answer->explanation;
	const struct explained_host *host = &answer->host;
	char id[ZONE_ID_MAX];

	if (!host->source)
		return;
	strbuf_addf(out, "\nThe host's account of this machine, by %s\n", host->source);
	for (uint32_t z = 0; z < explanation->zone_count; z++) {
		const struct explained_zone *zone = &explanation->zone[z];

		if (!is_hosts(host, zone) || zone->flow != EXPLAINED_COUNTED)
			continue;
		zone_id(&zone->zone, id);
		say(out, id, "%s µJ in the interval, %s µJ so far", COUNT(zone->energy_uj),
		    COUNT(zone->counter_uj));
	}
	say(out, "CPU time", "%.3f s so far, as the host counted it", (double)host->cpu_us / 1e6);
	if (!host->compared_own_us)
		return;
	say(out, "deviation",
	    "%+.1f %%: over a minute the host counted %.3f s, and the own CPUs %.3f s",
	    ((double)host->compared_host_us / (double)host->compared_own_us - 1) * 100,
	    (double)host->compared_host_us / 1e6, (double)host->compared_own_us / 1e6);
}

/* ---- the sums ---- */

#define ACCOUNT_NAME_MAX ZONE_ID_MAX

/* "package-0", or "package, 2 zones"; a device's UUID is in its paragraph above. */
static void name_account(const struct explained_account *account, char ret[ACCOUNT_NAME_MAX])
{
	char id[ZONE_ID_MAX];

	zone_id(&account->zone, id);
	if (account->zones == 1)
		(void)snprintf(ret, ACCOUNT_NAME_MAX, "%s",
			       zone_kind_info[account->zone.kind].is_device
				       ? zone_kind_name(account->zone.kind)
				       : id);
	else
		(void)snprintf(ret, ACCOUNT_NAME_MAX, "%s, %u zones",
			       zone_kind_name(account->zone.kind), account->zones);
}

static void add_sums(const struct explain_answer *answer, struct strbuf *out)
{
	const struct explanation *explanation = &answer->explanation;
	bool has_series = answer->series <= EXPLAIN_KEPT, differs = false;

	/* A width counts bytes, and "µ" has two. */
	if (has_series)
		strbuf_addf(out, "\nTotals%50s%25s\n", "charged, µJ", "shown, µJ");
	else
		strbuf_addf(out, "\nTotals%74s\n", "charged, µJ");
	for (uint32_t i = 0; i < explanation->account_count; i++) {
		const struct explained_account *account = &explanation->account[i];
		char name[ACCOUNT_NAME_MAX];

		name_account(account, name);
		for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
			if (mode == MODE_IDLE && !account->total_uj[mode])
				continue;
			differs |= account->total_uj[mode] != account->shown_uj[mode];
			strbuf_addf(out, "  %-20s %-8s", name, energy_mode_name(mode));
			if (has_series)
				strbuf_addf(out, "%24s%24s\n", COUNT(account->total_uj[mode]),
					    COUNT(account->shown_uj[mode]));
			else
				strbuf_addf(out, "%48s\n", COUNT(account->total_uj[mode]));
		}
	}
	if (answer->series == EXPLAIN_SETTLES)
		strbuf_add_str(out,
			       answer->explanation.level == LEVEL_PROCESS
				       ? "  The difference is pending, in the series \"other\", "
					 "or retired with an\n  earlier series.\n"
				       : "  The difference is pending.\n");
	else if (has_series && differs && answer->explanation.level == LEVEL_PROCESS)
		strbuf_add_str(out,
			       "  The difference was used before this series began: it is in the "
			       "series \"other\",\n  or retired with an earlier one.\n");
}

static void add_near(const struct explain_answer *answer, struct strbuf *out)
{
	explain_add_clean(out, answer->target, false);
	if (answer->result == EXPLAIN_AMBIGUOUS)
		strbuf_add_str(out, ": ambiguous, these match:\n");
	else if (answer->near_count)
		strbuf_add_str(out, ": not found; similar names:\n");
	else
		strbuf_add_str(out,
			       ": not found. A process is known once it has run since the "
			       "exporter started, until\nsome time after its end; the live table "
			       "and /metrics show the known names.\n");
	for (size_t i = 0; i < answer->near_count; i++) {
		strbuf_add_str(out, "  ");
		explain_add_clean(out, answer->near[i], false);
		strbuf_add_char(out, '\n');
	}
	if (answer->near_total > answer->near_count)
		strbuf_addf(out, "  and %zu more\n", answer->near_total - answer->near_count);
}

static void add_interval(const struct explain_answer *answer, struct strbuf *out)
{
	const struct explanation *explanation = &answer->explanation;

	if (answer->error) {
		say(out, "interval",
		    "ended at %s; its processes could not be read (%s), and no CPU time is known",
		    CLOCK(answer->now_ms, true), strerrordesc_np(-answer->error));
		return;
	}
	say(out, "interval", "%.3f s, ended at %s", (double)explanation->span_ns / 1e9,
	    CLOCK(answer->now_ms, true));
	say(out, "CPU time", "%s ns of the %s ns that all CPUs ran in it; %s ns in all",
	    COUNT(explanation->cpu_ns), COUNT(explanation->node_cpu_ns),
	    COUNT(explanation->total_cpu_ns));
}

void explain_print(const struct explain_answer *answer, struct strbuf *out)
{
	const struct explanation *explanation = &answer->explanation;

	if (answer->result != EXPLAIN_FOUND) {
		add_near(answer, out);
		return;
	}
	add_title(answer, out);
	add_owner(answer, out);
	add_series(answer, out);
	add_interval(answer, out);
	add_host(answer, out);
	for (uint32_t z = 0; z < explanation->zone_count; z++)
		add_zone(&explanation->zone[z], explain_answer_model(answer, z), out);
	add_sums(answer, out);
}
