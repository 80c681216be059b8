// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/compare_command.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "kepler-validator/validator_options.h"
#include "options/layers.h"
#include "options/operands.h"
#include "options/program.h"
#include "verdict-report/report_compare.h"

struct compare_config {
	struct option_values options;
};

const struct option_set compare_options = {
	.program = &validator_program,
	.base = &validator_options,
	.size = sizeof(struct compare_config),
};

static void add_side(struct strbuf *out, const struct summary_row *row)
{
	if (!row) {
		strbuf_add_str(out, "missing");
		return;
	}
	strbuf_add_str(out, verdict_name(row->verdict));
	if (isfinite(row->error))
		strbuf_addf(out, " (error %.3g %%)", 100 * row->error);
}

/* Another exporter has a result of this name, too. */
static bool needs_exporter(const struct report_summary *summary, const struct summary_row *row)
{
	for (size_t i = 0; i < summary->count; i++)
		if (&summary->rows[i] != row && strcmp(summary->rows[i].name, row->name) == 0)
			return true;
	return false;
}

static void add_name(struct strbuf *out, const struct report_summary *summary,
		     const struct summary_row *row)
{
	strbuf_add_json(out, row->name);
	if (*row->exporter && needs_exporter(summary, row)) {
		strbuf_add_str(out, " of ");
		strbuf_add_json(out, row->exporter);
	}
}

static void add_item(struct strbuf *out, const struct compared *item,
		     const struct report_summary *before, const struct report_summary *after)
{
	strbuf_addf(out, "%-13s ", change_name(item->change));
	add_name(out, item->before ? before : after, item->before ? item->before : item->after);
	strbuf_add_str(out, ": ");
	add_side(out, item->before);
	strbuf_add_str(out, " → ");
	add_side(out, item->after);
	if (isfinite(item->factor)) {
		strbuf_addf(out, "; energy changed by a factor of %.4g", item->factor);
		if (isfinite(item->factor_low) && isfinite(item->factor_high))
			strbuf_addf(out, " (%.4g to %.4g)", item->factor_low, item->factor_high);
	}
	strbuf_add_char(out, '\n');
}

static bool is_news(const struct compared *item)
{
	return !item->before || !item->after || item->before->verdict != VERDICT_NOT_APPLICABLE ||
	       item->after->verdict != VERDICT_NOT_APPLICABLE;
}

/* Worse results first; those without a change are only counted. The last line is for a ticket. */
static int print(const struct comparison *comparison, const struct report_summary *before,
		 const struct report_summary *after)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	for (int change = CHANGE_WORSE; change < CHANGE_NONE; change++)
		for (size_t i = 0; i < comparison->count; i++)
			if (comparison->items[i].change == (enum change)change &&
			    is_news(&comparison->items[i]))
				add_item(&out, &comparison->items[i], before, after);
	strbuf_addf(&out,
		    "%s: ", comparison->counts[CHANGE_WORSE] ? "Regression" : "No regression");
	for (int change = CHANGE_WORSE; change < CHANGE_COUNT; change++)
		strbuf_addf(&out, "%zu %s, ", comparison->counts[change],
			    change_name((enum change)change));
	strbuf_addf(&out, "from the report of ");
	strbuf_add_json(&out, before->created);
	strbuf_add_str(&out, " to that of ");
	strbuf_add_json(&out, after->created);
	strbuf_add_str(&out, ".\n");
	if (strbuf_error(&out) < 0 || fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0) {
		(void)fprintf(stderr, "kepler-validator compare: the output cannot be written\n");
		return PROGRAM_USAGE;
	}
	if (comparison->counts[CHANGE_WORSE] > 0)
		return verdict_exit_code(VERDICT_FAIL);
	return verdict_exit_code(comparison->counts[CHANGE_INCOMPARABLE] == comparison->count
					 ? VERDICT_NOT_APPLICABLE
					 : VERDICT_PASS);
}

static int compare(const char *const *paths)
{
	CLEANUP(report_summary_release) struct report_summary before = { .count = 0 };
	CLEANUP(report_summary_release) struct report_summary after = { .count = 0 };
	CLEANUP(comparison_release) struct comparison comparison = { .count = 0 };
	struct diag diag = { "" };

	if (report_summary_read(paths[0], &before, &diag) < 0 ||
	    report_summary_read(paths[1], &after, &diag) < 0) {
		diag_print(&diag, "kepler-validator compare", stderr);
		return PROGRAM_USAGE;
	}
	if (report_compare(&before, &after, &comparison) < 0) {
		(void)fprintf(stderr, "kepler-validator compare: out of memory\n");
		return PROGRAM_USAGE;
	}
	return print(&comparison, &before, &after);
}

int compare_main(int argc, char *const *argv, char *const *environ_)
{
	CLEANUP(operands_release) struct operands operands = { .count = 0 };
	struct option_args args = { .environ_ = environ_ };
	struct compare_config config;

	if (operands_sort(&compare_options, NULL, argc, argv, &operands, NULL) < 0)
		return PROGRAM_USAGE;
	args.argc = (int)operands.flag_count;
	args.argv = operands.flags;
	if (options_load_or_print(&compare_options, &args, &config.options, stderr) < 0)
		return PROGRAM_USAGE;
	options_release(&compare_options, &config.options);
	if (operands.count != 2) {
		(void)fprintf(stderr,
			      "kepler-validator compare: two reports are needed, the earlier "
			      "one first: compare A B\n");
		return PROGRAM_USAGE;
	}
	return compare(operands.words);
}
