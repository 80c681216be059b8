/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to a management controller (BMC) by IPMI 2.0, section 5.1: a request is a function, a
 * command and data; the data of its answer begin with a completion code. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define IPMI_REQUEST_MAX 8
#define IPMI_ANSWER_MAX  64 /* of the requests here; longer ones are cut off */

struct ipmi_request {
	uint8_t function, command; /* NetFn and Cmd */
	uint8_t len;
	uint8_t data[IPMI_REQUEST_MAX];
};

/* From the completion code on. */
struct ipmi_answer {
	size_t len;
	uint8_t data[IPMI_ANSWER_MAX];
};

/*
 * Checks an answer by its completion code (IPMI 2.0, table 5-2): 0, or with the reason
 * -EBUSY (it may be asked again), -EOPNOTSUPP (the BMC has no such command), -ENODATA (it has, but
 * nothing to say now), -ETIMEDOUT, -EKEYREJECTED (privilege), -ESTALE (a reservation has ended),
 * -EBADMSG (no completion code), or
 * -EIO. Never -EAGAIN, -ENODEV, -ENOENT or -EPERM, which mean something else in a meter.
 */
int ipmi_answer_check(const struct ipmi_answer *answer, struct diag *diag);
