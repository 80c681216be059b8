/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of the whole machine by DCMI, an extension of IPMI: Get Power Reading (DCMI 1.5,
 * section 6.6.1). Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bmc/ipmi_message.h"

/* Power in watts, which is all the resolution that there is. */
struct dcmi_power {
	uint16_t current_w;            /* of the moment */
	uint16_t min_w, max_w, mean_w; /* over the last period_ms */
	uint32_t time_s, period_ms;    /* of the BMC's own clock, since 1970 or its start */
	bool is_active;                /* power is measured, as the BMC says; not reliable */
};

/* Get Power Reading, mode 01h: system power statistics. */
void dcmi_power_request(struct ipmi_request *ret);
/*
 * 0, or with the reason the result of ipmi_answer_check(), or -EBADMSG if the answer does not match
 * the request: too short, or not of DCMI. Bytes after its end are ignored.
 */
int dcmi_power_parse(const struct ipmi_answer *answer, struct dcmi_power *ret, struct diag *diag);
/*
 * The machine's power of the moment in µW: 0, or -ENODATA with the reason. A machine that asks its
 * own BMC draws power, so 0 W is a BMC that has no value. Some BMCs give live values and say that
 * they do not measure: the value decides, not is_active.
 */
int dcmi_power_current(const struct dcmi_power *power, uint64_t *ret_uw, struct diag *diag);
