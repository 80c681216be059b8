/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of the whole machine by the sensors of its BMC (bmc/ipmi_sdr.h): the one that measures
 * it, else the sum of what all power supplies take.
 *
 * A supply whose power sensor has no reading takes nothing if another sensor says so: its bay is
 * empty, or its input is lost. Otherwise there is no sum, because that of the others would be less
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
 * Looks through all records, of which each takes some requests, so some seconds. 0, -EOPNOTSUPP
 * where none is such a sensor, or with the reason what a request returns.
 */
int ipmi_sensors_find(struct ipmi_device *device, struct ipmi_sensors *ret, struct diag *diag);
/*
 * Their sum in µW: 0, -ENODATA where one of them has no reading and may take power or all read 0 W,
 * or likewise.
 */
int ipmi_sensors_read(struct ipmi_device *device, const struct ipmi_sensors *sensors,
		      uint64_t *ret_uw, struct diag *diag);
