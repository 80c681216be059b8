// SPDX-License-Identifier: Apache-2.0
#include "meter/passthrough/passthrough_health.h"

#include <math.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/macro.h"
#include "meter/passthrough/passthrough_counts.h"
#include "meter/passthrough/passthrough_cpu.h"

struct passthrough_health {
	struct passthrough_counts counts;
	double host_cpu_s, cpu_deviation;
	double age_s; /* of the last new record; NaN: there was no record yet */
};

#define VALUE(member)    HEALTH_VALUE(struct passthrough_health, member)
#define OUTCOME(outcome) VALUE(counts.outcomes[PASSTHROUGH_##outcome])
#define REFUSED(refusal) VALUE(counts.refused[PASSTHROUGH_##refusal])

static const struct health_variant outcomes[] = {
	{ "counted", OUTCOME(COUNTED) },
	{ "begun", OUTCOME(BEGUN) },
	{ "repeated", OUTCOME(REPEATED) },
	{ "wrong_vm", OUTCOME(WRONG_VM) },
	{ "fell", OUTCOME(FELL) },
	{ "implausible", OUTCOME(IMPLAUSIBLE) },
	{ 0 },
};
_Static_assert(ARRAY_SIZE(outcomes) == PASSTHROUGH_OUTCOME_COUNT + 1, "one for each");

static const struct health_variant refusals[] = {
	{ "version", REFUSED(BAD_VERSION) },     { "length", REFUSED(BAD_LENGTH) },
	{ "checksum", REFUSED(BAD_SUM) },        { "content", REFUSED(BAD_CONTENT) },
	{ "text", VALUE(counts.refused_texts) }, { 0 },
};
_Static_assert(ARRAY_SIZE(refusals) == PASSTHROUGH_REFUSAL_COUNT + 1, "all but OK, and texts");

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_passthrough_received_records",
	  .type = FAMILY_COUNTER,
	  .variant_label = "outcome",
	  .variants = outcomes,
	  .help = "In a virtual machine: records of its host that arrived whole. counted: their "
		  "energy counts; begun: the first record of an epoch that began earlier, from "
		  "which on energy counts; repeated: repeated or late; wrong_vm: of another "
		  "machine; fell, implausible: a value fell, or is more than a zone can use, so "
		  "energy counts from there on. Absent without the source passthrough." },
	{ .name = "kepler_exporter_passthrough_received_refused",
	  .type = FAMILY_COUNTER,
	  .variant_label = "reason",
	  .variants = refusals,
	  .help = "In a virtual machine: records of its host that are not valid, by the first "
		  "reason found. text: a file that does not have a record, or was read while "
		  "it was written." },
	{ .name = "kepler_exporter_passthrough_received_lost",
	  .type = FAMILY_COUNTER,
	  .value = VALUE(counts.lost),
	  .help = "In a virtual machine: records of its host that are missing between others. "
		  "The record after them has their energy." },
	{ .name = "kepler_exporter_passthrough_received_skipped_bytes",
	  .type = FAMILY_COUNTER,
	  .value = VALUE(counts.skipped_bytes),
	  .help = "In a virtual machine: bytes from its host that belong to no valid record." },
	{ .name = "kepler_exporter_passthrough_host_epochs",
	  .type = FAMILY_COUNTER,
	  .value = VALUE(counts.epochs),
	  .help = "In a virtual machine: epochs of its host's account that were seen. A new one "
		  "begins when the host's Kepler restarts, and on another host." },
	{ .name = "kepler_exporter_passthrough_host_cpu_seconds",
	  .type = FAMILY_COUNTER,
	  .value = VALUE(host_cpu_s),
	  .help = "In a virtual machine: CPU time that its host counted for it, with that of "
		  "emulation and I/O threads." },
	{ .name = "kepler_exporter_passthrough_cpu_deviation_ratio",
	  .type = FAMILY_GAUGE,
	  .value = VALUE(cpu_deviation),
	  .help = "In a virtual machine: how much more CPU time its host counted for it in the "
		  "last whole minute than its own CPUs were busy, 0.05 being 5 %. Absent until "
		  "known, and while the machine is nearly idle." },
	{ .name = "kepler_exporter_passthrough_last_record_age_seconds",
	  .type = FAMILY_GAUGE,
	  .value = VALUE(age_s),
	  .help = "In a virtual machine: time since the last new record of its host arrived. "
		  "Absent until the first one." },
};

static bool fill(const void *owner, void *ret)
{
	struct passthrough_health *health = ret;
	uint64_t received_ns;

	passthrough_meter_counts(owner, &health->counts);
	received_ns = health->counts.received_ns;
	health->host_cpu_s = (double)health->counts.host_cpu_us / 1e6;
	health->cpu_deviation = passthrough_cpu_deviation(health->counts.compared_host_us,
							  health->counts.compared_own_us);
	health->age_s =
		received_ns ? (double)(clock_ns(CLOCK_MONOTONIC) - received_ns) / 1e9 : (double)NAN;
	return true;
}

const struct health_part passthrough_health_part = {
	.size = sizeof(struct passthrough_health),
	.fill = fill,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
