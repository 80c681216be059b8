// SPDX-License-Identifier: Apache-2.0
/*
 * A library that stands in for libhlml.so, after the public HLML reference: for tests, and for
 * those without such a board. It shares no declaration with the program.
 *
 * $HLML_LAB_STATE names a file that is read in each call:
 *
 *   init CODE                    what hlml_init returns (0; 9: the driver is not loaded)
 *   gaudi IDX MILLIWATT PERCENT  a board, which draws that much, and how busy it is
 *   error IDX CODE               what its energy and power return (15: lost; 3: not supported)
 *   nocounter IDX                it has no counter of energy
 *   nouuid IDX                   it has a serial number alone
 *
 * $HLML_LAB_TRUTH is the number of a descriptor, as tests/lab/nvml.c has it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BOARDS 16
#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, NOT_SUPPORTED = 3, LOST = 15 };

struct board {
	bool is_there, has_no_counter, has_no_uuid;
	int error, per_cent;
	double power_mw, energy_mj;
};

struct utilization {
	unsigned accelerator;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct board boards[BOARDS];
static bool is_up;
static int init_code;
static double read_s; /* when the state was read last */

static void take_line(const char *line)
{
	char word[16];
	int index, a = 0, b = 0;
	struct board *board;

	if (sscanf(line, "%15s %d %d %d", word, &index, &a, &b) < 2)
		return;
	if (strcmp(word, "init") == 0)
		init_code = index;
	if (index < 0 || index >= BOARDS)
		return;
	board = &boards[index];
	if (strcmp(word, "gaudi") == 0) {
		board->is_there = true;
		board->power_mw = a;
		board->per_cent = b;
	} else if (strcmp(word, "error") == 0) {
		board->error = a;
	} else if (strcmp(word, "nocounter") == 0) {
		board->has_no_counter = true;
	} else if (strcmp(word, "nouuid") == 0) {
		board->has_no_uuid = true;
	}
}

/* The lock is held until leave(). */
static void enter(void)
{
	struct timespec now;
	const char *path = getenv("HLML_LAB_STATE");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[128];
	double now_s;

	(void)pthread_mutex_lock(&lock);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	now_s = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	for (int i = 0; i < BOARDS; i++)
		boards[i] = (struct board){ .energy_mj = boards[i].energy_mj +
							 boards[i].power_mw * (now_s - read_s) };
	read_s = now_s;
	init_code = OK;
	while (file && fgets(line, sizeof(line), file))
		take_line(line);
	if (file)
		(void)fclose(file);
}

static int leave(int result)
{
	(void)pthread_mutex_unlock(&lock);
	return result;
}

static int state_of(const struct board *board)
{
	if (!is_up)
		return UNINITIALIZED;
	return board->is_there ? board->error : LOST;
}

static void tell_truth(const struct board *board)
{
	const char *number = getenv("HLML_LAB_TRUTH");
	char text[33];

	if (!number)
		return;
	(void)snprintf(text, sizeof(text), "%-31llu\n", (unsigned long long)board->energy_mj);
	if (pwrite(atoi(number), text, 32, (off_t)(board - boards) * 32) != 32)
		abort();
}

EXPORT int hlml_init(void);
EXPORT int hlml_init(void)
{
	enter();
	is_up = init_code == OK;
	return leave(init_code);
}

EXPORT int hlml_shutdown(void);
EXPORT int hlml_shutdown(void)
{
	enter();
	is_up = false;
	return leave(OK);
}

EXPORT int hlml_device_get_count(unsigned *ret);
EXPORT int hlml_device_get_count(unsigned *ret)
{
	enter();
	*ret = 0;
	for (int i = 0; i < BOARDS; i++)
		*ret += boards[i].is_there;
	return leave(is_up ? OK : UNINITIALIZED);
}

EXPORT int hlml_device_get_handle_by_index(unsigned index, void **ret);
EXPORT int hlml_device_get_handle_by_index(unsigned index, void **ret)
{
	int result = INVALID;

	enter();
	for (int i = 0; result != OK && i < BOARDS; i++) {
		if (!boards[i].is_there || index--)
			continue;
		*ret = &boards[i];
		result = OK;
	}
	return leave(result);
}

EXPORT int hlml_device_get_uuid(struct board *board, char *ret, unsigned size);
EXPORT int hlml_device_get_uuid(struct board *board, char *ret, unsigned size)
{
	enter();
	if (board->has_no_uuid)
		return leave(NOT_SUPPORTED);
	(void)snprintf(ret, size, "01P4-HL3090A0-18-U4V193-22-07-%02d", (int)(board - boards));
	return leave(OK);
}

EXPORT int hlml_device_get_serial(struct board *board, char *ret, unsigned size);
EXPORT int hlml_device_get_serial(struct board *board, char *ret, unsigned size)
{
	(void)snprintf(ret, size, "AN452330%02d", (int)(board - boards));
	return OK;
}

EXPORT int hlml_device_get_minor_number(struct board *board, unsigned *ret);
EXPORT int hlml_device_get_minor_number(struct board *board, unsigned *ret)
{
	*ret = (unsigned)(board - boards);
	return OK;
}

EXPORT int hlml_device_get_total_energy_consumption(struct board *board, unsigned long long *ret);
EXPORT int hlml_device_get_total_energy_consumption(struct board *board, unsigned long long *ret)
{
	int result;

	enter();
	result = board->has_no_counter ? NOT_SUPPORTED : state_of(board);
	*ret = (unsigned long long)board->energy_mj;
	if (result == OK)
		tell_truth(board);
	return leave(result);
}

EXPORT int hlml_device_get_power_usage(struct board *board, unsigned *ret);
EXPORT int hlml_device_get_power_usage(struct board *board, unsigned *ret)
{
	enter();
	*ret = (unsigned)board->power_mw;
	return leave(state_of(board));
}

EXPORT int hlml_device_get_utilization_rates(struct board *board, struct utilization *ret);
EXPORT int hlml_device_get_utilization_rates(struct board *board, struct utilization *ret)
{
	enter();
	ret->accelerator = (unsigned)board->per_cent;
	return leave(state_of(board));
}
