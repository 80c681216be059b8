// SPDX-License-Identifier: Apache-2.0
#include "bmc/ipmi_dcmi.h"

#include <errno.h>

#define GROUP_EXTENSION   0x2C /* NetFn */
#define DCMI_GROUP        0xDC /* the first byte of each request, and after the completion code */
#define GET_POWER_READING 0x02
#define MODE_STATISTICS   0x01
#define ANSWER_SIZE       19
#define STATE_ACTIVE      0x40

static uint16_t get_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static uint32_t get_u32(const uint8_t *at)
{
	return get_u16(at) | (uint32_t)get_u16(at + 2) << 16;
}

void dcmi_power_request(struct ipmi_request *ret)
{
	*ret = (struct ipmi_request){ .function = GROUP_EXTENSION,
				      .command = GET_POWER_READING,
				      .len = 4,
				      .data = { DCMI_GROUP, MODE_STATISTICS, 0, 0 } };
}

int dcmi_power_parse(const struct ipmi_answer *answer, struct dcmi_power *ret, struct diag *diag)
{
	const uint8_t *data = answer->data;
	int r = ipmi_answer_check(answer, diag);

	if (r < 0)
		return r;
	if (answer->len < ANSWER_SIZE)
		return diag_set(diag, -EBADMSG, "the power reading has %zu bytes of %d",
				answer->len, ANSWER_SIZE);
	if (data[1] != DCMI_GROUP)
		return diag_set(diag, -EBADMSG, "the power reading is of group %02X, not DC",
				data[1]);
	*ret = (struct dcmi_power){ .current_w = get_u16(data + 2),
				    .min_w = get_u16(data + 4),
				    .max_w = get_u16(data + 6),
				    .mean_w = get_u16(data + 8),
				    .time_s = get_u32(data + 10),
				    .period_ms = get_u32(data + 14),
				    .is_active = data[18] & STATE_ACTIVE };
	return 0;
}

int dcmi_power_current(const struct dcmi_power *power, uint64_t *ret_uw, struct diag *diag)
{
	if (power->current_w == 0)
		return diag_set(diag, -ENODATA,
				power->is_active ? "it says 0 W"
						 : "its power measurement is not active");
	*ret_uw = (uint64_t)power->current_w * 1000000;
	return 0;
}
