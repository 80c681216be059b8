/* SPDX-License-Identifier: Apache-2.0 */
/* The source hmc: an IBM Z machine or partition, by its management console. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct meter_ops;
extern const struct meter_ops hmc_meter;

struct hmc_options {
	/* Borrowed; "" or NULL: none. Lines of the credentials file: bmc/service_target.h. */
	char *url, *credentials, *ca_file, *cpc, *partition;
	bool insecure;
	uint64_t period_ns; /* 0: 15 s */
};
