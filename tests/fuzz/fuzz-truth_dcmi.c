// SPDX-License-Identifier: Apache-2.0
/* Answers of a management controller to the validator: a power is what two bytes say, and not 0. */
#include <stdlib.h>

#include "truth/meters/dcmi_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag diag = { "" };
	double watts = 0;
	int r = dcmi_answer_watts(data, size, &watts, &diag);

	if ((r < 0) != (diag.text[0] != '\0'))
		abort();
	if (r == 0 &&
	    (size < 4 || data[0] != 0 || data[1] != 0xdc || !(watts >= 1) || watts > 65535))
		abort();
	return 0;
}
