// SPDX-License-Identifier: Apache-2.0
#include "evidence/recordings/recording_ring.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "evidence/recordings/recording_series.h"

#define SUFFIX    ".krec"
#define FILES_MAX 4096

static int is_recording(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), of_suffix = sizeof(SUFFIX) - 1;

	return len > of_suffix && strcmp(entry->d_name + len - of_suffix, SUFFIX) == 0;
}

static void free_names(struct dirent **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

bool recording_ring_is(const char *place)
{
	CLEANUP_FREE char *folder = strdup(place);
	struct dirent **names = NULL;

	if (!folder)
		return false;
	char *hash = strrchr(folder, '#');
	if (hash && access(folder, F_OK) < 0)
		*hash = '\0';
	int count = scandir(folder, &names, is_recording, by_name);
	if (count >= 0)
		free_names(names, count);
	return count > 0;
}

static int read_one(struct recording_series *recording, const char *folder, const char *name,
		    struct diag *diag)
{
	CLEANUP_FREE struct text_input *input = calloc(1, sizeof(*input));
	char path[PATH_MAX];

	if (!input || path_join(path, sizeof(path), folder, name) < 0)
		return diag_set(diag, -ENOMEM, "%s/%s: the path is too long", folder, name);
	int r = text_input_open(input, path, diag);
	if (r == -ENOENT) {
		diag->text[0] = '\0';
		return 0;
	}
	if (r == 0)
		r = recording_series_read(recording, input, diag);
	text_input_close(input);
	return r;
}

int recording_ring_read(const char *folder, struct series_pick *pick, struct diag *diag)
{
	struct dirent **names = NULL;
	int count = scandir(folder, &names, is_recording, by_name);

	if (count < 0)
		return diag_set(diag, -errno, "%s: cannot be read: %s", folder, strerror(errno));
	struct recording_series *recording = recording_series_new(pick);
	int r = recording ? 0 : diag_set(diag, -ENOMEM, "out of memory");
	if (r == 0 && count > FILES_MAX)
		r = diag_set(diag, -E2BIG, "%s: has more than %d recordings", folder, FILES_MAX);
	/* With two series that fit there is none to read. */
	for (int i = 0; i < count && r == 0 && pick->fits <= 1; i++)
		r = read_one(recording, folder, names[i]->d_name, diag);
	recording_series_free(recording);
	free_names(names, count);
	return r;
}
