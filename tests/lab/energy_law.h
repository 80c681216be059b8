/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The law that a simulated energy counter follows: constant power, and power for busy CPU time.
 * Whole µW·ns, no rounding.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define NS_PER_S 1000000000ULL
#define PIDS_MAX 64

__extension__ typedef unsigned __int128 u128;

/* Where busy CPU time comes from. Counters of processes that ended stay where they were. */
struct source {
	enum { SOURCE_NONE, SOURCE_STAT, SOURCE_SCHEDSTAT, SOURCE_CGROUP, SOURCE_PIDS } kind;
	unsigned cpu; /* of STAT; UINT_MAX: all */
	char dir[256];
	pid_t pids[PIDS_MAX];
	uint64_t pid_ns[PIDS_MAX];
	size_t pid_count;
	uint64_t last_ns;
};

struct counter {
	u128 energy_uw_ns; /* true energy */
	uint64_t idle_uw, dyn_uw;
	struct source source;
	uint64_t last_ns; /* when energy was brought up to date */
	uint64_t max_uj;
	uint64_t offset_uj; /* shown = (energy + offset) mod (max + 1) */
	uint64_t first_uj, second_uj, last_uj, reads;
	uint64_t tick_ns;  /* it shows a new value once in each of these; 0: always */
	uint64_t noise_uj; /* and differs from the truth by up to this much then */
	uint64_t unit_nj;  /* what it shows is a multiple of this; 0: 1 µJ */
};

uint64_t now_ns(void);
/* "stat", "stat:CPU", "schedstat", "cgroup:DIR" or "pid:N[,N…]". 0 or -EINVAL. */
int source_parse(const char *text, struct source *ret);
/* Starts the law whose powers, source and range are set; the counter then shows @start_uj. */
void counter_start(struct counter *counter, uint64_t start_uj);
/* Brings the energy up to now, and returns it in µJ. */
uint64_t counter_energy(struct counter *counter);
/* The value that a read of the counter's file shows. */
uint64_t counter_read(struct counter *counter);
/* Makes it show @shown_uj now, as a reset does. */
void counter_jump(struct counter *counter, uint64_t shown_uj);
