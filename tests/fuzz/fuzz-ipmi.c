// SPDX-License-Identifier: Apache-2.0
/* Answers of a BMC to Get Power Reading. */
#include <stdlib.h>
#include <string.h>

#include "bmc/ipmi_dcmi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipmi_answer answer = { .len = size < IPMI_ANSWER_MAX ? size : IPMI_ANSWER_MAX };
	struct dcmi_power power;
	struct diag diag = { "" };
	uint64_t uw;

	if (size)
		memcpy(answer.data, data, answer.len);
	if (dcmi_power_parse(&answer, &power, &diag) < 0) {
		if (!diag.text[0])
			abort();
		return 0;
	}
	if (size < 19 || data[0] != 0 || data[1] != 0xDC)
		abort();
	if (dcmi_power_current(&power, &uw, &diag) == 0 && (uw == 0 || uw > 65535000000ULL))
		abort();
	return 0;
}
