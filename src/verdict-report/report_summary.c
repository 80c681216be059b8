// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/report_summary.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "verdict-report/report_json.h"

#define REPORT_MAX (64 << 20)

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static int read_verdict(const char *text, enum verdict *ret)
{
	for (int v = VERDICT_PASS; v <= VERDICT_NOT_APPLICABLE; v++) {
		if (strcmp(text, verdict_name((enum verdict)v)) == 0) {
			*ret = (enum verdict)v;
			return 0;
		}
	}
	return -EINVAL;
}

static int read_row(const json_t *object, size_t index, const char *path, struct summary_row *row,
		    struct diag *diag)
{
	const json_t *errors = json_object_get(object, "errors");

	if (read_verdict(text_of(object, "verdict"), &row->verdict) < 0)
		return diag_set(diag, -EINVAL,
				"%s: results[%zu]: \"verdict\" is missing or unknown", path, index);
	(void)snprintf(row->name, sizeof(row->name), "%.*s", RESULT_NAME_MAX - 1,
		       text_of(object, "name"));
	(void)snprintf(row->exporter, sizeof(row->exporter), "%.*s", RESULT_NAME_MAX - 1,
		       text_of(object, "exporter"));
	row->error = number_of(object, "error");
	row->ratio = number_of(errors, "energy_ratio");
	row->ratio_low = number_of(errors, "ratio_low");
	row->ratio_high = number_of(errors, "ratio_high");
	return 0;
}

static int read_root(const json_t *root, const char *path, struct report_summary *ret,
		     struct diag *diag)
{
	const json_t *results = json_object_get(root, "results");
	size_t count = json_array_size(results);

	if (json_integer_value(json_object_get(root, "format")) != REPORT_FORMAT_VERSION ||
	    !json_is_array(results))
		return diag_set(diag, -EINVAL,
				"%s: is no report of kepler-validator of format %d: write one with "
				"--output",
				path, REPORT_FORMAT_VERSION);
	if (count > RESULTS_MAX)
		return diag_set(diag, -EFBIG, "%s: has more than %d results", path, RESULTS_MAX);
	(void)snprintf(ret->created, sizeof(ret->created), "%.31s", text_of(root, "created"));
	(void)snprintf(ret->version, sizeof(ret->version), "%.31s", text_of(root, "version"));
	ret->rows = calloc(count + 1, sizeof(*ret->rows));
	if (!ret->rows)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (; ret->count < count; ret->count++) {
		int r = read_row(json_array_get(results, ret->count), ret->count, path,
				 &ret->rows[ret->count], diag);
		if (r < 0)
			return r;
	}
	return 0;
}

int report_summary_parse(const char *text, size_t len, const char *path, struct report_summary *ret,
			 struct diag *diag)
{
	json_error_t error;

	*ret = (struct report_summary){ .count = 0 };
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return diag_set(diag, -EINVAL, "%s:%d:%d: %s", path, error.line, error.column,
				error.text);
	int r = read_root(root, path, ret, diag);
	json_decref(root);
	if (r < 0)
		report_summary_release(ret);
	return r;
}

int report_summary_read(const char *path, struct report_summary *ret, struct diag *diag)
{
	char file[PATH_MAX];
	struct stat st;
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;

	*ret = (struct report_summary){ .count = 0 };
	bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	int r = path_join(file, sizeof(file), path, "report.json");
	const char *name = is_folder ? file : path;
	if (r == 0 || !is_folder)
		r = read_file_alloc(name, REPORT_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", name, strerror(-r));
	return report_summary_parse(text, len, name, ret, diag);
}

void report_summary_release(struct report_summary *summary)
{
	free(summary->rows);
	*summary = (struct report_summary){ .count = 0 };
}
