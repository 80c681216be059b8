// SPDX-License-Identifier: Apache-2.0
/*
 * A state file of any bytes. A check sum in the way would keep a fuzzer out, so the bytes are tried
 * as they are and once more with the right sum after them.
 */
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "base/macro.h"
#include "service/state_file.h"

#define MACHINE "m"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_text(const char *text, size_t len)
{
	CLEANUP_FREE struct state *state = calloc(1, sizeof(*state));
	CLEANUP_FREE struct state *again = calloc(1, sizeof(*again));
	struct strbuf out = STRBUF_INIT;

	if (!state || !again || state_parse(text, len, MACHINE, state, NULL) < 0)
		return;
	state_format(state, MACHINE, &out);
	if (state_parse(out.data, out.len, MACHINE, again, NULL) < 0 ||
	    memcmp(state, again, sizeof(*state)) != 0)
		abort();
	strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf summed = STRBUF_INIT;

	try_text((const char *)data, size);
	strbuf_add(&summed, data, size);
	strbuf_addf(&summed, "crc32 %08x\n", (unsigned)crc32(crc32(0, NULL, 0), data, (uInt)size));
	if (strbuf_error(&summed) == 0)
		try_text(summed.data, summed.len);
	strbuf_release(&summed);
	return 0;
}
