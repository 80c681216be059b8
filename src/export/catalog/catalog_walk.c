// SPDX-License-Identifier: Apache-2.0
/*
 * A family whose name contains <zone> is walked once for each kind of zone that the node has, in
 * the order in which they first appear, so that each family is in one piece; one whose name
 * contains <counter> or <event>, once for each counter that rows have. The file is long because it
 * has a function for each shape of family, and all of them move the same cursor.
 */
#include "export/catalog/catalog_walk.h"

#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "export/catalog/catalog_counters.h"
#include "export/catalog/catalog_labels.h"
#include "export/catalog/health_walk.h"
#include "export/catalog/value_read.h"

struct walk {
	struct cursor at;
	struct sink *sink;
	bool is_of_kind;     /* the family has <zone> in its name, which stands for ... */
	enum zone_kind kind; /* ... this kind now */
	uint32_t counter;    /* the column of <counter> */
	struct counter_family of_counter; /* the family, for it */
	bool current_only;                /* no family of the classic schema is on the page */
	uint32_t columns[ZONES_MAX];      /* of a block of rows */
	uint64_t spans_ns[ZONES_MAX];     /* of these, where the block has watts */
	uint64_t total_uj;                /* of the node, or: */
	double total_w;
};

static struct value read_one(const struct cursor *at, const struct where *where, size_t index)
{
	struct value value;

	if (at->zone && where->type == AS_ZONE_STATE)
		return (struct value){ .integer = at->zone->state == ZONE_UP };
	/* Values in arrays are 64 bits wide. */
	value = value_read(at->base, where->offset + index * sizeof(uint64_t), where->type);
	value.decimals = where->decimals;
	return value;
}

/* The sum of the modes that the zone has. */
static struct value read_modes(const struct cursor *at, const struct where *where)
{
	struct value sum = { .is_real = where->type == AS_DOUBLE, .decimals = where->decimals };

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		struct value one = read_one(at, where, mode);

		if (!(where->modes & 1U << mode) || !at->zone->has_mode[mode])
			continue;
		sum.integer += one.integer;
		sum.real += one.real;
	}
	return sum;
}

/* Counters of a zone began with it, the others with the program. */
static int64_t created_ms(const struct cursor *at)
{
	return at->zone ? at->zone->created_ms : at->view->start_ms;
}

static void put_point(struct walk *walk, const struct row_text *row)
{
	struct cursor *at = &walk->at;
	const struct where *where = at->variant ? &at->variant->where : &at->family->where;
	struct label_pair texts[POINT_LABELS_MAX];
	struct point point = { .row = row,
			       .created_ms = created_ms(at),
			       .labels = { .labels = texts } };

	point.value =
		at->zone && where->modes ? read_modes(at, where) : read_one(at, where, at->index);
	if (point.value.is_real && isnan(point.value.real))
		return; /* not known */
	point.labels.count = cursor_labels(at, at->family->labels, texts);
	walk->sink->point(walk->sink, &point);
}

/* One value of @base, or its variants. */
static void walk_struct(struct walk *walk, const void *base)
{
	const struct variant *variant = walk->at.family->variants;

	walk->at.base = base;
	if (!variant)
		put_point(walk, NULL);
	for (; variant && variant->text; variant++) {
		walk->at.variant = variant;
		put_point(walk, NULL);
	}
	walk->at.variant = NULL;
}

static const struct snapshot_zone *set_zone(struct walk *walk, uint32_t zone)
{
	walk->at.zone_index = zone;
	walk->at.zone = &walk->at.view->snapshot->zones[zone];
	walk->at.base = walk->at.zone;
	walk->at.index = 0;
	return walk->at.zone;
}

/*
 * A zone whose energy belongs under the current kepler_*_cpu_* names: those that RAPL counts, psys
 * among them, which the current Kepler has there, too, and neither devices nor what is left.
 */
static bool is_measured_cpu(const struct zone *zone)
{
	return zone->quality == QUALITY_MEASURED && zone->kind != ZONE_PLATFORM &&
	       !zone_kind_info[zone->kind].is_device && zone_kind_info[zone->kind].is_metered;
}

/* The zones in kepler_*_gpu_*. */
static bool is_measured_device(const struct zone *zone)
{
	return zone->quality == QUALITY_MEASURED && zone_kind_info[zone->kind].is_device;
}

/* Idle power's policy leaves idle energy: another series could never be but 0. */
static bool can_happen(enum energy_mode mode, enum unattributed_reason reason)
{
	return mode == MODE_IDLE || reason != UNATTRIBUTED_IDLE_POLICY;
}

static void walk_reasons(struct walk *walk)
{
	for (enum unattributed_reason r = 0; r < UNATTRIBUTED_REASON_COUNT; r++) {
		if (!can_happen(walk->at.mode, r))
			continue;
		walk->at.reason = r;
		walk->at.index = (size_t)walk->at.mode * UNATTRIBUTED_REASON_COUNT + r;
		put_point(walk, NULL);
	}
}

static void walk_modes(struct walk *walk, const struct snapshot_zone *zone)
{
	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		walk->at.mode = mode;
		walk->at.index = mode;
		if (!zone->has_mode[mode])
			continue;
		if (walk->at.family->of == OF_ZONE_REASONS)
			walk_reasons(walk);
		else
			put_point(walk, NULL);
	}
}

static bool is_of_family(const struct walk *walk, const struct snapshot_zone *zone)
{
	enum family_of of = walk->at.family->of;

	if (walk->is_of_kind && walk->kind != zone->zone.kind)
		return false;
	if (walk->at.family->schemas == SCHEMA_OPENTELEMETRY && zone->total == TOTAL_NONE)
		return false;
	if (of == OF_PART_MODES || of == OF_WHOLE_MODES)
		return zone_kind_info[zone->zone.kind].is_whole == (of == OF_WHOLE_MODES);
	if (of == OF_ZONES_IN_USE)
		return !zone->ended; /* it will not come back, and need not */
	if (of == OF_ZONES_OF_MODELS)
		return zone->model != 0;
	if (of == OF_REMOTE_ZONES)
		return zone->zone.is_remote;
	if (of == OF_CAVEAT_ZONES)
		return zone->caveat != CAVEAT_NONE && !zone->ended;
	if (of == OF_DEVICE_ZONES)
		return is_measured_device(&zone->zone) &&
		       (walk->at.family->where.modes != 1U << MODE_IDLE ||
			zone->has_mode[MODE_IDLE]);
	if (of == OF_PLATFORM_ZONES)
		return zone->zone.kind == ZONE_PLATFORM;
	if (of == OF_MEASURED_ZONES && walk->at.family->where.modes == 1U << MODE_IDLE)
		return is_measured_cpu(&zone->zone) && zone->has_mode[MODE_IDLE];
	return of != OF_MEASURED_ZONES || is_measured_cpu(&zone->zone);
}

static void walk_zones(struct walk *walk)
{
	enum family_of of = walk->at.family->of;
	bool by_mode = of == OF_ZONE_MODES || of == OF_ZONE_REASONS || of == OF_PART_MODES ||
		       of == OF_WHOLE_MODES;

	for (uint32_t z = 0; z < walk->at.view->snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = set_zone(walk, z);

		if (!is_of_family(walk, zone))
			continue;
		if (by_mode)
			walk_modes(walk, zone);
		else
			put_point(walk, NULL);
	}
}

static const struct snapshot_account *set_account(struct walk *walk, uint32_t index)
{
	const struct snapshot_account *account = &walk->at.view->snapshot->accounts[index];

	(void)set_zone(walk, account->first_zone);
	walk->at.account_index = index;
	return account;
}

static void walk_pending(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;

	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		const struct snapshot_account *account = set_account(walk, i);

		if (!is_of_family(walk, walk->at.zone))
			continue;
		walk->at.base = snapshot->level[walk->at.level].pending;
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			walk->at.mode = mode;
			walk->at.index = account->column[mode];
			if (account->rows_have_mode[mode])
				put_point(walk, NULL);
		}
	}
}

static bool has_level(const struct walk *walk, enum level level)
{
	unsigned levels = walk->at.view->levels;

	return !levels || levels & LEVEL_BIT(level);
}

static void walk_levels(struct walk *walk)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		walk->at.level = level;
		if (walk->at.family->of != OF_PENDING)
			walk_struct(walk, &walk->at.view->snapshot->level[level]);
		else if (has_level(walk, level))
			walk_pending(walk);
	}
}

static void walk_cpus(struct walk *walk)
{
	const struct snapshot_node *node = &walk->at.view->snapshot->node;

	for (uint32_t i = 0; i < node->cpu_list_count; i++) {
		walk->at.cpu = &node->cpu_list[i];
		put_point(walk, NULL);
	}
}

static enum row_names names_of(const struct walk *walk)
{
	unsigned schemas = walk->at.family->schemas;

	if (schemas == SCHEMA_OPENTELEMETRY)
		return NAMES_OPENTELEMETRY;
	return !(schemas & SCHEMA_CLASSIC) || walk->current_only ? NAMES_CURRENT : NAMES_CLASSIC;
}

/*
 * Puts the rows of the first @columns columns of the walk. A counter is "running" for as long as it
 * is shown: with another state its series would end, and another would begin at its full value, so
 * that increase() would miss the step. Watts have the true state.
 */
static void put_rows(struct walk *walk, uint32_t columns)
{
	const struct family *family = walk->at.family;
	bool is_retired = family->of == OF_RETIRED || family->of == OF_RETIRED_DEVICES ||
			  family->of == OF_RETIRED_COUNTERS;
	enum row_kind kind = is_retired ? ROWS_RETIRED : ROWS_LIVING;
	struct label_pair labels[2][POINT_LABELS_MAX];
	struct row_block block = {
		.view = &walk->at.view->rows[family->where.level][kind],
		.names = names_of(walk),
		.columns = walk->columns,
		.column_count = columns,
		.decimals = family->where.decimals,
		.spans_ns = family->type == FAMILY_GAUGE ? walk->spans_ns : NULL,
	};

	if (block.view->count == 0 || !has_level(walk, family->where.level))
		return;
	walk->at.level = family->where.level;
	walk->at.ended = false;
	block.end[0].count = cursor_labels(&walk->at, family->labels, labels[0]);
	block.end[0].labels = labels[0];
	block.end[1] = block.end[0];
	if (family->type == FAMILY_GAUGE) {
		walk->at.ended = true;
		block.end[1].count = cursor_labels(&walk->at, family->labels, labels[1]);
		block.end[1].labels = labels[1];
	}
	walk->sink->rows(walk->sink, &block);
}

/* Under the current names rows show dynamic energy that was measured. */
static bool rows_show(const struct walk *walk, const struct snapshot_account *account,
		      enum energy_mode mode)
{
	if (!account->rows_have_mode[mode])
		return false;
	if (walk->at.family->of == OF_ROWS_DEVICES || walk->at.family->of == OF_RETIRED_DEVICES)
		return mode == MODE_DYNAMIC && is_measured_device(&walk->at.zone->zone);
	if (walk->at.family->schemas == SCHEMA_CURRENT)
		return mode == MODE_DYNAMIC && is_measured_cpu(&walk->at.zone->zone);
	return true;
}

static void walk_account_rows(struct walk *walk)
{
	bool watts = walk->at.family->type == FAMILY_GAUGE;

	for (uint32_t i = 0; i < walk->at.view->snapshot->account_count; i++) {
		const struct snapshot_account *account = set_account(walk, i);

		if (!is_of_family(walk, walk->at.zone) || (watts && !account->span_ns))
			continue;
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			walk->at.mode = mode;
			walk->columns[0] = account->column[mode];
			walk->spans_ns[0] = account->mode_span_ns[mode];
			if (rows_show(walk, account, mode))
				put_rows(walk, 1);
		}
	}
}

static uint32_t total_of(const struct snapshot *snapshot, uint32_t account)
{
	return snapshot->zones[snapshot->accounts[account].first_zone].total;
}

/*
 * True if the power of @total is known, and of all other totals that draw any: people add up the
 * sources' totals, and a sum without one of them would be too low.
 */
static bool total_has_power(const struct snapshot *snapshot, uint32_t total)
{
	bool has_power = false;

	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		uint32_t own = total_of(snapshot, i);

		if (own != TOTAL_NONE && snapshot->accounts[i].lacks_power)
			return false;
		has_power |= own == total && snapshot->accounts[i].span_ns > 0;
	}
	return has_power;
}

/* That of the walk's zone, in its mode. */
static void walk_node_energy(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;
	enum energy_mode mode = walk->at.mode;
	bool any = false;

	walk->total_uj = 0;
	for (uint32_t z = walk->at.zone_index; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (zone->total != walk->at.zone->total || !zone->has_mode[mode])
			continue;
		walk->total_uj += zone->node_uj[mode];
		any = true;
	}
	walk->at.base = &walk->total_uj;
	if (any)
		put_point(walk, NULL);
}

/* The power of an account that rows of containers have. */
static double rows_watts(const struct snapshot *snapshot, const struct snapshot_account *account,
			 enum energy_mode mode)
{
	const struct snapshot_table *table = &snapshot->level[LEVEL_CONTAINER];
	uint64_t energy_uj = 0;

	if (!account->rows_have_mode[mode])
		return 0;
	for (size_t row = 0; row < table->count; row++)
		energy_uj += table->deltas[row * snapshot->columns + account->column[mode]];
	return (double)energy_uj * 1e3 / (double)account->mode_span_ns[mode]; /* µJ in ns are kW */
}

/* The same as power; an account that draws no power has no series. */
static void walk_node_power(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;
	bool less_rows = walk->at.family->of == OF_UNATTRIBUTED_TOTALS;
	enum energy_mode mode = walk->at.mode;
	uint32_t total = walk->at.zone->total;
	bool any = false;

	walk->total_w = 0;
	for (uint32_t z = walk->at.zone_index; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (zone->total != total || !zone->has_mode[mode] || !zone->span_ns)
			continue;
		walk->total_w += zone->watts[mode];
		any = true;
	}
	for (uint32_t i = walk->at.account_index; less_rows && i < snapshot->account_count; i++) {
		if (total_of(snapshot, i) == total && snapshot->accounts[i].span_ns)
			walk->total_w -= rows_watts(snapshot, &snapshot->accounts[i], mode);
	}
	/* In nW: what rounding leaves of equal sums is 0. */
	walk->total_w = fmax(round(walk->total_w * 1e9) / 1e9, 0);
	walk->at.base = &walk->total_w;
	if (any)
		put_point(walk, NULL);
}

/* The labels of the pod, in the form of the page; NULL: the page does not show it. */
static const struct row_text *unit_text(const struct walk *walk, const struct snapshot_unit *unit)
{
	const struct row_view *view = &walk->at.view->rows[LEVEL_POD][ROWS_LIVING];

	for (uint32_t row = 0; row < view->count; row++) {
		if (view->rows[row].labels == unit->labels)
			return view->texts[names_of(walk)][row].text
				       ? &view->texts[names_of(walk)][row]
				       : NULL;
	}
	return NULL;
}

static void put_unit(struct walk *walk, const struct snapshot_unit *unit, uint64_t value)
{
	bool is_attribute = walk->at.family->schemas == SCHEMA_OPENTELEMETRY;
	struct label_pair texts[POINT_LABELS_MAX];
	struct point point = {
		.row = unit_text(walk, unit),
		.created_ms = unit->created_ms,
		.labels = { .labels = texts },
		.value = { .integer = value, .decimals = walk->at.family->where.decimals },
	};

	if (!point.row)
		return;
	/* There, points are the machine's, and the pod is in their own attributes. */
	point.row = is_attribute ? NULL : point.row;
	walk->at.unit = unit;
	point.labels.count = cursor_labels(&walk->at, walk->at.family->labels, texts);
	walk->sink->point(walk->sink, &point);
}

static void walk_units(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;

	for (uint32_t i = 0; i < snapshot->unit_count && has_level(walk, LEVEL_POD); i++)
		put_unit(walk, &snapshot->units[i], snapshot->units[i].amount_micro);
}

/* The energy of units in the walk's total and mode: the sum of columns that its rows have. */
static void walk_unit_energy(struct walk *walk, uint32_t columns)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;

	for (uint32_t i = 0; i < snapshot->unit_count && has_level(walk, LEVEL_POD); i++) {
		uint64_t sum = 0;

		for (uint32_t c = 0; c < columns; c++)
			sum += snapshot->units[i].values[walk->columns[c]];
		put_unit(walk, &snapshot->units[i], sum);
	}
}

static void walk_row_total(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;
	bool watts = walk->at.family->type == FAMILY_GAUGE;
	enum energy_mode mode = walk->at.mode;
	uint32_t columns = 0;

	for (uint32_t i = walk->at.account_index; i < snapshot->account_count; i++) {
		const struct snapshot_account *account = &snapshot->accounts[i];

		if (total_of(snapshot, i) != walk->at.zone->total ||
		    !account->rows_have_mode[mode] || (watts && !account->span_ns))
			continue;
		walk->spans_ns[columns] = account->mode_span_ns[mode];
		walk->columns[columns++] = account->column[mode];
	}
	if (columns > 0 && walk->at.family->of == OF_UNIT_ENERGY)
		walk_unit_energy(walk, columns);
	else if (columns > 0)
		put_rows(walk, columns);
}

static void walk_total(struct walk *walk)
{
	bool watts = walk->at.family->type == FAMILY_GAUGE;

	if (walk->at.family->of == OF_ROW_TOTALS || walk->at.family->of == OF_UNIT_ENERGY)
		walk_row_total(walk);
	else if (watts)
		walk_node_power(walk);
	else
		walk_node_energy(walk);
}

/* They are numbered in the order of their first zones, as accounts are. */
static void walk_totals(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;
	uint32_t walked = TOTAL_NONE;

	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		if (total_of(snapshot, i) <= walked)
			continue;
		walked = total_of(snapshot, i);
		if (walk->at.family->type == FAMILY_GAUGE && !total_has_power(snapshot, walked))
			continue;
		(void)set_account(walk, i);
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			walk->at.mode = mode;
			walk_total(walk);
		}
	}
}

/* Facts that arrive late or change are labels of info metrics: there they end no counter. */
static void walk_pods(struct walk *walk)
{
	const struct row_view *view = &walk->at.view->rows[LEVEL_POD][ROWS_LIVING];

	for (uint32_t row = 0; row < view->count; row++) {
		const struct row_text *text = &view->texts[NAMES_CURRENT][row];

		walk->at.row = &view->rows[row];
		if (text->text && walk->at.row->labels->names->text[LABEL_POD_ID][0])
			put_point(walk, text);
		/* else it hangs on an earlier row, or is the pods for which there was no room */
	}
}

/* Walks one column that is not an energy. */
static void walk_column(struct walk *walk, uint32_t column)
{
	walk->columns[0] = column;
	put_rows(walk, 1);
}

static void walk_rows(struct walk *walk)
{
	if (walk->at.family->of == OF_ROWS_CPU)
		walk_column(walk, COLUMN_CPU);
	else if (walk->at.family->of == OF_PODS)
		walk_pods(walk);
	else
		walk_account_rows(walk);
}

static void walk_pending_counter(struct walk *walk)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		if (!level_info[level].has_work || !has_level(walk, level))
			continue;
		walk->at.level = level;
		walk->at.base = walk->at.view->snapshot->level[level].pending;
		walk->at.index = walk->counter;
		put_point(walk, NULL);
	}
}

static void walk_counter(struct walk *walk)
{
	if (walk->at.family->of == OF_COUNTERS)
		walk_struct(walk, &walk->at.view->snapshot->column[walk->counter]);
	else if (walk->at.family->of == OF_PENDING_COUNTERS)
		walk_pending_counter(walk);
	else
		walk_column(walk, walk->counter);
}

/* The page's own, or the server's, which is not there where a file is written. */
static void walk_page(struct walk *walk)
{
	const struct catalog_view *view = walk->at.view;

	if (walk->at.family->of == OF_PAGE)
		walk_struct(walk, view);
	else if (view->http)
		walk_struct(walk, view->http);
}

static void walk_family(struct walk *walk)
{
	switch (walk->at.family->of) {
	case OF_PAGE:
	case OF_HTTP:
		walk_page(walk);
		break;
	case OF_SNAPSHOT:
		walk_struct(walk, walk->at.view->snapshot);
		break;
	case OF_CPUS:
		walk_cpus(walk);
		break;
	case OF_PENDING:
	case OF_LEVELS:
		walk_levels(walk);
		break;
	case OF_ROWS:
	case OF_ROWS_DEVICES:
	case OF_RETIRED:
	case OF_RETIRED_DEVICES:
	case OF_ROWS_CPU:
	case OF_PODS:
		walk_rows(walk);
		break;
	case OF_COUNTERS:
	case OF_PENDING_COUNTERS:
	case OF_ROWS_COUNTERS:
	case OF_RETIRED_COUNTERS:
		walk_counter(walk);
		break;
	case OF_UNITS:
		walk_units(walk);
		break;
	case OF_TOTALS:
	case OF_UNATTRIBUTED_TOTALS:
	case OF_ROW_TOTALS:
	case OF_UNIT_ENERGY:
		walk_totals(walk);
		break;
	case OF_ZONES:
	case OF_ZONES_OF_MODELS:
	case OF_ZONES_IN_USE:
	case OF_REMOTE_ZONES:
	case OF_CAVEAT_ZONES:
	case OF_ZONE_MODES:
	case OF_PART_MODES:
	case OF_WHOLE_MODES:
	case OF_ZONE_REASONS:
	case OF_MEASURED_ZONES:
	case OF_DEVICE_ZONES:
	case OF_PLATFORM_ZONES:
	case OF_PART: /* none of the catalog's */
	default:
		walk_zones(walk);
	}
}

static void begin_family(struct walk *walk, const char *one)
{
	char name[FAMILY_NAME_MAX];

	family_name(walk->at.family, one, name);
	walk->at.base = walk->at.view;
	walk->at.index = 0;
	walk->at.zone = NULL;
	walk->sink->family(walk->sink, walk->at.family, name);
	walk_family(walk);
}

static void walk_kinds(struct walk *walk)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;
	unsigned walked = 0; /* kinds */

	walk->is_of_kind = true;
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		walk->kind = snapshot->zones[z].zone.kind;
		if (!(walked & 1U << walk->kind))
			begin_family(walk, zone_kind_name(walk->kind));
		walked |= 1U << walk->kind;
	}
	walk->is_of_kind = false;
}

static void walk_counters(struct walk *walk, unsigned schemas)
{
	const struct snapshot *snapshot = walk->at.view->snapshot;
	const struct family *family = walk->at.family;

	walk->at.family = &walk->of_counter.family;
	for (uint32_t i = 0; i < snapshot->columns; i++) {
		const struct quantity *quantity = snapshot->column[i].of.quantity;

		if (!counter_is_of_family(family, quantity, schemas))
			continue;
		walk->counter = i;
		counter_family(family, quantity, &walk->of_counter);
		begin_family(walk, quantity->name);
	}
}

/* A family that has nothing but rows of levels. Others have to be named here to count as such. */
static bool has_rows_alone(const struct family *family)
{
	static const enum family_of kinds[] = {
		OF_ROWS,     OF_ROWS_DEVICES,  OF_ROW_TOTALS,       OF_RETIRED, OF_RETIRED_DEVICES,
		OF_ROWS_CPU, OF_ROWS_COUNTERS, OF_RETIRED_COUNTERS, OF_PODS,    OF_UNIT_ENERGY,
		OF_UNITS,
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (family->of == kinds[i])
			return true;
	}
	return false;
}

void catalog_walk(const struct catalog_view *view, unsigned schemas, struct sink *sink)
{
	struct walk walk = {
		.at = { .view = view },
		.sink = sink,
		.current_only = schemas == SCHEMA_CURRENT,
	};
	bool is_opentelemetry = schemas == SCHEMA_OPENTELEMETRY;
	const struct family *(*at)(size_t index) =
		is_opentelemetry ? catalog_opentelemetry_at : catalog_at;
	const struct family *family;

	cursor_find_namesakes(&walk.at);
	if (schemas == SCHEMA_CURRENT)
		schemas |= SCHEMA_CURRENT_ALONE;
	for (size_t i = 0; (family = at(i)); i++) {
		enum family_each each = family_each(family);

		walk.at.family = family;
		if (!(family->schemas & schemas) || (view->rows_only && !has_rows_alone(family)))
			continue;
		if (each == EACH_ZONE)
			walk_kinds(&walk);
		else if (each == EACH_COUNTER)
			walk_counters(&walk, schemas);
		else
			begin_family(&walk, "");
	}
	if (!is_opentelemetry && !view->rows_only)
		health_walk(view, sink);
}
