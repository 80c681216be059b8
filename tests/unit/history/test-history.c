// SPDX-License-Identifier: Apache-2.0
/* Snapshots of two zones and owners with invented charges; what is read back is their sum. */
#include "history/history.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "tests/unit/unit.h"

#define S      NSEC_PER_SEC
#define OWNERS 60
#define NOW    (100000 * S)

/* Columns: CPU time, package dynamic. The package is the total; a core is inside it. */
struct scene {
	struct snapshot snapshot;
	struct snapshot_zone zones[2];
	struct snapshot_account accounts[2];
	struct power_picture power;
	struct snapshot_row rows[OWNERS];
	struct series_labels labels[OWNERS];
	struct owner_names names[OWNERS];
	char text[OWNERS][32];
	uint64_t deltas[OWNERS * 2];
	struct history *history;
	uint64_t now_ns;
};

static void scene_begin(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	scene->now_ns = NOW;
	scene->power.is_known = true;
	for (uint32_t z = 0; z < 2; z++) {
		scene->zones[z].zone = (struct zone){ .kind = z ? ZONE_CORE : ZONE_PACKAGE,
						      .instance = "0",
						      .source = "rapl-sysfs" };
		scene->zones[z].total = z ? TOTAL_NONE : 1;
		scene->zones[z].has_begun = true;
		scene->accounts[z] =
			(struct snapshot_account){ .first_zone = z,
						   .column = { z ? COLUMN_NONE : 1, COLUMN_NONE } };
	}
	for (uint32_t i = 0; i < OWNERS; i++) {
		for (size_t key = 0; key < LABEL_KEY_COUNT; key++)
			scene->names[i].text[key] = "";
		(void)snprintf(scene->text[i], sizeof(scene->text[i]), "owner-%u", i);
		scene->names[i].text[LABEL_CONTAINER_NAME] = scene->text[i];
		scene->labels[i] = (struct series_labels){ .slot = i,
							   .serial = i + 1,
							   .names = &scene->names[i] };
		scene->rows[i].labels = &scene->labels[i];
	}
	scene->snapshot = (struct snapshot){ .columns = 2,
					     .zone_count = 2,
					     .zones = scene->zones,
					     .account_count = 2,
					     .accounts = scene->accounts,
					     .power = &scene->power };
	scene->snapshot.level[LEVEL_CONTAINER] = (struct snapshot_table){ .count = OWNERS,
									  .rows = scene->rows,
									  .deltas = scene->deltas };
	assert_int_equal(history_new(&scene->history), 0);
}

/* An interval in which owners were charged what scene->deltas says, @idle_uj more and 7 µJ. */
static void scene_turn(struct scene *scene, uint64_t span_ns, uint64_t idle_uj)
{
	struct snapshot_zone *package = &scene->zones[0];

	for (uint32_t i = 0; i < OWNERS; i++)
		package->node_uj[MODE_DYNAMIC] += scene->deltas[i * 2 + 1];
	package->node_uj[MODE_DYNAMIC] += 7;
	package->unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY] += 7;
	package->node_uj[MODE_IDLE] += idle_uj;
	package->unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY] += idle_uj;
	scene->zones[1].node_uj[MODE_DYNAMIC] += 5;
	scene->now_ns += span_ns;
	for (uint32_t z = 0; z < 2; z++)
		scene->zones[z].span_ns = scene->accounts[z].span_ns = span_ns;
	scene->snapshot.sequence++;
	scene->snapshot.realtime_ms = (int64_t)(scene->now_ns / NSEC_PER_MSEC);
	history_note(scene->history, &scene->snapshot, scene->now_ns);
}

static uint64_t sum_of(const uint64_t *steps, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += steps[i];
	return sum;
}

/* Every step has the sum of its parts. Returns the total. */
static uint64_t check_sums(const struct history_view *view)
{
	for (uint32_t i = 0; i < view->range.count; i++) {
		uint64_t sum = view->other_uj[i] + view->idle_uj[i] + view->unattributed_uj[i];

		for (uint32_t o = 0; o < view->owners; o++)
			sum += view->owner[o].energy_uj[i];
		assert_int_equal(sum, view->total_uj[i]);
	}
	return sum_of(view->total_uj, view->range.count);
}

static const struct history_owner_view *find(const struct history_view *view, const char *name)
{
	for (uint32_t o = 0; o < view->owners; o++) {
		if (strcmp(view->owner[o].name, name) == 0)
			return &view->owner[o];
	}
	return NULL;
}

static void a_minute_has_all_that_was_charged(void **state)
{
	const struct history_window window = { .seconds = 60, .step_s = 1, .owners = 3 };
	struct history_view view;
	struct scene scene;

	scene_begin(&scene);
	assert_int_equal(history_read(scene.history, &window, &view), -ENODATA);
	scene.deltas[1] = 999; /* of before: not in it */
	scene_turn(&scene, S, 50);
	for (uint32_t turn = 0; turn < 60; turn++) {
		for (uint32_t i = 0; i < 6; i++)
			scene.deltas[i * 2 + 1] = 1000 * i + turn;
		scene_turn(&scene, S, 100);
	}
	assert_int_equal(history_read(scene.history, &window, &view), 0);
	assert_int_equal(view.range.count, 60);
	assert_int_equal(view.range.first, 100001);
	assert_int_equal(view.end_ms, 100061000);
	assert_int_equal(check_sums(&view), 60 * (15000 + 100 + 7) + 6 * 59 * 60 / 2);
	assert_int_equal(view.owners, 3);
	assert_string_equal(view.owner[0].name, "owner-5");
	assert_int_equal(view.owner[0].energy_uj[59], 5059);
	assert_int_equal(view.other_uj[59], 3 * 59 + 3000);
	assert_int_equal(sum_of(view.idle_uj, 60), 6000);
	assert_int_equal(view.zones, 2);
	assert_true(view.zone[0].in_total && !view.zone[1].in_total);
	assert_int_equal(sum_of(view.zone[0].energy_uj, 60), sum_of(view.total_uj, 60));
	assert_int_equal(sum_of(view.zone[1].energy_uj, 60), 300);
	assert_int_equal(view.cover_ms[30], 1000);
	history_view_release(&view);
	history_free(scene.history);
}

static void minutes_and_seconds_have_the_same_sum(void **state)
{
	const struct history_window fine = { .seconds = 3600, .step_s = 60, .owners = 40 };
	const struct history_window coarse = { .seconds = 7200, .step_s = 60, .owners = 40 };
	struct history_view view, more;
	struct scene scene;

	scene_begin(&scene);
	scene.now_ns = 120000 * S; /* a full minute */
	for (uint32_t turn = 0; turn <= 500; turn++) {
		scene.deltas[1] = 977 * turn;
		scene.deltas[3] = 31;
		scene_turn(&scene, S * 13 / 10, turn);
	}
	assert_int_equal(history_read(scene.history, &fine, &view), 0);
	assert_int_equal(history_read(scene.history, &coarse, &more), 0);
	assert_int_equal(view.range.count, 9); /* the first began before */
	assert_int_equal(more.range.count, 9);
	assert_int_equal(check_sums(&view), check_sums(&more));
	assert_memory_equal(view.total_uj, more.total_uj, 9 * sizeof(uint64_t));
	assert_string_equal(more.owner[0].name, "owner-0");
	history_view_release(&view);
	history_view_release(&more);
	history_free(scene.history);
}

/* Its source is read every ten intervals; the steps end where it was read last. */
static void a_late_source_is_spread_over_its_own_time(void **state)
{
	const struct history_window window = { .seconds = 30, .step_s = 1, .owners = 5 };
	struct history_view view;
	struct scene scene;

	scene_begin(&scene);
	scene_turn(&scene, S, 0);
	for (uint32_t turn = 1; turn <= 25; turn++) {
		bool is_read = turn % 10 == 0;
		uint64_t before = scene.zones[0].node_uj[MODE_DYNAMIC];

		memset(scene.deltas, 0, sizeof(scene.deltas));
		scene.deltas[1] = is_read ? 10000000 : 0;
		scene.zones[0].span_ns = scene.accounts[0].span_ns = is_read ? 10 * S : 0;
		if (is_read)
			scene.zones[0].node_uj[MODE_DYNAMIC] = before + 10000000;
		scene.now_ns += S;
		scene.snapshot.sequence++;
		history_note(scene.history, &scene.snapshot, scene.now_ns);
	}
	assert_int_equal(history_read(scene.history, &window, &view), 0);
	assert_int_equal(view.range.first + view.range.count, 100021);
	assert_int_equal(check_sums(&view), 20000000);
	for (uint32_t i = 0; i < 20; i++) {
		assert_int_equal(view.owner[0].energy_uj[i], 1000000);
		assert_int_equal(view.zone[0].cover_ms[i], 1000);
	}
	history_view_release(&view);
	history_free(scene.history);
}

static void a_gap_is_not_zero(void **state)
{
	const struct history_window window = { .seconds = 20, .step_s = 1, .owners = 5 };
	struct history_view view;
	struct scene scene;

	scene_begin(&scene);
	scene_turn(&scene, S, 9);
	scene_turn(&scene, S, 9);
	for (uint32_t turn = 0; turn < 3; turn++) { /* its readings are lost */
		scene.power.is_known = false;
		scene.zones[0].state = ZONE_ERROR;
		scene.zones[0].span_ns = scene.accounts[0].span_ns = 0;
		scene.now_ns += S;
		scene.snapshot.sequence++;
		history_note(scene.history, &scene.snapshot, scene.now_ns);
	}
	scene.power.is_known = true;
	scene.zones[0].state = ZONE_UP;
	scene_turn(&scene, S, 9);
	assert_int_equal(history_read(scene.history, &window, &view), 0);
	assert_int_equal(view.range.count, 5);
	assert_int_equal(view.cover_ms[0], 1000);
	assert_int_equal(view.cover_ms[1] + view.cover_ms[2] + view.cover_ms[3], 0);
	assert_int_equal(view.zone[0].cover_ms[2], 0);
	assert_int_equal(view.cover_ms[4], 1000);
	assert_int_equal(view.total_uj[4], 16);
	history_view_release(&view);
	history_free(scene.history);
}

/* One that comes late and is large takes the place of one that is small; no energy is lost. */
static void the_least_owner_gives_way(void **state)
{
	const struct history_window window = { .seconds = 100, .step_s = 1, .owners = 40 };
	struct history_view view;
	struct scene scene;
	uint64_t total = 0;

	scene_begin(&scene);
	scene_turn(&scene, S, 0);
	for (uint32_t turn = 0; turn < 90; turn++) {
		for (uint32_t i = 0; i < OWNERS - 1; i++)
			scene.deltas[i * 2 + 1] = 1000 + 100 * i;
		scene.deltas[(OWNERS - 1) * 2 + 1] = turn < 50 ? 0 : 900000;
		for (uint32_t i = 0; i < OWNERS; i++)
			total += scene.deltas[i * 2 + 1];
		scene_turn(&scene, S, 0);
	}
	assert_int_equal(history_read(scene.history, &window, &view), 0);
	assert_int_equal(view.owners, HISTORY_OWNERS_MAX);
	assert_int_equal(check_sums(&view), total + 90 * 7);
	assert_string_equal(view.owner[0].name, "owner-59");
	assert_int_equal(sum_of(view.owner[0].energy_uj, view.range.count), 40 * 900000);
	assert_null(find(&view, "owner-0"));
	assert_non_null(find(&view, "owner-50"));
	history_view_release(&view);
	history_free(scene.history);
}

/* The row of an owner was released and began again: its labels have another number. */
static void an_owner_goes_on_with_another_row(void **state)
{
	const struct history_window window = { .seconds = 100, .step_s = 1, .owners = 40 };
	struct history_view view;
	struct scene scene;

	scene_begin(&scene);
	scene_turn(&scene, S, 0);
	scene.deltas[1] = 500;
	scene_turn(&scene, S, 0);
	scene.labels[0].serial = 1000;
	scene_turn(&scene, S, 0);
	history_note(scene.history, &scene.snapshot, scene.now_ns + S); /* it was taken before */
	assert_int_equal(history_read(scene.history, &window, &view), 0);
	assert_int_equal(view.range.count, 2);
	assert_int_equal(view.owners, 1);
	assert_int_equal(sum_of(view.owner[0].energy_uj, 2), 1000);
	history_view_release(&view);
	history_free(scene.history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_minute_has_all_that_was_charged),
		cmocka_unit_test(minutes_and_seconds_have_the_same_sum),
		cmocka_unit_test(a_late_source_is_spread_over_its_own_time),
		cmocka_unit_test(a_gap_is_not_zero),
		cmocka_unit_test(the_least_owner_gives_way),
		cmocka_unit_test(an_owner_goes_on_with_another_row),
	};

	return unit_run(tests);
}
