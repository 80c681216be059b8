/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer of /api/v1/stat (tree_page.h) as a value. Pure. Texts are untrusted, and cut to size;
 * control characters are shown as "?".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "stat/stat_cost.h"

#define STAT_PAGE_PATH    "/api/v1/stat"
#define STAT_ZONES_MAX    64
#define STAT_COMMANDS_MAX 48
#define STAT_LEFT_MAX     16
#define STAT_NAME_SIZE    64
#define STAT_ANSWER_MAX   (256U << 10) /* bytes */

struct stat_zone {
	char zone[16], mode[16], source[STAT_NAME_SIZE];
	bool is_estimated, in_total;
	bool is_late;             /* some of its energy was not waited for, and is missing */
	uint64_t read_ns;         /* MONOTONIC: its energy is known up to then */
	bool is_idle, is_of_node; /* the idle energy of the whole machine */
	double joules, error_joules;
};

struct stat_command {
	char command[STAT_NAME_SIZE];
	double joules, cpu_seconds;
	uint32_t processes;
};

struct stat_left {
	uint32_t pid;
	char command[STAT_NAME_SIZE];
};

struct stat_reading {
	double cpu_seconds;
	uint32_t processes, short_processes;
	uint32_t missed; /* could not be followed, or are of unknown parents */
	struct stat_zone zones[STAT_ZONES_MAX];
	size_t zone_count;
	struct stat_command commands[STAT_COMMANDS_MAX]; /* the largest first */
	size_t command_count;
	struct stat_left left[STAT_LEFT_MAX];
	size_t left_named;
	uint32_t left_count; /* all that still run */
	struct stat_rates rates;
};

/* 0, or -EINVAL with a diagnosis; @ret is written on success only. */
int stat_reading_parse(const char *text, size_t len, struct stat_reading *ret, struct diag *diag);
/*
 * Is a zone of the total not known up to @time_ns, MONOTONIC, yet? A zone whose meter had been
 * silent for longer than @patience_ns then, as one that is broken, does not count.
 */
bool stat_reading_is_behind(const struct stat_reading *reading, uint64_t time_ns,
			    uint64_t patience_ns);
/* Marks those as late that are not. */
void stat_reading_mark_late(struct stat_reading *reading, uint64_t time_ns);
/* Sums the zones in the total, @with_idle or only what the processes used. */
double stat_reading_joules(const struct stat_reading *reading, bool with_idle);
/* The known error of the total: half of its 90 % interval; 0: not known. */
double stat_reading_error(const struct stat_reading *reading);
/* Is a zone of the total estimated? */
bool stat_reading_is_estimated(const struct stat_reading *reading);
