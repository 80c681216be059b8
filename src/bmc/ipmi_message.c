// SPDX-License-Identifier: Apache-2.0
#include "bmc/ipmi_message.h"

#include <errno.h>

#include "base/macro.h"

/* Codes that BMCs send to requests for power; all others are errors without a name. */
static const struct {
	uint8_t code;
	int error;
	const char *words;
} completions[] = {
	{ 0xC0, -EBUSY, "it is busy" },
	{ 0xC1, -EOPNOTSUPP, "it does not know the command" },
	{ 0xC2, -EOPNOTSUPP, "it does not know the command on this unit" },
	{ 0xC3, -ETIMEDOUT, "it did not answer in time" },
	{ 0xC5, -ESTALE, "its records have changed" },
	{ 0xC7, -EOPNOTSUPP, "it refuses the length of the request" },
	{ 0xC9, -EOPNOTSUPP, "it refuses a parameter" },
	{ 0xCB, -ENODATA, "the requested sensor or record is not present" },
	{ 0xCC, -EOPNOTSUPP, "it refuses a field of the request" },
	{ 0xCE, -ENODATA, "it has no answer" },
	{ 0xD1, -EBUSY, "its firmware is being updated" },
	{ 0xD2, -EBUSY, "it is starting" },
	{ 0xD4, -EKEYREJECTED, "the privilege level is insufficient" },
	{ 0xD5, -ENODATA, "it cannot do so in its present state" },
	{ 0xD6, -EOPNOTSUPP, "the command is disabled" },
};

int ipmi_answer_check(const struct ipmi_answer *answer, struct diag *diag)
{
	if (answer->len == 0)
		return diag_set(diag, -EBADMSG, "the answer is empty");
	if (answer->data[0] == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(completions); i++) {
		if (completions[i].code == answer->data[0])
			return diag_set(diag, completions[i].error, "%s (completion code %02X)",
					completions[i].words, answer->data[0]);
	}
	return diag_set(diag, -EIO, "the request failed (completion code %02X)", answer->data[0]);
}
