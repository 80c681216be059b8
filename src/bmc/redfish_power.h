/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a Redfish service has the power of one machine, and what it is now.
 *
 * First the machine: the only one of the service, or the one that is named; if the service lists no
 * systems, the only one that its chassis link to, or, if they link to none, the machine of the only
 * chassis that may be one. Then the chassis that are that machine's alone
 * (redfish_chassis_choose()); in them, from the first on, the first of these that has a value:
 *
 * 1. EnvironmentMetrics: PowerWatts, and its counter EnergykWh
 * 2. PowerSubsystem/PowerSupplies: input power of all supplies that are on, or nothing
 * 3. Power: PowerControl, PowerConsumedWatts, else AverageConsumedWatts with its interval
 * 4. Power: PowerSupplies, PowerInputWatts of all supplies that are on, or nothing
 * 5. Sensors: a power sensor whose id and PhysicalContext are the machine's
 *
 * If no chassis has any of these, 2 and 4 are tried again with the output power of the supplies,
 * which does not include their losses.
 *
 * The place is kept: a search takes many requests, a reading one (for supplies one for their list,
 * one for each, and another one for each without input power).
 */
#pragma once

#include "base/diag.h"
#include "bmc/redfish_answer.h"
#include "bmc/redfish_client.h"
#include "bmc/redfish_supplies.h"

enum redfish_method {
	REDFISH_NOTHING,
	REDFISH_ENVIRONMENT,
	REDFISH_SUPPLIES,
	REDFISH_POWER_CONTROL,
	REDFISH_OLD_SUPPLIES,
	REDFISH_SENSOR,
};

struct redfish_power {
	enum redfish_method method;
	struct redfish_path chassis;
	struct redfish_path path;         /* to be read */
	struct redfish_supplies supplies; /* or, with REDFISH_SUPPLIES, these */
	bool takes_output;                /* of supplies, where they have no input power */
	uint64_t window_ns;               /* as described apart from the value; 0: not known */
	bool is_provisional; /* a later search may find a better place: takes_output, or
				not all that there is could be read */
};

/*
 * Searches; @system is the id of the machine ("Self", "System.Embedded.1"), "" the only one.
 * 0; -ENODATA: there is no power; -EXDEV: it is not known which machine, or the power is that of
 * several; or as redfish_client_get(). diag says which and what to do.
 */
int redfish_power_find(struct redfish_client *client, const char *system, struct redfish_power *ret,
		       struct diag *diag);
/* 0, with a power or a counter; -ENODATA: there is no value now; or as redfish_client_get(). */
int redfish_power_read(struct redfish_client *client, struct redfish_power *power,
		       struct redfish_reading *ret, struct diag *diag);
/* "EnvironmentMetrics", "PowerSupplies", "PowerControl", "Sensors" */
const char *redfish_method_name(enum redfish_method method);
