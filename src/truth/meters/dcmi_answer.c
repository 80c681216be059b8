// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/dcmi_answer.h"

#include <errno.h>

#define GROUP_DCMI   0xdc
#define POWER_END    4    /* completion code, group, and the power of the moment */
#define CODE_UNKNOWN 0xc1 /* the controller does not have the command */

int dcmi_answer_watts(const uint8_t *data, size_t len, double *ret_w, struct diag *diag)
{
	if (len == 0)
		return diag_set(diag, -EBADMSG, "the controller's answer is empty");
	if (data[0] == CODE_UNKNOWN)
		return diag_set(diag, -ENODATA, "the controller has no power reading by DCMI");
	if (data[0] != 0)
		return diag_set(diag, -EIO, "the controller refused the request: code %02X",
				data[0]);
	if (len < POWER_END || data[1] != GROUP_DCMI)
		return diag_set(diag, -EBADMSG, "the controller's answer is not one of DCMI");
	unsigned watts = data[2] | (unsigned)data[3] << 8;
	if (watts == 0)
		return diag_set(diag, -ENODATA, "the controller reports 0 W: it has no reading");
	*ret_w = watts;
	return 0;
}
