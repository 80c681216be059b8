// SPDX-License-Identifier: Apache-2.0
#include "meter/boards/library_boards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/num.h"

#define RESTART_NS  (30 * NSEC_PER_SEC) /* twice as long after each in vain */
#define RESTARTS_NS (960 * NSEC_PER_SEC)

/* ---- the search ---- */

static struct board *find_board(struct library_boards *boards, const char *uuid)
{
	for (size_t i = 0; i < boards->count; i++) {
		if (strcmp(boards->boards[i].zone.instance, uuid) == 0)
			return &boards->boards[i];
	}
	return NULL;
}

static bool has_counter(const struct vendor_library *library, vendor_device device)
{
	unsigned long long energy_mj;
	int result = VENDOR_NOT_SUPPORTED;

	if (library->total_energy)
		result = library->total_energy(device, &energy_mj);
	return result != VENDOR_NOT_SUPPORTED && result != VENDOR_FUNCTION_NOT_FOUND;
}

static void describe(struct library_boards *boards, struct board *board, const char *uuid)
{
	const struct library_kind *kind = boards->kind;
	char number[12] = "";
	unsigned minor;

	board->zone = (struct zone){
		.kind = ZONE_GPU,
		.domain = { DOMAIN_DEVICE,
			    kind->first_device + (uint32_t)(board - boards->boards) },
		.source = kind->source,
		.rank = board->has_counter ? RANK_BOARD_ENERGY : RANK_SENSOR_POWER,
	};
	(void)snprintf(board->zone.instance, sizeof(board->zone.instance), "%s", uuid);
	if (boards->library->device_minor &&
	    boards->library->device_minor(board->device, &minor) == VENDOR_OK)
		(void)snprintf(number, sizeof(number), "%u", minor);
	(void)snprintf(board->zone.path, sizeof(board->zone.path), "%s%s",
		       number[0] ? kind->device : "", number[0] ? number : uuid);
}

static void take(struct library_boards *boards, vendor_device device, const char *uuid)
{
	struct board *board = find_board(boards, uuid);

	if (!board && (boards->count == boards->kind->boards_max || !uuid[0] ||
		       strlen(uuid) >= ZONE_INSTANCE_MAX)) {
		boards->beyond++;
		return;
	}
	if (!board) {
		board = &boards->boards[boards->count];
		board->device = device;
		board->has_counter = has_counter(boards->library, device);
		describe(boards, board, uuid);
		boards->count++;
	}
	board->device = device;
	if (!board->is_there)
		board->generation++; /* a reloaded driver restarts its counters */
	board->is_there = true;
	board->search = boards->search;
}

/* Its UUID; where it has none, its serial number. */
static int read_name(const struct vendor_library *library, vendor_device device,
		     char ret[VENDOR_UUID_MAX])
{
	int result = library->device_uuid(device, ret, VENDOR_UUID_MAX);

	if ((result != VENDOR_OK || !ret[0]) && library->device_serial)
		result = library->device_serial(device, ret, VENDOR_UUID_MAX);
	return result;
}

static int find_all(struct library_boards *boards)
{
	const struct vendor_library *library = boards->library;
	unsigned count = 0;
	int result = library->device_count(&count);

	boards->beyond = 0;
	boards->search++;
	for (unsigned i = 0; result == VENDOR_OK && i < count; i++) {
		char name[VENDOR_UUID_MAX] = "";
		vendor_device device;

		if (library->device_by_index(i, &device) == VENDOR_OK &&
		    read_name(library, device, name) == VENDOR_OK)
			take(boards, device, name);
	}
	for (size_t i = 0; i < boards->count; i++)
		boards->boards[i].is_there &= boards->boards[i].search == boards->search;
	return vendor_error(result);
}

static int load(struct library_boards *boards)
{
	const struct library_kind *kind = boards->kind;
	struct diag diag = { "" };
	int r;

	if (!boards->may_load)
		return 0;
	boards->may_load = false;
	r = vendor_library_load(boards->name, kind->folder, kind->functions, *kind->function_count,
				boards->library, &diag);
	boards->is_loaded = r == 0;
	boards->why_not = diag;
	return r;
}

static bool any_is_lost(const struct library_boards *boards)
{
	for (size_t i = 0; i < boards->count; i++) {
		if (!boards->boards[i].is_there)
			return true;
	}
	return false;
}

/*
 * A board that was lost is seen again only after a start of the library, which may take seconds and
 * keeps the others waiting: less and less often while it is in vain.
 */
static int start(struct library_boards *boards)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (boards->is_up && !any_is_lost(boards)) {
		boards->restart_ns = RESTART_NS;
	} else if (boards->is_up && now_ns - boards->started_ns > boards->restart_ns) {
		(void)boards->library->shut_down();
		boards->is_up = false;
		if (boards->restart_ns < RESTARTS_NS)
			boards->restart_ns *= 2;
	}
	if (boards->is_up)
		return 0;
	boards->started_ns = now_ns;
	r = boards->library->init();
	boards->is_up = r == VENDOR_OK;
	boards->why_not = (struct diag){ "" };
	for (size_t i = 0; r != VENDOR_OK && i < boards->count; i++)
		boards->boards[i].is_there = false;
	if (r == VENDOR_VERSION_MISMATCH)
		return diag_set(
			&boards->why_not, -EIO,
			"the version of %s differs from the loaded driver; it cannot be used until "
			"the driver is reloaded or the machine rebooted",
			boards->name);
	if (r != VENDOR_OK)
		return diag_set(&boards->why_not, vendor_error(r),
				"the %s driver does not respond (%s error %d)",
				boards->kind->vendor, boards->kind->api, r);
	return 0;
}

int library_boards_search(struct library_boards *boards)
{
	int r = load(boards);

	if (r == 0 && boards->is_loaded)
		r = start(boards);
	if (r == 0 && boards->is_up)
		r = find_all(boards);
	pthread_mutex_lock(&boards->lock);
	boards->found.count = boards->count;
	boards->found.beyond = boards->beyond;
	(void)snprintf(boards->found.why_not, sizeof(boards->found.why_not), "%.*s",
		       (int)sizeof(boards->found.why_not) - 1, boards->why_not.text);
	pthread_mutex_unlock(&boards->lock);
	return r;
}

/* ---- energy ---- */

struct board *library_boards_find(struct library_boards *boards, size_t index)
{
	struct board *board = &boards->boards[index];

	return board->is_there && boards->is_up ? board : NULL;
}

static int read_power(struct library_boards *boards, const struct board *board, unsigned *ret_mw)
{
	const struct vendor_library *library = boards->library;

	if (boards->kind->read_power)
		return boards->kind->read_power(library, board->device, ret_mw);
	return library->power ? library->power(board->device, ret_mw) : VENDOR_NOT_SUPPORTED;
}

int library_boards_read(struct library_boards *boards, struct board *board, struct raw_reading *ret)
{
	struct raw_reading raw = { .generation = board->generation };
	unsigned long long energy_mj = 0;
	unsigned power_mw = 0;
	int result;

	if (board->has_counter) {
		result = boards->library->total_energy(board->device, &energy_mj);
		raw.kind = SAMPLE_TOTAL;
		raw.value = energy_mj * 1000;
	} else {
		result = read_power(boards, board, &power_mw);
		raw.kind = SAMPLE_POWER;
		raw.value = (uint64_t)power_mw * 1000;
	}
	board->is_there &= result != VENDOR_DEVICE_IS_LOST;
	if (result == VENDOR_OK)
		*ret = raw;
	return vendor_error(result);
}

/* ---- other threads' ---- */

size_t library_boards_count(struct library_boards *boards)
{
	size_t count;

	pthread_mutex_lock(&boards->lock);
	count = boards->found.count;
	pthread_mutex_unlock(&boards->lock);
	return count;
}

size_t library_boards_ignored(struct library_boards *boards)
{
	size_t beyond;

	pthread_mutex_lock(&boards->lock);
	beyond = boards->found.beyond;
	pthread_mutex_unlock(&boards->lock);
	return beyond;
}

bool library_boards_remark(struct library_boards *boards, size_t index, struct meter_remark *ret)
{
	bool has_one;

	pthread_mutex_lock(&boards->lock);
	has_one = index == 0 && boards->found.why_not[0];
	*ret = (struct meter_remark){ .is_failure = true };
	if (has_one)
		memcpy(ret->what, boards->found.why_not, sizeof(ret->what));
	pthread_mutex_unlock(&boards->lock);
	return has_one;
}

/* ---- life ---- */

int library_boards_init(struct library_boards *boards, const struct library_kind *kind,
			const char *name, struct vendor_library *library)
{
	*boards = (struct library_boards){
		.kind = kind,
		.library = library,
		.may_load = true,
		.restart_ns = RESTART_NS,
		.name = strdup(name),
	};
	(void)pthread_mutex_init(&boards->lock, NULL); /* cannot fail with default attributes */
	boards->boards = calloc(kind->boards_max, sizeof(*boards->boards));
	return boards->name && boards->boards ? 0 : -ENOMEM;
}

void library_boards_release(struct library_boards *boards)
{
	if (boards->is_up)
		(void)boards->library->shut_down();
	if (boards->kind)
		(void)pthread_mutex_destroy(&boards->lock);
	free(boards->boards);
	free(boards->name);
}
