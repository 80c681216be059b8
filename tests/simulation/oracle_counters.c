// SPDX-License-Identifier: Apache-2.0
/* Do counters count all that they should from when on they should, and is all of it somewhere? */
#include <stdlib.h>

#include "oracle.h"

struct counter_book {
	bool born[WORLD_COUNTERS], begun[WORLD_COUNTERS];
	uint64_t born_ns[WORLD_COUNTERS];
	bool counts[WORLD_COUNTERS]; /* in the last interval */
};

struct counter_book *counter_book_new(void)
{
	struct counter_book *book = calloc(1, sizeof(*book));

	if (!book)
		abort();
	return book;
}

void counter_book_free(struct counter_book *book)
{
	free(book);
}

/* One that comes late shows 0 on series that are there, for as long as any that is born. */
void counter_book_see(struct counter_book *book, const struct world *world)
{
	const struct world_interval *interval = &world->interval;

	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		book->counts[c] = false;
		if (!interval->counter_is_known[c])
			continue;
		if (!book->born[c]) {
			book->born_ns[c] = interval->now_ns;
			book->begun[c] = interval->number == 1;
		} else if (interval->now_ns - book->born_ns[c] >= world->policy.settle_ns) {
			book->begun[c] = true;
		}
		book->born[c] = true;
		book->counts[c] = book->begun[c];
	}
}

bool counter_book_counts(const struct counter_book *book, size_t counter)
{
	return book->counts[counter];
}

static const char *check_sums(const struct picture *picture, size_t c)
{
	const struct picture_counter *counter = &picture->counters[c];

	for (size_t level = 0; level < PICTURE_LEVELS; level++) {
		unsigned __int128 rows = oracle_sum(&picture->level[level], picture_counter(c));
		bool is_part = level == PICTURE_POD || level == PICTURE_VM;

		if (!counter->is_there && (rows || counter->node))
			return oracle_say("counter %zu: is not there, and not 0", c);
		rows += counter->unattributed;
		if (rows > counter->node || (!is_part && rows != counter->node))
			return oracle_say("level %zu, counter %zu: rows and the rest %llu, node "
					  "%llu",
					  level, c, (unsigned long long)rows,
					  (unsigned long long)counter->node);
	}
	return NULL;
}

const char *counter_book_check_sums(const struct picture *picture)
{
	const char *wrong = NULL;

	for (size_t c = 0; c < WORLD_COUNTERS && !wrong; c++)
		wrong = check_sums(picture, c);
	return wrong;
}

const char *counter_book_check(const struct counter_book *book, const struct world *world,
			       const struct picture *picture, const struct picture *before)
{
	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		const struct picture_counter *now = &picture->counters[c];
		const struct picture_counter *old = &before->counters[c];
		uint64_t counted = book->counts[c] ? world->interval.counted[c] : 0;

		if (now->is_there != book->born[c])
			return oracle_say("counter %zu: is %sthere", c,
					  now->is_there ? "" : "not ");
		if (now->node - old->node != counted)
			return oracle_say("counter %zu: the node counted %llu, and not %llu", c,
					  (unsigned long long)(now->node - old->node),
					  (unsigned long long)counted);
	}
	return NULL;
}
