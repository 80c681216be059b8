/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of the whole machine by the sensors of its BMC (bmc/ipmi_sdr.h): the one that measures
 * it, else the sum of the input of all power supplies.
 *
 * A supply whose power sensor has no reading takes nothing if another sensor says so: its bay is
 * empty, or its input is lost. Otherwise there is no sum, because the others' sum would be less
 * than the machine takes. A BMC may not use the state "present" at all; so a bay is believed to be
 * empty only while another supply is reported to be present.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "bmc/ipmi_device.h"
#include "bmc/ipmi_sdr.h"

#define IPMI_SENSORS_MAX 8 /* power supplies of a machine */
#define IPMI_RECORDS_MAX 1024

struct ipmi_sensors {
	struct sdr_sensor sensors[IPMI_SENSORS_MAX];
	size_t count;
	struct sdr_supply_state states[IPMI_SENSORS_MAX]; /* of power supplies, in no order */
	size_t state_count;
};

/*
 * Searches all records; each takes some requests, so this takes some seconds. 0, -EOPNOTSUPP
 * without such a sensor, or with the reason the result of a request.
 */
int ipmi_sensors_find(struct ipmi_device *device, struct ipmi_sensors *ret, struct diag *diag);
/*
 * Their sum in µW: 0, -ENODATA if one of them has no reading and may take power, or all read 0 W;
 * or as above.
 */
int ipmi_sensors_read(struct ipmi_device *device, const struct ipmi_sensors *sensors,
		      uint64_t *ret_uw, struct diag *diag);
