/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a management controller to "Get Power Reading" (DCMI 1.5, section 6.6.1). Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/*
 * The power of the moment in W. @data begins with the completion code. 0; -EBADMSG for an answer
 * that is too short or not of DCMI; -ENODATA for a controller that has no power, which is also what
 * 0 W means, since the machine that asks draws some; -EIO for another completion code.
 */
int dcmi_answer_watts(const uint8_t *data, size_t len, double *ret_w, struct diag *diag);
