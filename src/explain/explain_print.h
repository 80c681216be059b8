/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer as text for a person, of at most 80 columns where names are short, and as JSON. Names
 * are untrusted: in the text, what no terminal should get is a question mark. Pure.
 */
#pragma once

#include "base/strbuf.h"
#include "explain/explain_answer.h"

void explain_print(const struct explain_answer *answer, struct strbuf *out);
/* All amounts are integers, in the unit that their key ends with. */
void explain_print_json(const struct explain_answer *answer, struct strbuf *out);

/* "process", "container", … */
const char *explained_level_name(enum level level);
/* "shown", "settles", … */
const char *explain_series_name(enum explain_series series);
/* "counted", … */
const char *explained_flow_name(enum explained_flow flow);
