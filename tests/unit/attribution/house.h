/* SPDX-License-Identifier: Apache-2.0 */
/* Two sockets of one CPU each, a package in each, and intervals that are made up. */
#pragma once

#include "attribution/books.h"
#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

#define SETTLE_NS NSEC_PER_SEC

static const struct idle_options all_dynamic = { .mode = IDLE_MODE_OFF };
static const struct share_options by_cpu_time = { .smt_ppm = 0 };

struct house {
	struct zone zones[2];
	struct books books;
	bool is_quiet[2];                  /* up, and nothing new in this interval */
	uint64_t read_ns[2], energy_uj[2]; /* the end of its last span; not reported since */
	uint64_t late_ns, window_ns;       /* of zone 0: the age of its report, and its mean */
	uint64_t now_ns, busy_ns, asleep_ns;
	bool pass_fails;
	uint32_t owner[2]; /* containers */
};

static inline void set_up_house_for(struct house *house, bool by_zone)
{
	const struct ledger_options options = {
		.max_processes = 64,
		.max_containers = 16,
		.by_zone = by_zone,
	};

	*house = (struct house){ .now_ns = NSEC_PER_SEC };
	assert_int_equal(books_open(&house->books, &options), 0);
	books_configure(&house->books, &all_dynamic, &by_cpu_time, SETTLE_NS);
	for (uint32_t z = 0; z < 2; z++) {
		house->zones[z] = (struct zone){ .kind = ZONE_PACKAGE,
						 .instance = { (char)('0' + z) },
						 .source = "told" };
		house->zones[z].domain = zone_domain(ZONE_PACKAGE, house->zones[z].instance);
		house->books.status[z] = (struct zone_status){ .state = ZONE_UP };
		assert_int_equal(books_adopt(&house->books, &house->zones[z], 0), z);
	}
}

static inline void learn_idle_power(struct house *house)
{
	const struct idle_options learned = { .mode = IDLE_MODE_LEARNED };

	accountant_configure(&house->books.accountant, &learned, SETTLE_NS);
}

static inline void set_up_house(struct house *house)
{
	set_up_house_for(house, true);
}

static inline void tear_down_house(struct house *house)
{
	books_release(&house->books);
}

static inline void begin(struct house *house, uint32_t sockets)
{
	struct ledger *ledger = house->books.ledger;
	static const char *const ids[] = { "a", "b" };

	house->now_ns += NSEC_PER_SEC;
	house->busy_ns = 0;
	ledger_begin(ledger, house->now_ns);
	for (size_t i = 0; i < 2; i++) {
		const struct test_owner owner = {
			.names.text = { [LABEL_CONTAINER_ID] = ids[i],
					[LABEL_CONTAINER_NAME] = ids[i] },
		};

		house->owner[i] = enter_owner(ledger, &owner);
	}
	parties_begin(&house->books.parties, sockets);
	assert_int_equal(parties_reserve(&house->books.parties, 8), 0);
}

/* Container @container ran for so long, all of it in the socket at @place. */
static inline void ran(struct house *house, size_t container, uint32_t place, uint64_t ns)
{
	const uint64_t socket_ns[] = { place == 0 ? ns : 0, place == 1 ? ns : 0 };

	parties_add(&house->books.parties, LEDGER_NONE, house->owner[container], ns, socket_ns);
	house->busy_ns += ns;
}

static inline struct energy_span span_of(struct house *house, uint32_t z)
{
	const struct energy_span span = {
		.zone = z,
		.known = house->read_ns[z] > 0,
		.from_ns = house->read_ns[z],
		.to_ns = house->now_ns - (z ? 0 : house->late_ns),
		.since_ns = z || !house->window_ns ? 0 : house->now_ns - house->window_ns,
		.energy_uj = house->read_ns[z] ? house->energy_uj[z] : 0,
	};

	house->read_ns[z] = span.to_ns;
	house->energy_uj[z] = 0;
	return span;
}

/* After begin(): cycles are known of this interval. */
static inline void count_cycles(struct house *house)
{
	parties_know(&house->books.parties, SIGNAL_BIT(SIGNAL_CPU_CYCLES));
	assert_int_equal(parties_reserve(&house->books.parties, 8), 0);
}

/* As ran(), at so many GHz. */
static inline void ran_at(struct house *house, size_t container, uint32_t place, uint64_t ns,
			  uint64_t ghz)
{
	ran(house, container, place, ns);
	parties_add_signal(&house->books.parties, SIGNAL_CPU_CYCLES, ns * ghz);
}

/* The interval is one second; each zone that is up drew so many joules in it. */
static inline void end(struct house *house, uint64_t first_j, uint64_t second_j)
{
	struct interval interval;

	house->books.span_count = 0;
	house->energy_uj[0] += first_j * 1000000;
	house->energy_uj[1] += second_j * 1000000;
	for (uint32_t z = 0; z < 2; z++) {
		if (house->books.status[z].state == ZONE_UP && !house->is_quiet[z])
			books_put_span(&house->books, z, span_of(house, z));
	}
	interval = books_interval(&house->books, house->now_ns);
	interval.work.busy_ns = house->busy_ns;
	interval.places = (struct work_places){ 2, { 0, 1 }, { 1, 1 } };
	interval.measured = (struct zone_activity){
		.dt_ns = house->pass_fails ? 0 : NSEC_PER_SEC,
		.asleep_ns = house->asleep_ns,
		.utilisation = (double)house->busy_ns / (2.0 * NSEC_PER_SEC),
	};
	books_book(&house->books, &interval, NULL);
	ledger_close(house->books.ledger);
}

static inline uint64_t joules(const struct house *house, size_t container, uint32_t z)
{
	return ledger_values(house->books.ledger, LEVEL_CONTAINER,
			     house->owner[container])[ledger_column(house->books.ledger, z,
								    MODE_DYNAMIC)] /
	       1000000;
}

static inline uint64_t idle_joules(const struct house *house, size_t container)
{
	const struct ledger *ledger = house->books.ledger;

	return ledger_values(ledger, LEVEL_CONTAINER,
			     house->owner[container])[ledger_column(ledger, 0, MODE_IDLE)] /
	       1000000;
}

static inline void share_by_cycles(struct house *house)
{
	const struct share_options options = {
		.rule = { [ZONE_PACKAGE] = SHARE_AUTO },
		.smt_ppm = SHARE_SMT_PPM,
	};

	accountant_share_by(&house->books.accountant, &options);
}
