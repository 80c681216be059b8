// SPDX-License-Identifier: Apache-2.0
/*
 * The work by the simulation's own account, and the share of each zone's energy that follows from
 * it: for an interval, or for the whole time without readings of a zone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

#define WHOLE     WORLD_SOCKETS_MAX /* the place of what follows all work */
#define BOARDS    (WHOLE + 1)       /* and up: those of boards */
#define PLACES    (BOARDS + WORLD_BOARDS_MAX)
#define GAPS_KEPT 96

struct known {
	uint64_t key, start_ns; /* of a process; 0: an empty place */
	bool reused;            /* several processes had these labels */
	uint64_t interval;      /* in which it ran last, ... */
	const struct sample *sample;
};

/* The process that has a pid, by its last sample. */
struct living {
	uint64_t key, start_ns; /* 0: it has ended */
	uint32_t owner;
};

/* The same work by another basis than time. */
struct weighed {
	double owner[WORLD_OWNERS_MAX], named, unnamed;
};

/* Work of some time in one place. */
struct work {
	uint64_t owner_ns[WORLD_OWNERS_MAX];
	uint32_t owner_parts[WORLD_OWNERS_MAX];
	uint64_t named_ns, unnamed_ns;
	struct weighed by[BASIS_COUNT]; /* but for BASIS_TIME */
	uint32_t parts;                 /* of all owners */
	bool vague, asleep;
};

struct work_book {
	struct known *known;
	size_t size, count; /* size: a power of two */
	struct work now[PLACES];
	struct work gap[WORLD_ZONES_MAX];
	int64_t gap_begun_ms[WORLD_ZONES_MAX];
	struct basis_weights weights;
	enum basis basis[WORLD_ZONES_MAX]; /* of the last interval with a pass */
	enum basis gap_basis[WORLD_ZONES_MAX];
	bool gap_is_mixed[WORLD_ZONES_MAX]; /* in some interval that basis was not known */
	bool gap_lost[WORLD_ZONES_MAX];     /* too many gaps when it began: its work is not kept */
	struct living living[WORLD_PIDS];
	uint64_t interval; /* the last one that was seen */
	uint64_t owner_keys[WORLD_OWNERS_MAX], owner_ids[WORLD_OWNERS_MAX];
	const struct picture_row *owner_rows[WORLD_OWNERS_MAX]; /* of the picture in question */
};

struct work_book *work_book_new(void)
{
	struct work_book *book = calloc(1, sizeof(*book));

	if (!book)
		abort();
	book->size = 256;
	book->known = calloc(book->size, sizeof(*book->known));
	if (!book->known)
		abort();
	return book;
}

void work_book_free(struct work_book *book)
{
	free(book->known);
	free(book);
}

static struct known *find(const struct work_book *book, uint64_t key)
{
	size_t at = key & (book->size - 1);

	while (book->known[at].key && book->known[at].key != key)
		at = (at + 1) & (book->size - 1);
	return &book->known[at];
}

static void grow(struct work_book *book)
{
	struct work_book wider = { .size = book->size * 2 };

	wider.known = calloc(wider.size, sizeof(*wider.known));
	if (!wider.known)
		abort();
	for (size_t i = 0; i < book->size; i++) {
		if (book->known[i].key)
			*find(&wider, book->known[i].key) = book->known[i];
	}
	free(book->known);
	book->known = wider.known;
	book->size = wider.size;
}

static struct known *know(struct work_book *book, uint64_t key)
{
	struct known *known = find(book, key);

	if (known->key)
		return known;
	if (++book->count > book->size / 2) {
		grow(book);
		known = find(book, key);
	}
	known->key = key;
	return known;
}

static struct known *find_row(const struct work_book *book, const struct picture_row *row)
{
	return find(book, row->pid ? row->process : row->id);
}

bool work_book_knows(const struct work_book *book, const struct picture_row *row)
{
	return find_row(book, row)->key != 0;
}

bool work_book_ran(const struct work_book *book, const struct picture_row *row)
{
	return find_row(book, row)->interval == book->interval;
}

bool work_book_reused(const struct work_book *book, const struct picture_row *row)
{
	return find_row(book, row)->reused;
}

/* Not of another process, which began when the row was there, or may have. */
static bool is_of(const struct living *living, const struct picture_row *row)
{
	return living->key == row->process &&
	       (int64_t)(living->start_ns / 1000000) < row->created_ms;
}

bool work_book_lives(const struct work_book *book, const struct world *world, size_t level,
		     const struct picture_row *row)
{
	const struct living *living = &book->living[row->pid % WORLD_PIDS];
	bool lives = false;

	for (size_t i = 0; i < world->owner_count; i++) {
		const struct owner *owner = &world->owners[i];
		bool is_it = row->pid ? is_of(living, row) && living->owner == i
				      : level == PICTURE_CONTAINER;

		lives |= is_it && book->owner_keys[i] == row->container && !owner->waiting &&
			 owner->version == 1;
	}
	return lives;
}

static void add_work(struct work *work, uint32_t owner, uint64_t ns, uint32_t parts)
{
	work->owner_ns[owner] += ns;
	work->owner_parts[owner] += parts;
	work->parts += parts;
	work->named_ns += ns;
}

static void add_weight(struct weighed *weighed, uint32_t owner, double weight)
{
	weighed->owner[owner] += weight;
	weighed->named += weight;
}

/* The weight of the sample in a socket, or in all. */
static double weight_in(const struct work_book *book, const struct world *world,
			const struct sample *sample, size_t place, enum basis basis)
{
	double weight = book->weights.sample[basis][sample - world->samples];

	if (place == WHOLE)
		return weight;
	return sample->cpu_ns ? weight * (double)sample->socket_ns[place] / (double)sample->cpu_ns
			      : 0;
}

static void see_weights(struct work_book *book, const struct world *world,
			const struct sample *sample)
{
	for (enum basis basis = BASIS_SMT; basis < BASIS_COUNT; basis++) {
		if (!book->weights.known[basis] || basis == BASIS_TRAFFIC)
			continue;
		for (uint32_t socket = 0; socket < world->sockets; socket++)
			add_weight(&book->now[socket].by[basis], sample->owner,
				   weight_in(book, world, sample, socket, basis));
		add_weight(&book->now[WHOLE].by[basis], sample->owner,
			   weight_in(book, world, sample, WHOLE, basis));
	}
}

/* A late report of an end may come when another process has the pid. */
static void follow_life(struct work_book *book, uint64_t key, const struct sample *sample)
{
	struct living *living = &book->living[sample->pid];

	if (!sample->ended)
		*living = (struct living){ key, sample->start_ns, sample->owner };
	else if (living->start_ns == sample->start_ns)
		*living = (struct living){ 0 };
}

static void see_sample(struct work_book *book, const struct world *world,
		       const struct sample *sample)
{
	uint64_t key =
		picture_process_key(sample->pid, sample->comm, book->owner_ids[sample->owner]);
	struct known *known = know(book, key);

	known->reused |= known->start_ns && known->start_ns != sample->start_ns;
	known->start_ns = sample->start_ns;
	known->interval = world->interval.number;
	known->sample = sample;
	follow_life(book, key, sample);
	see_weights(book, world, sample);
	for (uint32_t socket = 0; socket < world->sockets; socket++)
		add_work(&book->now[socket], sample->owner, sample->socket_ns[socket], 1);
	add_work(&book->now[WHOLE], sample->owner, sample->cpu_ns, 1);
	for (size_t i = 0; i < WORLD_USES_MAX; i++) {
		if (sample->board_ns[i])
			add_work(&book->now[BOARDS + sample->board[i]], sample->owner,
				 sample->board_ns[i], 1);
	}
}

/* To the nanosecond: with little work a nanosecond is several microjoules. */
static uint64_t part_of(const struct world *world, uint64_t ns, const struct work *work,
			const struct work *whole)
{
	if (!whole->named_ns)
		return ns / world->sockets;
	return (uint64_t)((unsigned __int128)ns * work->named_ns / whole->named_ns);
}

/* The traffic that is known by owner; it is in sockets as all work is. */
static void see_traffic(struct work_book *book, const struct world *world)
{
	const struct work *whole = &book->now[WHOLE];

	for (uint32_t i = 0; book->weights.known[BASIS_TRAFFIC] && i < world->owner_count; i++) {
		double bytes = (double)world->interval.owner_traffic[i];

		for (uint32_t socket = 0; bytes > 0 && socket < world->sockets; socket++) {
			struct work *work = &book->now[socket];
			double part = whole->named_ns
					      ? (double)work->named_ns / (double)whole->named_ns
					      : 1.0 / world->sockets;

			add_weight(&work->by[BASIS_TRAFFIC], i, bytes * part);
			add_work(work, i, 0, 1);
		}
		if (bytes > 0) {
			add_weight(&book->now[WHOLE].by[BASIS_TRAFFIC], i, bytes);
			add_work(&book->now[WHOLE], i, 0, 1);
		}
	}
}

static void weigh_unnamed(struct work_book *book, const struct world *world)
{
	const struct world_interval *interval = &world->interval;

	for (enum basis basis = BASIS_SMT; basis < BASIS_COUNT; basis++) {
		double mean = book->weights.known[basis] ? book->weights.mean[basis] : 0;

		for (size_t place = 0; place <= WHOLE; place++)
			book->now[place].by[basis].unnamed =
				mean * (double)book->now[place].unnamed_ns;
		if (book->weights.known[basis] && interval->dropped_owner_ns)
			add_weight(&book->now[WHOLE].by[basis], interval->dropped_owner,
				   book->weights.nameless_owner[basis]);
	}
}

static void see_unnamed(struct work_book *book, const struct world *world)
{
	const struct world_interval *interval = &world->interval;
	struct work *whole = &book->now[WHOLE];

	for (uint32_t socket = 0; socket < world->sockets; socket++) {
		struct work *work = &book->now[socket];

		/* Work without a name is spread over the sockets like named work. */
		work->vague = interval->sockets_vague || interval->dropped_owner_ns;
		work->unnamed_ns = part_of(world, interval->dropped_ns, work, whole) +
				   part_of(world, interval->unseen_ns, work, whole);
	}
	whole->unnamed_ns = interval->dropped_ns + interval->unseen_ns;
	if (interval->dropped_owner_ns)
		add_work(whole, interval->dropped_owner, interval->dropped_owner_ns, 1);
	for (uint32_t board = 0; board < world->boards; board++)
		book->now[BOARDS + board].unnamed_ns =
			interval->board_dropped_ns[board] + interval->board_unseen_ns[board];
}

static size_t place_of(const struct world *world, const struct meter_zone *zone)
{
	if (zone->type == TYPE_GPU)
		return BOARDS + zone->board;
	return is_of_socket(zone->type) && world->sockets > 1 && !world->interval.pass_failed
		       ? zone->socket
		       : WHOLE;
}

/* The work of the process of @sample in a place. */
static uint64_t work_in(const struct sample *sample, size_t place)
{
	uint64_t ns = 0;

	if (place == WHOLE)
		return sample->cpu_ns;
	if (place < WHOLE)
		return sample->socket_ns[place];
	for (size_t i = 0; i < WORLD_USES_MAX; i++)
		ns += sample->board[i] == place - BOARDS ? sample->board_ns[i] : 0;
	return ns;
}

/* How many zones wait at once: only GAPS_KEPT gaps are kept. */
static size_t gaps_now(const struct world *world)
{
	size_t gaps = 0;

	for (size_t z = 0; z < world->zone_count; z++)
		gaps += world->zones[z].gap_begun || world->zones[z].gap_of_moved;
	return gaps;
}

static void collect_weights(struct work_book *book, size_t z, const struct work *now)
{
	enum basis basis = book->gap_basis[z];
	struct weighed *gap = &book->gap[z].by[basis];
	const struct weighed *by = &now->by[basis];

	if (!book->weights.known[basis] && (now->named_ns || now->unnamed_ns))
		book->gap_is_mixed[z] = true;
	for (uint32_t i = 0; basis != BASIS_TIME && i < WORLD_OWNERS_MAX; i++)
		add_weight(gap, i, by->owner[i]);
	gap->unnamed += by->unnamed;
}

/* Which basis each zone has from this interval on. */
static void choose_bases(struct work_book *book, const struct world *world)
{
	for (size_t z = 0; z < world->zone_count && !world->interval.pass_failed; z++) {
		if (world->zones[z].adopted)
			book->basis[z] = basis_choose(&book->weights, world->zones[z].type);
	}
}

static void collect(struct work_book *book, const struct world *world, size_t z)
{
	const struct meter_zone *zone = &world->zones[z];
	const struct work *now = &book->now[place_of(world, zone)];
	struct work *gap = &book->gap[z];

	if (!zone->gap_begun && !zone->gap_of_moved)
		return;
	if (zone->gap_begun == world->interval.number) {
		*gap = (struct work){ 0 };
		book->gap_begun_ms[z] = world->interval.realtime_ms;
		book->gap_lost[z] = gaps_now(world) > GAPS_KEPT;
		book->gap_basis[z] = book->basis[z];
		book->gap_is_mixed[z] = false;
	}
	for (size_t i = 0; i < world->owner_count; i++)
		add_work(gap, (uint32_t)i, now->owner_ns[i], now->owner_parts[i]);
	collect_weights(book, z, now);
	gap->unnamed_ns += now->unnamed_ns;
	gap->vague |= now->vague;
	gap->asleep |= world->interval.asleep_ns > 0;
}

static void see_owners(struct work_book *book, const struct world *world)
{
	for (size_t i = 0; i < world->owner_count; i++) {
		const struct owner *owner = &world->owners[i];
		const char *id = owner->id;

		book->owner_ids[i] = picture_key(&id, 1);
		book->owner_keys[i] =
			picture_container_key(owner->id, owner->name, owner->ns, owner->pod);
		(void)know(book, book->owner_ids[i]);
	}
}

void work_book_see(struct work_book *book, const struct world *world)
{
	memset(book->now, 0, (BOARDS + world->boards) * sizeof(*book->now));
	book->interval = world->interval.number;
	see_owners(book, world);
	basis_weigh(&book->weights, world);
	choose_bases(book, world);
	for (size_t i = 0; i < world->interval.count; i++)
		see_sample(book, world, &world->samples[i]);
	see_unnamed(book, world);
	weigh_unnamed(book, world);
	see_traffic(book, world);
	for (size_t z = 0; z < world->zone_count; z++)
		collect(book, world, z);
}

/* A zone's dynamic energy of this interval that was split, and over what. */
struct share {
	size_t zone;
	uint64_t energy_uj;
	const struct work *work;
	enum basis basis;
	bool is_gap;
	uint64_t gap_begun;
	int64_t gap_begun_ms;
};

static uint64_t since(uint64_t now, uint64_t before)
{
	return now - before;
}

/* Those of the zones that a row has one sum of. */
struct shares {
	size_t count;
	struct share share[WORLD_ZONES_MAX];
	bool has_gap;
};

struct due {
	unsigned __int128 fair_uj;
	uint64_t rounding_uj;
};

/*
 * The same by a basis other than time. Weights are whole numbers there, each at most a few units
 * from these, and so are their parts.
 */
static void add_due_by(struct due *due, const struct share *share, double weight, uint64_t parts)
{
	const struct weighed *by = &share->work->by[share->basis];
	double all = by->named + by->unnamed, energy_uj = (double)share->energy_uj;
	double units = 4 * ((double)parts + (double)(share->work->parts + 2) * weight / all);

	due->fair_uj += (unsigned __int128)(energy_uj * weight / all);
	due->rounding_uj += parts + 2 + (uint64_t)(energy_uj * fmin(1, units / all));
}

/* The share of @weight in all work, except for the rounding of @parts parts. */
static void add_due(struct due *due, const struct share *share, uint64_t weight, uint64_t parts)
{
	unsigned __int128 all = (unsigned __int128)share->work->named_ns + share->work->unnamed_ns;

	due->fair_uj += all ? (unsigned __int128)share->energy_uj * weight / all : 0;
	due->rounding_uj += parts + 2;
}

static bool is_due(const struct due *due, uint64_t got)
{
	return got <= due->fair_uj + due->rounding_uj &&
	       due->fair_uj <= (unsigned __int128)got + due->rounding_uj;
}

static const struct picture_row *find_container(const struct picture *picture, uint64_t key)
{
	const struct picture_table *table = &picture->level[PICTURE_CONTAINER];

	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].key == key)
			return &table->rows[i];
	}
	return NULL;
}

static const char *check_owner(const struct work_book *book, const struct world *world,
			       size_t account, size_t i, const struct shares *shares)
{
	const struct owner *owner = &world->owners[i];
	const struct picture_row *row = book->owner_rows[i];
	struct due due = { 0 };
	uint64_t got;

	if (!row && book->now[WHOLE].owner_ns[i])
		return oracle_say("container %s ran, and has no series", owner->id);
	if (!row)
		return NULL;
	for (size_t z = 0; z < shares->count; z++) {
		const struct share *share = &shares->share[z];

		if (share->is_gap &&
		    (owner->changed >= share->gap_begun || row->created_ms >= share->gap_begun_ms))
			return NULL; /* its row began in the gap, maybe again */
		if (share->basis == BASIS_TIME)
			add_due(&due, share, share->work->owner_ns[i], share->work->owner_parts[i]);
		else
			add_due_by(&due, share, share->work->by[share->basis].owner[i],
				   share->work->owner_parts[i]);
	}
	got = row->deltas[picture_column(account, PICTURE_DYNAMIC)];
	if (is_due(&due, got))
		return NULL;
	return oracle_say("account %zu of %zu zones: container %s got %llu uJ, due are %llu%s",
			  account, shares->count, owner->id, (unsigned long long)got,
			  (unsigned long long)due.fair_uj, shares->has_gap ? ", with a gap" : "");
}

/* Idle energy of boards is of what used them: @sample, NULL if it did not run, or used none. */
static bool may_bear_idle(const struct world *world, const struct shares *shares,
			  const struct sample *sample)
{
	bool may = shares->count == 0;

	for (size_t z = 0; z < shares->count; z++) {
		size_t place = place_of(world, &world->zones[shares->share[z].zone]);

		may |= place < BOARDS || (sample && work_in(sample, place));
	}
	return may;
}

static const char *check_process(const struct work_book *book, const struct world *world,
				 size_t account, const struct shares *shares,
				 const struct picture_row *row)
{
	const struct known *known = find(book, row->process);
	const struct sample *sample = known->sample;
	uint64_t got = row->deltas[picture_column(account, PICTURE_DYNAMIC)];
	struct due due = { 0 };
	bool ran = known->interval == world->interval.number;

	if (!row->pid || known->reused)
		return NULL;
	if (row->deltas[picture_column(account, PICTURE_IDLE)] &&
	    !may_bear_idle(world, shares, ran ? sample : NULL))
		return oracle_say("account %zu: %s used no board, and got idle energy of one",
				  account, row->text);
	if (!ran)
		return got ? oracle_say("account %zu: %s did not run, and got %llu uJ", account,
					row->text, (unsigned long long)got)
			   : NULL;
	if (world->owners[sample->owner].waiting ||
	    row->container != book->owner_keys[sample->owner])
		return NULL;
	for (size_t z = 0; z < shares->count; z++) {
		size_t place = place_of(world, &world->zones[shares->share[z].zone]);

		if (shares->share[z].basis == BASIS_TIME)
			add_due(&due, &shares->share[z], work_in(sample, place),
				place < BOARDS ? 1 : WORLD_USES_MAX);
		else
			add_due_by(&due, &shares->share[z],
				   weight_in(book, world, sample, place, shares->share[z].basis),
				   1);
	}
	if (is_due(&due, got))
		return NULL;
	return oracle_say("account %zu of %zu zones: %s got %llu uJ, due are %llu", account,
			  shares->count, row->text, (unsigned long long)got,
			  (unsigned long long)due.fair_uj);
}

static const char *check_rows(const struct work_book *book, const struct world *world,
			      size_t account, const struct shares *shares,
			      const struct picture *picture)
{
	const struct picture_table *processes = &picture->level[PICTURE_PROCESS];
	const char *wrong = NULL;

	for (size_t i = 0; i < world->owner_count && !wrong; i++) {
		if (!world->owners[i].waiting)
			wrong = check_owner(book, world, account, i, shares);
	}
	for (size_t i = 0; i < processes->count && !wrong && !shares->has_gap; i++)
		wrong = check_process(book, world, account, shares, &processes->rows[i]);
	return wrong;
}

static enum basis basis_of(const struct work_book *book, const struct world *world, size_t z,
			   const struct work *work, bool is_gap)
{
	enum basis basis = is_gap ? book->gap_basis[z] : book->basis[z];

	if (is_gap ? book->gap_is_mixed[z] : world->interval.pass_failed)
		return BASIS_TIME;
	return work->by[basis].named + work->by[basis].unnamed > 0 ? basis : BASIS_TIME;
}

/*
 * The energy of zone @z that was split, and the work that it was split over. False: too little is
 * known.
 */
static bool find_share(const struct work_book *book, const struct world *world, size_t z,
		       const struct picture *picture, const struct picture *before,
		       struct share *ret, const char **wrong)
{
	const struct picture_zone *now = &picture->zones[z], *old = &before->zones[z];
	const struct meter_zone *zone = &world->zones[z];
	uint64_t nothing_uj = since(now->unattributed_uj[PICTURE_DYNAMIC][REASON_NO_ACTIVITY],
				    old->unattributed_uj[PICTURE_DYNAMIC][REASON_NO_ACTIVITY]);
	bool asleep = world->interval.asleep_ns > 0, is_gap = zone->gap_of_moved > 0;
	bool lost = is_gap && (book->gap_lost[z] || zone->gap_given_up);

	*ret = (struct share){
		.zone = z,
		.energy_uj =
			now->node_uj[PICTURE_DYNAMIC] - old->node_uj[PICTURE_DYNAMIC] - nothing_uj,
		.work = is_gap ? &book->gap[z] : &book->now[place_of(world, zone)],
		.is_gap = is_gap,
		.gap_begun = zone->gap_of_moved,
		.gap_begun_ms = book->gap_begun_ms[z],
	};
	ret->basis = basis_of(book, world, z, ret->work, is_gap);
	asleep |= is_gap && ret->work->asleep;
	if (ret->work->vague)
		return false;
	if (nothing_uj && !asleep && ret->work->named_ns && !lost)
		*wrong = oracle_say("zone %zu: %llu uJ of no activity, but %llu ns ran%s", z,
				    (unsigned long long)nothing_uj,
				    (unsigned long long)ret->work->named_ns,
				    is_gap ? " in the gap" : "");
	return !lost;
}

static const char *check_account(const struct work_book *book, const struct world *world,
				 size_t account, const struct picture *picture,
				 const struct picture *before)
{
	struct shares shares = { 0 };
	const char *wrong = NULL;
	bool known = true;

	for (size_t z = 0; z < before->zone_count && !wrong; z++) {
		struct share *share = &shares.share[shares.count];

		if (world->zones[z].account != account)
			continue;
		known &= find_share(book, world, z, picture, before, share, &wrong);
		shares.has_gap |= share->is_gap;
		shares.count++;
	}
	if (wrong || !known)
		return wrong;
	return check_rows(book, world, account, &shares, picture);
}

const char *work_book_check(struct work_book *book, const struct world *world,
			    const struct picture *picture, const struct picture *before)
{
	const char *wrong = NULL;

	for (size_t i = 0; i < world->owner_count; i++)
		book->owner_rows[i] = find_container(picture, book->owner_keys[i]);
	for (size_t account = 0; account < before->account_count && !wrong; account++)
		wrong = check_account(book, world, account, picture, before);
	return wrong;
}

static const char *check_counts_of_owner(const struct work_book *book, const struct world *world,
					 size_t i, size_t counter, uint64_t want)
{
	const struct picture_row *row = book->owner_rows[i];

	if (!row && want)
		return oracle_say("container %s has counted, and has no series",
				  world->owners[i].id);
	if (!row || row->deltas[picture_counter(counter)] == want)
		return NULL;
	return oracle_say("counter %zu: container %s got %llu of %llu", counter,
			  world->owners[i].id,
			  (unsigned long long)row->deltas[picture_counter(counter)],
			  (unsigned long long)want);
}

static const char *check_counts_of_process(const struct work_book *book, const struct world *world,
					   const struct picture_row *row, size_t counter,
					   bool counts)
{
	const struct known *known = find(book, row->process);
	const struct sample *sample = known->sample;
	uint64_t got = row->deltas[picture_counter(counter)];
	bool ran = known->interval == world->interval.number;

	if (!row->pid || known->reused)
		return NULL;
	if (ran && (world->owners[sample->owner].waiting ||
		    row->container != book->owner_keys[sample->owner]))
		return NULL;
	if (got == (ran && counts ? sample->counted[counter] : 0))
		return NULL;
	return oracle_say("counter %zu: %s got %llu", counter, row->text, (unsigned long long)got);
}

const char *work_book_check_counter(struct work_book *book, const struct world *world,
				    size_t counter, bool counts, const struct picture *picture)
{
	const struct picture_table *processes = &picture->level[PICTURE_PROCESS];
	const struct world_interval *interval = &world->interval;
	uint64_t want[WORLD_OWNERS_MAX] = { 0 };
	const char *wrong = NULL;

	for (size_t i = 0; counts && i < interval->count; i++)
		want[world->samples[i].owner] += world->samples[i].counted[counter];
	if (counts)
		want[interval->counter_owner] += interval->owner_counted[counter];
	for (size_t i = 0; i < world->owner_count && !wrong; i++) {
		if (!world->owners[i].waiting)
			wrong = check_counts_of_owner(book, world, i, counter, want[i]);
	}
	for (size_t i = 0; i < processes->count && !wrong; i++)
		wrong = check_counts_of_process(book, world, &processes->rows[i], counter, counts);
	return wrong;
}
