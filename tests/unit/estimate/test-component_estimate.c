// SPDX-License-Identifier: Apache-2.0
#include "estimate/component_estimate.h"

#include "base/num.h"
#include "energy/rank.h"
#include "estimate/platform_estimate.h"
#include "host/host.h"
#include "model/vm_share.h"
#include "tests/unit/unit.h"

static struct host_info server(bool is_vm)
{
	return (struct host_info){
		.cpu_vendor = "GenuineIntel",
		.cpu_model = "Intel(R) Xeon(R) Platinum 8280 CPU @ 2.70GHz",
		.machine = "x86_64",
		.cpu_year = 2019,
		.cpus = is_vm ? 4 : 112,
		.cores = is_vm ? 4 : 56,
		.sockets = is_vm ? 1 : 2,
		.frequency_ghz = 2.7,
		.memory_gib = 192,
		.is_vm = is_vm,
		.vm_load_low = 1,
		.vm_load_high = 1,
	};
}

struct machine {
	struct zone_source *whole;
	struct zone_source *parts;
};

static struct machine open_machine(bool is_vm, uint32_t parts)
{
	const struct host_info host = server(is_vm);
	struct machine machine;

	assert_int_equal(platform_estimate_new(&platform_power_model, &host, &machine.whole), 0);
	assert_int_equal(component_estimate_new(&builtin_component_model, machine.whole, parts,
						&machine.parts),
			 0);
	return machine;
}

static void close_machine(struct machine *machine)
{
	zone_source_free(machine->parts);
	zone_source_free(machine->whole);
}

/* Spans of the parts, and of @whole unless it is NULL. */
static bool advance(struct machine *machine, uint64_t now_ns, uint64_t busy_ns,
		    struct energy_span *spans, struct energy_span *whole)
{
	const struct node_work work = { .time_ns = now_ns, .busy_ns = busy_ns };
	bool has_spans = true;

	zone_source_feed(machine->whole, &work);
	if (whole)
		(void)zone_source_advance(machine->whole, 0, whole);
	zone_source_feed(machine->parts, &work);
	for (size_t i = 0; i < zone_source_count(machine->parts); i++)
		has_spans &= zone_source_advance(machine->parts, i, &spans[i]);
	return has_spans;
}

static void test_zones_are_estimates(void **state)
{
	static const enum zone_kind kinds[] = { ZONE_PACKAGE, ZONE_DRAM };
	struct machine machine = open_machine(false, COMPONENT_ALL);

	assert_int_equal(zone_source_count(machine.parts), 2);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct zone *zone = zone_source_zone(machine.parts, i);

		assert_int_equal(zone->kind, kinds[i]);
		assert_string_equal(zone->source, "trained_power_model");
		assert_string_equal(zone->path, builtin_component_model.name);
		assert_true(zone->quality == QUALITY_ESTIMATED && zone->knows_idle);
		assert_int_equal(zone->rank, RANK_ESTIMATED);
	}
	close_machine(&machine);
}

static void test_only_the_parts_that_are_asked_for(void **state)
{
	struct machine machine = open_machine(false, COMPONENT_BIT(COMPONENT_DRAM));

	assert_int_equal(zone_source_count(machine.parts), 1);
	assert_int_equal(zone_source_zone(machine.parts, 0)->kind, ZONE_DRAM);
	close_machine(&machine);
}

/* Idle and dynamic energy of 10 s at half load are the model's watts; the parts fit the whole. */
static void test_energy_is_the_models(void **state)
{
	struct machine machine = open_machine(false, COMPONENT_ALL);
	struct power_estimate power[COMPONENT_COUNT];
	struct energy_span spans[COMPONENT_COUNT], whole;
	struct model_state about;

	component_estimate_power(machine.parts, 0.5, power);
	zone_source_state(machine.parts, 0, &about);
	assert_true(!about.has_estimate && isnan(about.error_w));
	assert_true(advance(&machine, 0, 0, spans, &whole));
	assert_false(spans[0].known || spans[1].known);
	assert_true(advance(&machine, 10 * NSEC_PER_SEC, 560 * NSEC_PER_SEC, spans, &whole));
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		double dynamic_uj = (double)(spans[c].energy_uj - spans[c].idle_uj);

		assert_true(fabs((double)spans[c].idle_uj - power[c].idle_w * 1e7) < 20);
		assert_true(fabs(dynamic_uj - power[c].dynamic_w * 1e7) < 20);
		zone_source_state(machine.parts, c, &about);
		assert_true(about.has_estimate && !about.outside);
		assert_true(fabs(about.error_w - power[c].bound_w) < 1e-9);
	}
	assert_true(spans[0].energy_uj + spans[1].energy_uj < whole.energy_uj);
	assert_false(advance(&machine, 10 * NSEC_PER_SEC, 0, spans, NULL));
	close_machine(&machine);
}

/* Only dynamic energy, and only its share of the typical host's, all of whose CPUs are busy. */
static void test_virtual_machine(void **state)
{
	struct machine machine = open_machine(true, COMPONENT_ALL);
	struct power_estimate power[COMPONENT_COUNT];
	struct energy_span spans[COMPONENT_COUNT];
	struct machine_facts facts;
	struct vm_share share;
	struct model_state about;

	platform_estimate_facts(machine.whole, &facts);
	zone_source_vm_share(machine.whole, 0, &share);
	assert_true(share.share < 0.5);
	component_estimate_power(machine.parts, 1, power);
	assert_true(advance(&machine, 0, 0, spans, NULL));
	assert_true(advance(&machine, NSEC_PER_SEC, 4 * NSEC_PER_SEC, spans, NULL));
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		assert_false(zone_source_zone(machine.parts, c)->knows_idle);
		assert_int_equal(spans[c].idle_uj, 0);
		assert_true(fabs((double)spans[c].energy_uj -
				 power[c].dynamic_w * share.share * 1e6) < 3);
		zone_source_state(machine.parts, c, &about);
		assert_true(fabs(about.error_w - power[c].bound_w * share.share) < 1e-9);
	}
	close_machine(&machine);
}

/* A likely design power is not taken for a known one. */
static void test_design_power_that_is_not_known(void **state)
{
	struct host_info host = server(false);
	struct power_estimate likely[COMPONENT_COUNT], unknown[COMPONENT_COUNT];
	struct machine_facts facts;
	struct machine machine;
	struct vm_share share;

	host.cpu_model[0] = '\0';
	host.memory_gib = 768;
	assert_int_equal(platform_estimate_new(&platform_power_model, &host, &machine.whole), 0);
	assert_int_equal(component_estimate_new(&builtin_component_model, machine.whole,
						COMPONENT_ALL, &machine.parts),
			 0);
	platform_estimate_facts(machine.whole, &facts);
	zone_source_vm_share(machine.whole, 0, &share);
	component_power_estimate(builtin_component_model.weights, &platform_power_model, &facts,
				 0.3, likely);
	component_estimate_power(machine.parts, 0.3, unknown);
	assert_true(unknown[COMPONENT_PACKAGE].bound_w > 1.05 * likely[COMPONENT_PACKAGE].bound_w);
	close_machine(&machine);
}

/* Parts give way to all that is measured, and to trained models; the whole to the first only. */
static void test_rivals(void **state)
{
	struct machine machine = open_machine(false, COMPONENT_ALL);
	const struct zone *dram = zone_source_zone(machine.parts, 1);
	struct zone meter = { .kind = ZONE_PLATFORM,
			      .source = "ipmi",
			      .quality = QUALITY_MEASURED,
			      .rank = RANK_SENSOR_POWER };
	struct zone trained = *zone_source_zone(machine.parts, 0);
	struct zone gpu = { .kind = ZONE_GPU, .source = "nvml", .quality = QUALITY_MEASURED };

	trained.rank = RANK_MODEL;
	assert_true(rank_are_rivals(dram, &meter) && rank_are_rivals(&meter, dram));
	assert_true(rank_are_rivals(dram, &trained));
	assert_false(rank_are_rivals(zone_source_zone(machine.whole, 0), &trained));
	assert_false(rank_are_rivals(dram, &gpu));
	assert_false(rank_are_rivals(dram, zone_source_zone(machine.whole, 0)));
	close_machine(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zones_are_estimates),
		cmocka_unit_test(test_only_the_parts_that_are_asked_for),
		cmocka_unit_test(test_energy_is_the_models),
		cmocka_unit_test(test_virtual_machine),
		cmocka_unit_test(test_design_power_that_is_not_known),
		cmocka_unit_test(test_rivals),
	};

	return unit_run(tests);
}
