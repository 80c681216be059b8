// SPDX-License-Identifier: Apache-2.0
/* A state of the online trainer: what is accepted is inside all limits, and is written back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainers/learner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct learner *learner)
{
	struct strbuf text = STRBUF_INIT;
	size_t width = 1 + learner->features + learner->components;

	if (learner->components > MODEL_COMPONENTS_MAX || learner->held_count > LEARNER_BLOCKS ||
	    learner->open.count > LEARNER_BLOCK_ROWS)
		abort();
	for (size_t i = 0; i < learner->held_count; i++) {
		if (!learner->held[i].count || learner->held[i].count > LEARNER_BLOCK_ROWS)
			abort();
		for (size_t j = 0; j < learner->held[i].count * width; j++)
			if (!isfinite(learner->held[i].rows[j]))
				abort();
	}
	if (learner_save(learner, &text) < 0 || learner_write_rows(learner, &text) < 0)
		abort();
	strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const features[] = { "a", NULL };
	const struct machine_spec machine = { .cores = 1 };
	struct learner learner;
	struct diag diag = { "" };

	learner_init(&learner, "m", &machine, features);
	if (learner_parse(&learner, "state", (const char *)data, size, &diag) == 0)
		check(&learner);
	else if (!diag.text[0])
		abort();
	learner_release(&learner);
	return 0;
}
