// SPDX-License-Identifier: Apache-2.0
#include "attribution/learning/zone_fits.h"

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"
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

/* The work of each container in a second; instructions of each cost differently. */
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

#define TIME_AND_CYCLES (SIGNAL_BIT(SIGNAL_COUNTED_TIME) | SIGNAL_BIT(SIGNAL_CPU_CYCLES))

/* An interval of a zone with 20 W of idle power, in which containers ran for @time_s. */
static struct zone_fit_interval run(struct desk *desk, const double *time_s, size_t count,
				    double work_w)
{
	parties_begin(&desk->parties, 0);
	parties_know(&desk->parties, TIME_AND_CYCLES);
	assert_int_equal(parties_reserve(&desk->parties, count), 0);
	for (size_t c = 0; c < count; c++) {
		uint64_t time_ns = (uint64_t)(time_s[c] * NSEC_PER_SEC);

		if (!time_ns)
			continue;
		parties_add(&desk->parties, LEDGER_NONE, desk->row[c], time_ns, NULL);
		parties_add_signal(&desk->parties, SIGNAL_COUNTED_TIME, time_ns);
		parties_add_signal(&desk->parties, SIGNAL_CPU_CYCLES, 2 * time_ns);
	}
	return (struct zone_fit_interval){ .energy_uj = (uint64_t)((20 + work_w) * 1e6),
					   .span_ns = NSEC_PER_SEC,
					   .idle_w = 20,
					   .rule = SHARE_CYCLES,
					   .smt_ppm = SHARE_PPM,
					   .signals = TIME_AND_CYCLES,
					   .place = PLACES_MAX,
					   .ledger = desk->ledger };
}

/* The share of the container in row @row; negative: nothing that is learned is used. */
static double share_in_use(struct desk *desk, const struct zone_fit_interval *interval,
			   uint32_t row)
{
	struct zone_fit_weights learned;
	struct share_weights made = { 0 };
	double own = 0, all = 0;

	if (!zone_fits_use(&desk->fits, 0, &desk->parties, interval, &learned))
		return -1;
	memcpy(made.coefficient, learned.coefficient, sizeof(made.coefficient));
	made.awake_ratio = learned.awake_ratio;
	made.factor = learned.factor;
	assert_int_equal(share_weights_make(&made, &desk->parties, SHARE_FIT, SHARE_PPM,
					    interval->place, 0, 0),
			 0);
	for (size_t i = 0; i < desk->parties.count; i++) {
		own += desk->parties.party[i].container == row ? (double)made.weight[i] : 0;
		all += (double)made.weight[i];
	}
	share_weights_release(&made);
	return own / all;
}

/*
 * An attacker that does the same all the time for the counters, and takes 10 W instead of 2 while a
 * victim runs, which takes 4 W, makes the victim's work look expensive.
 */
static double charged_of_a_victim(enum owner_factors factors, double *ret_half_width)
{
	double charged = 0, really = 0;
	struct desk desk;

	open_desk(&desk, 1);
	for (unsigned i = 0; i < 1800; i++) {
		bool runs = i / 20 % 2;
		double time_s[] = { runs, 1 }, work_w = runs ? 4 + 10 : 2, share;
		struct zone_fit_interval interval = run(&desk, time_s, 2, work_w);

		interval.owner_factors = factors;
		share = share_in_use(&desk, &interval, desk.row[0]);
		charged += work_w * (share >= 0 ? share : runs / 2.0);
		really += runs ? 4 : 0;
		zone_fits_learn(&desk.fits, 0, &desk.parties, &interval);
	}
	*ret_half_width = zone_fits_share_half_width(&desk.fits, 0);
	close_desk(&desk);
	return charged / really;
}

static void what_one_can_make_another_pay_is_bounded(void **state)
{
	double half_width, without, trusted, bounded;

	trusted = charged_of_a_victim(OWNER_FACTORS_TRUSTED, &half_width);
	assert_true(trusted > 2.7); /* by all that power shows it is so */
	without = charged_of_a_victim(OWNER_FACTORS_OFF, &half_width);
	assert_true(fabs(without - 1.75) < 0.05); /* the counters are the same */
	bounded = charged_of_a_victim(OWNER_FACTORS_BOUNDED, &half_width);
	assert_true(bounded > 1.2 * without && bounded <= 1.27 * without);
	/* It has 0.625 in the last interval, and 12/14 by the learned values. */
	assert_true(half_width > 0.2);
}

/* The charge of one of three containers, which takes ten times as much as the others. */
static double charged_of_a_costly_one(bool is_memory)
{
	const double cost_w[] = { 10, 1, 1 };
	double charged = 0, really = 0;
	struct random random = { 3 };
	struct desk desk;

	open_desk(&desk, 1);
	for (unsigned i = 0; i < 600; i++) {
		double time_s[3], work_w = 0, share;
		struct zone_fit_interval interval;

		for (unsigned c = 0; c < 3; c++) {
			time_s[c] = 0.1 + 0.9 * random_part(&random);
			work_w += cost_w[c] * time_s[c];
		}
		interval = run(&desk, time_s, 3, work_w);
		interval.signals = SIGNAL_BIT(SIGNAL_COUNTED_TIME);
		interval.is_memory = is_memory;
		share = share_in_use(&desk, &interval, desk.row[0]);
		if (i >= 300) {
			assert_true(share >= 0);
			charged += share * work_w;
			really += cost_w[0] * time_s[0];
		}
		zone_fits_learn(&desk.fits, 0, &desk.parties, &interval);
	}
	close_desk(&desk);
	return charged / really;
}

/* Time says nothing of memory: what is learned may be far from it. */
static void memory_that_nothing_counts_is_hardly_bounded(void **state)
{
	assert_true(charged_of_a_costly_one(false) < 0.65);
	assert_true(charged_of_a_costly_one(true) > 0.93);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_rows_do_not_matter),
		cmocka_unit_test(what_one_can_make_another_pay_is_bounded),
		cmocka_unit_test(memory_that_nothing_counts_is_hardly_bounded),
	};

	return unit_run(tests);
}
