// SPDX-License-Identifier: Apache-2.0
#include "export/scrape_pace.h"

#include <string.h>

#include "base/macro.h"

void scrape_pace_init(struct scrape_pace *pace, uint64_t now_ns)
{
	*pace = (struct scrape_pace){ .began_ns = now_ns };
	(void)pthread_mutex_init(&pace->lock, NULL); /* cannot fail with default attributes */
}

void scrape_pace_release(struct scrape_pace *pace)
{
	(void)pthread_mutex_destroy(&pace->lock);
}

/* Returns 0 if the clock of one thread is a little behind another thread's. */
static uint64_t since(uint64_t then_ns, uint64_t now_ns)
{
	return now_ns > then_ns ? now_ns - then_ns : 0;
}

static bool is_recent(uint64_t then_ns, uint64_t now_ns)
{
	return since(then_ns, now_ns) <= SCRAPE_PACE_WINDOW_NS;
}

static uint64_t span_of(uint64_t now_ns)
{
	return now_ns / SCRAPE_PACE_SPAN_NS + 1;
}

/* The client's entry; a new client gets a free one, or the least recently used. */
static struct scrape_client *place_for(struct scrape_pace *pace, uint64_t client)
{
	struct scrape_client *best = &pace->clients[0];

	for (size_t i = 0; i < ARRAY_SIZE(pace->clients); i++) {
		struct scrape_client *at = &pace->clients[i];

		if (at->used && at->client == client)
			return at;
		if (best->used && (!at->used || at->scraped_ns < best->scraped_ns))
			best = at;
	}
	return best;
}

static void begin(struct scrape_client *at, uint64_t client)
{
	*at = (struct scrape_client){ .client = client, .used = true };
}

static bool is_uneven(uint64_t a, uint64_t b)
{
	uint64_t shorter = a < b ? a : b, longer = a < b ? b : a;

	return shorter < longer - longer / 4;
}

static void note_gap(struct scrape_client *at, uint64_t gap_ns, uint64_t now_ns)
{
	struct scrape_gap *kept = &at->gaps[span_of(now_ns) % SCRAPE_PACE_SPANS];
	uint64_t counted_ns = gap_ns;

	if (at->gap_ns && is_uneven(at->gap_ns, gap_ns))
		counted_ns += at->gap_ns;
	if (kept->span != span_of(now_ns))
		*kept = (struct scrape_gap){ .span = span_of(now_ns) };
	if (kept->longest_ns < counted_ns)
		kept->longest_ns = counted_ns;
	at->gap_ns = gap_ns;
}

void scrape_pace_note(struct scrape_pace *pace, uint64_t client, uint64_t now_ns, uint64_t shown_ns)
{
	struct scrape_client *at;

	pthread_mutex_lock(&pace->lock);
	at = place_for(pace, client);
	if (!at->used || at->client != client) {
		if (at->used && is_recent(at->scraped_ns, now_ns)) {
			pace->forgotten++;
			pace->forgotten_ns = now_ns;
		}
		begin(at, client);
	} else if (!is_recent(at->scraped_ns, now_ns)) {
		begin(at, client);
	} else if (now_ns > at->scraped_ns) {
		note_gap(at, now_ns - at->scraped_ns, now_ns);
	}
	at->scraped_ns = now_ns;
	at->shown_ns = shown_ns;
	pthread_mutex_unlock(&pace->lock);
}

/* The longest of the gaps that ended within a window; 0: there was no gap. */
static uint64_t longest_gap(const struct scrape_client *at, uint64_t now_ns)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(at->gaps); i++) {
		const struct scrape_gap *kept = &at->gaps[i];

		if (kept->span && kept->span + SCRAPE_PACE_SPANS > span_of(now_ns) &&
		    kept->longest_ns > longest_ns)
			longest_ns = kept->longest_ns;
	}
	return longest_ns;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

struct scrape_pace_state scrape_pace_look(struct scrape_pace *pace, uint64_t now_ns)
{
	struct scrape_pace_state state = { 0 };
	bool scraped = false;

	pthread_mutex_lock(&pace->lock);
	for (size_t i = 0; i < ARRAY_SIZE(pace->clients); i++) {
		const struct scrape_client *at = &pace->clients[i];
		uint64_t open_ns, longest_ns;

		if (!at->used || !is_recent(at->scraped_ns, now_ns))
			continue;
		open_ns = since(at->shown_ns, now_ns);
		longest_ns = longest_gap(at, now_ns);
		scraped = true;
		state.clients += longest_ns > 0;
		if (longest_ns || open_ns <= SCRAPE_PACE_AWAITED_NS)
			state.settle_ns = longer(state.settle_ns, longer(longest_ns, open_ns));
	}
	if (!state.clients)
		state.settle_ns =
			longer(state.settle_ns, scraped || is_recent(pace->began_ns, now_ns)
							? SCRAPE_PACE_UNKNOWN_NS
							: SCRAPE_PACE_UNSCRAPED_NS);
	if (pace->forgotten_ns && is_recent(pace->forgotten_ns, now_ns))
		state.settle_ns = SCRAPE_PACE_MAX_NS; /* it may have had any gap */
	state.forgotten = pace->forgotten;
	pthread_mutex_unlock(&pace->lock);
	if (state.settle_ns > SCRAPE_PACE_MAX_NS)
		state.settle_ns = SCRAPE_PACE_MAX_NS;
	return state;
}
