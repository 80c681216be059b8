// SPDX-License-Identifier: Apache-2.0
#include "evidence/artifact_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"

/* "FOLDER#LABEL". */
struct place {
	char folder[PATH_MAX];
	const char *label; /* "": files have none */
};

static int read_place(const char *text, struct place *ret)
{
	const char *hash = strrchr(text, '#');
	size_t len = hash ? (size_t)(hash - text) : strlen(text);

	if (len == 0 || len >= sizeof(ret->folder))
		return -ENAMETOOLONG;
	memcpy(ret->folder, text, len);
	ret->folder[len] = '\0';
	ret->label = hash ? hash + 1 : "";
	return 0;
}

bool artifact_folder_is(const char *text)
{
	struct place place;
	struct stat status;

	return read_place(text, &place) == 0 && stat(place.folder, &status) == 0 &&
	       S_ISDIR(status.st_mode);
}

/* METRIC--MODE.json, behind the label; NULL: it is not a file of the label. */
static const char *rest_of(const char *file, const char *label)
{
	static const char ending[] = ".json";
	size_t len = strlen(file), of_label = strlen(label);

	if (len <= sizeof(ending) - 1 || strcmp(file + len - (sizeof(ending) - 1), ending) != 0)
		return NULL;
	if (of_label == 0)
		return file;
	return strncmp(file, label, of_label) == 0 && file[of_label] == '-' ? file + of_label + 1
									    : NULL;
}

static int add_pair(struct artifact_pairs *pairs, const struct place *actual, const char *file,
		    const struct place *predicted, const char *rest)
{
	struct artifact_pair *pair = &pairs->items[pairs->count];
	const char *between = *predicted->label ? "-" : "";
	struct stat status;

	if (pairs->count == ARTIFACT_PAIRS_MAX)
		return -E2BIG;
	if (asprintf(&pair->predicted, "%s/%s%s%s", predicted->folder, predicted->label, between,
		     rest) < 0)
		return -ENOMEM;
	if (stat(pair->predicted, &status) < 0) {
		pairs->alone++;
		free(TAKE_PTR(pair->predicted));
		return 0;
	}
	if (asprintf(&pair->actual, "%s/%s", actual->folder, file) < 0) {
		free(TAKE_PTR(pair->predicted));
		return -ENOMEM;
	}
	(void)snprintf(pair->name, sizeof(pair->name), "%.*s",
		       (int)(strlen(rest) - strlen(".json")), rest);
	pairs->count++;
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct artifact_pair *left = a, *right = b;

	return strcmp(left->name, right->name);
}

static int read_folder(const struct place *actual, const struct place *predicted,
		       struct artifact_pairs *ret, struct diag *diag)
{
	DIR *folder = opendir(actual->folder);
	const struct dirent *entry;
	int r = 0;

	if (!folder)
		return diag_set(diag, -errno, "%s: %s", actual->folder, strerror(errno));
	while (r == 0 && (entry = readdir(folder)) != NULL) {
		const char *rest = rest_of(entry->d_name, actual->label);

		if (rest)
			r = add_pair(ret, actual, entry->d_name, predicted, rest);
	}
	(void)closedir(folder);
	if (r == -E2BIG)
		return diag_set(diag, r,
				"%s: more than %d artifacts; choose some of them by moving "
				"them to a folder of their own",
				actual->folder, ARTIFACT_PAIRS_MAX);
	return r < 0 ? diag_set(diag, r, "out of memory") : 0;
}

int artifact_folder_pair(const char *actual, const char *predicted, struct artifact_pairs *ret,
			 struct diag *diag)
{
	struct place from, to;

	ret->count = ret->alone = 0;
	if (read_place(actual, &from) < 0 || read_place(predicted, &to) < 0)
		return diag_set(diag, -ENAMETOOLONG, "the path of a folder is empty or too long");
	int r = read_folder(&from, &to, ret, diag);
	if (r == 0 && ret->count == 0)
		return diag_set(
			diag, -ENOENT,
			"%s: has no file LABEL-METRIC--MODE.json with a partner in %s; name "
			"both labels, such as --actual=FOLDER#metal --predicted=FOLDER#vm",
			actual, predicted);
	qsort(ret->items, ret->count, sizeof(ret->items[0]), compare_names);
	return r;
}

void artifact_pairs_release(struct artifact_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->items[i].actual);
		free(pairs->items[i].predicted);
	}
	pairs->count = 0;
}
