// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_meters.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "service/privileges.h"

/* Writes "rapl-sysfs would have 5 zones, hwmon 1", or nothing. Devices do not count. */
static void list_zones(const struct meter_table *meters, struct strbuf *out)
{
	for (size_t i = 0; meter_sources[i]; i++) {
		const char *name = meter_sources[i]->name;
		size_t zones = 0;

		for (size_t z = 0; z < meter_table_count(meters); z++) {
			const struct zone *zone = meter_table_zone(meters, z);

			zones += strcmp(zone->source, name) == 0 &&
				 !zone_kind_info[zone->kind].is_device;
		}
		if (zones)
			strbuf_addf(out, "%s%s%s %zu%s", out->len ? ", " : "", name,
				    out->len ? "" : " would have", zones,
				    out->len     ? ""
				    : zones == 1 ? " zone"
						 : " zones");
	}
}

/* The meters that would be found if none were left out. */
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
			       : "--meters=" METERS_AUTO " is the default, but finds none either",
		     "none of the meters in --meters=%s was found", config->meter.sources);
}

const char *doctor_zone_remedy(const struct zone *zone, const struct zone_status *status)
{
	if (zone_kind_info[zone->kind].is_device)
		return "ask the vendor's own tool (nvidia-smi, amd-smi), and look at dmesg";
	if (status->error == -EACCES || status->error == -EPERM)
		return privileges_denied(NEED_READ_ENERGY).remedy;
	switch (status->state) {
	case ZONE_MISSED:
		return "other zones used up the time for reading, or no thread could be started: "
		       "raise --meter.read-deadline or the task limit";
	case ZONE_STALLED:
		return "the driver does not respond; see dmesg, or raise --meter.read-deadline";
	case ZONE_REFUSED:
		return "its readings imply more power than is plausible for such a zone; if the "
		       "machine can draw that much, raise --meter.max-watts";
	case ZONE_UP:
	case ZONE_ABSENT:
	case ZONE_ERROR:
		break;
	}
	return NULL;
}

const char *doctor_zone_failure(const struct zone_status *status)
{
	return status->error ? strerrordesc_np(-status->error) : "no reading yet";
}

void doctor_examine_silent(struct findings *findings, const struct meter_table *meters)
{
	const struct zone *zone;
	struct zone_status status;

	for (size_t i = 0; (zone = meter_table_silent(meters, i, &status)); i++) {
		const char *remedy = doctor_zone_remedy(zone, &status);
		char id[ZONE_ID_MAX];

		zone_id(zone, id);
		findings_add(
			findings, FINDING_FIX, "energy",
			remedy ? remedy
			       : "its driver or firmware reports no value; see dmesg. It counts "
				 "from its first value on",
			"%s (%s, %s) has given no value yet: %s", id, zone->source, zone->path,
			doctor_zone_failure(&status));
	}
}

void doctor_examine_no_meter(struct findings *findings, const struct sources *sources,
			     const struct config *config)
{
	size_t left_out = sources->meters ? meter_table_ignored(sources->meters) : 0;

	if (!config->meter_enabled)
		findings_add(findings, FINDING_FIX, "energy", "remove --no-meter.enabled",
			     "meters are disabled in the configuration");
	else if (sources_are_searched(sources))
		findings_add(findings, FINDING_FIX, "energy",
			     "a driver does not respond (see dmesg), or a network service has no "
			     "values yet. Meters found later replace the estimate",
			     "the search for meters in %s/class/powercap has not finished",
			     config->host.sysfs);
	else if (meter_table_silent_count(sources->meters))
		return; /* the meters found give no values: each is a separate finding */
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
