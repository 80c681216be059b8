// SPDX-License-Identifier: Apache-2.0
#include "config/attribution_options.h"

#include "attribution/learning/idle_options.h"
#include "attribution/share_rule.h"
#include "base/macro.h"
#include "config/option_rows.h"

static const struct option_choice idle_modes[] = { { "learned", IDLE_MODE_LEARNED },
						   { "fixed", IDLE_MODE_FIXED },
						   { "off", IDLE_MODE_OFF },
						   { 0 } };
static const struct option_choice device_idles[] = { { "auto", DEVICE_IDLE_AUTO },
						     { "node", DEVICE_IDLE_NODE },
						     { "users", DEVICE_IDLE_USERS },
						     { "holder", DEVICE_IDLE_HOLDER },
						     { 0 } };
static const struct option_choice idle_shares[] = { { "node", IDLE_SHARE_NODE },
						    { "size", IDLE_SHARE_SIZE },
						    { "usage", IDLE_SHARE_USAGE },
						    { "equal", IDLE_SHARE_EQUAL },
						    { 0 } };
static const struct option_choice psys_gpus[] = { { "auto", PSYS_GPUS_AUTO },
						  { "inside", PSYS_GPUS_INSIDE },
						  { "beside", PSYS_GPUS_BESIDE },
						  { 0 } };
static const struct option_choice owner_factors[] = { { "bounded", OWNER_FACTORS_BOUNDED },
						      { "trusted", OWNER_FACTORS_TRUSTED },
						      { "off", OWNER_FACTORS_OFF },
						      { 0 } };
static const struct option_choice share_rules[] = { { "auto", SHARE_AUTO },
						    { "cpu-time", SHARE_CPU_TIME },
						    { "smt-time", SHARE_SMT_TIME },
						    { "cycles", SHARE_CYCLES },
						    { "frequency-time", SHARE_FREQUENCY_TIME },
						    { "cycles-instructions",
						      SHARE_CYCLES_INSTRUCTIONS },
						    { "instructions", SHARE_INSTRUCTIONS },
						    { "cache-misses", SHARE_CACHE_MISSES },
						    { "memory-traffic", SHARE_MEMORY_TRAFFIC },
						    { "resident", SHARE_RESIDENT },
						    { "resident-time", SHARE_RESIDENT_TIME },
						    { "network", SHARE_NETWORK },
						    { "block", SHARE_BLOCK },
						    { 0 } };

static const struct option idle_rows[] = {
	{ "idle.mode", NULL, OPTION_ENUM, FIELD(idle_options, mode), .choices = idle_modes,
	  .default_text = "learned", .metavar = "MODE", .reloadable = true,
	  .help = "How the idle power of a measured zone is determined: learned from readings, "
		  "fixed by idle.watts, or off (all energy is dynamic)." },
	{ "idle.watts", NULL, OPTION_AMOUNTS,
	  LIST(idle_options, watts, watts_count, IDLE_WATTS_MAX), RANGE(0, 1000000),
	  .default_text = "", .metavar = "ZONE=WATTS", .example = "package=12.5",
	  .reloadable = true,
	  .help = "Idle power of a kind of zone (package), or of a single zone (package-0)." },
	{ "idle.share", NULL, OPTION_ENUM, FIELD(idle_options, share), .choices = idle_shares,
	  .default_text = "node", .metavar = "POLICY", .reloadable = true,
	  .help = "How idle energy is shared: not at all (it stays with the node), among workloads "
		  "by their size or by their usage, or among all of them equally. Size is the CPU "
		  "that each one requested; for dram with monitor.resident-every, it is the memory "
		  "that each one holds." },
};

static const struct option device_idle_rows[] = {
	{ "gpu.idle", NULL, OPTION_ENUM, FIELD(idle_options, device), .choices = device_idles,
	  .default_text = "auto", .metavar = "POLICY",
	  .help = "Who is charged for a GPU's idle energy: the node, the processes that used the "
		  "GPU in that time (users), or its holders, busy or not. Holders are the "
		  "containers to which Kubernetes assigned the GPU, in proportion to the ids "
		  "assigned to each; otherwise all processes that have it open, in proportion to "
		  "the memory each holds. auto: node or users, according to idle.share." },
};

static const struct option share_rows[] = {
	{ "attribution.package", NULL, OPTION_ENUM, FIELD(share_options, rule[ZONE_PACKAGE]),
	  .choices = share_rules, .default_text = "auto", .metavar = "RULE", .reloadable = true,
	  .help = "Rule by which the dynamic energy of packages is shared. auto: the best rule for "
		  "this kind of zone that the available signals permit (docs/attribution.md). "
		  "smt-time, cycles and frequency-time weight the work of a thread next to a busy "
		  "sibling by attribution.smt-factor; cycles-instructions counts its cycles as "
		  "half. In an interval without the signals that a rule needs, the rule of auto is "
		  "used. kepler_attribution_info shows the rule in use." },
	{ "attribution.core", NULL, OPTION_ENUM, FIELD(share_options, rule[ZONE_CORE]),
	  .choices = share_rules, .default_text = "auto", .metavar = "RULE", .reloadable = true,
	  .help = "The same for cores." },
	{ "attribution.uncore", NULL, OPTION_ENUM, FIELD(share_options, rule[ZONE_UNCORE]),
	  .choices = share_rules, .default_text = "auto", .metavar = "RULE", .reloadable = true,
	  .help = "The same for uncore zones." },
	{ "attribution.dram", NULL, OPTION_ENUM, FIELD(share_options, rule[ZONE_DRAM]),
	  .choices = share_rules, .default_text = "auto", .metavar = "RULE", .reloadable = true,
	  .help = "The same for dram zones." },
	{ "attribution.psys", NULL, OPTION_ENUM, FIELD(share_options, rule[ZONE_PSYS]),
	  .choices = share_rules, .default_text = "auto", .metavar = "RULE", .reloadable = true,
	  .help = "The same for psys." },
	{ "attribution.platform", NULL, OPTION_ENUM, FIELD(share_options, rule[ZONE_PLATFORM]),
	  .choices = share_rules, .default_text = "auto", .metavar = "RULE", .reloadable = true,
	  .help = "The same for platform zones." },
	{ "attribution.fit", NULL, OPTION_BOOL, FIELD(share_options, may_fit),
	  .default_text = "true", .reloadable = true,
	  .help = "With auto: learn the energy cost of each kind of work from each zone's own "
		  "meter, and share by it (fit) as long as it predicts the zone's power better "
		  "than the rule it replaces." },
	{ "attribution.owner-factors", NULL, OPTION_ENUM, FIELD(share_options, owner_factors),
	  .choices = owner_factors, .default_text = "bounded", .metavar = "HOW", .reloadable = true,
	  .help = "How far the work of a container may count more or less than counters show, as "
		  "learned from power alone (attribution.fit). A container that varies its work "
		  "with another's can make the other's look expensive. bounded: no container is "
		  "charged more than 1.25 times what counters show if it does half of the work, "
		  "or 1.67 times if it does little; of memory that no counter sees up to 8 times. "
		  "trusted: by 1/4 to 4, where all containers belong to one owner. off: what "
		  "counters show." },
	{ "attribution.psys-gpus", NULL, OPTION_ENUM, FIELD(share_options, psys_gpus),
	  .choices = psys_gpus, .default_text = "auto", .metavar = "WHERE",
	  .help = "Whether psys includes the energy of GPUs, which depends on the board: inside, "
		  "or "
		  "beside. With beside, totals add the GPUs to psys. auto: inside on NVIDIA Grace "
		  "Hopper, otherwise beside." },
	{ "attribution.smt-factor", NULL, OPTION_MICRO, FIELD(share_options, smt_ppm), RANGE(0, 1),
	  .default_text = "0.575", .metavar = "FACTOR", .reloadable = true,
	  .help = "Energy per cycle of a thread whose sibling thread is busy, relative to a thread "
		  "that has the core to itself; used by smt-time, cycles and frequency-time. The "
		  "default follows METRION (2025): the second thread adds 15 %." },
};

const struct option_section *idle_options_at(size_t index)
{
	static const struct option_section sections[] = {
		{ idle_rows, ARRAY_SIZE(idle_rows), 0 },
		{ device_idle_rows, ARRAY_SIZE(device_idle_rows), 0 },
	};

	return index < ARRAY_SIZE(sections) ? &sections[index] : NULL;
}

const struct option_section *share_options_at(size_t index)
{
	static const struct option_section section = { share_rows, ARRAY_SIZE(share_rows), 0 };

	return index == 0 ? &section : NULL;
}
