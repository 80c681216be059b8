// SPDX-License-Identifier: Apache-2.0
#include "attribution/zone_fits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "training/random.h"

#define CONTAINERS 25
#define SECONDS    150
#define SIGNALS                                                                                    \
	(SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_CPU_CYCLES) |                         \
	 SIGNAL_BIT(SIGNAL_INSTRUCTIONS) | SIGNAL_BIT(SIGNAL_CACHE_MISSES))

/* A ledger, and what is learned on it. */
struct desk {
	struct ledger *ledger;
	struct parties parties;
	struct zone_fits fits;
	uint32_t row[CONTAINERS];
};

/* @step: containers get their rows in another order; prime to their number. */
static void open_desk(struct desk *desk, uint32_t step)
{
	const struct ledger_options options = {
		.max_processes = 64,
		.max_containers = 64,
	};

	*desk = (struct desk){ 0 };
	assert_int_equal(ledger_new(&options, &desk->ledger), 0);
	assert_int_equal(test_add_zones(desk->ledger, 1), 0);
	ledger_begin(desk->ledger, NSEC_PER_SEC);
	for (uint32_t i = 0; i < CONTAINERS; i++) {
		uint32_t c = i * step % CONTAINERS;
		char id[] = "container-x";
		const struct test_owner owner = { .names.text[LABEL_CONTAINER_ID] = id,
						  .names.text[LABEL_CONTAINER_NAME] = id,
						  .names.text[LABEL_NAMESPACE] = "shop" };

		id[sizeof(id) - 2] = (char)('0' + c);
		desk->row[c] = enter_owner(desk->ledger, &owner);
	}
}

static void close_desk(struct desk *desk)
{
	zone_fits_release(&desk->fits);
	parties_release(&desk->parties);
	ledger_free(desk->ledger);
}

/* What each container did in a second; instructions of each cost differently. */
struct second {
	uint64_t cpu_ns[CONTAINERS], cycles[CONTAINERS], instructions[CONTAINERS];
	uint64_t misses[CONTAINERS], energy_uj;
};

static void invent(struct second *second, struct random *random)
{
	double joules = 20;

	for (uint32_t c = 0; c < CONTAINERS; c++) {
		double load = random_part(random), ipc = 0.5 + 2 * random_part(random);

		second->cpu_ns[c] = 1 + (uint64_t)(load * 9e8);
		second->cycles[c] = (uint64_t)(load * 2.7e9);
		second->instructions[c] = (uint64_t)(load * 2.7e9 * ipc);
		second->misses[c] = (uint64_t)(load * 1e7 * random_part(random));
		joules += (1 + 0.1 * c) * load * (3 + 1.5 * ipc) + random_part(random);
	}
	second->energy_uj = (uint64_t)(joules * 1e6);
}

static struct zone_fit_interval enter(struct desk *desk, const struct second *second)
{
	parties_begin(&desk->parties, 0);
	parties_know(&desk->parties, SIGNALS);
	assert_int_equal(parties_reserve(&desk->parties, CONTAINERS), 0);
	for (uint32_t c = 0; c < CONTAINERS; c++) {
		parties_add(&desk->parties, LEDGER_NONE, desk->row[c], second->cpu_ns[c], NULL);
		parties_add_signal(&desk->parties, SIGNAL_COUNTED_TIME, second->cpu_ns[c]);
		parties_add_signal(&desk->parties, SIGNAL_CPU_CYCLES, second->cycles[c]);
		parties_add_signal(&desk->parties, SIGNAL_INSTRUCTIONS, second->instructions[c]);
		parties_add_signal(&desk->parties, SIGNAL_CACHE_MISSES, second->misses[c]);
	}
	return (struct zone_fit_interval){ .energy_uj = second->energy_uj,
					   .span_ns = NSEC_PER_SEC,
					   .idle_w = 20,
					   .rule = SHARE_CYCLES,
					   .smt_ppm = SHARE_PPM,
					   .signals = SIGNALS,
					   .place = PLACES_MAX,
					   .ledger = desk->ledger };
}

/* As a replay numbers rows otherwise: what is learned must be the same, to the last bit. */
static void numbers_of_rows_do_not_matter(void **state)
{
	struct random random = { 7 };
	struct desk desks[2];
	unsigned used = 0;

	(void)state;
	open_desk(&desks[0], 1);
	open_desk(&desks[1], 3);
	for (unsigned i = 0; i < SECONDS; i++) {
		struct zone_fit_weights weights[2];
		struct second second;
		bool uses[2];

		invent(&second, &random);
		for (unsigned d = 0; d < 2; d++) {
			struct zone_fit_interval interval = enter(&desks[d], &second);

			zone_fits_learn(&desks[d].fits, 0, &desks[d].parties, &interval);
			uses[d] = zone_fits_use(&desks[d].fits, 0, &desks[d].parties, &interval,
						&weights[d]);
		}
		assert_int_equal(uses[0], uses[1]);
		assert_memory_equal(weights[0].coefficient, weights[1].coefficient,
				    sizeof(weights[0].coefficient));
		assert_int_equal(!weights[0].factor, !weights[1].factor);
		if (!weights[0].factor)
			continue;
		assert_memory_equal(weights[0].factor, weights[1].factor,
				    CONTAINERS * sizeof(*weights[0].factor));
		used++;
	}
	assert_true(used > SECONDS / 2);
	close_desk(&desks[0]);
	close_desk(&desks[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_rows_do_not_matter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
