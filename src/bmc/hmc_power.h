/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of one partition of an IBM Z, as a Hardware Management Console has it.
 *
 * From z16 on the console may have the power of each partition (logical-partition-usage,
 * power-consumption-watts). Else it has only the CPC's power, which all of its partitions draw
 * together: then the partition's power is its share, by processors and weights (hmc_share()), which
 * is an estimate.
 */
#pragma once

#include "base/diag.h"
#include "bmc/hmc_answer.h"
#include "bmc/hmc_client.h"
#include "bmc/hmc_metrics.h"

enum hmc_method {
	HMC_UNDECIDED,
	HMC_OWN_POWER, /* of the partition itself */
	HMC_SHARE,     /* of the CPC's */
};

struct hmc_power {
	enum hmc_method method;
	struct hmc_object cpc, partition;
	bool is_dpm;
	struct hmc_context context; /* "": none is open */
	/* With HMC_SHARE: */
	double share;
	size_t active_count; /* partitions among which the CPC is shared */
};

/*
 * Looks for the partition @partition, in the CPC @cpc ("": in all of the console's). Its method is
 * undecided. 0; -EXDEV: there is none, or there are several; or as hmc_client_get(). diag says
 * which and what to do.
 */
int hmc_power_find(struct hmc_client *client, const char *cpc, const char *partition,
		   struct hmc_power *ret, struct diag *diag);
/*
 * Decides for the power of the partition if it is available, else for its share. As
 * hmc_power_read(); -ENODATA: not yet, because values come some seconds after the first request.
 */
int hmc_power_decide(struct hmc_client *client, struct hmc_power *power, struct diag *diag);
/* Reads what partitions and processors there are. 0; -ENODATA; or as hmc_client_get(). */
int hmc_power_update_share(struct hmc_client *client, struct hmc_power *power, struct diag *diag);
/*
 * The power of the partition, by the method that is decided. 0; -ENODATA: there is none now; or as
 * hmc_client_get().
 */
int hmc_power_read(struct hmc_client *client, struct hmc_power *power, struct hmc_sample *ret,
		   struct diag *diag);
