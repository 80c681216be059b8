// SPDX-License-Identifier: Apache-2.0
#include "evidence/phase_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "evidence/series_form.h"

#define FILE_MAX (256U * 1024)

/* Cuts "name,start,end". */
static int read_phase(char *line, struct phase *ret)
{
	char *first = strchr(line, ','), *second = first ? strchr(first + 1, ',') : NULL;
	if (!second || strchr(second + 1, ','))
		return -EINVAL;
	*first = *second = '\0';
	*ret = (struct phase){ .start_s = series_time_s(first + 1),
			       .end_s = series_time_s(second + 1) };
	int len = snprintf(ret->name, sizeof(ret->name), "%s", line);
	bool is_name = len > 0 && (size_t)len < sizeof(ret->name);
	return is_name && ret->start_s < ret->end_s ? 0 : -EINVAL;
}

static int read_lines(const char *path, char *text, struct phase **ret, size_t *ret_count,
		      struct diag *diag)
{
	size_t size = 0;
	unsigned number = 0;
	char *next = text;
	while (next && *next) {
		char *line = next, *end = line + strcspn(line, "\r\n");
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
		*end = '\0';
		number++;
		if (!*line || (number == 1 && strncmp(line, "name,", 5) == 0))
			continue;
		if (*ret_count == PHASES_MAX)
			return diag_set(diag, -EFBIG, "%s:%u: more than %d phases", path, number,
					PHASES_MAX);
		if (ARRAY_RESERVE(*ret, size, *ret_count + 1) < 0)
			return diag_set(diag, -ENOMEM, "out of memory");
		if (read_phase(line, &(*ret)[*ret_count]) < 0)
			return diag_set(diag, -EINVAL,
					"%s:%u: must be \"NAME,START,END\" with a start before the "
					"end, such as \"idle,1731388532,1731388592\"",
					path, number);
		(*ret_count)++;
	}
	return *ret_count > 0 ? 0 : diag_set(diag, -EINVAL, "%s: contains no phases", path);
}

int phase_file_read(const char *path, struct phase **ret, size_t *ret_count, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	CLEANUP_FREE struct phase *phases = NULL;
	size_t len, count = 0;
	int r = read_file_alloc(path, FILE_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", path, strerror(-r));
	r = read_lines(path, text, &phases, &count, diag);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(phases);
	*ret_count = count;
	return 0;
}
