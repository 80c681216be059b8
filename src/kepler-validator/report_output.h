/* SPDX-License-Identifier: Apache-2.0 */
/* The option --output=DIR of a command that judges: where its report goes. */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"
#include "judging/result.h"
#include "options/layers.h"

#define REPORT_OUTPUT_HELP                                                                         \
	"Write the report into this folder, which is made unless it exists: report.json, "         \
	"report.html, report.md, junit.xml, and the series as compressed CSV."

/* Makes the folder unless it exists. 0, also for "", or a negative errno: it cannot be written. */
int report_output_check(const char *folder, struct diag *diag);
/* The command line that made a report. */
void report_command_line(const char *command, const struct option_args *args, struct strbuf *out);
/*
 * Writes the report of @command ("judge") with its arguments. 0, also for a @folder of "", or a
 * negative errno.
 */
int report_output_write(const char *folder, const struct result_list *results, const char *command,
			const struct option_args *args, struct diag *diag);
