/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger, a holder and a publisher of one zone, and what the newest snapshot shows. */
#pragma once

#include "snapshot/publisher.h"
#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL
#define MIN_UJ    100
/* The only container that a stage has at first, its namespace, and the sums that may retire. */
#define OWNER_ROWS 15U

struct stage {
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct publisher *publisher;
	const struct snapshot *snapshot; /* the newest */
	uint64_t now_s;
};

#define NOT_SHOWN UINT64_MAX
#define ENERGY    (COLUMN_CPU + 1) /* the column of the first zone's dynamic energy */

/* 100 uJ for a series of its own, 15 s to settle, 300 s kept. */
struct publisher_options default_options(void);
/* Room for 1000 processes and 100 containers; the first interval has begun. */
void open_stage(struct stage *s, const struct publisher_options *options);
void open_stage_for(struct stage *s, const struct publisher_options *options,
		    uint32_t max_processes, uint32_t max_containers);
void close_stage(struct stage *s);
/* Publishes the interval and begins one that ends @later_s seconds on. */
void publish(struct stage *s, uint64_t later_s);
/* Charges a process of system_processes: energy, and CPU time of as many ns. */
uint32_t use(struct stage *s, uint32_t pid, uint64_t start_ns, const char *comm,
	     uint64_t amount_uj);
/* The value of a process's series, or NOT_SHOWN; its "other"; at process level. */
uint64_t shown(const struct stage *s, uint32_t pid, const char *command);
uint64_t other(const struct stage *s);
uint64_t pending(const struct stage *s);
uint64_t retired(const struct stage *s);
