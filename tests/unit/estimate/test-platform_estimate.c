// SPDX-License-Identifier: Apache-2.0
#include "base/num.h"
#include "estimate/platform_estimate.h"
#include "host/host.h"
#include "meter/meter.h"
#include "model/platform_power.h"
#include "model/vm_share.h"
#include "tests/unit/unit.h"

static struct host_info bare_metal(void)
{
	return (struct host_info){
		.cpu_vendor = "AuthenticAMD",
		.machine = "x86_64",
		.cpu_year = 2021,
		.cpus = 128,
		.cores = 64,
		.sockets = 1,
		.frequency_ghz = 2.45,
		.memory_gib = 256,
	};
}

static struct host_info small_vm(void)
{
	return (struct host_info){
		.cpu_vendor = "AuthenticAMD",
		.machine = "x86_64",
		.cpu_year = 2022,
		.cpus = 2,
		.cores = 2,
		.sockets = 1,
		.memory_gib = 4,
		.is_vm = true,
	};
}

static struct zone_source *meter_of(const struct host_info *host)
{
	struct zone_source *meter;

	assert_int_equal(platform_estimate_new(&platform_power_model, host, &meter), 0);
	return meter;
}

static double bound_w(const struct zone_source *meter)
{
	struct model_state known;

	zone_source_state(meter, 0, &known);
	return known.error_w;
}

static bool advance_waiting(struct zone_source *meter, uint64_t now_ns, uint64_t busy_ns,
			    uint64_t waited_ns, struct energy_span *span)
{
	const struct node_work work = { .time_ns = now_ns,
					.busy_ns = busy_ns,
					.waited_ns = waited_ns };

	zone_source_feed(meter, &work);
	return zone_source_advance(meter, 0, span);
}

/* The reports of an estimate: its spans, added up. */
struct told {
	uint64_t energy_uj, idle_energy_uj, time_ns;
	bool has_span; /* the last time */
};

static void advance(struct zone_source *meter, uint64_t now_ns, uint64_t busy_ns, struct told *told)
{
	struct energy_span span;

	told->has_span = advance_waiting(meter, now_ns, busy_ns, 0, &span);
	if (!told->has_span)
		return;
	assert_int_equal(span.from_ns, told->time_ns);
	assert_true(span.idle_uj <= span.energy_uj);
	told->energy_uj += span.energy_uj;
	told->idle_energy_uj += span.idle_uj;
	told->time_ns = span.to_ns;
}

static void test_zone_of_bare_metal(void **state)
{
	struct host_info host = bare_metal();
	struct zone_source *meter = meter_of(&host);
	const struct zone *zone = zone_source_zone(meter, 0);

	assert_int_equal(zone->kind, ZONE_PLATFORM);
	assert_int_equal(zone->kind, ZONE_PLATFORM);
	assert_string_equal(zone->instance, "");
	assert_string_equal(zone->source, "trained_power_model");
	assert_string_equal(zone->path, platform_power_model.name);
	assert_true(zone->quality == QUALITY_ESTIMATED && zone->knows_idle &&
		    zone->scope == SCOPE_NODE);
	zone_source_free(meter);
}

static void test_zone_of_a_vm_has_no_idle(void **state)
{
	struct host_info host = small_vm();
	struct zone_source *meter = meter_of(&host);
	const struct zone *zone = zone_source_zone(meter, 0);
	struct told reading = { 0 };

	assert_true(zone->quality == QUALITY_ESTIMATED && !zone->knows_idle &&
		    zone->scope == SCOPE_VM_DYNAMIC);
	advance(meter, 0, 0, &reading);
	advance(meter, 10 * NSEC_PER_SEC, 0, &reading);
	assert_int_equal(reading.energy_uj, 0); /* nothing ran: nothing dynamic */
	assert_int_equal(reading.idle_energy_uj, 0);
	advance(meter, 20 * NSEC_PER_SEC, 20 * NSEC_PER_SEC, &reading);
	assert_true(reading.energy_uj > 0);
	assert_int_equal(reading.idle_energy_uj, 0);
	zone_source_free(meter);
}

/*
 * The formula of docs/design/platform-power-model.md: with neighbours that are half busy, as it is,
 * dynamic power of the typical host, times the share of its threads.
 */
static void test_vm_is_a_share_of_its_host(void **state)
{
	struct host_info host = small_vm();
	struct zone_source *meter;
	struct machine_facts facts;
	struct power_estimate power;
	struct told reading = { 0 };
	struct vm_share share;

	host.vm_load_low = host.vm_load_high = 0.5;
	meter = meter_of(&host);
	platform_estimate_facts(meter, &facts);
	zone_source_vm_share(meter, 0, &share);
	assert_true(facts.threads > 2 && fabs(share.share - 2.0 / facts.threads) < 1e-12);
	power_model_estimate(&platform_power_model, &facts, 0.5, &power);
	advance(meter, 0, 0, &reading);
	advance(meter, 100 * NSEC_PER_SEC, 100 * NSEC_PER_SEC, &reading);
	assert_true(fabs((double)reading.energy_uj - power.dynamic_w * share.share * 100e6) < 200);
	assert_true(fabs(bound_w(meter) - power.dynamic_bound_w * share.share) < 1e-6);
	assert_in_range(reading.energy_uj / 100, 500000, 20000000); /* W of two busy vCPUs */
	zone_source_free(meter);
}

/* vCPUs wait for half of what they want, however much that is: no CPU of the host is idle. */
static void test_vm_on_a_full_host(void **state)
{
	struct host_info host = small_vm();
	struct zone_source *meter = meter_of(&host);
	struct machine_facts facts;
	struct power_estimate power;
	struct energy_span span;
	struct vm_share share;
	double busy_s = 0;

	for (unsigned i = 0; i < 40; i++) {
		busy_s = i % 2 ? 0.9 : 0.3;
		assert_true(advance_waiting(meter, i * NSEC_PER_SEC, (uint64_t)(busy_s * 1e9),
					    (uint64_t)(busy_s * 1e9), &span));
	}
	platform_estimate_facts(meter, &facts);
	zone_source_vm_share(meter, 0, &share);
	assert_true(share.full > 0.99 && share.full < 1);
	power_model_estimate(&platform_power_model, &facts, 1, &power);
	assert_true(fabs((double)span.energy_uj - power.dynamic_w * busy_s * 1e6 / facts.threads) <
		    10);
	zone_source_free(meter);
}

/* None before the first estimate. */
static void test_the_bound_of_the_estimate(void **state)
{
	struct host_info host = bare_metal();
	struct zone_source *meter = meter_of(&host);
	struct power_estimate power;
	struct machine_facts facts;
	struct model_state known;
	struct told told = { 0 };
	struct vm_share share;

	zone_source_state(meter, 0, &known);
	assert_true(isnan(known.error_w) && !known.has_estimate);
	assert_string_equal(known.output, "AbsPower");
	advance(meter, NSEC_PER_SEC, 0, &told);
	advance(meter, 2 * NSEC_PER_SEC, 64 * NSEC_PER_SEC, &told);
	platform_estimate_facts(meter, &facts);
	zone_source_vm_share(meter, 0, &share);
	power_model_estimate(&platform_power_model, &facts, 0.5, &power);
	zone_source_state(meter, 0, &known);
	assert_true(known.has_estimate);
	assert_true(fabs(known.error_w - power.bound_w) < 1e-9);
	assert_int_equal(known.outside, power.outside);
	zone_source_free(meter);
}

/* Each vCPU is a core where the host's threads are as many as its cores. */
static void test_cores_of_the_host(void **state)
{
	struct host_info host = small_vm();
	struct zone_source *meter;
	struct machine_facts facts;
	struct vm_share share;

	(void)snprintf(host.cpu_model, sizeof(host.cpu_model), "AMD EPYC 9R14 Processor");
	host.vm_host_cpus = host.vm_host_cores = 192;
	host.vm_host_sockets = 2;
	meter = meter_of(&host);
	platform_estimate_facts(meter, &facts);
	zone_source_vm_share(meter, 0, &share);
	assert_int_equal(facts.threads, 192);
	assert_int_equal(facts.cores, 192);
	assert_int_equal(facts.sockets, 2);
	zone_source_free(meter);
}

/* A vCPU of a busy host costs less, and knowledge of neighbours narrows the bound. */
static void test_hints_of_the_host(void **state)
{
	struct host_info host = small_vm();
	struct told reading = { 0 }, hinted = { 0 };
	struct zone_source *meter = meter_of(&host), *other;
	struct machine_facts facts;
	struct vm_share share;

	assert_true(isnan(bound_w(meter)));
	host.vm_host_cpus = 256;
	host.vm_load_low = 0.9;
	host.vm_load_high = 1;
	other = meter_of(&host);
	platform_estimate_facts(other, &facts);
	zone_source_vm_share(other, 0, &share);
	assert_int_equal(facts.threads, 256);
	assert_true(fabs(share.share - 2.0 / 256) < 1e-12);
	advance(meter, 0, 0, &reading);
	advance(other, 0, 0, &hinted);
	advance(meter, 100 * NSEC_PER_SEC, 50 * NSEC_PER_SEC, &reading);
	advance(other, 100 * NSEC_PER_SEC, 50 * NSEC_PER_SEC, &hinted);
	assert_true(bound_w(other) / (double)hinted.energy_uj <
		    bound_w(meter) / (double)reading.energy_uj);
	zone_source_free(meter);
	zone_source_free(other);
}

static void test_vm_larger_than_the_typical_host(void **state)
{
	struct host_info host = small_vm();
	struct zone_source *meter;
	struct machine_facts facts;
	struct vm_share share;

	host.cpus = 900;
	meter = meter_of(&host);
	platform_estimate_facts(meter, &facts);
	zone_source_vm_share(meter, 0, &share);
	assert_int_equal(facts.threads, 900);
	assert_int_equal(facts.cores, 450);
	assert_true(fabs(share.share - 1) < 1e-12);
	zone_source_free(meter);
}

static void test_idle_and_dynamic_are_integrated_over_measured_time(void **state)
{
	struct host_info host = bare_metal();
	struct zone_source *meter = meter_of(&host);
	struct machine_facts facts;
	struct power_estimate power;
	struct told reading = { 0 };
	struct vm_share share;

	platform_estimate_facts(meter, &facts);
	zone_source_vm_share(meter, 0, &share);
	power_model_estimate(&platform_power_model, &facts, 0.25, &power);
	advance(meter, 7 * NSEC_PER_SEC, 999 * NSEC_PER_SEC, &reading);
	assert_int_equal(reading.energy_uj, 0); /* the baseline: earlier work is not counted */
	assert_int_equal(reading.time_ns, 7 * NSEC_PER_SEC);
	advance(meter, 17 * NSEC_PER_SEC, 320 * NSEC_PER_SEC, &reading);
	assert_true(reading.has_span);
	assert_true(fabs((double)reading.idle_energy_uj - power.idle_w * 1e7) < 20);
	assert_true(fabs((double)(reading.energy_uj - reading.idle_energy_uj) -
			 power.dynamic_w * 1e7) < 20);
	zone_source_free(meter);
}

/* However the time is cut, the sum is the same to the µJ. */
static void test_short_intervals_do_not_drift(void **state)
{
	struct host_info host = bare_metal();
	struct zone_source *fine = meter_of(&host), *coarse = meter_of(&host);
	struct told of_fine = { 0 }, of_coarse = { 0 };
	uint64_t step_ns = 1 << 20;

	advance(fine, 0, 0, &of_fine);
	advance(coarse, 0, 0, &of_coarse);
	for (uint64_t i = 1; i <= 1 << 14; i++) /* busy: exactly half, so that both see the same */
		advance(fine, i * step_ns, step_ns * 64, &of_fine);
	advance(coarse, step_ns << 14, (step_ns * 64) << 14, &of_coarse);
	assert_int_equal(of_fine.energy_uj, of_coarse.energy_uj);
	assert_int_equal(of_fine.idle_energy_uj, of_coarse.idle_energy_uj);
	zone_source_free(fine);
	zone_source_free(coarse);
}

static void test_clock_that_stands_still_invents_nothing(void **state)
{
	struct host_info host = bare_metal();
	struct zone_source *meter = meter_of(&host);
	struct told told = { 0 };
	uint64_t energy_uj;

	advance(meter, 0, 0, &told);
	advance(meter, NSEC_PER_SEC, NSEC_PER_SEC, &told);
	energy_uj = told.energy_uj;
	advance(meter, NSEC_PER_SEC, 50 * NSEC_PER_SEC, &told);
	assert_false(told.has_span);
	advance(meter, NSEC_PER_MSEC, 50 * NSEC_PER_SEC, &told);
	assert_false(told.has_span);
	advance(meter, 2 * NSEC_PER_SEC, 0, &told);
	assert_true(told.has_span && told.energy_uj > energy_uj);
	zone_source_free(meter);
}

static void test_more_busy_time_than_there_is_counts_as_full(void **state)
{
	struct host_info host = bare_metal();
	struct zone_source *full = meter_of(&host), *over = meter_of(&host);
	struct told of_full = { 0 }, of_over = { 0 };

	advance(full, 0, 0, &of_full);
	advance(over, 0, 0, &of_over);
	advance(full, NSEC_PER_SEC, 128 * NSEC_PER_SEC, &of_full);
	advance(over, NSEC_PER_SEC, UINT64_MAX, &of_over);
	assert_int_equal(of_full.energy_uj, of_over.energy_uj);
	zone_source_free(full);
	zone_source_free(over);
}

static void test_machine_that_nothing_is_known_of(void **state)
{
	struct host_info host = { 0 };
	struct zone_source *meter = meter_of(&host);
	struct told reading = { 0 };

	advance(meter, 0, 0, &reading);
	advance(meter, NSEC_PER_SEC, 0, &reading);
	assert_true(reading.idle_energy_uj > UJ_PER_J);
	zone_source_free(meter);
	zone_source_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zone_of_bare_metal),
		cmocka_unit_test(test_zone_of_a_vm_has_no_idle),
		cmocka_unit_test(test_vm_is_a_share_of_its_host),
		cmocka_unit_test(test_vm_on_a_full_host),
		cmocka_unit_test(test_the_bound_of_the_estimate),
		cmocka_unit_test(test_hints_of_the_host),
		cmocka_unit_test(test_cores_of_the_host),
		cmocka_unit_test(test_vm_larger_than_the_typical_host),
		cmocka_unit_test(test_idle_and_dynamic_are_integrated_over_measured_time),
		cmocka_unit_test(test_short_intervals_do_not_drift),
		cmocka_unit_test(test_clock_that_stands_still_invents_nothing),
		cmocka_unit_test(test_more_busy_time_than_there_is_counts_as_full),
		cmocka_unit_test(test_machine_that_nothing_is_known_of),
	};

	return unit_run(tests);
}
