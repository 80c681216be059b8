// SPDX-License-Identifier: Apache-2.0
/* The answer of a receiver of OTLP: what is shown of it is printable and no count is negative. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/otlp/otlp_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_plain(const struct otlp_answer *answer)
{
	if (memchr(answer->message, '\0', sizeof(answer->message)) == NULL ||
	    answer->rejected > INT64_MAX)
		abort();
	for (const char *at = answer->message; *at; at++) {
		if (*at < ' ' || *at > '~')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct otlp_answer answer;

	if (otlp_answer_read_success(data, size, &answer) < 0 &&
	    (answer.rejected || answer.message[0]))
		abort();
	must_be_plain(&answer);
	(void)otlp_answer_read_failure(data, size, &answer);
	must_be_plain(&answer);
	return 0;
}
