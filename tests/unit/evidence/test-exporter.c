// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/exporter.h"

#include "tests/unit/unit.h"

static void free_exporter(struct exporter **exporter)
{
	exporter_free(*exporter);
}

static struct exporter *open_exporter(void)
{
	static struct own_rows mine = { .counts = { [ENERGY_PROCESS] = 1 } };
	const struct exporter_options options = { "http://127.0.0.1:1/metrics", 100, &mine };

	(void)snprintf(mine.words[ENERGY_PROCESS][0], OWN_WORD_SIZE, "kv-load");
	struct exporter *exporter = NULL;
	struct diag diag = { "" };

	assert_int_equal(exporter_open(&options, &exporter, &diag), 0);
	return exporter;
}

static void take(struct exporter *exporter, double time_s, const char *page)
{
	char text[2048];
	int len = snprintf(text, sizeof(text), "%s", page);

	assert_int_equal(exporter_take_page(exporter, time_s, time_s + 0.1, text, (size_t)len), 0);
}

/* A page of Kepler in C, made at @time, with the node's and two processes' energy. */
static void take_own(struct exporter *exporter, double time_s, double node, double one, double two)
{
	char page[1024];

	(void)snprintf(page, sizeof(page),
		       "# TYPE kepler_node_package_joules_total counter\n"
		       "kepler_node_package_joules_total{mode=\"dynamic\"} %.6f\n"
		       "# TYPE kepler_process_package_joules_total counter\n"
		       "kepler_process_package_joules_total{command=\"kv-load\",mode=\"dynamic\"} "
		       "%.6f\n"
		       "kepler_process_package_joules_total{command=\"x\",mode=\"dynamic\"} %.6f\n"
		       "kepler_exporter_snapshot_timestamp_seconds %.3f\n",
		       node, one, two, time_s);
	take(exporter, time_s + 0.2, page);
}

static void energy_is_what_rows_grow_by(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take_own(exporter, 100, 10, 4, 6);
	take_own(exporter, 101, 20, 12, 8);
	take_own(exporter, 101, 20, 12, 8);
	take_own(exporter, 103, 40, 20, 20);
	exporter_finish(exporter);
	assert_int_equal(exporter->kind, EXPORTER_KEPLER_C);
	assert_int_equal(exporter->pages, 4);
	assert_int_equal(exporter->new_pages, 3);
	const struct exporter_zone *zone = exporter_find_zone(exporter, "package");
	const struct series *node = zone->sums[ENERGY_NODE].series;
	assert_int_equal(node->count, 2);
	assert_true(fabs(series_amount(node, 100, 101).amount - 10) < 1e-9);
	assert_true(fabs(series_amount(node, 101, 103).amount - 20) < 1e-9);
	assert_true(fabs(zone->sums[ENERGY_PROCESS].joules - 30) < 1e-9);
	assert_true(fabs(zone->sums[ENERGY_PROCESS].mine - 16) < 1e-9);
	assert_int_equal(exporter->balances_checked, 4);
	assert_int_equal(exporter->imbalance.count + exporter->decrease.count +
				 exporter->type.count + exporter->no_page.count,
			 0);
}

/*
 * A page names the time of its pass, and how old its readings are then. Of two sockets the newer
 * one counts: the other is down, and its counter stands still.
 */
static void readings_are_as_old_as_the_page_says(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const double ages_s[] = { 0.1, 0.4, 0.1 };
	char page[1024];

	for (size_t i = 0; i < ARRAY_SIZE(ages_s); i++) {
		double time_s = 100 + (double)i;

		(void)snprintf(page, sizeof(page),
			       "# TYPE kepler_node_package_joules_total counter\n"
			       "kepler_node_package_joules_total{mode=\"dynamic\"} %.6f\n"
			       "kepler_exporter_snapshot_timestamp_seconds %.3f\n"
			       "kepler_exporter_source_age_seconds{zone=\"package\"} %g\n"
			       "kepler_exporter_source_age_seconds{zone=\"package\"} %zu\n"
			       "kepler_exporter_source_age_seconds{zone=\"gone\"} 0\n",
			       10 * (time_s - ages_s[i]), time_s, ages_s[i], 30 + i);
		take(exporter, time_s + 0.2, page);
	}
	exporter_finish(exporter);
	const struct series *node =
		exporter_find_zone(exporter, "package")->sums[ENERGY_NODE].series;
	assert_int_equal(node->count, 2);
	assert_true(fabs(node->windows[0].rate - 10) < 1e-6);
	assert_true(fabs(node->windows[1].rate - 10) < 1e-6);
	assert_true(fabs(series_end_s(node) - 101.9) < 1e-6);
}

/* On a busy machine one of two meters is read in the pass after; one that is down has no say. */
static void meters_of_a_zone_are_read_at_different_times(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const double late_s[] = { 0, 2, 0, 40 };
	char page[1024];

	for (size_t i = 0; i < ARRAY_SIZE(late_s); i++) {
		double time_s = 100 + (double)i, one = 10 * time_s,
		       other = 10 * (time_s - late_s[i]);

		(void)snprintf(
			page, sizeof(page),
			"# TYPE kepler_node_package_joules_total counter\n"
			"kepler_node_package_joules_total{package=\"0\",mode=\"dynamic\"} %f\n"
			"kepler_node_package_joules_total{package=\"1\",mode=\"dynamic\"} %f\n"
			"kepler_exporter_snapshot_timestamp_seconds %.3f\n"
			"kepler_exporter_source_age_seconds{zone=\"package\",package=\"0\"} 0\n"
			"kepler_exporter_source_age_seconds{zone=\"package\",package=\"1\"} %f\n",
			one, other, time_s, late_s[i]);
		take(exporter, time_s + 0.1, page);
		assert_true(fabs(exporter->time_error_s - (i > 0 ? 1 : 0)) < 1e-6);
	}
}

/* Pages name the time of the wall clock, which is 50 s ahead, and then is set by an hour. */
static void a_wall_clock_that_is_set_distorts_nothing(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const double ahead_s[] = { 50, 50, 3650, 3650, -3550, -3550 };
	char page[512];

	for (size_t i = 0; i < ARRAY_SIZE(ahead_s); i++) {
		double now_s = 100 + (double)i;

		(void)snprintf(page, sizeof(page),
			       "# TYPE kepler_node_package_joules_total counter\n"
			       "kepler_node_package_joules_total{mode=\"dynamic\"} %zu\n"
			       "kepler_exporter_snapshot_timestamp_seconds %.3f\n",
			       10 * i, now_s - 0.2 + ahead_s[i]);
		exporter->wall_ahead_s = ahead_s[i];
		take(exporter, now_s, page);
	}
	exporter_finish(exporter);
	const struct series *node =
		exporter_find_zone(exporter, "package")->sums[ENERGY_NODE].series;
	assert_int_equal(node->count, 5);
	for (size_t i = 0; i < node->count; i++)
		assert_true(fabs(node->windows[i].rate - 10) < 1e-6);
	assert_true(fabs(series_end_s(node) - 104.8) < 1e-6);
}

static void a_series_that_went_away_begins_again(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take_own(exporter, 100, 10, 4, 6);
	take(exporter, 101,
	     "# TYPE kepler_node_package_joules_total counter\n"
	     "kepler_node_package_joules_total{mode=\"dynamic\"} 12\n"
	     "kepler_exporter_snapshot_timestamp_seconds 101\n");
	take_own(exporter, 102, 20, 1, 7);
	exporter_finish(exporter);
	const struct exporter_zone *zone = exporter_find_zone(exporter, "package");
	assert_int_equal(exporter->decrease.count, 0);
	assert_true(fabs(zone->sums[ENERGY_PROCESS].mine - 1) < 1e-9);
	assert_true(fabs(zone->sums[ENERGY_PROCESS].joules - 2) < 1e-9);
}

static void take_process(struct exporter *exporter, double time_s, const char *pid, double joules)
{
	char page[1024];

	(void)snprintf(page, sizeof(page),
		       "# TYPE kepler_node_package_joules_total counter\n"
		       "kepler_node_package_joules_total{mode=\"dynamic\"} %f\n"
		       "# TYPE kepler_process_package_joules_total counter\n"
		       "kepler_process_package_joules_total{pid=\"%s\",command=\"kv-load\","
		       "mode=\"dynamic\"} %f\n"
		       "kepler_exporter_snapshot_timestamp_seconds %f\n",
		       time_s, pid, joules, time_s);
	take(exporter, time_s + 0.2, page);
}

/* Loads 1 and 3 have a process each, one after the other, with the same pid. */
static void a_pid_that_is_used_again_is_of_another_load(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take_process(exporter, 100, "1", 0);
	exporter->load = 1;
	take_process(exporter, 101, "7", 3);
	take_process(exporter, 102, "7", 5);
	exporter->load = 3;
	take_process(exporter, 103, "7", 6);
	take_process(exporter, 104, "1", 0);
	take_process(exporter, 105, "7", 2);
	const struct load_account *loads = &exporter_find_zone(exporter, "package")->loads;
	assert_true(fabs(load_account_joules(loads, 1) - 6) < 1e-9);
	assert_true(fabs(load_account_joules(loads, 3) - 2) < 1e-9);
}

/* Another virtual machine has the name: OpenMetrics 2.0 names the start time of its counter. */
static void a_counter_with_a_later_start_begins_again(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const struct {
		double value, start_s;
	} lives[] = { { 44.53, 50 }, { 0, 101 }, { 3, 101 }, { 1, 101 } };
	char page[512];

	for (size_t i = 0; i < ARRAY_SIZE(lives); i++) {
		(void)snprintf(page, sizeof(page),
			       "# TYPE kepler_node_package_joules_total counter\n"
			       "kepler_node_package_joules_total{mode=\"dynamic\"} 100 st@50\n"
			       "# TYPE kepler_container_package_joules_total counter\n"
			       "kepler_container_package_joules_total{container_id=\"vm\",mode="
			       "\"dynamic\"} %g "
			       "st@%.3f\n"
			       "kepler_exporter_snapshot_timestamp_seconds %zu\n",
			       lives[i].value, lives[i].start_s, 100 + i);
		assert_int_equal(exporter->decrease.count, 0);
		take(exporter, 100.2 + (double)i, page);
	}
	assert_int_equal(exporter->decrease.count, 1);
	assert_string_equal(exporter->decrease.example,
			    "kepler_container_package_joules_total went from 3 to 1");
	assert_true(fabs(exporter_find_zone(exporter, "package")->sums[ENERGY_CONTAINER].joules -
			 3) < 1e-9);
}

/* A page of Kepler from 0.10 on, with a process' state and energy; NULL: it has none. */
static void take_current(struct exporter *exporter, double time_s, double node, const char *state,
			 double joules, const char *more)
{
	char page[1024], process[256] = "";

	if (state)
		(void)snprintf(process, sizeof(process),
			       "kepler_process_cpu_joules_total{comm=\"kv-load\",pid=\"7\","
			       "state=\"%s\",zone=\"package\"} %.6f\n",
			       state, joules);
	(void)snprintf(page, sizeof(page),
		       "# TYPE kepler_node_cpu_joules_total counter\n"
		       "kepler_node_cpu_joules_total{zone=\"package\"} %.6f\n"
		       "# TYPE kepler_node_cpu_active_joules_total counter\n"
		       "kepler_node_cpu_active_joules_total{zone=\"package\"} %.6f\n"
		       "# TYPE kepler_process_cpu_joules_total counter\n"
		       "%s%s",
		       2 * node, node, process, more);
	take(exporter, time_s, page);
}

/* The counter goes on under another label; what it had by then is not energy again. */
static void a_state_that_changes_adds_no_energy(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const struct {
		const char *state;
		double joules;
	} lives[] = { { "running", 100 },    { "running", 110 }, { "terminated", 113 },
		      { "terminated", 113 }, { "running", 4 },   { "running", 6 },
		      { "terminated", 7 },   { NULL, 0 },        { "running", 50 } };
	/* 10 + 3, then another process with 4 + 2 + 1, then a third with 50. */
	const double all = 70;

	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		take_current(exporter, 100 + (double)i, (double)(1 + i), lives[i].state,
			     lives[i].joules, "");
	const struct exporter_sum *sum =
		&exporter_find_zone(exporter, "package")->sums[ENERGY_PROCESS];
	assert_true(fabs(sum->joules - all) < 1e-9);
	assert_true(fabs(sum->mine - all) < 1e-9);
	assert_int_equal(exporter->kind, EXPORTER_KEPLER);
	assert_int_equal(exporter->decrease.count + exporter->imbalance.count, 0);
}

/* The pid is used again at once: the ended process and the new one are on the same pages. */
static void an_ended_process_is_not_the_new_one(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const char *const ended = "kepler_process_cpu_joules_total{pid=\"7\",zone=\"package"
					 "\",state=\"terminated\",comm=\"kv-load\"} 113\n";
	static const char *const fresh = "kepler_process_cpu_joules_total{pid=\"7\",zone=\"package"
					 "\",state=\"running\",comm=\"kv-load\"} 5\n";

	take_current(exporter, 100, 1, "running", 100, "");
	take_current(exporter, 101, 2, "terminated", 113, fresh);
	take_current(exporter, 102, 3, "running", 8, ended);
	assert_true(fabs(exporter_find_zone(exporter, "package")->sums[ENERGY_PROCESS].joules -
			 (13 + 5 + 3)) < 1e-9);
	assert_int_equal(exporter->decrease.count, 0);
}

/* Under the current names alone, all that has active energy sums to the node's, to the µJ. */
static void current_names_balance(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const char *const rest =
		"# TYPE kepler_process_cpu_retired_joules_total counter\n"
		"kepler_process_cpu_retired_joules_total{zone=\"package\"} 2\n"
		"kepler_pending_joules{level=\"process\",mode=\"dynamic\",zone=\"package\"} 3\n"
		"kepler_pending_joules{level=\"process\",mode=\"idle\",zone=\"package\"} 64\n"
		"# TYPE kepler_node_unattributed_joules_total counter\n"
		"kepler_node_unattributed_joules_total{mode=\"dynamic\",zone=\"package\"} 5\n"
		"kepler_node_unattributed_joules_total{mode=\"idle\",zone=\"package\"} 32\n"
		"kepler_exporter_snapshot_timestamp_seconds 100\n";

	take_current(exporter, 100.1, 20, "running", 10, rest);
	assert_int_equal(exporter->kind, EXPORTER_KEPLER_C);
	assert_int_equal(exporter->balances_checked, 1);
	assert_int_equal(exporter->imbalance.count + exporter->type.count, 0);
	take_current(exporter, 101.1, 20, "running", 10.000001, rest);
	assert_int_equal(exporter->imbalance.count, 1);
	assert_non_null(strstr(exporter->imbalance.example, "+0.000001 J"));
	assert_non_null(strstr(exporter->imbalance.example, "of active energy"));
}

/* A series that settles shows the work of a minute at once; one that is shown may not. */
static void work_of_a_settled_series_is_of_a_longer_time(void **state)
{
	static const double values_ms[] = { 0, 0, 40000, 41000, 90000 };
	static const char *const settles[] = { "", "kepler_exporter_settle_seconds 60\n" };
	static const uint64_t excess[] = { 2, 1 };
	static const struct exporter_options options = {
		.url = "http://127.0.0.1:1/", .timeout_ms = 1, .cpus = 2, .max_lag_s = 10
	};

	for (size_t i = 0; i < ARRAY_SIZE(settles); i++) {
		CLEANUP(free_exporter) struct exporter *exporter = NULL;
		struct diag diag = { "" };

		assert_int_equal(exporter_open(&options, &exporter, &diag), 0);
		for (size_t page = 0; page < ARRAY_SIZE(values_ms); page++) {
			char text[512];

			(void)snprintf(text, sizeof(text),
				       "%s# TYPE kepler_node_package_joules_total counter\n"
				       "kepler_node_package_joules_total{mode=\"dynamic\"} %zu\n"
				       "# TYPE kepler_process_bpf_cpu_time_ms_total counter\n"
				       "kepler_process_bpf_cpu_time_ms_total{pid=\"7\",command="
				       "\"x\"} %g\n",
				       settles[i], page, values_ms[page]);
			take(exporter, 100 + (double)page, text);
		}
		assert_int_equal(exporter->excess.count, excess[i]);
	}
}

static void labels_have_no_order(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take(exporter, 1, "scaph_domain_energy_microjoules{domain_name=\"dram\",id=\"0\"} 1e6\n");
	take(exporter, 2, "scaph_domain_energy_microjoules{id=\"0\",domain_name=\"dram\"} 4e6\n");
	assert_true(fabs(exporter_find_zone(exporter, "dram")->sums[ENERGY_NODE].joules - 3) <
		    1e-9);
}

static void a_power_that_is_the_same_is_not_new(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();
	static const char *const page =
		"scaph_process_power_consumption_microwatts{pid=\"7\"} 2e6\n";

	take(exporter, 1, page);
	take(exporter, 3, page);
	take(exporter, 6, page);
	assert_int_equal(exporter->new_pages, 1);
	assert_true(fabs(exporter->still_s - 5) < 1e-9);
	assert_true(fabs(exporter_find_zone(exporter, "total")->sums[ENERGY_PROCESS].joules - 10) <
		    1e-9);
}

static void a_page_without_energy_is_refused(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take(exporter, 1, "kepler_build_info 1\nkepler_node_cpu_info{processor=\"0\"} 1\n");
	assert_string_equal(exporter->no_page.example,
			    "a page of Kepler has 2 series, and none of energy");
	take_own(exporter, 100, 10, 4, 6);
	take(exporter, 101, "");
	assert_int_equal(exporter->no_page.count, 2);
	assert_int_equal(exporter->pages, 1);
}

static void differences_are_no_energy(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	for (int i = 0; i < 2; i++)
		take(exporter, i,
		     "rapl_consumed_energy_alumet_joules{domain=\"dram\"} 5\n"
		     "rapl_consumed_energy_alumet_joules{domain=\"dram_total\"} 5\n"
		     "attributed_energy_alumet_joules{resource_consumer_kind=\"process\"} 5\n");
	exporter_finish(exporter);
	assert_int_equal(exporter->kind, EXPORTER_ALUMET);
	assert_int_equal(exporter->zone_count, 2);
	assert_true(exporter->zones[0].is_difference);
	assert_null(exporter->zones[0].sums[ENERGY_NODE].series);
	assert_int_equal(exporter->new_pages, 1);
}

static void contradictions_are_counted(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take_own(exporter, 100, 10, 4, 6);
	take_own(exporter, 101, 20, 12, 7.999999);
	take_own(exporter, 102, 30, 11, 19);
	take(exporter, 103, "kepler_node_package_joules_total{mode=\"dynamic\"} NaN\n");
	take(exporter, 104,
	     "# TYPE kepler_node_dram_joules_total gauge\n"
	     "kepler_node_dram_joules_total{mode=\"idle\"} 1\n");
	take(exporter, 105, "<html>");
	assert_int_equal(exporter->imbalance.count, 1);
	assert_non_null(strstr(exporter->imbalance.example, "-0.000001 J"));
	assert_int_equal(exporter->decrease.count, 1);
	assert_int_equal(exporter->not_finite.count, 1);
	assert_int_equal(exporter->type.count, 1);
	assert_int_equal(exporter->no_page.count, 1);
}

static void sums_are_bounded(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take_own(exporter, 100, 2e12, 2e12, 2e12);
	assert_int_equal(exporter->not_finite.count, 1);
	assert_non_null(strstr(exporter->not_finite.example, "together are beyond 3e+12 J"));
	take_own(exporter, 101, 4e12, 1, 1);
	assert_int_equal(exporter->not_finite.count, 2);
}

static void an_unknown_page_is_refused(void **state)
{
	CLEANUP(free_exporter) struct exporter *exporter = open_exporter();

	take(exporter, 1, "up 1\n");
	assert_int_equal(exporter_scrape(exporter, 2), 0);
	assert_int_equal(exporter->kind, EXPORTER_UNKNOWN);
	assert_int_equal(exporter->no_page.count, 2);
	assert_int_equal(exporter->new_pages, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_is_what_rows_grow_by),
		cmocka_unit_test(readings_are_as_old_as_the_page_says),
		cmocka_unit_test(meters_of_a_zone_are_read_at_different_times),
		cmocka_unit_test(a_wall_clock_that_is_set_distorts_nothing),
		cmocka_unit_test(a_series_that_went_away_begins_again),
		cmocka_unit_test(a_pid_that_is_used_again_is_of_another_load),
		cmocka_unit_test(a_counter_with_a_later_start_begins_again),
		cmocka_unit_test(a_state_that_changes_adds_no_energy),
		cmocka_unit_test(an_ended_process_is_not_the_new_one),
		cmocka_unit_test(current_names_balance),
		cmocka_unit_test(work_of_a_settled_series_is_of_a_longer_time),
		cmocka_unit_test(labels_have_no_order),
		cmocka_unit_test(a_power_that_is_the_same_is_not_new),
		cmocka_unit_test(a_page_without_energy_is_refused),
		cmocka_unit_test(differences_are_no_energy),
		cmocka_unit_test(contradictions_are_counted),
		cmocka_unit_test(sums_are_bounded),
		cmocka_unit_test(an_unknown_page_is_refused),
	};
	return unit_run(tests);
}
