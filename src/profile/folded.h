/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folded format: a line per stack, "process;caller;function 1234", with the energy in whole
 * microjoules. Frames of the kernel end with _[k], functions that a runtime compiled with _[j], as
 * flame graph tools know them. With two runs a line has two numbers, the earlier run's first.
 * Format: the input of FlameGraph's flamegraph.pl and of difffolded.pl's readers. Pure.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "profile/profile.h"

void folded_write(const struct profile *profile, struct strbuf *out);
/*
 * Adds the stacks of @text to run @run of @profile; of a line with two numbers, the last counts.
 * 0, or -EINVAL with the line in the diagnosis: some of the stacks may have been added.
 */
int folded_read(struct profile *profile, enum profile_run run, const char *text, size_t len,
		struct diag *diag);
