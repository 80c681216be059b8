// SPDX-License-Identifier: Apache-2.0
#include "attribution/level_info.h"
#include "export/otlp/otlp_attributes.h"
#include "export/otlp/otlp_sink.h"
#include "fixture.h"
#include "otlp_request.h"
#include "tests/unit/unit.h"

#define ALL_LEVELS ((1U << LEVEL_COUNT) - 1)

/* A receiver, and what it got last. */
struct bench {
	struct otlp_target target;
	struct otlp_memory memory;
	struct label_cache *labels;
	struct strbuf body;
	struct otlp_request request;
};

static struct bench bench;

static void begin(bool is_delta)
{
	bench = (struct bench){
		.target = { .version = "1.2.3", .instance = "node-1", .is_delta = is_delta }
	};
	otlp_attribute_add(&bench.target.resource, 0x0a,
			   &(struct label_pair){ "host.name", "node-1", false });
	assert_int_equal(
		label_cache_new(otlp_row_form, NAMES_BIT(NAMES_OPENTELEMETRY), &bench.labels), 0);
}

static void end(void)
{
	strbuf_release(&bench.target.resource);
	strbuf_release(&bench.body);
	otlp_memory_release(&bench.memory);
	label_cache_free(bench.labels);
}

static void render(const struct fixture *fixture, unsigned levels)
{
	struct catalog_view view = { .snapshot = &fixture->snapshot, .levels = levels };
	uint64_t points = 0;

	assert_int_equal(label_cache_view(bench.labels, &fixture->snapshot, view.rows), 0);
	assert_int_equal(otlp_render(&bench.target, &view, &bench.memory, &bench.body, &points), 0);
	otlp_request_read(bench.body.data, bench.body.len, &bench.request);
	assert_int_equal(points, bench.request.count);
}

static void deliver(const struct fixture *fixture, unsigned levels)
{
	render(fixture, levels);
	otlp_memory_deliver(&bench.memory);
}

static bool says(const struct otlp_read_point *point, const char *attribute, const char *value)
{
	return !value || strcmp(otlp_request_attribute(point->attributes, attribute), value) == 0;
}

/* In µJ, of all points of a metric with these attributes; NULL: any. */
static int64_t sum_uj(const char *metric, const char *zone, const char *mode, const char *level)
{
	int64_t sum = 0;

	for (size_t i = 0; i < bench.request.count; i++) {
		const struct otlp_read_point *point = &bench.request.points[i];

		if (strcmp(point->metric, metric) == 0 && says(point, "kepler.zone", zone) &&
		    says(point, "kepler.mode", mode) && says(point, "kepler.level", level))
			sum += llround(point->value * 1e6);
	}
	return sum;
}

static const struct otlp_read_point *point_of(const char *metric, const char *resource)
{
	for (size_t i = 0; i < bench.request.count; i++) {
		if (strcmp(bench.request.points[i].metric, metric) == 0 &&
		    strstr(bench.request.points[i].resource, resource))
			return &bench.request.points[i];
	}
	return NULL;
}

static void adds_up(const struct fixture *fixture)
{
	static const enum level whole[] = { LEVEL_PROCESS, LEVEL_CONTAINER, LEVEL_NAMESPACE };

	for (uint32_t z = 0; z < fixture->snapshot.zone_count; z++) {
		const char *zone = zone_kind_name(fixture->zones[z].zone.kind);

		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			const char *name = energy_mode_name(mode);
			int64_t node = sum_uj("hw.energy", zone, name, NULL) +
				       sum_uj("hw.host.energy", zone, name, NULL);

			if (!fixture->zones[z].has_mode[mode] ||
			    fixture->zones[z].total == TOTAL_NONE)
				continue;
			assert_true(node > 0);
			for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
				const char *level = level_info[whole[i]].name;

				assert_int_equal(
					sum_uj("kepler.energy", zone, name, level) +
						sum_uj("kepler.energy.retired", zone, name, level) +
						sum_uj("kepler.energy.pending", zone, name, level) +
						sum_uj("kepler.energy.unattributed", zone, name,
						       NULL),
					node);
			}
		}
	}
}

static void resources_add_up_to_the_machine(void **state)
{
	static const struct fixture_shape shapes[] = {
		{ .zones = 3, .containers = 2, .processes = 6, .groups = true },
		{ .zones = 4, .containers = 3, .processes = 9, .idle_on_rows = true },
		{ .zones = 3, .containers = 2, .processes = 6, .by_zone = true },
		{ .zones = 3, .containers = 2, .processes = 6, .taken_over = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct fixture fixture;

		fixture_make(&fixture, &shapes[i]);
		fixture_balance(&fixture);
		begin(false);
		render(&fixture, ALL_LEVELS);
		adds_up(&fixture);
		end();
		fixture_release(&fixture);
	}
}

static void the_whole_and_its_parts_are_never_both_sent(void **state)
{
	struct fixture fixture;

	begin(false);
	fixture_make(&fixture,
		     &(struct fixture_shape){ .zones = 4, .containers = 2, .processes = 6 });
	render(&fixture, ALL_LEVELS);
	assert_true(sum_uj("hw.energy", "package", NULL, NULL) > 0);
	assert_null(point_of("hw.host.energy", ""));
	assert_int_equal(sum_uj("hw.energy", "psys", NULL, NULL), 0);
	fixture_release(&fixture);
	fixture_vm(&fixture);
	render(&fixture, ALL_LEVELS);
	assert_null(point_of("hw.energy", ""));
	assert_true(says(point_of("hw.host.energy", ""), "kepler.quality", "estimated"));
	assert_true(says(point_of("kepler.energy", ""), "kepler.quality", "estimated"));
	fixture_release(&fixture);
	/* Without a zone there is no energy to send, and no 0 in its place. */
	fixture_bare(&fixture);
	render(&fixture, ALL_LEVELS);
	assert_int_equal(bench.request.count, 0);
	fixture_release(&fixture);
	end();
}

static void levels_that_are_not_asked_for_are_not_sent(void **state)
{
	struct fixture fixture;

	begin(false);
	fixture_node(&fixture);
	render(&fixture, LEVEL_BIT(LEVEL_POD));
	for (size_t i = 0; i < bench.request.count; i++) {
		const struct otlp_read_point *point = &bench.request.points[i];

		if (strcmp(point->metric, "kepler.energy") == 0 ||
		    strcmp(point->metric, "kepler.energy.pending") == 0)
			assert_true(says(point, "kepler.level", "pod"));
	}
	assert_non_null(point_of("kepler.energy", "k8s.pod.uid"));
	fixture_release(&fixture);
	end();
}

/* A receiver that keeps job and instance alone must not mix up two rows. */
static void each_resource_has_an_instance_of_its_own(void **state)
{
	struct fixture fixture;

	begin(false);
	fixture_node(&fixture);
	render(&fixture, ALL_LEVELS);
	for (size_t i = 0; i < bench.request.count; i++) {
		const struct otlp_read_point *one = &bench.request.points[i];
		char instance[512];

		(void)snprintf(instance, sizeof(instance), "%s",
			       otlp_request_attribute(one->resource, "service.instance.id"));
		assert_true(strncmp(instance, "node-1", 6) == 0);
		for (size_t j = 0; j < i; j++) {
			const struct otlp_read_point *other = &bench.request.points[j];

			if (strcmp(one->resource, other->resource) != 0)
				assert_string_not_equal(
					otlp_request_attribute(other->resource,
							       "service.instance.id"),
					instance);
			else if (strcmp(one->metric, other->metric) == 0)
				assert_string_not_equal(one->attributes, other->attributes);
		}
	}
	fixture_release(&fixture);
	end();
}

static void sums_are_cumulative_from_their_birth(void **state)
{
	const struct otlp_read_point *point;
	const struct snapshot_row *row;
	struct fixture fixture;

	begin(false);
	fixture_node(&fixture);
	row = fixture.snapshot.level[LEVEL_PROCESS].rows;
	deliver(&fixture, ALL_LEVELS);
	render(&fixture, ALL_LEVELS);
	point = point_of("kepler.energy", "process.pid=");
	assert_true(point->is_sum && point->is_monotonic);
	assert_int_equal(point->temporality, 2);
	assert_int_equal(point->time_ns, fixture.snapshot.realtime_ms * 1000000);
	while (!row->labels->pid)
		row++;
	assert_int_equal(point->start_ns, row->created_ms * 1000000);
	point = point_of("hw.power", "");
	assert_false(point->is_sum);
	/* A clock that was set back: a series does not begin after its point. */
	fixture.snapshot.realtime_ms = fixture.snapshot.level[0].rows[0].created_ms - 5000;
	render(&fixture, ALL_LEVELS);
	point = point_of("kepler.energy", "process.pid=");
	assert_int_equal(point->start_ns, point->time_ns);
	fixture_release(&fixture);
	end();
}

static void a_row_that_has_gone_ends_its_series_once(void **state)
{
	struct fixture fixture;
	struct snapshot_table *table = &fixture.snapshot.level[LEVEL_PROCESS];
	const struct otlp_read_point *point;
	size_t count, sent;
	char resource[64];

	begin(false);
	fixture_node(&fixture);
	deliver(&fixture, ALL_LEVELS);
	sent = bench.request.resources;
	(void)snprintf(resource, sizeof(resource), "process.pid=%u,",
		       table->rows[table->count - 1].labels->pid);
	assert_non_null(point_of("kepler.energy", resource));
	count = table->count--;
	/* A request that is not taken ends nothing: the receiver still has the series. */
	render(&fixture, ALL_LEVELS);
	for (int i = 0; i < 2; i++) {
		deliver(&fixture, ALL_LEVELS);
		point = point_of("kepler.energy", resource);
		assert_int_equal(bench.request.resources, i == 0 ? sent : sent - 1);
		if (i == 1) {
			assert_null(point);
			continue;
		}
		assert_int_equal(point->flags, 1);
		assert_false(point->has_value);
		assert_true(point->start_ns > 0);
	}
	table->count = count;
	fixture_release(&fixture);
	end();
}

static void deltas_are_since_what_was_taken(void **state)
{
	struct fixture fixture;
	uint64_t *values;
	int64_t node, first, pending;
	uint32_t column;

	begin(true);
	fixture_node(&fixture);
	column = fixture.accounts[0].column[MODE_DYNAMIC];
	deliver(&fixture, ALL_LEVELS);
	node = sum_uj("hw.energy", NULL, NULL, NULL);
	first = sum_uj("kepler.energy", NULL, NULL, "container");
	pending = sum_uj("kepler.energy.pending", NULL, NULL, "container");
	assert_true(node > 0 && first > 0);
	assert_int_equal(point_of("kepler.energy", "")->temporality, 1);
	assert_int_equal(point_of("kepler.energy.retired", "")->temporality, 2);
	values = (uint64_t *)(uintptr_t)fixture.snapshot.level[LEVEL_CONTAINER].values;
	values[column] += 2500000;
	fixture.zones[0].node_uj[MODE_DYNAMIC] += 2500000;
	fixture.snapshot.realtime_ms += 1000;
	/* Lost on its way: the next one has it, too. */
	render(&fixture, ALL_LEVELS);
	assert_int_equal(sum_uj("kepler.energy", NULL, NULL, "container"), 2500000);
	values[column] += 500000;
	fixture.zones[0].node_uj[MODE_DYNAMIC] += 500000;
	fixture.snapshot.realtime_ms += 1000;
	deliver(&fixture, ALL_LEVELS);
	assert_int_equal(sum_uj("kepler.energy", NULL, NULL, "container"), 3000000);
	assert_int_equal(sum_uj("hw.energy", NULL, NULL, NULL), 3000000);
	assert_int_equal(sum_uj("kepler.energy.unattributed", NULL, NULL, NULL), 0);
	assert_int_equal(sum_uj("kepler.energy.pending", NULL, NULL, "container"), pending);
	assert_int_equal(point_of("kepler.energy", "")->start_ns,
			 (fixture.snapshot.realtime_ms - 2000) * 1000000);
	fixture_release(&fixture);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resources_add_up_to_the_machine),
		cmocka_unit_test(the_whole_and_its_parts_are_never_both_sent),
		cmocka_unit_test(levels_that_are_not_asked_for_are_not_sent),
		cmocka_unit_test(each_resource_has_an_instance_of_its_own),
		cmocka_unit_test(sums_are_cumulative_from_their_birth),
		cmocka_unit_test(a_row_that_has_gone_ends_its_series_once),
		cmocka_unit_test(deltas_are_since_what_was_taken),
	};

	return unit_run(tests);
}
