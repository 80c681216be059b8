// SPDX-License-Identifier: Apache-2.0
/*
 * The cost of an interval in the ledger and the publisher. Medians over many intervals, and the
 * memory of it all, for rows with a series and rows without. Three zones: seven columns, and one
 * for each counter.
 *
 *     bench-publisher [ROWS [ACTIVE [CONTAINERS [COUNTERS]]]]        10000 100 100 0
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "attribution/counters.h"
#include "base/clock.h"
#include "base/macro.h"
#include "snapshot/publisher.h"

#define INTERVALS 301
#define ZONES     3

struct bench {
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct publisher *publisher;
	struct ledger_owner *owners; /* [containers] */
	uint32_t rows, active, containers, counters;
	uint64_t now_ns, min_uj;
};

/* As identities have them: interned once. */
static void name_owners(struct bench *b)
{
	b->owners = calloc(b->containers, sizeof(*b->owners));
	for (uint32_t i = 0; b->owners && i < b->containers; i++) {
		char id[32];
		const struct owner_names names = { .text = { [LABEL_CONTAINER_ID] = id,
							     [LABEL_CONTAINER_NAME] = id,
							     [LABEL_NAMESPACE] = "system",
							     [LABEL_POD_NAME] = id } };

		(void)snprintf(id, sizeof(id), "unit-%u.service", i);
		b->owners[i].names = owner_names_intern(ledger_names(b->ledger), &names);
	}
}

/* Rows have idle energy, too: the dearest case. */
static int add_columns(struct ledger *ledger, uint32_t counters)
{
	static const struct zone zones[ZONES] = {
		{ .kind = ZONE_PACKAGE, .source = "bench" },
		{ .kind = ZONE_CORE, .source = "bench" },
		{ .kind = ZONE_DRAM, .source = "bench" },
	};
	int r = ledger_bear_idle(ledger);

	for (size_t z = 0; r == 0 && z < ZONES; z++)
		r = ledger_add_zone(ledger, &zones[z]);
	for (enum signal signal = 0; r == 0 && counters && signal < SIGNAL_COUNT; signal++) {
		const struct quantity *quantity = &signal_info[signal];

		if (!(SIGNALS_COUNTERS & SIGNAL_BIT(signal)))
			continue;
		r = ledger_count(ledger, &quantity, 1, 0);
		counters--;
	}
	return r;
}

static void forget_owners(struct bench *b)
{
	for (uint32_t i = 0; i < b->containers; i++)
		owner_names_unref(b->owners[i].names);
	free(b->owners);
}

static uint32_t row_of(struct bench *b, uint32_t i)
{
	uint32_t container = ledger_container(b->ledger, &b->owners[i % b->containers]);

	return ledger_process(b->ledger, i + 1, i, "worker", container);
}

static void charge(struct bench *b, uint32_t i, uint64_t amount_uj)
{
	uint32_t process = row_of(b, i), columns = ledger_columns(b->ledger);

	for (uint32_t column = 0; column < columns; column++)
		ledger_charge(b->ledger, process, column, amount_uj);
}

static uint64_t publish(struct bench *b)
{
	const struct snapshot_zone zones[ZONES] = { 0 };
	const struct snapshot_node node = { 0 };
	const struct publication_time time = { .monotonic_ns = b->now_ns };
	uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (publisher_publish(b->publisher, &time, zones, &node) < 0)
		exit(1);
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_us(uint64_t *ns)
{
	qsort(ns, INTERVALS, sizeof(*ns), compare);
	return (double)ns[INTERVALS / 2] / 1000;
}

static void run(struct bench *b, const char *name)
{
	static uint64_t booking_ns[INTERVALS], publishing_ns[INTERVALS];

	for (uint32_t i = 0; i < INTERVALS; i++) {
		uint64_t before_ns;

		b->now_ns += NSEC_PER_SEC;
		before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		ledger_begin(b->ledger, b->now_ns);
		for (uint32_t a = 0; a < b->active; a++)
			charge(b, (i * 37 + a * 101) % b->rows, 1);
		booking_ns[i] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
		publishing_ns[i] = publish(b);
	}
	printf("%-28s booking %7.1f us, publishing %7.1f us\n", name, median_us(booking_ns),
	       median_us(publishing_ns));
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void measure(const struct bench *shape, const char *name, uint64_t first_uj)
{
	const struct ledger_options book = { .max_processes = shape->rows,
					     .max_containers = shape->containers + 1 };
	const struct publisher_options options = { shape->min_uj, 15 * NSEC_PER_SEC,
						   300 * NSEC_PER_SEC, 50000 };
	struct bench b = *shape;
	size_t before = heap_bytes();

	b.now_ns = NSEC_PER_SEC;
	if (ledger_new(&book, &b.ledger) < 0 || add_columns(b.ledger, b.counters) < 0 ||
	    snapshot_holder_new(&b.holder) < 0 ||
	    publisher_new(&options, b.ledger, b.holder, &b.publisher) < 0)
		exit(1);
	name_owners(&b);
	ledger_begin(b.ledger, b.now_ns);
	for (uint32_t i = 0; i < b.rows; i++)
		charge(&b, i, first_uj);
	printf("%-28s first snapshot %.1f us\n", name, (double)publish(&b) / 1000);
	run(&b, name);
	printf("%-28s memory %zu KiB\n", name, (heap_bytes() - before) / 1024);
	forget_owners(&b);
	publisher_free(b.publisher);
	ledger_free(b.ledger);
	snapshot_holder_free(b.holder);
}

static uint32_t argument(int argc, char **argv, int i, uint32_t otherwise)
{
	uint64_t value;

	if (i >= argc || parse_u64(argv[i], strlen(argv[i]), &value) < 0 || value == 0 ||
	    value > 1000000)
		return otherwise;
	return (uint32_t)value;
}

int main(int argc, char **argv)
{
	struct bench shape = { .rows = argument(argc, argv, 1, 10000),
			       .active = argument(argc, argv, 2, 100),
			       .containers = argument(argc, argv, 3, 100),
			       .counters = argument(argc, argv, 4, 0),
			       .min_uj = 1000000 };

	(void)mallopt(M_ARENA_MAX, 1);
	printf("%u rows, %u active, %u containers, %u counters\n", shape.rows, shape.active,
	       shape.containers, shape.counters);
	measure(&shape, "rows without a series", 1);
	measure(&shape, "rows with a series", 1000000);
	return 0;
}
