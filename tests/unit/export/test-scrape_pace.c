// SPDX-License-Identifier: Apache-2.0
/* How long a series settles, by who scraped when: as a table, and against a publisher's rule. */
#include "export/scrape_pace.h"

#include "tests/unit/unit.h"

#define S             1000000000ULL
#define BEGIN         (1000 * S) /* a clock never begins at 0 */
#define SCRAPES_MAX   16
#define SIMULATED_MAX 4

struct scrape {
	uint64_t at_s; /* since BEGIN; 0 ends the list */
	uint64_t client;
};

static const struct pace_case {
	const char *name;
	struct scrape scrapes[SCRAPES_MAX];
	uint64_t asked_s, settle_s;
	uint32_t clients;
} cases[] = {
	{ "nothing has scraped yet", { { 0 } }, 1, 60, 0 },
	{ "nothing has scraped for as long as a window", { { 0 } }, 600, 60, 0 },
	{ "nothing scrapes", { { 0 } }, 601, 5, 0 },
	{ "scraped once", { { 700, 1 } }, 701, 60, 0 },
	{ "scraped once, long ago", { { 700, 1 } }, 1300, 60, 0 },
	{ "scraped once, and no more", { { 700, 1 } }, 1301, 5, 0 },
	{ "twice", { { 700, 1 }, { 715, 1 } }, 716, 15, 1 },
	{ "at the default of Prometheus", { { 10, 1 }, { 70, 1 }, { 130, 1 } }, 131, 60, 1 },
	{ "once each of two clients is no gap", { { 10, 1 }, { 20, 2 } }, 21, 60, 0 },
	{ "the slowest client counts",
	  { { 10, 1 }, { 11, 2 }, { 15, 1 }, { 20, 1 }, { 25, 1 }, { 30, 1 }, { 41, 2 } },
	  42,
	  30,
	  2 },
	{ "the longest gap counts, evenly or not",
	  { { 10, 1 }, { 26, 1 }, { 40, 1 }, { 55, 1 } },
	  56,
	  16,
	  1 },
	{ "a missed scrape counts with the one before it",
	  { { 10, 1 }, { 25, 1 }, { 55, 1 }, { 70, 1 } },
	  71,
	  45,
	  1 },
	{ "two that look like one: 30 s each, 5 s apart",
	  { { 10, 1 }, { 15, 1 }, { 40, 1 }, { 45, 1 }, { 70, 1 }, { 75, 1 } },
	  76,
	  30,
	  1 },
	{ "a scrape that is late holds back until it comes",
	  { { 10, 1 }, { 25, 1 }, { 40, 1 } },
	  75,
	  35,
	  1 },
	{ "at most two minutes", { { 10, 1 }, { 310, 1 } }, 311, 120, 1 },
	{ "a client that stays away: at most two minutes", { { 10, 1 }, { 25, 1 } }, 500, 120, 1 },
	{ "and not for ever", { { 10, 1 }, { 25, 1 } }, 626, 5, 0 },
	{ "a gap of more than a window is none", { { 10, 1 }, { 611, 1 } }, 677, 60, 0 },
	{ "a long gap of long ago is forgotten",
	  { { 10, 1 },
	    { 100, 1 },
	    { 145, 1 },
	    { 190, 1 },
	    { 235, 1 },
	    { 280, 1 },
	    { 325, 1 },
	    { 370, 1 },
	    { 415, 1 },
	    { 460, 1 },
	    { 505, 1 },
	    { 550, 1 },
	    { 595, 1 },
	    { 640, 1 },
	    { 685, 1 },
	    { 800, 1 } },
	  801,
	  120,
	  1 },
	{ "a newcomer is awaited beside one that counts",
	  { { 10, 1 }, { 15, 1 }, { 20, 1 }, { 22, 2 }, { 25, 1 }, { 30, 1 }, { 35, 1 } },
	  39,
	  17,
	  1 },
	{ "for a minute", { { 10, 1 }, { 22, 2 }, { 40, 1 }, { 70, 1 }, { 85, 1 } }, 88, 45, 1 },
	{ "the second scrape may be late", { { 10, 1 } }, 74, 64, 0 },
	{ "and no longer", { { 10, 1 } }, 76, 60, 0 },
};

static void look_at(const struct pace_case *c)
{
	struct scrape_pace_state state;
	struct scrape_pace pace;

	scrape_pace_init(&pace, BEGIN);
	for (size_t i = 0; i < SCRAPES_MAX && c->scrapes[i].at_s; i++) {
		uint64_t at_ns = BEGIN + c->scrapes[i].at_s * S;

		scrape_pace_note(&pace, c->scrapes[i].client, at_ns, at_ns);
	}
	state = scrape_pace_look(&pace, BEGIN + c->asked_s * S);
	if (state.settle_ns != c->settle_s * S || state.clients != c->clients)
		print_error("%s: %g s, %u clients\n", c->name, (double)state.settle_ns / 1e9,
			    state.clients);
	assert_int_equal(state.settle_ns, c->settle_s * S);
	assert_int_equal(state.clients, c->clients);
	assert_int_equal(state.forgotten, 0);
	scrape_pace_release(&pace);
}

static void test_settle_follows_the_scrapes(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		look_at(&cases[i]);
}

static void test_a_gap_is_remembered_for_a_window(void **state)
{
	struct scrape_pace pace;
	uint64_t at_s = 0;

	scrape_pace_init(&pace, BEGIN);
	for (; at_s <= 60; at_s += 30)
		scrape_pace_note(&pace, 1, BEGIN + at_s * S, BEGIN + at_s * S);
	for (; at_s < 800; at_s++) {
		struct scrape_pace_state now;

		scrape_pace_note(&pace, 1, BEGIN + at_s * S, BEGIN + at_s * S);
		now = scrape_pace_look(&pace, BEGIN + at_s * S);
		if (at_s < 660)
			assert_true(now.settle_ns >= 30 * S);
		else if (at_s > 760)
			assert_true(now.settle_ns == S);
	}
	scrape_pace_release(&pace);
}

static void test_the_snapshot_that_was_shown_counts(void **state)
{
	struct scrape_pace pace;

	scrape_pace_init(&pace, BEGIN);
	scrape_pace_note(&pace, 1, BEGIN + 1 * S, BEGIN);
	scrape_pace_note(&pace, 1, BEGIN + 2 * S, BEGIN + 1 * S);
	/* A series born 1.5 s ago is in no snapshot that it was given. */
	assert_int_equal(scrape_pace_look(&pace, BEGIN + 3 * S).settle_ns, 2 * S);
	/* A pass takes time: the next snapshot may be of before the last scrape. */
	assert_int_equal(scrape_pace_look(&pace, BEGIN + 1 * S / 2).settle_ns, 1 * S);
	scrape_pace_release(&pace);
}

static void test_no_room_is_counted_and_makes_settle_long(void **state)
{
	struct scrape_pace_state now;
	struct scrape_pace pace;
	uint64_t at_ns = BEGIN;

	scrape_pace_init(&pace, BEGIN);
	for (uint64_t client = 0; client < SCRAPE_PACE_CLIENTS; client++) {
		scrape_pace_note(&pace, client, ++at_ns, BEGIN);
		scrape_pace_note(&pace, client, ++at_ns, BEGIN);
	}
	now = scrape_pace_look(&pace, at_ns);
	assert_int_equal(now.clients, SCRAPE_PACE_CLIENTS);
	assert_int_equal(now.forgotten, 0);
	assert_true(now.settle_ns < S);
	scrape_pace_note(&pace, 4711, ++at_ns, BEGIN); /* for the first, seen longest ago */
	scrape_pace_note(&pace, 1, ++at_ns, BEGIN);
	now = scrape_pace_look(&pace, at_ns);
	assert_int_equal(now.clients, SCRAPE_PACE_CLIENTS - 1);
	assert_int_equal(now.forgotten, 1);
	assert_int_equal(now.settle_ns, SCRAPE_PACE_MAX_NS);
	scrape_pace_release(&pace);
}

static void test_places_of_old_clients_are_free(void **state)
{
	struct scrape_pace pace;

	scrape_pace_init(&pace, BEGIN);
	for (uint64_t client = 0; client < 10ULL * SCRAPE_PACE_CLIENTS; client++) {
		uint64_t at_ns = BEGIN + client * 30 * S;

		scrape_pace_note(&pace, client, at_ns, at_ns);
	}
	assert_int_equal(scrape_pace_look(&pace, BEGIN + 9600 * S).forgotten, 0);
	scrape_pace_release(&pace);
}

/* A scraper: when it comes next, and what it has seen of each series. */
struct scraper {
	uint64_t every_ns, jitter_ns, next_ns;
	uint64_t seen_ns; /* the snapshot of its last scrape */
	unsigned scrapes;
};

static uint64_t below(unsigned *seed, uint64_t limit)
{
	return limit ? (uint64_t)rand_r(seed) % limit : 0;
}

static void scrape(struct scraper *scraper, struct scrape_pace *pace, uint64_t client,
		   uint64_t snapshot_ns, unsigned *seed)
{
	scrape_pace_note(pace, client, scraper->next_ns, snapshot_ns);
	scraper->seen_ns = snapshot_ns;
	scraper->scrapes++;
	scraper->next_ns += scraper->every_ns + below(seed, scraper->jitter_ns);
	if (below(seed, 20) == 0 && scraper->every_ns < 60 * S)
		scraper->next_ns += scraper->every_ns; /* one is missed */
}

/*
 * In each interval a series is born; it turns by the publisher's rule. When it does, each scraper
 * that counts has been given a snapshot in which it stood with 0.
 */
static void simulate(unsigned seed)
{
	static const uint64_t every_s[] = { 1, 5, 15, 30, 60 };
	struct scraper scrapers[SIMULATED_MAX];
	size_t count = 1 + below(&seed, SIMULATED_MAX);
	uint64_t now_ns = BEGIN, oldest_ns = BEGIN; /* of the series that still show 0 */
	struct scrape_pace pace;

	scrape_pace_init(&pace, BEGIN);
	for (size_t i = 0; i < count; i++) {
		uint64_t every_ns = every_s[below(&seed, ARRAY_SIZE(every_s))] * S;

		scrapers[i] = (struct scraper){ .every_ns = every_ns,
						.jitter_ns = below(&seed, every_ns / 5),
						.next_ns = BEGIN + below(&seed, every_ns) };
	}
	for (unsigned tick = 0; tick < 1500; tick++) {
		uint64_t before_ns = now_ns, settle_ns;

		now_ns += S + below(&seed, S / 10);
		for (size_t i = 0; i < count; i++) {
			while (scrapers[i].next_ns < now_ns)
				scrape(&scrapers[i], &pace, i, before_ns, &seed);
		}
		settle_ns = scrape_pace_look(&pace, now_ns).settle_ns;
		if (now_ns - oldest_ns < settle_ns)
			continue;
		oldest_ns = now_ns - settle_ns; /* what was born up to then shows its value now */
		for (size_t i = 0; i < count; i++) {
			if (scrapers[i].scrapes >= 2)
				assert_true(scrapers[i].seen_ns >= oldest_ns);
		}
	}
	scrape_pace_release(&pace);
}

static void test_no_client_that_counts_misses_a_birth(void **state)
{
	for (unsigned seed = 1; seed <= 200; seed++)
		simulate(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settle_follows_the_scrapes),
		cmocka_unit_test(test_a_gap_is_remembered_for_a_window),
		cmocka_unit_test(test_the_snapshot_that_was_shown_counts),
		cmocka_unit_test(test_no_room_is_counted_and_makes_settle_long),
		cmocka_unit_test(test_places_of_old_clients_are_free),
		cmocka_unit_test(test_no_client_that_counts_misses_a_birth),
	};

	return unit_run(tests);
}
