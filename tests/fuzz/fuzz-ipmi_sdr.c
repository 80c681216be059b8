// SPDX-License-Identifier: Apache-2.0
/* Records of a BMC's sensors, and a reading: the first three bytes are the answer to that. */
#include <stdlib.h>
#include <string.h>

#include "bmc/ipmi_sdr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size > 3 ? size - 3 : 0;
	uint8_t *record = malloc(len ? len : 1); /* no byte after it may be read */
	struct ipmi_answer answer = { .len = size < 3 ? size : 3 };
	struct sdr_sensor sensor;
	enum sdr_role role;
	uint64_t uw;

	if (!record)
		return 0;
	if (len)
		memcpy(record, data + 3, len);
	if (answer.len)
		memcpy(answer.data, data, answer.len);
	role = sdr_read(record, len, &sensor);
	if (role != SDR_OTHER) {
		if (len < SDR_NAME_AT || record[21] != 6 || sensor.m < -512 || sensor.m > 511 ||
		    sensor.exponent < -8 || sensor.exponent > 7)
			abort();
		if (sdr_reading_parse(&answer, &sensor, &uw, NULL) == 0 &&
		    (uw > 1000000000000ULL || (data[2] & 0x60) != 0x40))
			abort();
	}
	free(record);
	return 0;
}
