/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boards that a vendor's library shows. Each is a zone that is identified by its UUID, or else
 * its serial number, because its index may change when the driver is loaded again. The energy of a
 * board comes from its counter (mJ), or else from its power.
 *
 * The library is loaded in the first search only, because later no program code can be loaded any
 * more (service/confine.h). It is started again for a board that is lost.
 *
 * For meters that are polled: all members belong to the poller's thread, except for marked ones.
 */
#pragma once

#include <pthread.h>

#include "gpu/vendor_library.h"
#include "meter/meter.h"

/* The specifics of a library; static. */
struct library_kind {
	const char *source, *vendor, *api; /* "nvml", "NVIDIA", "NVML" */
	const char *device;                /* "nvidia": its device, without the number */
	const char *folder;                /* see vendor_library_load() */
	const struct vendor_function *functions;
	const size_t *function_count;
	uint32_t first_device, boards_max;
	/* Power at the moment; NULL: the library's. A result of the library. */
	int (*read_power)(const struct vendor_library *library, vendor_device device,
			  unsigned *ret_mw);
};

struct board {
	struct zone zone; /* fixed */
	vendor_device device;
	bool is_there;   /* as of the last search, and not lost since */
	uint32_t search; /* the last one that found it */
	bool has_counter;
	uint32_t generation; /* another one: it was gone meanwhile; from 1 */
};

struct library_boards {
	const struct library_kind *kind;
	struct vendor_library *library; /* the owner's: the first member of all its functions */
	char *name;
	bool may_load; /* it was not tried yet */
	bool is_loaded, is_up;
	struct diag why_not;
	struct board *boards; /* [boards_max] */
	size_t count, beyond;
	uint32_t search;     /* number of the last one */
	uint64_t started_ns; /* MONOTONIC, the library */
	uint64_t restart_ns; /* how long it runs at least while a board is lost */
	pthread_mutex_t lock;
	/* The results of the last search, for other threads. */
	struct {
		size_t count, beyond;
		char why_not[sizeof(((struct meter_remark *)NULL)->what)];
	} found;
};

/* 0 or -ENOMEM; @library stays where it is until the release. */
int library_boards_init(struct library_boards *boards, const struct library_kind *kind,
			const char *name, struct vendor_library *library);
/* Stops the library. Takes what is half initialised, and zeros. */
void library_boards_release(struct library_boards *boards);
/* 0 or -errno. */
int library_boards_search(struct library_boards *boards);
/* NULL: it is not there now. */
struct board *library_boards_find(struct library_boards *boards, size_t index);
/* 0 or -errno. */
int library_boards_read(struct library_boards *boards, struct board *board,
			struct raw_reading *ret);
/* From any thread; as the functions of struct meter_ops. */
size_t library_boards_count(struct library_boards *boards);
size_t library_boards_ignored(struct library_boards *boards);
/* The one remark of a library: why it shows no boards. */
bool library_boards_remark(struct library_boards *boards, size_t index, struct meter_remark *ret);
