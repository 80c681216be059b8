/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power supplies of a machine (PowerSubsystem/PowerSupplies), and the sum of their power.
 *
 * The collection is read again with each sum: a bay may be filled, a supply may get its mains back,
 * or a service may list only present supplies. So a sum covers all supplies of that time, or there
 * is no sum. Only the places of each supply's values are kept.
 */
#pragma once

#include "base/diag.h"
#include "bmc/redfish_answer.h"
#include "bmc/redfish_client.h"

#define REDFISH_SUPPLIES_MAX 16

struct redfish_supply {
	struct redfish_path path;
	struct redfish_path metrics; /* ""; not known yet */
};

struct redfish_supplies {
	struct redfish_path collection;
	struct redfish_supply list[REDFISH_SUPPLIES_MAX];
	size_t count;
};

/*
 * 0, with a power or none (redfish_supply_sum_read()); -ENODATA: not all supplies are known, or
 * there are too many; or as redfish_client_get().
 */
int redfish_supplies_read(struct redfish_client *client, struct redfish_supplies *supplies,
			  struct redfish_reading *ret, struct diag *diag);
