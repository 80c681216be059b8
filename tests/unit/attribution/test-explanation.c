// SPDX-License-Identifier: Apache-2.0
/* Random intervals: what an explanation says is what the ledger was charged, to the µJ. */
#include "attribution/explanation.h"

#include "attribution/books.h"
#include "base/num.h"
#include "new_ledger.h"
#include "tests/rig/property.h"

#define CASES      300
#define INTERVALS  6
#define ZONES      2
#define CONTAINERS 3
#define PROCESSES  6

struct machine {
	struct zone zones[ZONES];
	struct books books;
	uint64_t now_ns, from_ns[ZONES], counted_uj[ZONES];
	uint32_t container[CONTAINERS], process[PROCESSES];
};

/* One row of each level, and one more process. */
struct asked {
	struct explanation rows[5];
	struct explanation *list[5];
};

static void set_up(struct machine *machine, const struct idle_options *options)
{
	const struct ledger_options ledger = { .max_processes = 64, .max_containers = 16 };
	const struct share_options by_cpu_time = { .smt_ppm = 0 };

	*machine = (struct machine){ .now_ns = NSEC_PER_SEC };
	assert_int_equal(books_open(&machine->books, &ledger), 0);
	assert_int_equal(ledger_bear_idle(machine->books.ledger), 0);
	books_configure(&machine->books, options, &by_cpu_time, 0);
	for (uint32_t z = 0; z < ZONES; z++) {
		machine->zones[z] = (struct zone){ .kind = ZONE_PACKAGE,
						   .instance = { (char)('0' + z) },
						   .source = "told" };
		machine->zones[z].domain = zone_domain(ZONE_PACKAGE, machine->zones[z].instance);
		assert_int_equal(books_adopt(&machine->books, &machine->zones[z], 0), z);
	}
}

static void tear_down(struct machine *machine)
{
	books_release(&machine->books);
}

/* Containers 0 and 1 are a pod; processes belong to containers in turn. */
static void enter_rows(struct machine *machine)
{
	static const char *const ids[] = { "a", "b", "c" };
	struct ledger *ledger = machine->books.ledger;

	ledger_begin(ledger, machine->now_ns);
	for (size_t i = 0; i < CONTAINERS; i++) {
		const struct test_owner owner = {
			.names.text = { [LABEL_CONTAINER_ID] = ids[i],
					[LABEL_CONTAINER_NAME] = ids[i],
					[LABEL_NAMESPACE] = "shop",
					[LABEL_POD_NAME] = i < 2 ? "front" : "back",
					[LABEL_POD_ID] = i < 2 ? "1" : "2" },
			.size_millicpu = 500 * (uint32_t)i,
		};

		machine->container[i] = enter_owner(ledger, &owner);
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		machine->process[i] =
			ledger_process(ledger, 100 + i, 1, "p", machine->container[i % CONTAINERS]);
}

static void enter_work(struct machine *machine, struct property_source *source, uint32_t sockets,
		       struct work_sums *work)
{
	parties_begin(&machine->books.parties, sockets);
	(void)parties_reserve(&machine->books.parties, PROCESSES + 1);
	for (uint32_t i = 0; i <= PROCESSES; i++) {
		uint64_t socket_ns[] = { draw_below(source, 700000000),
					 draw_below(source, 300000000) };

		if (draw_chance(source, 4))
			continue;
		parties_add(&machine->books.parties,
			    i < PROCESSES ? machine->process[i] : LEDGER_NONE,
			    machine->container[i % CONTAINERS], socket_ns[0] + socket_ns[1],
			    sockets ? socket_ns : NULL);
		work->busy_ns += socket_ns[0] + socket_ns[1];
	}
	work->dropped_ns = draw_chance(source, 3) ? draw_below(source, 50000000) : 0;
	work->unseen_ns = draw_chance(source, 3) ? draw_below(source, 50000000) : 0;
	work->busy_ns += work->dropped_ns + work->unseen_ns;
}

/* Now and then a zone gives no reading, or one that does not cover the energy before it. */
static void read_zones(struct machine *machine, struct property_source *source)
{
	machine->books.span_count = 0;
	for (uint32_t z = 0; z < ZONES; z++) {
		bool known = !draw_chance(source, 6) && machine->from_ns[z];
		bool read = !draw_chance(source, 5);
		struct energy_span span;

		machine->books.status[z].state = read ? ZONE_UP : ZONE_ERROR;
		if (!read)
			continue;
		span = (struct energy_span){
			.zone = z,
			.known = known,
			.from_ns = machine->from_ns[z],
			.to_ns = machine->now_ns,
			.energy_uj = known ? draw_below(source, 100000000) : 0,
		};
		books_put_span(&machine->books, z, span);
		machine->from_ns[z] = machine->now_ns;
	}
}

static void ask(struct machine *machine, struct asked *asked)
{
	const struct ledger_container *container =
		ledger_container_at(machine->books.ledger, machine->container[0]);
	const uint32_t rows[] = { machine->process[0], machine->process[1], machine->container[0],
				  ledger_group_of(container, LEVEL_POD),
				  ledger_group_of(container, LEVEL_NAMESPACE) };
	static const enum level levels[] = { LEVEL_PROCESS, LEVEL_PROCESS, LEVEL_CONTAINER,
					     LEVEL_POD, LEVEL_NAMESPACE };

	for (size_t i = 0; i < 5; i++) {
		asked->rows[i] = (struct explanation){ .level = levels[i], .row = rows[i] };
		asked->list[i] = &asked->rows[i];
	}
	machine->books.accountant.explained = asked->list;
	machine->books.accountant.explained_count = 5;
}

static const uint64_t *deltas_of(const struct ledger *ledger, const struct explanation *explanation)
{
	switch (explanation->level) {
	case LEVEL_PROCESS:
		return ledger_deltas(ledger, LEVEL_PROCESS, explanation->row);
	case LEVEL_CONTAINER:
		return ledger_deltas(ledger, LEVEL_CONTAINER, explanation->row);
	case LEVEL_POD:
		return ledger_deltas(ledger, LEVEL_POD, explanation->row);
	case LEVEL_VM:
	case LEVEL_NAMESPACE:
	case LEVEL_COUNT:
		break;
	}
	return ledger_deltas(ledger, LEVEL_NAMESPACE, explanation->row);
}

/* Each of @parties was rounded by less than one. */
static bool is_near(uint64_t charged, uint64_t total, uint64_t weight, uint64_t sum,
		    uint32_t parties)
{
	uint64_t exact = sum ? muldiv_u64(total, weight, sum) : 0;

	return charged + parties >= exact && charged <= exact + parties;
}

static const char *check_mode(const struct ledger *ledger, const struct explanation *explanation,
			      uint32_t z, enum energy_mode which)
{
	const struct explained_mode *mode = &explanation->zone[z].mode[which];
	uint64_t sum = mode->named_uj;

	for (size_t reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
		sum += mode->unattributed_uj[reason];
	if (sum != mode->energy_uj)
		return "the sides do not sum to the energy";
	if (mode->energy_uj + (which == MODE_DYNAMIC ? explanation->zone[z].asleep_uj : 0) !=
	    ledger_node_delta(ledger, z, which))
		return "the energy is not the node's";
	if (!is_near(mode->named_uj, mode->energy_uj, mode->named_weight,
		     mode->named_weight + mode->dropped_weight + mode->unseen_weight, 1) &&
	    !mode->unattributed_uj[UNATTRIBUTED_NO_ACTIVITY] &&
	    !mode->unattributed_uj[UNATTRIBUTED_IDLE_POLICY])
		return "the named side is not its share";
	if (!is_near(mode->charged_uj, mode->named_uj, mode->weight, mode->named_weight,
		     mode->parties))
		return "the charge is not the row's share";
	return NULL;
}

/* All zones of the only kind, which are one account. */
static const char *check_charges(const struct ledger *ledger, const struct explanation *explanation)
{
	const struct explained_account *account = &explanation->account[0];
	const uint64_t *deltas = deltas_of(ledger, explanation);

	if (explanation->account_count != 1 || account->zones != ZONES)
		return "zones of one kind are not one account";
	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		uint32_t column = ledger_column(ledger, 0, mode);
		uint64_t charged_uj = 0;

		for (uint32_t z = 0; z < ZONES; z++)
			charged_uj += explanation->zone[z].mode[mode].charged_uj;
		if (charged_uj != (deltas ? deltas[column] : 0))
			return "what is explained is not what was charged";
		if (account->total_uj[mode] !=
		    ledger_values(ledger, explanation->level, explanation->row)[column])
			return "the total is not the row's";
	}
	return NULL;
}

static const char *check(const struct machine *machine, const struct asked *asked)
{
	const struct ledger *ledger = machine->books.ledger;

	for (size_t i = 0; i < 5; i++) {
		const char *uncharged = check_charges(ledger, &asked->rows[i]);

		if (uncharged)
			return uncharged;
		for (uint32_t z = 0; z < ZONES; z++) {
			const struct explained_zone *zone = &asked->rows[i].zone[z];
			const char *wrong = check_mode(ledger, &asked->rows[i], z, MODE_DYNAMIC);

			if (!wrong)
				wrong = check_mode(ledger, &asked->rows[i], z, MODE_IDLE);
			if (wrong)
				return wrong;
			if (zone->energy_uj != zone->mode[MODE_DYNAMIC].energy_uj +
						       zone->mode[MODE_IDLE].energy_uj +
						       zone->asleep_uj)
				return "the modes do not sum to what was read";
			if (zone->counter_uj != machine->counted_uj[z])
				return "the counter is not the sum of what counts";
		}
	}
	return NULL;
}

static const char *run(struct machine *machine, struct property_source *source)
{
	static struct asked asked; /* too large for the stack */

	for (size_t i = 0; i < INTERVALS; i++) {
		struct work_sums work = { 0 };
		uint64_t asleep_ns = draw_chance(source, 6) ? NSEC_PER_SEC / 2 : 0;
		struct interval interval;
		const char *wrong;

		machine->now_ns += NSEC_PER_SEC;
		enter_rows(machine);
		enter_work(machine, source, draw_chance(source, 2) ? 2 : 0, &work);
		read_zones(machine, source);
		interval = books_interval(&machine->books, machine->now_ns);
		interval.work = work;
		interval.places = (struct work_places){ 2, { 0, 1 }, { 1, 1 } };
		interval.measured = (struct zone_activity){ NSEC_PER_SEC, asleep_ns, 0.5 };
		ask(machine, &asked);
		books_book(&machine->books, &interval, NULL);
		ledger_close(machine->books.ledger);
		for (size_t row = 0; row < 5; row++)
			explanation_note_totals(&asked.rows[row], machine->books.ledger);
		for (uint32_t z = 0; z < ZONES; z++)
			machine->counted_uj[z] += asked.rows[0].zone[z].energy_uj;
		wrong = check(machine, &asked);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *explains_what_was_charged(struct property_source *source, void *userdata)
{
	const struct idle_options options = {
		.mode = IDLE_MODE_FIXED,
		.share = (enum idle_share)draw_below(source, 4),
		.watts = { { "package", (double)draw_below(source, 60) } },
		.watts_count = 1,
	};
	struct machine machine;
	const char *wrong;

	(void)userdata;
	set_up(&machine, &options);
	wrong = run(&machine, source);
	tear_down(&machine);
	return wrong;
}

static void random_intervals(void **state)
{
	(void)state;
	assert_true(property_check("explains what was charged", explains_what_was_charged, NULL,
				   CASES));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(random_intervals) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
