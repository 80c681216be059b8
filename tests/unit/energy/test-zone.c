// SPDX-License-Identifier: Apache-2.0
#include "energy/zone.h"

#include "tests/unit/unit.h"

static const struct zone die = { .kind = ZONE_PACKAGE, .instance = "1-die-0", .source = "rapl" };
static const struct zone machine = { .kind = ZONE_PLATFORM, .source = "model" };

static void ids_have_the_instance_if_it_is_known(void **state)
{
	static const struct zone longest = { .kind = ZONE_PLATFORM, .instance = "123456789012345" };
	char id[ZONE_ID_MAX];

	zone_id(&die, id);
	assert_string_equal(id, "package-1-die-0");
	zone_id(&machine, id);
	assert_string_equal(id, "platform");
	zone_id(&longest, id);
	assert_string_equal(id, "platform-123456789012345");
}

static void options_name_a_zone_or_all_of_its_kind(void **state)
{
	assert_true(zone_has_id(&die, "package"));
	assert_true(zone_has_id(&die, "package-1-die-0"));
	assert_false(zone_has_id(&die, "package-1"));
	assert_false(zone_has_id(&die, "1-die-0"));
	assert_false(zone_has_id(&die, "core"));
	assert_true(zone_has_id(&machine, "platform"));
	assert_false(zone_has_id(&machine, "platform-"));
}

static void parts_are_inside_their_own_package_only(void **state)
{
	struct zone part = die;

	assert_false(zone_is_inside(&die, &die));
	part.kind = ZONE_CORE;
	assert_true(zone_is_inside(&part, &die));
	assert_false(zone_is_inside(&die, &part));
	part.kind = ZONE_UNCORE;
	assert_true(zone_is_inside(&part, &die));
	part.kind = ZONE_DRAM;
	assert_false(zone_is_inside(&part, &die));
	part.kind = ZONE_CORE;
	part.source = "another";
	assert_false(zone_is_inside(&part, &die));
	part = die;
	part.kind = ZONE_CORE;
	part.instance[0] = '0';
	assert_false(zone_is_inside(&part, &die));
}

static void a_meter_alone_knows_which_device_it_is(void **state)
{
	assert_int_equal(zone_domain(ZONE_GPU, "0").kind, DOMAIN_NODE);
	assert_int_equal(zone_domain(ZONE_DRAM, "0").kind, DOMAIN_SOCKET);
}

/* A part of a measured zone is an estimate as well, but not from a model. */
static void an_estimate_need_not_be_a_models(void **state)
{
	const struct zone share = { .quality = QUALITY_ESTIMATED, .rank = RANK_SHARE };
	const struct zone model = { .quality = QUALITY_ESTIMATED, .rank = RANK_ESTIMATED };
	const struct zone meter = { .quality = QUALITY_MEASURED, .rank = RANK_REMOTE };

	assert_true(zone_is_modelled(&model));
	assert_false(zone_is_modelled(&share) || zone_is_modelled(&meter));
}

static void words_match_the_metrics(void **state)
{
	assert_string_equal(zone_quality_name(QUALITY_MEASURED), "measured");
	assert_string_equal(zone_quality_name(QUALITY_ESTIMATED), "estimated");
	assert_string_equal(zone_scope_name(SCOPE_NODE), "node");
	assert_string_equal(zone_scope_name(SCOPE_VM_DYNAMIC), "vm_dynamic");
	assert_string_equal(zone_state_name(ZONE_REFUSED), "refused");
	assert_string_equal(zone_caveat_name(CAVEAT_NONE), "");
	assert_string_equal(zone_caveat_name(CAVEAT_INACTIVE), "inactive");
	assert_string_equal(zone_caveat_name(CAVEAT_OUTPUT), "output");
	assert_string_equal(zone_caveat_name(CAVEAT_AMBIGUOUS), "ambiguous");
	assert_string_equal(zone_caveat_name(CAVEAT_LATE), "late");
	assert_string_equal(zone_kind_name(ZONE_UNCORE), "uncore");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_have_the_instance_if_it_is_known),
		cmocka_unit_test(options_name_a_zone_or_all_of_its_kind),
		cmocka_unit_test(parts_are_inside_their_own_package_only),
		cmocka_unit_test(a_meter_alone_knows_which_device_it_is),
		cmocka_unit_test(an_estimate_need_not_be_a_models),
		cmocka_unit_test(words_match_the_metrics),
	};

	return unit_run(tests);
}
