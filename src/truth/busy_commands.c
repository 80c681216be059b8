// SPDX-License-Identifier: Apache-2.0
#include "truth/busy_commands.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define COMM_LEN    15 /* of a command's name in /proc/PID/stat */
#define SHOWN       3
#define TICKS_LEAST 2 /* less is noise of the ticks */

static void cleanup_dir(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* The fields behind the command: utime and stime are the 12th and 13th, starttime the 20th. */
static bool parse_stat(char *text, struct busy_process *ret)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *at;

	if (!open || !close || close < open)
		return false;
	(void)snprintf(ret->command, sizeof(ret->command), "%.*s", (int)(close - open - 1),
		       open + 1);
	ret->ticks = 0;
	at = close + 1;
	for (int field = 1; field <= 20; field++) {
		at += strspn(at, " ");
		if (*at == '\0')
			return false;
		if (field == 12 || field == 13)
			ret->ticks += strtoull(at, NULL, 10);
		if (field == 20)
			ret->start = strtoull(at, NULL, 10);
		at += strcspn(at, " ");
	}
	return true;
}

static int compare_pids(const void *a, const void *b)
{
	const struct busy_process *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

void busy_look_take(const char *procfs, struct busy_look *ret)
{
	CLEANUP(cleanup_dir) DIR *folder = opendir(procfs);
	char path[512], text[1024];

	ret->count = 0;
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		struct busy_process process;

		if (parse_u64(entry->d_name, strlen(entry->d_name), &process.pid) < 0 ||
		    snprintf(path, sizeof(path), "%s/%s/stat", procfs, entry->d_name) >=
			    (int)sizeof(path) ||
		    read_file_nowait_at(AT_FDCWD, path, text, sizeof(text)) <= 0 ||
		    !parse_stat(text, &process))
			continue;
		if (ret->count == BUSY_PROCESSES_MAX ||
		    ARRAY_RESERVE(ret->items, ret->size, ret->count + 1) < 0)
			break;
		ret->items[ret->count++] = process;
	}
	if (ret->count > 0)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare_pids);
}

void busy_look_release(struct busy_look *look)
{
	free(look->items);
	*look = (struct busy_look){ 0 };
}

static uint64_t ticks_since(const struct busy_look *before, const struct busy_process *process)
{
	const struct busy_process *earlier =
		before->count > 0 ? bsearch(process, before->items, before->count,
					    sizeof(*before->items), compare_pids)
				  : NULL;

	return earlier && earlier->start == process->start ? process->ticks - earlier->ticks
							   : process->ticks;
}

/* The kernel cuts the names of commands. */
static bool is_mine(const char *command, const char *const *mine)
{
	for (; *mine; mine++)
		if (strncmp(command, *mine, strnlen(*mine, COMM_LEN)) == 0)
			return true;
	return false;
}

static int compare_commands(const void *a, const void *b)
{
	const struct busy_process *left = a, *right = b;

	return strcmp(left->command, right->command);
}

static int compare_ticks(const void *a, const void *b)
{
	const struct busy_process *left = a, *right = b;

	return (left->ticks < right->ticks) - (left->ticks > right->ticks);
}

/* Processes of one command become one. */
static size_t sum_commands(struct busy_process *used, size_t count)
{
	size_t kept = 0;

	qsort(used, count, sizeof(*used), compare_commands);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && compare_commands(&used[kept - 1], &used[i]) == 0)
			used[kept - 1].ticks += used[i].ticks;
		else
			used[kept++] = used[i];
	}
	qsort(used, kept, sizeof(*used), compare_ticks);
	return kept;
}

void busy_commands_text(const struct busy_look *before, const struct busy_look *after,
			const char *const *mine, char ret[static BUSY_TEXT_MAX])
{
	CLEANUP_FREE struct busy_process *used = calloc(after->count + 1, sizeof(*used));
	size_t count = 0, len = 0;

	ret[0] = '\0';
	for (size_t i = 0; used && i < after->count; i++) {
		used[count] = after->items[i];
		used[count].ticks = ticks_since(before, &after->items[i]);
		count += used[count].ticks > 0 && !is_mine(used[count].command, mine);
	}
	if (count == 0)
		return;
	count = sum_commands(used, count);
	for (size_t i = 0; i < count && i < SHOWN && used[i].ticks >= TICKS_LEAST; i++)
		len += (size_t)snprintf(ret + len, BUSY_TEXT_MAX - len, "%s%s %.2f s",
					len ? ", " : "", used[i].command,
					(double)used[i].ticks / (double)sysconf(_SC_CLK_TCK));
}
