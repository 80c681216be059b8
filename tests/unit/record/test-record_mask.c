// SPDX-License-Identifier: Apache-2.0
#include "record/record_mask.h"

#include "tests/unit/unit.h"

/* The vector of its authors: key 00 to 0f, message 00 to 0e. */
static void it_is_siphash(void **state)
{
	const struct record_mask mask = { true, { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };
	uint8_t message[15];

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t)i;
	assert_true(record_mask_hash(&mask, message, sizeof(message)) == 0xa129ca6149be45e5ULL);
	assert_true(record_mask_hash(&mask, message, 0) == 0x726fdb47dd0e0e31ULL);
}

static void names_become_others(void **state)
{
	const struct label app = { "label_app", "secret" };
	struct recorded_owner owner = { .names = { .text = { [LABEL_CONTAINER_ID] = "secret",
							     [LABEL_POD_NAME] = "secret",
							     [LABEL_RUNTIME] = "docker",
							     [LABEL_NAMESPACE] = "" },
						   .extra = &app,
						   .extra_count = 1 } };
	struct recorded_process process = { .pid = 4711, .comm = "secret" };
	struct record_mask mask, other;
	struct masked_owner texts, others;
	struct recorded_owner again = owner;

	assert_int_equal(record_mask_init(&mask), 0);
	assert_int_equal(record_mask_init(&other), 0);
	record_mask_owner(&mask, &owner, &texts);
	assert_int_equal(owner.names.extra_count, 0);
	assert_string_equal(owner.names.text[LABEL_RUNTIME], "docker");
	assert_string_equal(owner.names.text[LABEL_NAMESPACE], "");
	assert_int_equal(strlen(owner.names.text[LABEL_POD_NAME]), 13);
	assert_string_equal(owner.names.text[LABEL_POD_NAME], owner.names.text[LABEL_CONTAINER_ID]);
	record_mask_owner(&other, &again, &others);
	assert_string_not_equal(owner.names.text[LABEL_POD_NAME], again.names.text[LABEL_POD_NAME]);
	record_mask_process(&mask, &process);
	assert_int_not_equal(process.pid, 4711);
	assert_string_equal(process.comm, owner.names.text[LABEL_POD_NAME]);
}

static void what_names_nothing_stays(void **state)
{
	struct recorded_owner owner = { .names = { .text = { [LABEL_CONTAINER_ID] =
								     "kernel_processes" } } };
	struct recorded_zone package = {
		.zone = { .kind = ZONE_PACKAGE, .instance = "0", .path = "/home/me/meter" }
	};
	struct recorded_zone gpu = { .zone = { .kind = ZONE_GPU, .instance = "GPU-1" } };
	struct recorded_process idle = { .pid = 0 };
	struct record_mask mask;
	struct masked_owner texts;

	assert_int_equal(record_mask_init(&mask), 0);
	record_mask_owner(&mask, &owner, &texts);
	assert_string_equal(owner.names.text[LABEL_CONTAINER_ID], "kernel_processes");
	record_mask_zone(&mask, &package);
	record_mask_zone(&mask, &gpu);
	assert_string_equal(package.zone.instance, "0");
	assert_int_equal(package.zone.path[0], 'x');
	assert_string_not_equal(gpu.zone.instance, "GPU-1");
	record_mask_process(&mask, &idle);
	assert_int_equal(idle.pid, 0);
	mask.on = false;
	gpu = (struct recorded_zone){ .zone = { .kind = ZONE_GPU, .instance = "GPU-1" } };
	record_mask_zone(&mask, &gpu);
	assert_string_equal(gpu.zone.instance, "GPU-1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_siphash),
		cmocka_unit_test(names_become_others),
		cmocka_unit_test(what_names_nothing_stays),
	};

	return unit_run(tests);
}
