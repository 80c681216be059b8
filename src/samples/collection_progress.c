// SPDX-License-Identifier: Apache-2.0
#include "samples/collection_progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/num.h"

#define HEAD "kepler-model collection 1"

int progress_write(const struct collect_plan *plan, const struct collect_progress *progress,
		   struct strbuf *out)
{
	strbuf_addf(out, HEAD "\nsource %s\ntimes %lld %lld %lld\n", plan->source,
		    (long long)plan->start_us, (long long)plan->end_us, (long long)plan->step_us);
	for (size_t i = 0; i < plan->metric_count; i++)
		strbuf_addf(out, "metric %s\n", plan->metrics[i]);
	strbuf_addf(out, "at %zu %lld %llu %d\n", progress->metric, (long long)progress->from_us,
		    (unsigned long long)progress->offset, progress->has_items);
	return strbuf_error(out);
}

/* @count whole numbers, separated by one blank, and nothing more. */
static bool parse_numbers(const char *text, uint64_t *ret, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(text, " ");

		if (parse_u64(text, len, &ret[i]) < 0 || ret[i] > INT64_MAX ||
		    text[len] != (i + 1 < count ? ' ' : '\0'))
			return false;
		text += len + 1;
	}
	return true;
}

static int take_metric(struct collect_plan *plan, size_t *size, const char *name)
{
	if (!*name || strlen(name) >= COLLECT_NAME_MAX || plan->metric_count == COLLECT_METRICS_MAX)
		return -EINVAL;
	if (ARRAY_RESERVE(plan->metrics, *size, plan->metric_count + 1) < 0)
		return -ENOMEM;
	memcpy(plan->metrics[plan->metric_count++], name, strlen(name) + 1);
	return 0;
}

/* 0, 1 for the last line, or -EINVAL, -ENOMEM. */
static int take_line(const char *line, struct collect_plan *plan, size_t *size, char **source,
		     struct collect_progress *progress)
{
	uint64_t numbers[4];

	if (strncmp(line, "source ", 7) == 0 && !*source) {
		*source = strdup(line + 7);
		return *source ? 0 : -ENOMEM;
	}
	if (strncmp(line, "times ", 6) == 0 && parse_numbers(line + 6, numbers, 3)) {
		plan->start_us = (int64_t)numbers[0];
		plan->end_us = (int64_t)numbers[1];
		plan->step_us = (int64_t)numbers[2];
		return plan->step_us > 0 && plan->end_us >= plan->start_us ? 0 : -EINVAL;
	}
	if (strncmp(line, "metric ", 7) == 0)
		return take_metric(plan, size, line + 7);
	if (strncmp(line, "at ", 3) != 0 || !parse_numbers(line + 3, numbers, 4))
		return -EINVAL;
	*progress = (struct collect_progress){ .metric = (size_t)numbers[0],
					       .from_us = (int64_t)numbers[1],
					       .offset = numbers[2],
					       .has_items = numbers[3] };
	return progress->metric <= plan->metric_count && plan->step_us && *source ? 1 : -EINVAL;
}

static int parse_lines(char *text, struct collect_plan *plan, char **source,
		       struct collect_progress *progress)
{
	size_t size = 0;
	int r = 0;

	for (bool first = true; r == 0; first = false) {
		char *line = strsep(&text, "\n");

		/* A complete line ends with a newline, so text follows. */
		if (!line || !text)
			return -EINVAL;
		if (first)
			r = strcmp(line, HEAD) == 0 ? 0 : -EINVAL;
		else
			r = take_line(line, plan, &size, source, progress);
	}
	return r < 0 ? r : *text ? -EINVAL : 0;
}

int progress_parse(const char *text, size_t len, struct collect_plan *ret_plan, char **ret_source,
		   struct collect_progress *ret, struct diag *diag)
{
	CLEANUP_FREE char *copy = calloc(len + 1, 1);
	CLEANUP_FREE char *source = NULL;
	struct collect_progress progress;
	struct collect_plan plan = { .source = NULL };
	int r = -ENOMEM;

	if (copy) {
		memcpy(copy, text, len);
		r = parse_lines(copy, &plan, &source, &progress);
	}
	if (r < 0) {
		free(plan.metrics);
		return diag_set(diag, r, "%s",
				r == -ENOMEM
					? "out of memory"
					: "damaged: remove it and the .part file to start again");
	}
	*ret = progress;
	*ret_plan = plan;
	*ret_source = TAKE_PTR(source);
	ret_plan->source = *ret_source;
	return 0;
}
