// SPDX-License-Identifier: Apache-2.0
#include "energy/rank.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define ZONES 4
#define STEPS 8

/* A source each; two are of one thing. */
static const struct zone best = { .kind = ZONE_PACKAGE, .instance = "0", .source = "best" };
static const struct zone good = {
	.kind = ZONE_PACKAGE, .instance = "0", .source = "good", .rank = 1
};
static const struct zone alike = { .kind = ZONE_PACKAGE, .instance = "0", .source = "alike" };
static const struct zone other = {
	.kind = ZONE_PACKAGE, .instance = "1", .source = "good", .rank = 1
};
static const struct zone next = { .kind = ZONE_PACKAGE, .instance = "1", .source = "best" };
static const struct zone all = { .kind = ZONE_PACKAGE, .source = "all", .rank = 2 };
static const struct zone memory = { .kind = ZONE_DRAM, .source = "memory", .rank = 1 };
static const struct zone board = { .kind = ZONE_GPU, .instance = "GPU-a", .source = "nvml" };
static const struct zone guess = { .kind = ZONE_PLATFORM,
				   .quality = QUALITY_ESTIMATED,
				   .source = "guess",
				   .rank = RANK_ESTIMATED };
/* A trained model counts together with measured zones of other kinds. */
static const struct zone trained = {
	.kind = ZONE_PLATFORM, .quality = QUALITY_ESTIMATED, .source = "trained", .rank = RANK_MODEL
};
/* It has the same source as the built-in model, which it replaces. */
static const struct zone fetched = {
	.kind = ZONE_PLATFORM, .quality = QUALITY_ESTIMATED, .source = "guess", .rank = RANK_MODEL
};
static const struct zone plug = { .kind = ZONE_PLATFORM, .source = "plug", .rank = 5 };

static void rivals_are_of_one_thing(void **state)
{
	static const struct {
		const struct zone *a, *b;
		bool rivals;
	} cases[] = {
		{ &best, &good, true },    { &best, &alike, true },    { &best, &other, false },
		{ &good, &other, false },  { &best, &guess, true },    { &other, &guess, true },
		{ &guess, &guess, false }, { &best, &best, false },    { &other, &next, true },
		{ &best, &next, false },   { &good, &next, false },    { &all, &best, true },
		{ &all, &other, true },    { &all, &memory, false },   { &all, &all, false },
		{ &board, &guess, false }, { &board, &best, false },   { &trained, &best, false },
		{ &trained, &plug, true }, { &trained, &guess, true }, { &fetched, &guess, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(rank_are_rivals(cases[i].a, cases[i].b), cases[i].rivals);
		assert_int_equal(rank_are_rivals(cases[i].b, cases[i].a), cases[i].rivals);
	}
}

/*
 * A history: a string a zone, a letter an interval. " ": not found yet; "r": read, "q": up and not
 * read, "d": down, "s": read, and not due to count yet. The result is a string a zone, too: "c"
 * counts, "h" held, "e" ended.
 */
struct history {
	const char *what;
	const struct zone *zones[ZONES];
	const char *happens[ZONES];
	const char *standing[ZONES];
};

static const struct history histories[] = {
	{ "one alone", { &best }, { "qrdr" }, { "cccc" } },
	{ "two of two things", { &best, &other }, { "rrr", "drr" }, { "ccc", "ccc" } },
	{ "both at once: the better", { &best, &good }, { "rrr", "rrr" }, { "hcc", "hee" } },
	{ "in another order", { &good, &best }, { "rrr", "rrr" }, { "hee", "hcc" } },
	{ "alike: the first", { &best, &alike }, { "rrr", "rrr" }, { "hcc", "hee" } },
	{ "the better one is down", { &best, &good }, { "dddrr", "rrrrr" }, { "hhhhc", "hccce" } },
	{ "a better one is found", { &good, &best }, { "rrrrr", "  rrr" }, { "cccee", "  hcc" } },
	{ "and settles", { &good, &best }, { "rrrrrr", "  ssrr" }, { "ccccce", "  hhhc" } },
	{ "a worse one is found", { &best, &good }, { "rrrr", "  rr" }, { "cccc", "  ee" } },
	{ "while the better one fails", { &best, &good }, { "rddr", "  rr" }, { "cccc", "  ee" } },
	{ "the worse one comes slowly",
	  { &good, &best },
	  { "rrqqrr", " rqrrr" },
	  { "cceeee", " hcccc" } },
	{ "its end is waited for",
	  { &good, &best },
	  { "rrqqrr", "  rrrr" },
	  { "ccccce", "  hhhc" } },
	{ "but not while it is down",
	  { &good, &best },
	  { "rrddrr", "  rrrr" },
	  { "ccceee", "  hccc" } },
	{ "takeovers are for good", { &good, &best }, { "rrrrr", " rddd" }, { "cceee", " hccc" } },
	{ "an estimate stands in for all",
	  { &guess, &best, &other },
	  { "rrrrr", "  rrr", "  drr" },
	  { "cccee", "  hcc", "  hhc" } },
	{ "each socket by itself",
	  { &good, &other, &best, &next },
	  { "rrrrr", "rrrrr", " rrrr", " ddrr" },
	  { "cceee", "cccce", " hccc", " hhhc" } },
	{ "one of all sockets",
	  { &best, &next, &all },
	  { "rrr", "rrr", "rrr" },
	  { "hcc", "hcc", "hee" } },
	{ "and it comes first",
	  { &all, &best, &next },
	  { "rrrr", "  rr", "  rr" },
	  { "ccce", "  hc", "  hc" } },
	{ "step by step",
	  { &guess, &good, &best },
	  { "rrrrrr", " rrrrr", "   rrr" },
	  { "cceeee", " hccee", "   hcc" } },
	{ "at once",
	  { &guess, &good, &best },
	  { "rrrr", " rrr", " rrr" },
	  { "ccee", " hee", " hcc" } },
};

/* A letter of a history. */
static void note(struct contender *contender, char happens)
{
	contender->was_read = happens == 'r' || happens == 's';
	contender->has_begun |= contender->was_read;
	contender->is_ready = happens == 'r';
	contender->is_due = happens == 'q';
}

static void run(const struct history *history)
{
	static const char letters[] = {
		[STANDING_COUNTS] = 'c', [STANDING_HELD] = 'h', [STANDING_ENDED] = 'e'
	};
	size_t length = strlen(history->happens[0]), count = 0;
	struct contender contenders[ZONES] = { 0 };

	assert_true(length <= STEPS);
	for (size_t step = 0; step < length; step++) {
		while (count < ZONES && history->zones[count] &&
		       history->happens[count][step] != ' ') {
			contenders[count] = (struct contender){ .zone = history->zones[count] };
			rank_enter(contenders, ++count);
		}
		rank_settle(contenders, count);
		for (size_t z = 0; z < count; z++) {
			char is = letters[contenders[z].standing],
			     wanted = history->standing[z][step];

			if (is != wanted)
				fail_msg("%s: zone %zu at %zu: %c, not %c", history->what, z, step,
					 is, wanted);
			note(&contenders[z], history->happens[z][step]);
		}
	}
}

static void the_best_that_counts_is_charged(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(histories); i++)
		run(&histories[i]);
}

struct trial {
	unsigned late;  /* steps between two that are found */
	unsigned lucks; /* digits of base 4: what happens to each, step by step */
	struct contender contenders[3];
	size_t count;
};

static void find_rivals(struct trial *trial, unsigned step)
{
	static const struct zone *const rivals[] = { &guess, &good, &best };

	while (trial->count < 3 && trial->count * trial->late <= step) {
		trial->contenders[trial->count].zone = rivals[trial->count];
		rank_enter(trial->contenders, ++trial->count);
	}
}

/* Never do two count, none that has ended comes back, and while none counts none was ready. */
static bool step_is_right(struct trial *trial, unsigned step)
{
	unsigned counting = 0, ready = 0, back = 0;
	bool had_ended[3] = { false };

	for (size_t z = 0; z < 3; z++)
		had_ended[z] = trial->contenders[z].standing == STANDING_ENDED;
	find_rivals(trial, step);
	rank_settle(trial->contenders, trial->count);
	for (size_t z = 0; z < trial->count; z++) {
		struct contender *own = &trial->contenders[z];

		counting += own->standing == STANDING_COUNTS;
		ready += own->is_ready && own->standing != STANDING_ENDED;
		back += had_ended[z] && own->standing != STANDING_ENDED;
		note(own, "rqds"[trial->lucks % 4]);
		trial->lucks /= 4;
	}
	return counting <= 1 && !back && (counting || !ready);
}

/* Three rivals, found at once or one after the other, and what may happen to them. */
static void one_counts_in_each_history(void **state)
{
	enum { LUCKS = 64 * 64 * 64 };

	for (unsigned number = 0; number < LUCKS * 3U; number++) {
		struct trial trial = { .late = number % 3, .lucks = number / 3 };

		for (unsigned step = 0; step < 3 + 2 * trial.late; step++) {
			if (!step_is_right(&trial, step))
				fail_msg("case %u, step %u", number, step);
		}
	}
}

/* A second in which each of @contenders was read; those in @moving counted energy. */
static void pass_second(struct contender *contenders, size_t count, uint64_t second,
			unsigned moving)
{
	for (size_t i = 0; i < count; i++) {
		struct contender *own = &contenders[i];

		own->read_ns = second * NSEC_PER_SEC;
		if (moving & 1U << i || !own->has_begun)
			own->moved_ns = own->read_ns;
		own->has_moved |= (moving & 1U << i) != 0;
		own->has_begun = own->was_read = own->is_ready = true;
	}
	rank_settle(contenders, count);
}

/* It is charged no more while a rival moves, and has its place again when that one stands still. */
static void one_that_stands_still_gives_way(void **state)
{
	struct contender contenders[] = { { .zone = &best }, { .zone = &good }, { .zone = &all } };
	uint64_t second = 1;

	for (size_t i = 0; i < ARRAY_SIZE(contenders); i++)
		rank_enter(contenders, i + 1);
	for (; second <= 3; second++) { /* the best one never moves */
		pass_second(contenders, ARRAY_SIZE(contenders), second, second > 1 ? 6 : 0);
		assert_int_equal(contenders[0].standing, STANDING_COUNTS);
	}
	pass_second(contenders, ARRAY_SIZE(contenders), second++, 6);
	assert_int_equal(contenders[0].standing, STANDING_ENDED);
	assert_true(contenders[0].is_still);
	assert_int_equal(contenders[1].standing, STANDING_COUNTS);
	assert_int_equal(contenders[2].standing, STANDING_ENDED);
	/* Its moving again does not cause another change. */
	for (; second <= 20; second++)
		pass_second(contenders, ARRAY_SIZE(contenders), second, 7);
	assert_int_equal(contenders[1].standing, STANDING_COUNTS);
	/* One that has moved gives way after a minute. */
	for (; second < 80; second++) {
		pass_second(contenders, ARRAY_SIZE(contenders), second, 5);
		assert_int_equal(contenders[1].standing, STANDING_COUNTS);
	}
	pass_second(contenders, ARRAY_SIZE(contenders), second, 5);
	assert_int_equal(contenders[0].standing, STANDING_COUNTS);
	assert_false(contenders[0].is_still);
	assert_int_equal(contenders[1].standing, STANDING_ENDED);
	/* Where nothing moves, nothing changes. */
	for (second++; second < 300; second++)
		pass_second(contenders, ARRAY_SIZE(contenders), second, 0);
	assert_int_equal(contenders[0].standing, STANDING_COUNTS);
}

/*
 * The deputy counts while the host is silent, and the share is back with its first reading, in
 * which those in @moving counted energy.
 */
static void check_silence(const struct zone *deputy, unsigned moving)
{
	static const struct zone share = { .kind = ZONE_PACKAGE,
					   .source = "share",
					   .rank = RANK_SHARE };
	struct contender contenders[] = { { .zone = &share }, { .zone = deputy } };
	uint64_t second = 1;

	for (size_t i = 0; i < ARRAY_SIZE(contenders); i++)
		rank_enter(contenders, i + 1);
	for (; second <= 5; second++)
		pass_second(contenders, ARRAY_SIZE(contenders), second, 3);
	assert_int_equal(contenders[0].standing, STANDING_COUNTS);
	assert_false(rank_is_needed(contenders, ARRAY_SIZE(contenders), &contenders[1]));
	contenders[0].was_read = contenders[0].is_ready = false;
	for (; second < 65; second++) {
		rank_note_silence(&contenders[0], second * NSEC_PER_SEC);
		pass_second(&contenders[1], 1, second, 1);
		rank_settle(contenders, ARRAY_SIZE(contenders));
		assert_int_equal(contenders[0].standing, STANDING_COUNTS);
	}
	rank_note_silence(&contenders[0], second * NSEC_PER_SEC);
	assert_true(rank_is_needed(contenders, ARRAY_SIZE(contenders), &contenders[1]));
	pass_second(&contenders[1], 1, second, 1);
	rank_settle(contenders, ARRAY_SIZE(contenders));
	assert_int_equal(contenders[0].standing, STANDING_HELD);
	assert_true(contenders[0].is_away);
	assert_int_equal(contenders[1].standing, STANDING_COUNTS);
	contenders[0].read_ns = ++second * NSEC_PER_SEC;
	rank_note_silence(&contenders[0], second * NSEC_PER_SEC);
	pass_second(contenders, ARRAY_SIZE(contenders), second, moving);
	assert_int_equal(contenders[0].standing, STANDING_COUNTS);
	assert_false(contenders[0].is_away);
	assert_int_equal(contenders[1].standing, STANDING_ENDED);
}

static void one_that_is_silent_gives_way(void **state)
{
	static const struct zone of_a_hypervisor = {
		.kind = ZONE_PACKAGE, .instance = "0", .source = "rapl-sysfs", .rank = RANK_VIRTUAL
	};

	check_silence(&guess, 3);
	check_silence(&guess, 2);
	check_silence(&of_a_hypervisor, 3);
	check_silence(&of_a_hypervisor, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rivals_are_of_one_thing),
		cmocka_unit_test(the_best_that_counts_is_charged),
		cmocka_unit_test(one_counts_in_each_history),
		cmocka_unit_test(one_that_stands_still_gives_way),
		cmocka_unit_test(one_that_is_silent_gives_way),
	};

	return unit_run(tests);
}
