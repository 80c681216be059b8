// SPDX-License-Identifier: Apache-2.0
/*
 * The adapter: what the program's loop does in an interval, over values that are made up. Here and
 * nowhere else the simulation says how the parts are called today.
 *
 * Linked with --wrap, so that requests for memory come through here; they are refused at random
 * while the program's parts run, never while the simulation does.
 */
#include "product.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribution/books.h"
#include "base/macro.h"
#include "meter/zone_samples.h"
#include "snapshot/publisher.h"
#include "snapshot/zone_picture.h"

static const enum signal signals[WORLD_COUNTERS] = { SIGNAL_NET_BYTES, SIGNAL_BLOCK_BYTES };

struct known_owner {
	const struct owner_names *names;
	uint64_t version;
};

struct product {
	struct books books;
	struct snapshot_holder *holder;
	struct publisher *publisher;
	struct publisher_options publication;
	struct idle_options idle;
	struct zone zones[WORLD_ZONES_MAX];
	struct zone_samples samples[WORLD_ZONES_MAX];
	struct snapshot_zone published[WORLD_ZONES_MAX];
	struct known_owner owners[WORLD_OWNERS_MAX];
	uint32_t references; /* its own, and of snapshots that are held */
	uint64_t process_overflows, container_overflows;
};

struct held {
	struct product *product;
	const struct snapshot *snapshot;
};

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static struct chance *refusing; /* NULL: nothing is refused */
static uint32_t refuse_one_in;
static uint64_t refusals;

static bool is_refused(void)
{
	if (!refusing || !chance_one_in(refusing, refuse_one_in))
		return false;
	refusals++;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_refused() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return is_refused() ? NULL : __real_reallocarray(old, count, size);
}

uint64_t product_refusals(void)
{
	return refusals;
}

static void may_refuse(struct world *world)
{
	refuse_one_in = world->interval.refuse_one_in;
	refusing = refuse_one_in ? &world->memory : NULL;
}

static void refuse_nothing(void)
{
	refusing = NULL;
}

static void take_policy(struct product *product, const struct world *world)
{
	static const enum idle_mode modes[] = { IDLE_MODE_OFF, IDLE_MODE_FIXED, IDLE_MODE_LEARNED };
	static const enum idle_share shares[] = { IDLE_SHARE_NODE, IDLE_SHARE_SIZE,
						  IDLE_SHARE_USAGE, IDLE_SHARE_EQUAL };
	const struct policy *policy = &world->policy;
	struct share_options share = { .smt_ppm = SHARE_SMT_PPM, .may_fit = world->may_fit };

	for (size_t kind = 0; kind < ZONE_KIND_COUNT; kind++)
		share.rule[kind] = SHARE_AUTO;
	product->publication = (struct publisher_options){ .min_uj = policy->min_uj,
							   .settle_ns = policy->settle_ns,
							   .keep_ns = policy->keep_ns,
							   .max_rows = policy->max_rows };
	product->idle = (struct idle_options){ .mode = modes[policy->idle],
					       .share = shares[policy->share],
					       .watts = { { "package", policy->idle_watts } },
					       .watts_count = 1 };
	books_configure(&product->books, &product->idle, &share,
			product->books.accountant.has_begun ? product->books.accountant.settle_ns
							    : policy->settle_ns);
	if (product->publisher)
		publisher_set_options(product->publisher, &product->publication);
}

struct product *product_new(const struct world *world)
{
	const struct ledger_options options = { .max_processes = world->max_processes,
						.max_containers = world->max_containers,
						.by_zone = world->by_zone };
	struct product *product = calloc(1, sizeof(*product));

	if (!product || books_open(&product->books, &options) < 0)
		abort();
	product->references = 1;
	take_policy(product, world);
	if (snapshot_holder_new(&product->holder) < 0 ||
	    publisher_new(&product->publication, product->books.ledger, product->holder,
			  &product->publisher) < 0)
		abort();
	return product;
}

static void unreference(struct product *product)
{
	if (--product->references)
		return;
	snapshot_holder_free(product->holder);
	free(product);
}

void product_free(struct product *product)
{
	refuse_nothing();
	publisher_free(product->publisher);
	for (size_t i = 0; i < WORLD_OWNERS_MAX; i++)
		owner_names_unref(product->owners[i].names);
	books_release(&product->books);
	unreference(product);
}

static void describe(struct product *product, const struct world *world, size_t z)
{
	static const enum zone_kind kinds[] = { ZONE_PACKAGE, ZONE_CORE,     ZONE_UNCORE, ZONE_DRAM,
						ZONE_PSYS,    ZONE_PLATFORM, ZONE_GPU };
	static const char *const sources[WORLD_SOURCES_MAX + 1] = { "simulation", "other", "third",
								    "fourth", "gpus" };
	const struct meter_zone *from = &world->zones[z];
	struct zone *zone = &product->zones[z];

	*zone = (struct zone){ .kind = kinds[from->type], .source = sources[from->source] };
	if (from->type == TYPE_GPU)
		(void)snprintf(zone->instance, sizeof(zone->instance), "GPU-%u", from->board);
	else if (is_of_socket(from->type) && !from->die)
		zone->instance[0] = (char)('0' + from->socket);
	else if (is_of_socket(from->type))
		(void)snprintf(zone->instance, sizeof(zone->instance), "%u-die-%u",
			       from->socket % 10, from->die % 1000);
	zone->domain = from->type == TYPE_GPU ? (struct domain){ DOMAIN_DEVICE, from->board }
					      : zone_domain(zone->kind, zone->instance);
	product->samples[z].max_power_uw = from->max_power_uw;
}

/* Zones get their index for good; without memory for their columns new ones wait. */
static void find_zones(struct product *product, const struct world *world)
{
	int r = 0;

	for (size_t z = product_zones(product); r >= 0 && z < world->zone_count; z++) {
		if (!world->zones[z].found)
			break;
		r = books_adopt(&product->books, &product->zones[z], world->interval.realtime_ms);
	}
	(void)books_choose_totals(&product->books);
}

size_t product_zones(const struct product *product)
{
	return product->books.accountant.zone_count;
}

static bool read_zone(struct product *product, struct world *world, size_t z)
{
	static const enum zone_state states[] = { ZONE_UP, ZONE_ERROR, ZONE_STALLED, ZONE_MISSED,
						  ZONE_ABSENT };
	const struct meter_zone *from = &world->zones[z];
	struct zone_samples *samples = &product->samples[z];
	struct zone_status *status = &product->books.status[z];
	const struct world_interval *now = &world->interval;
	const struct reading_time when = { now->now_ns, now->now_ns, now->boot_ns };
	const struct raw_reading raw = { meter_raw_uj(from), from->range_uj, from->generation };
	bool refused;

	status->state = states[from->fault];
	if (from->fault != FAULT_NONE) {
		status->errors++;
		return true;
	}
	if (zone_samples_take(samples, 0, &raw, &when) < 0)
		return false;
	(void)meter_read(world, z, &refused);
	status->state = samples->refused ? ZONE_REFUSED : ZONE_UP;
	status->wraps = samples->counter.wraps;
	books_put_span(&product->books, z, zone_samples_span(samples));
	return refused == (status->state == ZONE_REFUSED);
}

/* Names are known before: only the rows' memory is refused. */
static void learn_names(struct product *product, const struct world *world)
{
	for (size_t i = 0; i < world->owner_count; i++) {
		const struct owner *owner = &world->owners[i];
		struct known_owner *known = &product->owners[i];
		const struct label extra = { "label_app", owner->label };
		struct owner_names names = { .text = { [LABEL_CONTAINER_ID] = owner->id } };

		if (known->version == owner->version)
			continue;
		if (!owner->waiting) {
			names.text[LABEL_CONTAINER_NAME] = owner->name;
			names.text[LABEL_VM_ID] = owner->vm;
		}
		if (!owner->waiting || owner->has_pod_names) {
			names.text[LABEL_NAMESPACE] = owner->ns;
			names.text[LABEL_POD_NAME] = owner->pod;
			names.text[LABEL_POD_ID] = owner->pod_id;
			names.extra = &extra;
			names.extra_count = owner->pod[0] ? 1 : 0;
		}
		owner_names_unref(known->names);
		known->names = owner_names_intern(ledger_names(product->books.ledger), &names);
		known->version = owner->version;
		if (!known->names)
			abort();
	}
}

static uint32_t container_of(struct product *product, const struct world *world, size_t owner)
{
	const struct ledger_owner entered = {
		.names = product->owners[owner].names,
		.size_millicpu = world->owners[owner].millicpu,
		.waiting = world->owners[owner].waiting,
		.has_pod_names = world->owners[owner].has_pod_names,
	};

	return ledger_container(product->books.ledger, &entered);
}

static size_t find_owner(const struct world *world, const char *id)
{
	size_t i = 0;

	while (i < world->owner_count && strcmp(world->owners[i].id, id) != 0)
		i++;
	return i;
}

/* Owners that sleep while their names come are looked up by their ids. */
static void name_waiting(struct product *product, const struct world *world)
{
	for (uint32_t row = 0; ledger_waiting(product->books.ledger) > 0 &&
			       row < ledger_slots(product->books.ledger, LEVEL_CONTAINER);
	     row++) {
		const struct ledger_container *waiting =
			ledger_container_at(product->books.ledger, row);
		size_t owner;

		if (!waiting->row.used || !waiting->waiting)
			continue;
		owner = find_owner(world, waiting->names->text[LABEL_CONTAINER_ID]);
		if (owner < world->owner_count &&
		    (!world->owners[owner].waiting || world->owners[owner].has_pod_names))
			(void)container_of(product, world, owner);
	}
}

static uint32_t known_signals(const struct world *world)
{
	uint32_t known = 0;

	for (size_t c = 0; c < WORLD_COUNTERS; c++)
		known |= world->interval.counter_is_known[c] ? SIGNAL_BIT(signals[c]) : 0;
	return known;
}

/* Adds the counts of the party that was added last. */
static void add_counted(struct product *product, const uint64_t *counted)
{
	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		if (counted[c])
			parties_add_signal(&product->books.parties, signals[c], counted[c]);
	}
}

static void enter_signals(struct parties *parties, const struct sample *sample)
{
	const struct {
		enum signal signal;
		uint64_t amount;
	} known[] = {
		{ SIGNAL_COUNTED_TIME, sample->counted_ns },
		{ SIGNAL_PAIRED_TIME, sample->paired_ns },
		{ SIGNAL_CPU_CYCLES, sample->cycles },
		{ SIGNAL_CACHE_MISSES, sample->misses },
		{ SIGNAL_INSTRUCTIONS, sample->instructions },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (parties->signals & SIGNAL_BIT(known[i].signal))
			parties_add_signal(parties, known[i].signal, known[i].amount);
	}
}

static void enter_sample(struct product *product, const struct world *world,
			 const struct sample *sample)
{
	bool equal = product->books.accountant.idle_share == IDLE_SHARE_EQUAL;
	bool has_work = sample->cpu_ns > 0 || sample->counted[0] || sample->counted[1];
	bool wanted = has_work || equal;
	uint32_t container, process;

	if (!wanted && product->books.accountant.has_begun)
		return;
	container = container_of(product, world, sample->owner);
	if (!wanted)
		return;
	process = ledger_process(product->books.ledger, sample->pid, sample->start_ns, sample->comm,
				 container);
	if (!has_work)
		return;
	parties_add(&product->books.parties, process, container, sample->cpu_ns, sample->socket_ns);
	add_counted(product, sample->counted);
	enter_signals(&product->books.parties, sample);
}

/* Enters the traffic of a container, by its cgroup. */
static void enter_traffic(struct product *product, const struct world *world)
{
	const struct world_interval *from = &world->interval;

	for (uint32_t i = 0; from->counting & COUNTED_TRAFFIC && i < world->owner_count; i++) {
		if (!from->owner_traffic[i])
			continue;
		parties_add(&product->books.parties, LEDGER_NONE, container_of(product, world, i),
			    0, NULL);
		parties_add_signal(&product->books.parties, SIGNAL_MEMORY_TRAFFIC,
				   from->owner_traffic[i]);
	}
}

static uint32_t signals_of(uint32_t counted)
{
	return (counted & COUNTED_TIME ? SIGNAL_BIT(SIGNAL_COUNTED_TIME) : 0) |
	       (counted & COUNTED_PAIRED ? SIGNAL_BIT(SIGNAL_PAIRED_TIME) : 0) |
	       (counted & COUNTED_CYCLES ? SIGNAL_BIT(SIGNAL_CPU_CYCLES) : 0) |
	       (counted & COUNTED_INSTRUCTIONS ? SIGNAL_BIT(SIGNAL_INSTRUCTIONS) : 0) |
	       (counted & COUNTED_MISSES ? SIGNAL_BIT(SIGNAL_CACHE_MISSES) : 0) |
	       (counted & COUNTED_TRAFFIC ? SIGNAL_BIT(SIGNAL_MEMORY_TRAFFIC) : 0);
}

static void enter_samples(struct product *product, const struct world *world)
{
	const struct world_interval *from = &world->interval;
	uint32_t sockets = world->sockets > 1 && !from->pass_failed ? world->sockets : 0;

	parties_begin(&product->books.parties, sockets);
	parties_know(&product->books.parties, known_signals(world) | signals_of(from->counting));
	if (parties_reserve(&product->books.parties, from->count + 2 + world->owner_count) < 0)
		return;
	for (size_t i = 0; i < from->count; i++)
		enter_sample(product, world, &from->samples[i]);
	if (from->dropped_owner_ns)
		parties_add(&product->books.parties, LEDGER_NONE,
			    container_of(product, world, from->dropped_owner),
			    from->dropped_owner_ns, NULL);
	if (from->owner_counted[0] || from->owner_counted[1]) {
		parties_add(&product->books.parties, LEDGER_NONE,
			    container_of(product, world, from->counter_owner), 0, NULL);
		add_counted(product, from->owner_counted);
	}
	enter_traffic(product, world);
}

/* Also of what did not run on a CPU. */
static void enter_uses(struct product *product, const struct world *world,
		       const struct sample *sample)
{
	uint32_t container, process;

	if (!sample->board_ns[0] && !sample->board_ns[1])
		return;
	container = container_of(product, world, sample->owner);
	process = ledger_process(product->books.ledger, sample->pid, sample->start_ns, sample->comm,
				 container);
	for (size_t i = 0; i < WORLD_USES_MAX; i++) {
		if (sample->board_ns[i])
			(void)device_parties_add(&product->books.devices, sample->board[i], process,
						 container, sample->board_ns[i], 0);
	}
}

static void enter_boards(struct product *product, const struct world *world)
{
	const struct world_interval *from = &world->interval;

	device_parties_begin(&product->books.devices);
	for (size_t i = 0; world->boards && i < from->count; i++)
		enter_uses(product, world, &from->samples[i]);
	for (uint32_t board = 0; board < world->boards; board++) {
		device_parties_add_dropped(&product->books.devices, board,
					   from->board_dropped_ns[board]);
		device_parties_add_unseen(&product->books.devices, board,
					  from->board_unseen_ns[board]);
	}
}

static void book(struct product *product, const struct world *world)
{
	const struct world_interval *from = &world->interval;
	struct interval interval = books_interval(&product->books, from->now_ns);
	uint64_t node[SIGNAL_COUNT] = { 0 };

	interval.work = (struct work_sums){ from->busy_ns, from->dropped_ns, from->unseen_ns };
	interval.places.count = world->sockets > 1 ? world->sockets : 0;
	interval.measured.dt_ns = from->pass_failed ? 0 : from->dt_ns;
	interval.measured.asleep_ns = from->asleep_ns;
	for (uint32_t place = 0; place < world->sockets; place++) {
		interval.places.package[place] = place;
		interval.places.cpus[place] = from->socket_cpus[place];
	}
	if (interval.measured.dt_ns)
		interval.measured.utilisation =
			fmin(1.0, (double)from->busy_ns / ((double)from->dt_ns * from->cpus));
	for (size_t c = 0; c < WORLD_COUNTERS; c++)
		node[signals[c]] = from->counted[c];
	books_book(&product->books, &interval, node);
	for (size_t z = 0; z < product_zones(product); z++)
		zone_picture(&product->books.accountant.zones[z], false, from->now_ns,
			     &product->published[z]);
}

static void end_processes(struct product *product, const struct world *world)
{
	for (size_t i = 0; i < world->interval.count; i++) {
		const struct sample *sample = &world->samples[i];
		uint32_t process;

		if (!sample->ended)
			continue;
		process = ledger_find_process(product->books.ledger, sample->pid, sample->start_ns);
		if (process != LEDGER_NONE)
			ledger_end_process(product->books.ledger, process);
	}
}

static void look_at_sleepers(struct product *product, const struct world *world)
{
	uint32_t slots = ledger_slots(product->books.ledger, LEVEL_CONTAINER);

	for (uint32_t row = 0; row < slots; row++) {
		const struct ledger_container *container =
			ledger_container_at(product->books.ledger, row);
		const char *id;

		if (!container->row.used || container->living ||
		    (world->interval.number % 30 != 1 && !container->row.touched))
			continue;
		id = container->names->text[LABEL_CONTAINER_ID];
		ledger_set_there(product->books.ledger, row,
				 !container->replaced && !container->is_other &&
					 find_owner(world, id) < world->owner_count);
	}
}

static enum product_result publish(struct product *product, const struct world *world)
{
	static const struct snapshot_node node = { .cpus = 4 };

	product->process_overflows = ledger_overflows(product->books.ledger, LEVEL_PROCESS);
	product->container_overflows = ledger_overflows(product->books.ledger, LEVEL_CONTAINER);
	return publisher_publish(product->publisher,
				 &(struct publication_time){ world->interval.now_ns,
							     world->interval.realtime_ms,
							     world->interval.realtime_ms },
				 product->published, &node) < 0
		       ? PRODUCT_BOOKED
		       : PRODUCT_PUBLISHED;
}

/* A reload, or scrapes, may have changed how long series settle. */
static void begin(struct product *product, const struct world *world)
{
	const uint64_t settle_ns = world->policy.settle_ns;
	bool is_new = settle_ns != product->books.accountant.settle_ns;

	books_begin(&product->books, world->interval.now_ns, settle_ns);
	product->publication.settle_ns = settle_ns;
	if (is_new)
		publisher_set_options(product->publisher, &product->publication);
}

enum product_result product_interval(struct product *product, struct world *world)
{
	enum product_result result;

	learn_names(product, world);
	if (world->interval.reload)
		take_policy(product, world);
	product->books.span_count = 0;
	for (size_t z = 0; z < world->zone_count && world->zones[z].found; z++) {
		describe(product, world, z);
		if (!read_zone(product, world, z))
			return PRODUCT_BROKEN;
	}
	may_refuse(world);
	find_zones(product, world);
	(void)counters_follow(product->books.ledger, known_signals(world),
			      !product->books.accountant.has_begun, world->interval.now_ns);
	begin(product, world);
	if (!world->interval.pass_failed)
		name_waiting(product, world);
	enter_samples(product, world);
	enter_boards(product, world);
	book(product, world);
	end_processes(product, world);
	look_at_sleepers(product, world);
	result = publish(product, world);
	refuse_nothing();
	return result;
}

struct held *product_hold(struct product *product)
{
	struct held *held = malloc(sizeof(*held));

	if (!held)
		abort();
	product->references++;
	*held = (struct held){ product, snapshot_get(product->holder) };
	return held;
}

void product_let_go(struct held *held)
{
	snapshot_put(held->product->holder, held->snapshot);
	unreference(held->product);
	free(held);
}

/* From a piece of memory that was made large enough. */
static void *carve(struct picture *picture, size_t size)
{
	void *at = picture->memory + picture->used;

	picture->used += (size + 7) & ~(size_t)7;
	return at;
}

static void append(struct picture *picture, const char *text)
{
	size_t len = strlen(text);

	memcpy(picture->memory + picture->used, text, len);
	picture->used += len;
}

#define TEXT_MAX ((LABEL_KEY_COUNT + OWNER_EXTRA_MAX) * (OWNER_NAME_MAX + 1) + 64)

static size_t memory_for(const struct snapshot *snapshot)
{
	size_t size = 0;
	size_t line =
		(PICTURE_NO_ENERGY + PICTURE_MODES * snapshot->account_count) * sizeof(uint64_t);

	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &snapshot->level[level];
		size_t rows = table->count + table->retired_count;

		size += rows * (sizeof(struct picture_row) + 2 * line + 512) + 64;
	}
	return size + TEXT_MAX;
}

static const char *draw_text(struct picture *picture, const struct series_labels *labels,
			     bool retired)
{
	const char *text = picture->memory + picture->used;

	append(picture, retired ? "retired " : "");
	append(picture, labels->command);
	for (size_t key = 0; key < LABEL_KEY_COUNT; key++) {
		append(picture, "|");
		append(picture, labels->names->text[key]);
	}
	for (size_t i = 0; i < labels->names->extra_count; i++) {
		append(picture, "|");
		append(picture, labels->names->extra[i].value);
	}
	picture->memory[picture->used++] = '\0';
	picture->used = (picture->used + 7) & ~(size_t)7;
	return text;
}

/* COLUMN_NONE: rows have no counter of @signal. */
static uint32_t find_counter(const struct snapshot *snapshot, enum signal signal)
{
	for (uint32_t i = 0; i < snapshot->columns; i++) {
		if (snapshot->column[i].of.quantity == &signal_info[signal])
			return i;
	}
	return COLUMN_NONE;
}

static void draw_values(const struct snapshot *snapshot, const uint64_t *from, uint64_t *line)
{
	_Static_assert(MODE_DYNAMIC == 0 && MODE_IDLE == 1 && MODE_COUNT == 2, "as in a picture");
	*line++ = from[COLUMN_CPU];
	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		uint32_t column = find_counter(snapshot, signals[c]);

		*line++ = column == COLUMN_NONE ? 0 : from[column];
	}
	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			uint32_t column = snapshot->accounts[i].column[mode];

			*line++ = column == COLUMN_NONE ? 0 : from[column];
		}
	}
}

static uint64_t *draw_line(struct picture *picture, const struct snapshot *snapshot,
			   const uint64_t *from)
{
	uint64_t *line = carve(picture, picture->columns * sizeof(*line));

	draw_values(snapshot, from, line);
	return line;
}

static void draw_row(struct picture *picture, enum level level, bool retired,
		     const struct snapshot_row *from, struct picture_row *row)
{
	const struct series_labels *labels = from->labels;
	const char *const *names = labels->names->text;

	*row = (struct picture_row){
		.container = picture_container_key(names[LABEL_CONTAINER_ID],
						   names[LABEL_CONTAINER_NAME],
						   names[LABEL_NAMESPACE], names[LABEL_POD_NAME]),
		.id = picture_key(&names[LABEL_CONTAINER_ID], 1),
		.slot = labels->slot,
		.serial = labels->serial,
		.text = draw_text(picture, labels, retired),
		.pid = labels->pid,
		.other = level == LEVEL_PROCESS && !labels->pid && !retired,
		.retired = retired,
		.ended = from->ended,
		.has_pod = names[LABEL_POD_ID][0] != '\0',
		.created_ms = from->created_ms,
	};
	row->process = picture_process_key(labels->pid, labels->command, row->id);
	if (level == LEVEL_PROCESS)
		row->key = picture_process_key(labels->pid, labels->command, row->container);
	else if (level == LEVEL_CONTAINER)
		row->key = row->container;
	else
		row->key = picture_key(&row->text, 1) + level;
	row->key += retired ? 0x5bd1e995 : 0;
}

static void draw_table(struct picture *picture, const struct snapshot *snapshot, enum level level)
{
	const struct snapshot_table *from = &snapshot->level[level];
	struct picture_table *table = &picture->level[level];
	size_t columns = snapshot->columns, rows = from->count + from->retired_count;

	_Static_assert((int)PICTURE_NAMESPACE == LEVEL_NAMESPACE, "levels in the same order");
	table->count = from->count;
	table->retired_count = from->retired_count;
	table->merged = from->merged;
	table->rows = carve(picture, rows * sizeof(*table->rows));
	for (size_t i = 0; i < rows; i++) {
		bool retired = i >= from->count;
		size_t line = retired ? i - from->count : i;
		const uint64_t *values = retired ? from->retired_values : from->values;

		draw_row(picture, level, retired,
			 retired ? &from->retired[line] : &from->rows[line], &table->rows[i]);
		table->rows[i].values = draw_line(picture, snapshot, values + line * columns);
		if (!retired)
			table->rows[i].deltas =
				draw_line(picture, snapshot, from->deltas + line * columns);
	}
	draw_values(snapshot, from->pending, table->pending);
}

static void draw_zone(const struct snapshot_zone *from, struct picture_zone *zone)
{
	_Static_assert((int)PICTURE_REASONS == UNATTRIBUTED_REASON_COUNT, "likewise reasons");
	*zone = (struct picture_zone){ .total = from->total,
				       .up = from->state == ZONE_UP,
				       .created_ms = from->created_ms };
	for (size_t mode = 0; mode < PICTURE_MODES; mode++) {
		zone->has_mode[mode] = from->has_mode[mode];
		zone->rows_have_mode[mode] = from->rows_have_mode[mode];
		zone->watts_known[mode] = !isnan(from->watts[mode]);
		zone->node_uj[mode] = from->node_uj[mode];
		memcpy(zone->unattributed_uj[mode], from->unattributed_uj[mode],
		       sizeof(zone->unattributed_uj[mode]));
	}
}

void product_draw(const struct held *held, struct picture *picture)
{
	const struct snapshot *snapshot = held->snapshot;
	size_t size = memory_for(snapshot);

	if (picture->size < size) {
		free(picture->memory);
		picture->size = size * 3 / 2;
		picture->memory = malloc(picture->size);
	}
	if (!picture->memory)
		abort();
	picture->used = 0;
	picture->sequence = snapshot->sequence;
	picture->now_ns = snapshot->monotonic_ns;
	picture->zone_count = snapshot->zone_count;
	picture->account_count = snapshot->account_count;
	picture->columns = PICTURE_NO_ENERGY + PICTURE_MODES * picture->account_count;
	picture->cpu_ns = 0;
	picture->process_overflows = held->product->process_overflows;
	picture->container_overflows = held->product->container_overflows;
	for (size_t z = 0; z < picture->zone_count; z++)
		draw_zone(&snapshot->zones[z], &picture->zones[z]);
	for (size_t c = 0; c < WORLD_COUNTERS; c++) {
		uint32_t column = find_counter(snapshot, signals[c]);

		picture->counters[c] = (struct picture_counter){ 0 };
		if (column != COLUMN_NONE)
			picture->counters[c] =
				(struct picture_counter){ true, snapshot->column[column].node,
							  snapshot->column[column].unattributed };
	}
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		draw_table(picture, snapshot, level);
}
