// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_energy.h"

#include <math.h>
#include <stdio.h>

#include "doctor/doctor_estimate.h"
#include "doctor/doctor_meters.h"
#include "energy/zone_coverage.h"

/* A zone that is read, and whether it is charged. */
static void examine_reading(struct findings *findings, const struct interval_engine *engine,
			    size_t z, const char *id)
{
	const struct zone *zone = interval_engine_zone(engine, z);
	double ratio = interval_engine_view(engine, z).deviation_ratio;
	char compared[64] = "";

	if (!isnan(ratio))
		(void)snprintf(compared, sizeof(compared), "; it reads %.1f %% %s",
			       fabs(ratio) * 100, ratio < 0 ? "less" : "more");
	if (interval_engine_view(engine, z).is_still) {
		findings_add(
			findings, FINDING_FIX, "energy",
			"see why it does not count; leave its source out of --meters if it "
			"never does",
			"%s of %s (%s) does not advance while another source of the same energy "
			"does: the other source is charged",
			id, zone->path, zone->source);
		return;
	}
	findings_add(findings, FINDING_OK, "energy", NULL, "%s is read from %s (%s)%s%s", id,
		     zone->path, zone->source,
		     interval_engine_view(engine, z).is_charged
			     ? ""
			     : "; not charged, because a better source measures the same energy",
		     compared);
}

/* Compares the energy of a meter of the whole machine with the sum of its parts. */
static void examine_coverage(struct findings *findings, const struct interval_engine *engine,
			     size_t z)
{
	char text[ZONE_COVERAGE_TEXT_MAX];
	const char *remedy;

	if (zone_coverage_is_short(interval_engine_zone(engine, z),
				   interval_engine_view(engine, z).coverage_ratio, text, &remedy))
		findings_add(findings, FINDING_FIX, "energy", remedy, "%s", text);
}

static void examine_zone(struct findings *findings, const struct interval_engine *engine, size_t z)
{
	const struct zone *zone = interval_engine_zone(engine, z);
	const struct zone_status *status = interval_engine_view(engine, z).status;
	char id[ZONE_ID_MAX];

	zone_id(zone, id);
	if (!zone_kind_info[zone->kind].is_metered) {
		findings_add(findings, FINDING_OK, "energy", NULL, "%s is %s: it is shared as %s",
			     id, zone->path,
			     zone->domain.kind == DOMAIN_PARTS ? "the energy of these parts is"
							       : "the work of all CPUs is");
		return;
	}
	if (status->state == ZONE_UP) {
		examine_reading(findings, engine, z, id);
		examine_coverage(findings, engine, z);
		return;
	}
	findings_add(findings, FINDING_FIX, "energy", doctor_zone_remedy(zone, status),
		     "%s (%s) is %s: %s", id, zone->path, zone_state_name(status->state),
		     doctor_zone_failure(status));
}

/* Other sources of energy here, and how they would be counted. */
static void examine_remarks(struct findings *findings, const struct sources *sources)
{
	struct meter_remark remark;

	for (size_t i = 0; sources->meters && meter_table_remark(sources->meters, i, &remark); i++)
		findings_add(findings, remark.is_failure ? FINDING_FIX : FINDING_NOTE, "energy",
			     remark.option[0] ? remark.option : NULL, "%s", remark.what);
}

void doctor_examine_energy(struct findings *findings, const struct sources *sources,
			   const struct config *config, const struct interval_engine *engine)
{
	if (!sources_have_meters(sources))
		doctor_examine_estimate(findings, sources, config);
	doctor_examine_models(findings, sources);
	doctor_examine_fetch(findings, sources, config);
	for (size_t z = 0; z < interval_engine_zone_count(engine); z++) {
		if (!zone_is_modelled(interval_engine_zone(engine, z)))
			examine_zone(findings, engine, z);
	}
	if (sources->meters)
		doctor_examine_silent(findings, sources->meters);
	if (sources->meters && meter_table_ignored(sources->meters))
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "%zu further zone(s) are left out: %s",
			     meter_table_ignored(sources->meters), sources_why_left_out(sources));
	examine_remarks(findings, sources);
}
