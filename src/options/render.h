/* SPDX-License-Identifier: Apache-2.0 */
/* A program's options as text for people. */
#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "options/option_set.h"

#define OPTIONS_HELP_WIDTH 80 /* columns, of all help */

/* A set's own options, without the options of its base. */
void options_help(const struct option_set *set, struct strbuf *out);
/* The options of these in @section; false: there is none. */
bool options_help_section(const struct option_set *set, const char *section, struct strbuf *out);
/* "--web.listen-address=ADDRESS", "--[no-]bpf.enabled" */
void option_flag(const struct option *option, struct strbuf *out);
/* The OPTIONS section of a man page, in scdoc. */
void options_man(const struct option_set *set, struct strbuf *out);
/* Markdown. */
void options_reference(const struct option_set *set, struct strbuf *out);
/* A configuration file with every option, commented out, at its default. */
void options_sample(const struct option_set *set, struct strbuf *out);
/*
 * Those values that a file has set, as YAML that loads back. @notes: for each option a comment, or
 * NULL.
 */
void options_print_file(const struct option_set *set, const struct option_values *values,
			const char *const *notes, struct strbuf *out);
/* The values as YAML that loads back, each with a comment: where it came from. */
void options_show(const struct option_set *set, const struct option_values *values,
		  struct strbuf *out);
