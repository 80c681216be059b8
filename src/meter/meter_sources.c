// SPDX-License-Identifier: Apache-2.0
#include "meter/meter_sources.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "meter/boards/hlml.h"
#include "meter/boards/nvml.h"
#include "meter/cray/cray_pm.h"
#include "meter/drm/drm.h"
#include "meter/external/external.h"
#include "meter/hwmon/hwmon.h"
#include "meter/ipmi.h"
#include "meter/passthrough/passthrough.h"
#include "meter/rapl/rapl_msr.h"
#include "meter/rapl/rapl_perf.h"
#include "meter/rapl/rapl_sysfs.h"
#include "meter/remote/hmc.h"
#include "meter/remote/redfish.h"
#include "service/needs.h"

const struct meter_ops *const meter_sources[] = {
	&rapl_sysfs_meter, &rapl_perf_meter, &rapl_msr_meter,    &cray_pm_meter, &hwmon_meter,
	&external_meter,   &nvml_meter,      &drm_meter,         &hlml_meter,    &ipmi_meter,
	&redfish_meter,    &hmc_meter,       &passthrough_meter, NULL,
};

/* True if @name is an entry of the list @names. */
static bool has_name(const char *names, const char *name)
{
	size_t len = strlen(name), here;

	for (; *names; names += here + (names[here] == ',')) {
		here = strcspn(names, ",");
		if (here == len && memcmp(names, name, len) == 0)
			return true;
	}
	return false;
}

static bool is_known(const char *name)
{
	bool known = strcmp(name, METERS_AUTO) == 0;

	for (size_t i = 0; meter_sources[i]; i++)
		known |= strcmp(name, meter_sources[i]->name) == 0;
	return known;
}

int meter_check_sources(const char *list, struct diag *diag)
{
	char names[METERS_MAX * 20] = METERS_AUTO, name[32];
	size_t end = strlen(names), len;

	for (size_t i = 0; meter_sources[i] && end < sizeof(names); i++)
		end += (size_t)snprintf(names + end, sizeof(names) - end, ", %s",
					meter_sources[i]->name);
	for (;; list += len + 1) {
		len = strcspn(list, ",");
		(void)snprintf(name, sizeof(name), "%.*s", (int)len, list);
		if (!is_known(name))
			return diag_set(diag, -EINVAL,
					"\"%.*s\" is not an energy meter; known meters: %s",
					(int)(len < 60 ? len : 60), list, names);
		if (!list[len])
			return 0;
	}
}

bool meter_takes_any(const struct meter_options *options)
{
	return !options->sources || has_name(options->sources, METERS_AUTO);
}

bool meter_is_chosen(const struct meter_ops *ops, const struct meter_options *options)
{
	const char *names = options->sources ? options->sources : METERS_AUTO;

	return has_name(names, ops->name) ||
	       (has_name(names, METERS_AUTO) && (!ops->is_wanted || ops->is_wanted(options)));
}

const struct option_section *meter_options_at(size_t index)
{
	return meter_sources[index] ? &meter_sources[index]->options : NULL;
}

unsigned meter_needs(const struct meter_options *options)
{
	unsigned needs = NEED_READ_ENERGY;

	for (size_t i = 0; meter_sources[i]; i++) {
		const struct meter_ops *ops = meter_sources[i];

		if (ops->needs && meter_is_chosen(ops, options) &&
		    (!ops->needs_apply || ops->needs_apply(options)))
			needs |= ops->needs;
	}
	return needs;
}

void meter_files(const struct meter_options *options, meter_path_fn *add, void *userdata)
{
	for (size_t i = 0; meter_sources[i]; i++) {
		if (meter_sources[i]->files && meter_is_chosen(meter_sources[i], options))
			meter_sources[i]->files(options, add, userdata);
	}
}

const struct meter_device *meter_device_at(const struct meter_options *options, size_t index)
{
	for (size_t i = 0; meter_sources[i]; i++) {
		const struct meter_ops *ops = meter_sources[i];

		if (!ops->devices[0].unit || !meter_is_chosen(ops, options))
			continue;
		for (size_t d = 0; d < METER_DEVICES_MAX && ops->devices[d].unit; d++) {
			if (index-- == 0)
				return &ops->devices[d];
		}
	}
	return NULL;
}
