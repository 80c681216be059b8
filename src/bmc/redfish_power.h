/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a Redfish service has the power of one machine, and what it is now.
 *
 * First the machine: the only one of the service, or the one that is named; of a service that lists
 * no systems the only one that its chassis link to, or, where they link to none, that of the only
 * chassis that may be a machine. Then the chassis that are that machine's alone
 * (redfish_chassis_choose()); of them, from the first on, the first of these that has a value:
 *
 * 1. EnvironmentMetrics: PowerWatts, and the counter EnergykWh beside it
 * 2. PowerSubsystem/PowerSupplies: input power, of all supplies that are on, or none
 * 3. Power: PowerControl, PowerConsumedWatts, else AverageConsumedWatts with its interval
 * 4. Power: PowerSupplies, PowerInputWatts of all supplies that are on, or none
 * 5. Sensors: one of power whose id and PhysicalContext say that it is the machine's
 *
 * Where no chassis has any of these, 2 and 4 are tried again with the output power of the supplies,
 * in which their own losses are not.
 *
 * What is found is kept; a search takes many requests, a reading one (of supplies one for their
 * list, one for each, and another one for each that has no input power).
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
