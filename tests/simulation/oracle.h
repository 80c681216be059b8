/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions that every picture must satisfy, by itself and compared with the picture before
 * and with the simulated machine. It knows the program's promises only, and shares no code with it.
 */
#pragma once

#include "picture.h"
#include "world.h"

struct oracle;

struct oracle *oracle_new(void);
void oracle_free(struct oracle *oracle);
/* Takes the work of each interval that was booked; to be called after meters_book(). */
void oracle_see(struct oracle *oracle, const struct world *world);
/* Where the next picture is to be drawn. */
struct picture *oracle_canvas(struct oracle *oracle);
/*
 * NULL, or what is wrong with it. @missed_ns: when the first interval since the last picture was
 * booked that has none; 0: there is none. @refused: memory was refused at any time before.
 */
const char *oracle_check(struct oracle *oracle, const struct world *world, uint64_t missed_ns,
			 bool refused);

/* oracle_work.c: is every joule with what ran? */
struct work_book;
struct work_book *work_book_new(void);
void work_book_free(struct work_book *book);
void work_book_see(struct work_book *book, const struct world *world);
/* Compares with the picture of the interval before. */
const char *work_book_check(struct work_book *book, const struct world *world,
			    const struct picture *picture, const struct picture *before);
/* Checks the counts of @counter in rows in the last interval; @counts: it was counted at all. */
const char *work_book_check_counter(struct work_book *book, const struct world *world,
				    size_t counter, bool counts, const struct picture *picture);
/* Has the process of this row ever run in the container with this id? Or its owner, if pid is 0. */
bool work_book_knows(const struct work_book *book, const struct picture_row *row);
/* Did a process with its labels run in the last interval? */
bool work_book_ran(const struct work_book *book, const struct picture_row *row);
/* Have two processes had its labels? */
bool work_book_reused(const struct work_book *book, const struct picture_row *row);
/*
 * Does it live: is it a process that ran with these labels last, and has not ended, or a container
 * that exists? False if that cannot be decided, because names have changed.
 */
bool work_book_lives(const struct work_book *book, const struct world *world, size_t level,
		     const struct picture_row *row);

/* oracle_counters.c: is all that is counted there, from when on it should be? */
struct counter_book;
struct counter_book *counter_book_new(void);
void counter_book_free(struct counter_book *book);
void counter_book_see(struct counter_book *book, const struct world *world);
/* Does the counter count its amounts of the last interval? */
bool counter_book_counts(const struct counter_book *book, size_t counter);
const char *counter_book_check_sums(const struct picture *picture);
/* Compares with the picture of the interval before. */
const char *counter_book_check(const struct counter_book *book, const struct world *world,
			       const struct picture *picture, const struct picture *before);

/* oracle_share.c: the basis by which energy is shared, and the weight of each sample by it. */
enum basis {
	BASIS_TIME,
	BASIS_SMT,
	BASIS_CYCLES,
	BASIS_MIX, /* of cycles and instructions */
	BASIS_MISSES,
	BASIS_TRAFFIC,
	BASIS_COUNT
};
/* The weights of an interval; by BASIS_TIME they are the samples' own. */
struct basis_weights {
	bool known[BASIS_COUNT];
	double sample[BASIS_COUNT][WORLD_SAMPLES_MAX];
	double mean[BASIS_COUNT];           /* per ns of CPU time */
	double nameless_owner[BASIS_COUNT]; /* of world_interval.dropped_owner_ns */
};
void basis_weigh(struct basis_weights *weights, const struct world *world);
/* For zones of @type, in an interval with a pass. */
enum basis basis_choose(const struct basis_weights *weights, enum zone_type type);

/* oracle_totals.c: which zones make a total, and do rows and the node add up to it? */
const char *totals_check(const struct world *world, const struct picture *picture,
			 const struct picture *before);

/* The sum of a column over all rows, the retired ones and the pending amount. */
unsigned __int128 oracle_sum(const struct picture_table *table, size_t column);
/* A text that stays until the next one. */
const char *oracle_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
