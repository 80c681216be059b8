// SPDX-License-Identifier: Apache-2.0
#include "kepler/doctor_meters.h"

#include "base/macro.h"
#include "base/strbuf.h"

/* "rapl-sysfs would have 5 zones, hwmon 1"; nothing where there are none. Devices do not count. */
static void list_zones(const struct meter_table *meters, struct strbuf *out)
{
	for (size_t i = 0; meter_sources[i]; i++) {
		const char *name = meter_sources[i]->name;
		size_t zones = 0;

		for (size_t z = 0; z < meter_table_count(meters); z++) {
			const struct zone *zone = meter_table_zone(meters, z);

			zones +=
				strcmp(zone->source, name) == 0 && !zone_kind_is_device(zone->kind);
		}
		if (zones)
			strbuf_addf(out, "%s%s%s %zu%s", out->len ? ", " : "", name,
				    out->len ? "" : " would have", zones,
				    out->len     ? ""
				    : zones == 1 ? " zone"
						 : " zones");
	}
}

/* What would be found if none were left out. */
static void examine_others(struct findings *findings, const struct sources *sources,
			   const struct config *config)
{
	CLEANUP(strbuf_release) struct strbuf zones = STRBUF_INIT;
	struct meter_options options = sources_meter_options(config, sources);
	char any[] = METERS_AUTO;
	struct meter_table *meters = NULL;

	options.sources = any;
	if (meter_table_open(&options, &meters) == 0)
		list_zones(meters, &zones);
	meter_table_close(meters);
	if (zones.len)
		strbuf_add_str(&zones, ": use --meters=" METERS_AUTO);
	findings_add(findings, FINDING_FIX, "energy",
		     zones.len ? zones.data
			       : "--meters=" METERS_AUTO " finds none either: it is the default",
		     "no meter among those asked for (--meters=%s)", config->meter.sources);
}

void doctor_examine_no_meter(struct findings *findings, const struct sources *sources,
			     const struct config *config)
{
	size_t left_out = sources->meters ? meter_table_ignored(sources->meters) : 0;

	if (!config->meter_enabled)
		findings_add(findings, FINDING_FIX, "energy", "remove --no-meter.enabled",
			     "meters are switched off by the configuration");
	else if (sources_are_searched(sources))
		findings_add(findings, FINDING_FIX, "energy",
			     "a driver does not answer (see dmesg), or a service on the network "
			     "has no values yet. Meters that are found later take over from the "
			     "estimate",
			     "the search for meters in %s/class/powercap has not come to its end",
			     config->host.sysfs);
	else if (!meter_takes_any(&config->meter))
		examine_others(findings, sources, config);
	else if (left_out)
		findings_add(findings, FINDING_NOTE, "energy", NULL,
			     "no meter: all %zu zones that were found are left out", left_out);
	else if (sources->host.is_vm)
		findings_add(
			findings, FINDING_NOTE, "energy", NULL,
			"no meter: %s/class/powercap has no zones, as in most virtual machines",
			config->host.sysfs);
	else
		findings_add(findings, FINDING_FIX, "energy",
			     "on Intel or AMD: modprobe intel_rapl_msr (kernel option "
			     "CONFIG_INTEL_RAPL)",
			     "no meter: %s/class/powercap has no zones", config->host.sysfs);
}
