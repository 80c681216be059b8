// SPDX-License-Identifier: Apache-2.0
/* TEST_UPDATE_GOLDEN=1 rewrites golden/: look at the difference before you commit it. */
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/map.h"
#include "base/num.h"
#include "energy/total.h"
#include "export/label_escape.h"
#include "export/prometheus.h"
#include "exposition_parser.h"
#include "fixture.h"
#include "tests/unit/unit.h"

static const struct http_stats http = { .requests = { 0, 0, 10, 0, 2, 3 },
					.cuts = { 1, 2, 3, 4, 5, 6 },
					.connections = 1,
					.connections_total = 5,
					.bytes_sent = 12345,
					.accept_errors = 7 };

static void render_as(const struct snapshot *snapshot, const struct page_options *options,
		      enum exposition exposition, struct strbuf *out)
{
	struct label_cache *cache;
	const struct page_format *format = &prometheus_pages.formats[exposition];

	assert_int_equal(label_cache_new(format->labels, NAMES_OF_PAGES, &cache), 0);
	assert_int_equal(page_render(format, snapshot, &http, options, cache, out), 0);
	label_cache_free(cache);
}

static void render(const struct snapshot *snapshot, enum metrics_schema schema,
		   enum exposition exposition, struct strbuf *out)
{
	const struct page_options options = { .schema = schema, .created = true };

	render_as(snapshot, &options, exposition, out);
}

static void golden_path(char *path, size_t size, const char *name)
{
	const char *root = getenv("TEST_SOURCE_ROOT");

	(void)snprintf(path, size, "%s/tests/unit/export/golden/%s", root ? root : ".", name);
}

/* As the parser has it. */
static unsigned openmetrics_of(enum exposition exposition)
{
	if (exposition == EXPOSITION_OPENMETRICS_2)
		return 2;
	return exposition == EXPOSITION_OPENMETRICS;
}

/* Processors are called as in Go and in images of containers. */
static const char *name_of_this_processor(struct utsname *machine)
{
	assert_int_equal(uname(machine), 0);
	if (strcmp(machine->machine, "x86_64") == 0)
		return "amd64";
	return strcmp(machine->machine, "aarch64") == 0 ? "arm64" : machine->machine;
}

/* The pages were written on x86-64. */
static void name_this_processor(const char *page, struct strbuf *ret)
{
	static const char written[] = "arch=\"amd64\"";
	struct utsname machine;
	const char *found;

	while ((found = strstr(page, written))) {
		strbuf_add(ret, page, (size_t)(found - page));
		strbuf_addf(ret, "arch=\"%s\"", name_of_this_processor(&machine));
		page = found + strlen(written);
	}
	strbuf_add_str(ret, page);
}

static void check_golden(const struct fixture *fixture, enum metrics_schema schema,
			 enum exposition exposition, const char *name)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT, of_this_processor = STRBUF_INIT;
	CLEANUP_FREE char *want = NULL;
	char path[4096];
	size_t len = 0;

	render(&fixture->snapshot, schema, exposition, &out);
	golden_path(path, sizeof(path), name);
	if (getenv("TEST_UPDATE_GOLDEN"))
		assert_int_equal(write_file_atomic(path, out.data, out.len, 0644), 0);
	if (read_file_alloc(path, 1 << 20, &want, &len) < 0) {
		print_error("cannot read %s\n", path);
		fail();
	}
	name_this_processor(want, &of_this_processor);
	assert_string_equal(out.data, of_this_processor.data);
	assert_true(exposition_parse(out.data, out.len, openmetrics_of(exposition), NULL, NULL) >
		    0);
}

static void matches_the_golden_pages(void **state)
{
	struct fixture fixture;

	fixture_node(&fixture);
	check_golden(&fixture, SCHEMA_CLASSIC, EXPOSITION_TEXT, "classic.txt");
	check_golden(&fixture, SCHEMA_CURRENT, EXPOSITION_TEXT, "current.txt");
	check_golden(&fixture, SCHEMA_BOTH, EXPOSITION_TEXT, "both.txt");
	check_golden(&fixture, SCHEMA_BOTH, EXPOSITION_OPENMETRICS, "openmetrics.txt");
	check_golden(&fixture, SCHEMA_BOTH, EXPOSITION_OPENMETRICS_2, "openmetrics-2.txt");
	fixture_release(&fixture);
	fixture_vm(&fixture);
	check_golden(&fixture, SCHEMA_BOTH, EXPOSITION_TEXT, "vm.txt");
	fixture_release(&fixture);
	fixture_bare(&fixture);
	check_golden(&fixture, SCHEMA_BOTH, EXPOSITION_TEXT, "bare.txt");
	fixture_release(&fixture);
}

/* The lines of @text that are no sample of a _created, in place. */
static void leave_out_created(struct strbuf *text)
{
	size_t kept = 0, len;

	for (size_t at = 0; at < text->len; at += len) {
		size_t name_len = strcspn(text->data + at, "{ ");

		len = strcspn(text->data + at, "\n") + 1;
		if (name_len > 8 && memcmp(text->data + at + name_len - 8, "_created", 8) == 0)
			continue;
		memmove(text->data + kept, text->data + at, len);
		kept += len;
	}
	text->len = kept;
	text->data[kept] = '\0';
}

/* Prometheus keeps each _created as a series of its own: they double its series. */
static void created_is_shown_only_where_it_is_wanted(void **state)
{
	const struct page_options options = { .schema = SCHEMA_BOTH };
	CLEANUP(strbuf_release) struct strbuf with = STRBUF_INIT, without = STRBUF_INIT;
	struct fixture fixture;

	fixture_node(&fixture);
	render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_OPENMETRICS, &with);
	render_as(&fixture.snapshot, &options, EXPOSITION_OPENMETRICS, &without);
	assert_non_null(strstr(with.data, "_created{"));
	assert_null(strstr(without.data, "_created{"));
	leave_out_created(&with);
	assert_string_equal(without.data, with.data);
	fixture_release(&fixture);
}

/* An exporter's value of one kind and mode (and package, or NULL), summed from text alone. */
struct ledger_sums {
	const char *zone, *package, *mode;
	uint64_t node, unattributed, rows[LEVEL_COUNT], retired[LEVEL_COUNT], pending[LEVEL_COUNT];
};

static bool is_family(const struct parsed_sample *sample, const char *level, const char *what)
{
	char name[128];

	(void)snprintf(name, sizeof(name), "kepler_%s_%s_joules_total", level, what);
	return strcmp(sample->name, name) == 0;
}

static bool label_is(const struct parsed_sample *sample, const char *name, const char *want)
{
	const char *value = parsed_label(sample, name);

	return value && strcmp(value, want) == 0;
}

static void add_to_sums(void *userdata, const struct parsed_sample *sample)
{
	struct ledger_sums *sums = userdata;
	uint64_t value;
	bool zone = label_is(sample, "zone", sums->zone);

	if ((sums->package && !label_is(sample, "package", sums->package)) ||
	    !label_is(sample, "mode", sums->mode) || !parsed_micros(sample->value, &value))
		return;
	if (is_family(sample, "node", sums->zone))
		sums->node += value;
	if (is_family(sample, "node", "unattributed") && zone)
		sums->unattributed += value;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const char *name = level_info[level].name;

		if (is_family(sample, name, sums->zone))
			sums->rows[level] += value;
		if (is_family(sample, name, "retired") && zone)
			sums->retired[level] += value;
		if (strcmp(sample->name, "kepler_pending_joules") == 0 && zone &&
		    label_is(sample, "level", name))
			sums->pending[level] += value;
	}
}

static uint64_t node_of(const struct fixture *fixture, const struct account *account,
			enum energy_mode mode)
{
	uint64_t sum = 0;

	for (uint32_t z = account->first_zone; z != ZONE_NONE; z = fixture->layout.zones[z].next)
		sum += fixture->zones[z].node_uj[mode];
	return sum;
}

static void the_page_adds_up(const struct fixture *fixture)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	render(&fixture->snapshot, SCHEMA_CLASSIC, EXPOSITION_TEXT, &out);
	for (uint32_t i = 0; i < fixture->layout.account_count; i++) {
		const struct account *account = &fixture->layout.accounts[i];
		const struct zone *zone = &fixture->zones[account->first_zone].zone;

		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			struct ledger_sums sums = { .zone = zone_kind_name(zone->kind),
						    .package = fixture->layout.by_zone
								       ? zone->instance
								       : NULL,
						    .mode = energy_mode_name(mode) };

			assert_true(exposition_parse(out.data, out.len, false, add_to_sums, &sums) >
				    0);
			assert_int_equal(sums.node, node_of(fixture, account, mode));
			for (enum level level = 0; level < LEVEL_COUNT; level++) {
				if (level != LEVEL_POD && level != LEVEL_VM)
					assert_int_equal(sums.rows[level] + sums.retired[level] +
								 sums.pending[level] +
								 sums.unattributed,
							 sums.node);
			}
		}
	}
}

struct total_sums {
	const char *mode, *source;
	uint64_t node, rows[LEVEL_COUNT];
};

static void add_to_totals(void *userdata, const struct parsed_sample *sample)
{
	struct total_sums *sums = userdata;
	char name[128];
	uint64_t value;

	if (!label_is(sample, "mode", sums->mode) || !label_is(sample, "source", sums->source) ||
	    !parsed_micros(sample->value, &value))
		return;
	if (strcmp(sample->name, "kepler_node_joules_total") == 0)
		sums->node += value;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		(void)snprintf(name, sizeof(name), "kepler_%s_joules_total",
			       level_info[level].name);
		if (strcmp(sample->name, name) == 0)
			sums->rows[level] += value;
	}
}

static bool is_in_total_of(const struct snapshot_zone *zone, const char *source)
{
	return zone->total != TOTAL_NONE && strcmp(zone->zone.source, source) == 0;
}

/* The sums of the zones of @source in the total, of the node and of all rows of each level. */
static struct total_sums totals_of(const struct snapshot *snapshot, enum energy_mode mode,
				   const char *source)
{
	struct total_sums sums = { .mode = energy_mode_name(mode), .source = source };

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (!is_in_total_of(zone, source))
			continue;
		sums.node += zone->node_uj[mode];
	}
	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		const struct snapshot_account *account = &snapshot->accounts[i];
		uint32_t column = account->column[mode];

		if (!is_in_total_of(&snapshot->zones[account->first_zone], source) ||
		    column == COLUMN_NONE)
			continue;
		for (enum level level = 0; level < LEVEL_COUNT; level++) {
			const struct snapshot_table *table = &snapshot->level[level];

			for (size_t row = 0; row < table->count; row++)
				sums.rows[level] += table->values[row * snapshot->columns + column];
		}
	}
	return sums;
}

/* In each schema, in the names of its rows. */
static void the_totals_add_up(const struct fixture *fixture)
{
	for (enum metrics_schema schema = SCHEMA_CLASSIC; schema <= SCHEMA_BOTH; schema++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		render(&fixture->snapshot, schema, EXPOSITION_TEXT, &out);
		assert_int_equal(strstr(out.data, "kepler_process_joules_total{pid=\"\",comm=") !=
					 NULL,
				 schema == SCHEMA_CURRENT);
		for (uint32_t z = 0; z < fixture->snapshot.zone_count * MODE_COUNT; z++) {
			const struct total_sums want =
				totals_of(&fixture->snapshot, z % MODE_COUNT,
					  fixture->zones[z / MODE_COUNT].zone.source);
			struct total_sums sums = { .mode = want.mode, .source = want.source };

			assert_true(exposition_parse(out.data, out.len, false, add_to_totals,
						     &sums) > 0);
			assert_int_equal(sums.node, want.node);
			assert_memory_equal(sums.rows, want.rows, sizeof(want.rows));
		}
	}
}

static void sums_hold_on_the_text(void **state)
{
	static const struct fixture_shape shapes[] = {
		{ .zones = 3, .containers = 2, .processes = 5 },
		{ .zones = 4, .containers = 7, .processes = 500, .idle_on_rows = true },
		{ .zones = 4,
		  .containers = 3,
		  .processes = 5,
		  .idle_on_rows = true,
		  .by_zone = true },
		{ .zones = 1, .containers = 1, .processes = 1 },
		{ .zones = 3, .containers = 2, .processes = 5, .taken_over = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct fixture fixture;

		fixture_make(&fixture, &shapes[i]);
		the_page_adds_up(&fixture);
		the_totals_add_up(&fixture);
		fixture_release(&fixture);
	}
}

struct seen {
	struct map keys, families;
	char last_family[128];
	unsigned idle_rows, joules;
};

static struct map_key key_of(const char *text, size_t len)
{
	return (struct map_key){ label_hash(text, len), len };
}

static void note_sample(void *userdata, const struct parsed_sample *sample)
{
	struct seen *seen = userdata;
	struct map_key key = key_of(sample->line, sample->key_len);

	if (map_find(&seen->keys, key) != MAP_NONE)
		fail_msg("twice: %.*s", (int)sample->key_len, sample->line);
	assert_int_equal(map_put(&seen->keys, key, 1), 0);
	if (strcmp(seen->last_family, sample->family) != 0) {
		key = key_of(sample->family, strlen(sample->family));
		if (map_find(&seen->families, key) != MAP_NONE)
			fail_msg("in two pieces: %s", sample->family);
		assert_int_equal(map_put(&seen->families, key, 1), 0);
		(void)snprintf(seen->last_family, sizeof(seen->last_family), "%s", sample->family);
	}
	seen->joules += strstr(sample->name, "_joules") != NULL;
	seen->idle_rows += strstr(sample->name, "kepler_process") == sample->name &&
			   label_is(sample, "mode", "idle");
}

static void look_at(const struct snapshot *snapshot, enum metrics_schema schema,
		    enum exposition exposition, struct seen *seen)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	*seen = (struct seen){ 0 };
	map_init(&seen->keys, 1 << 20);
	map_init(&seen->families, 1 << 20);
	render(snapshot, schema, exposition, &out);
	assert_true(exposition_parse(out.data, out.len, openmetrics_of(exposition), note_sample,
				     seen) > 0);
	map_release(&seen->keys);
	map_release(&seen->families);
}

static void no_series_twice_and_no_family_in_pieces(void **state)
{
	static const struct fixture_shape shape = { .zones = 4,
						    .containers = 20,
						    .processes = 2000,
						    .idle_on_rows = true,
						    .groups = true };
	struct fixture fixture;
	struct seen seen;

	fixture_make(&fixture, &shape);
	for (enum metrics_schema schema = SCHEMA_CLASSIC; schema <= SCHEMA_BOTH; schema++) {
		look_at(&fixture.snapshot, schema, EXPOSITION_TEXT, &seen);
		look_at(&fixture.snapshot, schema, EXPOSITION_OPENMETRICS, &seen);
		look_at(&fixture.snapshot, schema, EXPOSITION_OPENMETRICS_2, &seen);
	}
	fixture_release(&fixture);
}

static void equal_rows_become_one_series_and_keep_the_sum(void **state)
{
	static const struct fixture_shape shape = { .zones = 2, .containers = 3, .processes = 40 };
	struct fixture fixture;
	struct seen seen;

	fixture_make(&fixture, &shape);
	for (uint32_t i = 12; i < 40; i += 3) { /* one pid and command, one container */
		fixture.labels[LEVEL_PROCESS][i].pid = 77;
		(void)snprintf(fixture.labels[LEVEL_PROCESS][i].command, LEDGER_COMM_MAX, "sh");
	}
	look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_OPENMETRICS, &seen);
	the_page_adds_up(&fixture);
	fixture_release(&fixture);
}

static void zones_that_look_alike_stay_apart(void **state)
{
	static const struct fixture_shape shape = {
		.zones = 4, .containers = 1, .processes = 3, .by_zone = true
	};
	struct fixture fixture;
	struct seen seen;

	fixture_make(&fixture, &shape);
	(void)snprintf(fixture.zones[1].zone.instance, sizeof(fixture.zones[1].zone.instance), "0");
	look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &seen);
	fixture_release(&fixture);
}

/* Rows of two sources of one kind, or of one source that both measures and estimates. */
static void accounts_that_look_alike_stay_apart(void **state)
{
	static const struct fixture_shape shape = {
		.zones = 2, .containers = 1, .processes = 3, .by_zone = true
	};
	struct fixture fixture;
	struct seen seen;

	fixture_make(&fixture, &shape);
	fixture.snapshot.by_zone = false; /* as two accounts of the kind are, each of one zone */
	fixture.zones[1].zone.source = "another";
	look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &seen);
	fixture.zones[1].zone.source = fixture.zones[0].zone.source;
	fixture.zones[1].zone.quality = QUALITY_ESTIMATED;
	look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &seen);
	fixture_release(&fixture);
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned found = 0;

	for (; (text = strstr(text, what)); text++)
		found++;
	return found;
}

static unsigned lines_of(const char *text, const char *begin, const char *label)
{
	unsigned found = 0;

	for (; (text = strstr(text, begin)); text++)
		found += memmem(text, strcspn(text + 1, "\n"), label, strlen(label)) != NULL;
	return found;
}

/*
 * An account of two zones is before one that is estimated: the rows of that have the number of its
 * own zone, as the node has it, and not the one of another zone.
 */
static void rows_have_the_number_of_their_zone(void **state)
{
	static const struct fixture_shape shape = { .zones = 3, .containers = 1, .processes = 1 };
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	fixture_make(&fixture, &shape);
	for (unsigned z = 0; z < 3; z++)
		fixture.zones[z].zone.instance[0] = '\0';
	fixture.zones[2].zone.kind = ZONE_PACKAGE;
	fixture.zones[2].zone.quality = QUALITY_ESTIMATED;
	render(&fixture.snapshot, SCHEMA_CLASSIC, EXPOSITION_TEXT, &out);
	assert_true(lines_of(out.data, "\nkepler_node_package_joules_total{", "package=\"#1\""));
	assert_true(lines_of(out.data, "\nkepler_node_package_joules_total{", "package=\"#2\""));
	assert_true(lines_of(out.data, "\nkepler_process_package_joules_total{", "package=\"#2\""));
	assert_false(
		lines_of(out.data, "\nkepler_process_package_joules_total{", "package=\"#1\""));
	fixture_release(&fixture);
}

/* Rows tell packages apart only where that is asked for; the node and what no row got always do. */
static void rows_sum_packages_unless_asked(void **state)
{
	for (unsigned by_zone = 0; by_zone < 2; by_zone++) {
		const struct fixture_shape shape = {
			.zones = 4, .containers = 1, .processes = 1, .by_zone = by_zone
		};
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
		struct fixture fixture;
		unsigned more = by_zone ? 1 : 0;

		fixture_make(&fixture, &shape);
		render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &out);
		assert_int_equal(
			count_of(out.data, "\nkepler_node_package_joules_total{package=\"1\""), 2);
		assert_int_equal(count_of(out.data, "\nkepler_process_package_joules_total{"),
				 1 + more);
		assert_int_equal(count_of(out.data, "\nkepler_process_cpu_joules_total{"),
				 3 + more);
		assert_int_equal(count_of(out.data, "\nkepler_pending_joules{level=\"process\""),
				 3 + more);
		for (const char *line = out.data; (line = strstr(line, "\nkepler_process_"));
		     line++) {
			size_t len = strcspn(line + 1, "\n");

			if (!memmem(line, len, "package_joules", 14) &&
			    !memmem(line, len, "_cpu_joules", 11) &&
			    !memmem(line, len, "cpu_watts", 9))
				continue; /* CPU time, a total */
			assert_int_equal(memmem(line, len, ",package=\"", 10) != NULL ||
						 memmem(line, len, "path=\"intel", 11) != NULL,
					 by_zone);
		}
		fixture_release(&fixture);
	}
}

static void absent_is_not_zero(void **state)
{
	static const struct fixture_shape shape = { .zones = 1, .containers = 1, .processes = 3 };
	struct fixture fixture;
	struct seen seen;

	fixture_bare(&fixture);
	look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &seen);
	assert_int_equal(seen.joules, 0);
	fixture_release(&fixture);
	fixture_make(&fixture, &shape);
	look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &seen);
	assert_int_equal(seen.idle_rows, 0);
	fixture_release(&fixture);
}

static void hostile_names_forge_nothing(void **state)
{
	static const struct fixture_shape shape = { .zones = 1, .containers = 4, .processes = 200 };
	struct fixture fixture;
	struct seen seen;
	uint64_t seed = 88172645463325252ULL;

	fixture_make(&fixture, &shape);
	for (unsigned round = 0; round < 40; round++) {
		for (uint32_t i = 0; i < 200; i++) {
			for (size_t c = 0; c < LEDGER_COMM_MAX - 1; c++) {
				seed ^= seed << 13;
				seed ^= seed >> 7;
				seed ^= seed << 17;
				fixture.labels[LEVEL_PROCESS][i].command[c] =
					seed & 0x100 ? (char)seed : "\"\\\n{} 1"[seed % 7];
			}
		}
		for (uint32_t i = 0; i < 4; i++)
			(void)snprintf(fixture.names[i].id, 128, "x%c", (char)(0x80 + i));
		look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &seen);
		look_at(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_OPENMETRICS_2, &seen);
		the_page_adds_up(&fixture);
	}
	fixture_release(&fixture);
}

static void an_estimate_never_looks_measured(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	fixture_vm(&fixture);
	render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &out);
	assert_null(strstr(out.data, "_cpu_joules_total"));
	assert_null(strstr(out.data, "_cpu_watts"));
	assert_null(strstr(out.data, "mode=\"idle\""));
	assert_null(strstr(out.data, "rapl"));
	assert_non_null(strstr(out.data, "quality=\"estimated\""));
	for (const char *line = out.data; (line = strstr(line, "joules_total{")); line++)
		assert_non_null(
			memmem(line, strcspn(line, "\n"), "source=\"trained_power_model\"", 28));
	fixture_release(&fixture);
}

/* A meter that took over from the estimate, whose series are still kept. */
static void a_node_with_both_says_so(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	fixture_node(&fixture);
	fixture.zones[0].zone.quality = QUALITY_ESTIMATED;
	render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &out);
	assert_non_null(strstr(out.data, "quality=\"both\""));
	fixture_release(&fixture);
}

/* After a gap the first good reading brings the energy of all of it: its power is over the gap. */
static void power_is_over_the_time_that_its_energy_took(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	double watts[2] = { 0, 0 };
	struct fixture fixture;

	fixture_vm(&fixture);
	for (int i = 0; i < 2; i++) {
		static const char name[] = "\nkepler_container_platform_watts{";

		fixture.zones[0].span_ns = i ? 60 * NSEC_PER_MSEC : NSEC_PER_MSEC;
		fixture_follow_zones(&fixture);
		strbuf_reset(&out);
		render(&fixture.snapshot, SCHEMA_CLASSIC, EXPOSITION_TEXT, &out);
		for (const char *line = out.data; (line = strstr(line, name)); line++) {
			double value;

			assert_int_equal(sscanf(strstr(line, "} "), "} %lf", &value), 1);
			watts[i] += value;
		}
	}
	assert_true(watts[1] > 0 && watts[0] / watts[1] > 59.9 && watts[0] / watts[1] < 60.1);
	fixture_release(&fixture);
}

/* The one complaint is of a name we inherited. */
static void promtool_finds_only_the_inherited_unit(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	char path[] = "/tmp/kepler-promtool-XXXXXX", command[256], line[512];
	struct fixture fixture;
	unsigned complaints = 0;
	FILE *pipe;
	int fd;

	if (system("command -v promtool >/dev/null 2>&1") != 0) {
		print_message("# not possible here: promtool is not installed\n");
		return;
	}
	fixture_node(&fixture);
	render(&fixture.snapshot, SCHEMA_BOTH, EXPOSITION_TEXT, &out);
	fixture_release(&fixture);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, out.data, out.len), out.len);
	close(fd);
	(void)snprintf(command, sizeof(command), "promtool check metrics <%s 2>&1", path);
	pipe = popen(command, "re");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		if (!strstr(line, "_bpf_cpu_time_ms_total ") ||
		    !strstr(line, "abbreviated units")) {
			print_error("%s", line);
			complaints++;
		}
	}
	(void)pclose(pipe);
	(void)unlink(path);
	assert_int_equal(complaints, 0);
}

#define ASKS_PROTOBUF                                                                              \
	"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"                 \
	"encoding=delimited"
#define PROTOBUF                                                                                   \
	"application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "               \
	"encoding=delimited"
#define OPENMETRICS   "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define OPENMETRICS_2 "application/openmetrics-text; version=2.0.0; charset=utf-8"
#define TEXT          "text/plain; version=0.0.4; charset=utf-8"
#define TEXT_1_0_0    "text/plain; version=1.0.0; charset=utf-8"

static const struct {
	const char *accept, *want;
} preferences[] = {
	{ NULL, TEXT },
	{ "", TEXT },
	{ "*/*", TEXT },
	{ "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", TEXT },
	{ "application/openmetrics-text", OPENMETRICS },
	{ "Application/OpenMetrics-Text; version=1.0.0; charset=utf-8", OPENMETRICS },
	{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
	  "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	  OPENMETRICS },
	{ "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.7", TEXT },
	{ "application/openmetrics-text;version=0.0.1", TEXT },
	{ "application/openmetrics-text;version=2.0.0;q=1,text/plain;q=0.1", OPENMETRICS_2 },
	{ "application/openmetrics-text;version=\"2.0.0\"", OPENMETRICS_2 },
	{ "application/openmetrics-text;version=2.0.1", TEXT },
	{ "application/openmetrics-text;version=2.0.0;q=0.5,application/openmetrics-text;q=0.6",
	  OPENMETRICS },
	/* Prometheus 3.15 that is configured to scrape it */
	{ "application/openmetrics-text;version=2.0.0;escaping=allow-utf-8;q=0.6,*/*;q=0.5",
	  OPENMETRICS_2 "; escaping=allow-utf-8" },
	{ "application/openmetrics-text;q=0", TEXT },
	{ "application/openmetrics-text;q=x", TEXT },
	{ "application/openmetrics-text;q=0.001", OPENMETRICS },
	{ "application/openmetrics-text,text/plain", TEXT },
	{ ",;,;q=,application/openmetrics-text;;;", OPENMETRICS },
	/* What says which message, and how it is framed, is needed. */
	{ ASKS_PROTOBUF, PROTOBUF },
	{ "application/vnd.google.protobuf;proto=\"io.prometheus.client.MetricFamily\";"
	  "encoding=\"delimited\"",
	  PROTOBUF },
	{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;q=0.8", TEXT },
	{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
	  "encoding=text",
	  TEXT },
	{ "application/vnd.google.protobuf;proto=a.b;encoding=delimited", TEXT },
	{ ASKS_PROTOBUF ";q=0", TEXT },
	{ ASKS_PROTOBUF ";q=0.5,application/openmetrics-text;q=0.6", OPENMETRICS },
	{ ASKS_PROTOBUF ",text/plain", TEXT },
	{ "text/plain," ASKS_PROTOBUF, TEXT },
	/* Prometheus 2.42 with native histograms; Prometheus 3 */
	{ ASKS_PROTOBUF ",application/openmetrics-text;version=1.0.0;q=0.8,"
			"application/openmetrics-text;version=0.0.1;q=0.75,"
			"text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	  PROTOBUF },
	{ ASKS_PROTOBUF ";q=0.6,application/openmetrics-text;version=1.0.0;"
			"escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;q=0.3",
	  PROTOBUF },
	{ ASKS_PROTOBUF ";escaping=underscores", PROTOBUF "; escaping=underscores" },
	{ "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
	  "application/openmetrics-text;version=0.0.1;q=0.4,"
	  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
	  "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
	  OPENMETRICS "; escaping=allow-utf-8" },
	{ "text/plain;version=1.0.0;escaping=dots;q=0.3,text/plain;version=0.0.4;q=0.2",
	  TEXT_1_0_0 "; escaping=dots" },
	{ "text/plain;version=1.0.0;escaping=values", TEXT_1_0_0 "; escaping=values" },
	{ "text/plain;version=1.0.0;escaping=other", TEXT_1_0_0 },
	{ "text/plain;version=1.0.0", TEXT_1_0_0 },
	{ "text/plain;version=0.0.4;escaping=dots", TEXT },
	{ "text/plain;version=2.0.0", TEXT },
};

/* The answer says which: its content type begins as the exposition's do. */
static void gives_what_is_preferred(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(preferences); i++) {
		const char *type;
		enum exposition exposition = prometheus_negotiate(preferences[i].accept, &type);

		if (strcmp(type, preferences[i].want) != 0)
			fail_msg("\"%s\": %s",
				 preferences[i].accept ? preferences[i].accept : "NULL", type);
		assert_int_equal(exposition == EXPOSITION_TEXT, strncmp(type, "text/", 5) == 0);
		assert_int_equal(exposition == EXPOSITION_PROTOBUF,
				 strstr(type, "protobuf") != NULL);
	}
}

/* The values of lines that begin with @name, as long as they have @with. */
static double sum_of(const char *page, const char *name, const char *with)
{
	size_t name_len = strlen(name);
	double sum = 0;

	for (const char *line = page; line; line = strchr(line, '\n')) {
		size_t len;

		line += *line == '\n';
		len = strcspn(line, "\n");
		if (strncmp(line, name, name_len) == 0 && memmem(line, len, with, strlen(with)))
			sum += strtod((const char *)memrchr(line, ' ', len) + 1, NULL);
		if (!*line)
			break;
	}
	return sum;
}

/* All of one page, and in the schema in which all other names differ. */
static void watts_of_rows_and_what_is_unattributed_make_the_node(void **state)
{
	static const char *const levels[] = { "process", "container", "namespace" };
	static const enum metrics_schema schemas[] = { SCHEMA_CLASSIC, SCHEMA_CURRENT };
	struct fixture fixture;

	fixture_node(&fixture);
	fixture.zones[2].has_begun = true; /* package counts; dram does not, by its state */
	fixture.zones[2].state = ZONE_ABSENT;
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		const struct snapshot_table *table = &fixture.snapshot.level[level];

		for (size_t cell = 0; cell < table->count * fixture.snapshot.columns; cell++)
			((uint64_t *)(uintptr_t)table->deltas)[cell] = 12000000 / table->count;
	}
	fixture_follow_zones(&fixture);
	for (size_t i = 0; i < ARRAY_SIZE(schemas); i++) {
		CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

		render(&fixture.snapshot, schemas[i], EXPOSITION_TEXT, &out);
		assert_true(fabs(sum_of(out.data, "kepler_node_watts{", "source=") - 39.5) < 1e-6);
		for (size_t l = 0; l < ARRAY_SIZE(levels); l++) {
			char name[64];
			double rows;

			(void)snprintf(name, sizeof(name), "kepler_%s_watts{", levels[l]);
			rows = sum_of(out.data, name, "mode=");
			assert_true(fabs(rows - 12) < 1e-4);
			assert_true(
				fabs(rows +
				     sum_of(out.data, "kepler_node_unattributed_watts{", "mode=") -
				     39.5) < 1e-4);
		}
	}
	fixture_release(&fixture);
}

/* Zones and rows are added up in different ways: a page had 4.7e-11 W. */
static void what_rounding_leaves_is_not_unattributed(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;
	struct snapshot_table *table;
	uint64_t *deltas;

	fixture_node(&fixture);
	table = &fixture.snapshot.level[LEVEL_CONTAINER];
	deltas = (uint64_t *)(uintptr_t)table->deltas;
	memset(deltas, 0, table->count * fixture.snapshot.columns * sizeof(*deltas));
	deltas[fixture.snapshot.accounts[0].column[MODE_DYNAMIC]] = 12000000;
	fixture.zones[0].watts[MODE_DYNAMIC] = 12 + 4.7e-11;
	fixture.zones[1].watts[MODE_DYNAMIC] = 0;
	fixture_follow_zones(&fixture);
	render(&fixture.snapshot, SCHEMA_CLASSIC, EXPOSITION_TEXT, &out);
	assert_non_null(strstr(out.data, "kepler_node_unattributed_watts{mode=\"dynamic\","
					 "source=\"rapl-sysfs\"} 0\n"));
	fixture_release(&fixture);
}

/* A part of the total that counts and has no reading: a sum without it would be wrong. */
static void a_total_that_is_not_known_has_no_watts(void **state)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct fixture fixture;

	fixture_node(&fixture);
	fixture.zones[2].has_begun = true;
	fixture_follow_zones(&fixture);
	render(&fixture.snapshot, SCHEMA_CLASSIC, EXPOSITION_TEXT, &out);
	assert_null(strstr(out.data, "kepler_node_watts{"));
	assert_null(strstr(out.data, "kepler_process_watts{"));
	assert_non_null(strstr(out.data, "kepler_node_package_watts{"));
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_what_is_preferred),
		cmocka_unit_test(matches_the_golden_pages),
		cmocka_unit_test(created_is_shown_only_where_it_is_wanted),
		cmocka_unit_test(sums_hold_on_the_text),
		cmocka_unit_test(no_series_twice_and_no_family_in_pieces),
		cmocka_unit_test(equal_rows_become_one_series_and_keep_the_sum),
		cmocka_unit_test(zones_that_look_alike_stay_apart),
		cmocka_unit_test(accounts_that_look_alike_stay_apart),
		cmocka_unit_test(rows_have_the_number_of_their_zone),
		cmocka_unit_test(rows_sum_packages_unless_asked),
		cmocka_unit_test(watts_of_rows_and_what_is_unattributed_make_the_node),
		cmocka_unit_test(what_rounding_leaves_is_not_unattributed),
		cmocka_unit_test(a_total_that_is_not_known_has_no_watts),
		cmocka_unit_test(absent_is_not_zero),
		cmocka_unit_test(hostile_names_forge_nothing),
		cmocka_unit_test(an_estimate_never_looks_measured),
		cmocka_unit_test(a_node_with_both_says_so),
		cmocka_unit_test(power_is_over_the_time_that_its_energy_took),
		cmocka_unit_test(promtool_finds_only_the_inherited_unit),
	};

	return unit_run(tests);
}
