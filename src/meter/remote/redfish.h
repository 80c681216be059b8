/* SPDX-License-Identifier: Apache-2.0 */
/* The source redfish: the machine's power, asked from its BMC over the network. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct meter_ops;
extern const struct meter_ops redfish_meter;

/* How Kepler authenticates: by a session if the BMC has sessions, or in each request. */
enum redfish_login { REDFISH_LOGIN_SESSION, REDFISH_LOGIN_BASIC };

struct redfish_options {
	/* Borrowed; "" or NULL: none. Lines of the credentials file: bmc/service_target.h. */
	char *url, *credentials, *ca_file, *system;
	int login; /* enum redfish_login */
	bool insecure;
	uint64_t period_ns; /* 0: 10 s */
	uint64_t window_ns; /* 0: as reported by the BMC */
	uint64_t delay_ns;
};
