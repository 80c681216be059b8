/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From sums by cgroup and CPU, which only grow, to amounts of an interval. Pure: the sums are
 * passed in.
 *
 * A cgroup without new amounts for IO_AMOUNTS_IDLE readings is to be removed from the kernel's
 * table, which is bounded: cgroups come and go, and the kernel side does not know when one ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity_reader.h"
#include "base/map.h"
#include "bpf/kepler_types.h"

#define IO_AMOUNTS_IDLE 64

struct io_amounts {
	struct map rows_by_cgroup;
	struct io_amounts_row *rows;
	size_t row_count, row_size;
	struct cgroup_signals *changes; /* of this reading: cgroups with an amount */
	size_t change_count, change_size;
};

/* Which signal an amount of the kernel side is. */
enum signal io_amounts_signal(enum kepler_io_amount amount);

void io_amounts_init(struct io_amounts *amounts);
void io_amounts_release(struct io_amounts *amounts);
/* A new reading: what was in `changes` is gone. */
void io_amounts_begin(struct io_amounts *amounts);
/*
 * The sums of a cgroup, [@cpus]; of @signals only. 1: it is to be removed from the kernel's table,
 * and then forgotten. 0, or -ENOMEM: its amounts come with a later reading.
 */
int io_amounts_take(struct io_amounts *amounts, uint64_t cgroup_id, const struct kepler_io *sums,
		    size_t cpus, uint32_t signals);
/* Its sums begin at 0 again. */
void io_amounts_forget(struct io_amounts *amounts, uint64_t cgroup_id);
