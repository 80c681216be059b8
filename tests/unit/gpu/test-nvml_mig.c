// SPDX-License-Identifier: Apache-2.0
/* On functions that stand in for the library's: one board, whose instances a test makes. */
#include "gpu/nvml_mig.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define SECOND           NSEC_PER_SEC
#define DEVICES_OF_BOARD 9 /* more than there is room for */

/* A MIG device, and what GPM has of its GPU instance. */
struct vendor_device {
	unsigned instance;
	struct nvml_attributes attributes;
};

struct nvml_gpm_sample {
	unsigned instance;
};

static struct vendor_device devices[DEVICES_OF_BOARD];
static unsigned device_count;
static double per_cent[DEVICES_OF_BOARD];
static int sm_result;
static bool has_gpm;
static unsigned mig_mode;
static unsigned board_multiprocessors;
static int samples; /* allocated */

static int get_mode(vendor_device board, unsigned *ret_current, unsigned *ret_pending)
{
	(void)board;
	*ret_current = mig_mode;
	*ret_pending = 1;
	return VENDOR_OK;
}

static int get_max(vendor_device board, unsigned *ret)
{
	(void)board;
	*ret = 7;
	return VENDOR_OK;
}

/* Indexes have holes. */
static int get_device(vendor_device board, unsigned index, vendor_device *ret)
{
	(void)board;
	if (index >= device_count || !devices[index].attributes.gpu_slices)
		return VENDOR_NOT_FOUND;
	*ret = &devices[index];
	return VENDOR_OK;
}

static int get_instance(vendor_device device, unsigned *ret)
{
	*ret = device->instance;
	return VENDOR_OK;
}

static int get_attributes(vendor_device device, struct nvml_attributes *ret)
{
	*ret = device->attributes;
	return VENDOR_OK;
}

static int get_profile(vendor_device board, unsigned profile, struct nvml_profile *ret)
{
	(void)board;
	*ret = (struct nvml_profile){ .multiprocessors = board_multiprocessors / (profile + 1) };
	return profile < 3 && board_multiprocessors ? VENDOR_OK : VENDOR_NOT_SUPPORTED;
}

static int get_uuid(vendor_device device, char *ret, unsigned size)
{
	return snprintf(ret, size, "MIG-%u", (unsigned)(device - devices)) < (int)size
		       ? VENDOR_OK
		       : VENDOR_TOO_SMALL;
}

static int get_support(vendor_device board, struct nvml_gpm_support *ret)
{
	(void)board;
	ret->is_supported = has_gpm;
	return VENDOR_OK;
}

static int alloc_sample(nvml_gpm_sample *ret)
{
	*ret = calloc(1, sizeof(**ret));
	assert_non_null(*ret);
	samples++;
	return VENDOR_OK;
}

static int free_sample(nvml_gpm_sample sample)
{
	free(sample);
	samples--;
	return VENDOR_OK;
}

static int get_sample(vendor_device board, unsigned instance, nvml_gpm_sample sample)
{
	(void)board;
	sample->instance = instance;
	return per_cent[instance] < 0 ? VENDOR_NO_PERMISSION : VENDOR_OK;
}

static int get_metrics(struct nvml_gpm_request *request)
{
	assert_int_equal(request->version, NVML_GPM_VERSION);
	assert_int_equal(request->from->instance, request->to->instance);
	assert_ptr_not_equal(request->from, request->to);
	for (unsigned i = 0; i < request->count; i++) {
		bool is_sm = request->metrics[i].id == NVML_GPM_SM_UTIL;

		request->metrics[i].result = is_sm ? sm_result : VENDOR_OK;
		request->metrics[i].value = is_sm ? per_cent[request->to->instance]
						  : 2 * per_cent[request->to->instance];
	}
	return VENDOR_OK;
}

static const struct nvml_library library = {
	.common.device_uuid = get_uuid,
	.mig_mode = get_mode,
	.mig_devices_max = get_max,
	.mig_device_by_index = get_device,
	.gpu_instance_id = get_instance,
	.attributes = get_attributes,
	.profile = get_profile,
	.gpm_support = get_support,
	.gpm_sample_alloc = alloc_sample,
	.gpm_sample_free = free_sample,
	.gpm_mig_sample = get_sample,
	.gpm_metrics = get_metrics,
};

static void add(unsigned instance, unsigned multiprocessors, unsigned slices, unsigned own)
{
	assert_true(device_count < DEVICES_OF_BOARD);
	devices[device_count++] = (struct vendor_device){
		instance,
		{ .multiprocessors = multiprocessors, .gpu_slices = slices, .compute_slices = own }
	};
}

static int begin(void **state)
{
	device_count = 0;
	sm_result = VENDOR_OK;
	has_gpm = true;
	mig_mode = 1;
	board_multiprocessors = 132;
	return 0;
}

static void read_twice(struct nvml_mig *mig)
{
	nvml_mig_read(&library, NULL, mig);
	nvml_mig_read(&library, NULL, mig);
}

static void activity_is_scaled_to_the_board(void **state)
{
	struct nvml_mig mig = { 0 };

	add(1, 60, 3, 3);
	add(5, 16, 1, 1);
	per_cent[1] = 50;
	per_cent[5] = 100;
	nvml_mig_read(&library, NULL, &mig);
	assert_int_equal(mig.count, 2);
	assert_true(isnan(mig.instances[0].activity)); /* the first of two samples */
	nvml_mig_read(&library, NULL, &mig);
	assert_int_equal(nvml_instance_busy_ns(&mig.instances[0], 132 * SECOND, SECOND, true),
			 30 * SECOND);
	assert_int_equal(nvml_instance_busy_ns(&mig.instances[1], 132 * SECOND, SECOND, false),
			 16 * SECOND);
	assert_int_equal(mig.instances[0].held, DEVICE_WHOLE / 7 * 3);
	assert_int_equal(mig.instances[1].held, DEVICE_WHOLE / 7);
	nvml_mig_clear(&library, &mig);
	assert_int_equal(samples, 0);
}

/* Its activity is of all its multiprocessors, whether a compute instance has them or not. */
static void compute_instances_are_one_instance(void **state)
{
	struct nvml_mig mig = { 0 };

	add(1, 16, 4, 1);
	add(1, 16, 4, 1);
	per_cent[1] = 50;
	read_twice(&mig);
	assert_int_equal(mig.count, 1);
	assert_int_equal(mig.device_count, 2);
	assert_int_equal(nvml_instance_busy_ns(&mig.instances[0], 132 * SECOND, 0, false),
			 32 * SECOND);
	assert_int_equal(mig.instances[0].held, DEVICE_WHOLE / 7 * 4);
	assert_int_equal(mig.devices[1].held, DEVICE_WHOLE / 7);
	assert_string_equal(mig.devices[1].uuid, "MIG-1");
	nvml_mig_clear(&library, &mig);
	assert_int_equal(samples, 0);
}

static void without_gpm_size_decides(void **state)
{
	struct nvml_mig mig = { 0 };

	has_gpm = false;
	board_multiprocessors = 98;
	add(1, 42, 3, 3);
	read_twice(&mig);
	assert_int_equal(samples, 0);
	assert_int_equal(nvml_instance_busy_ns(&mig.instances[0], 7 * SECOND, 7 * SECOND, true),
			 3 * SECOND);
	assert_int_equal(nvml_instance_busy_ns(&mig.instances[0], 7 * SECOND, 7 * SECOND, false),
			 0);
	board_multiprocessors = 0; /* slices do as well */
	nvml_mig_clear(&library, &mig);
	read_twice(&mig);
	assert_int_equal(nvml_instance_busy_ns(&mig.instances[0], 7 * SECOND, SECOND, true),
			 3 * SECOND / 7);
	nvml_mig_clear(&library, &mig);
}

static void an_impossible_activity_is_ignored(void **state)
{
	struct nvml_mig mig = { 0 };

	add(1, 60, 3, 3);
	per_cent[1] = 300;
	read_twice(&mig);
	assert_true(isnan(mig.instances[0].activity));
	per_cent[1] = (double)NAN;
	nvml_mig_read(&library, NULL, &mig);
	assert_true(isnan(mig.instances[0].activity));
	per_cent[1] = 100.4;
	nvml_mig_read(&library, NULL, &mig);
	assert_true(fabs(mig.instances[0].activity - 1) < 1e-9);
	per_cent[1] = 30; /* without that of multiprocessors it is that of anything */
	sm_result = VENDOR_NOT_SUPPORTED;
	nvml_mig_read(&library, NULL, &mig);
	assert_true(fabs(mig.instances[0].activity - 0.6) < 1e-9);
	per_cent[1] = -1; /* not permitted any more */
	nvml_mig_read(&library, NULL, &mig);
	assert_true(isnan(mig.instances[0].activity));
	per_cent[1] = 30; /* the sample before is too old */
	nvml_mig_read(&library, NULL, &mig);
	assert_true(isnan(mig.instances[0].activity));
	nvml_mig_clear(&library, &mig);
	assert_int_equal(samples, 0);
}

/* Its samples do not belong to the earlier bearer of its id. */
static void instances_come_and_go(void **state)
{
	struct nvml_mig mig = { 0 };

	add(1, 60, 3, 3);
	add(2, 60, 3, 3);
	per_cent[1] = per_cent[2] = 50;
	read_twice(&mig);
	assert_int_equal(samples, 4);
	devices[0].attributes.gpu_slices = 0; /* gone */
	devices[1].attributes.multiprocessors = 16;
	devices[1].attributes.gpu_slices = devices[1].attributes.compute_slices = 1;
	nvml_mig_read(&library, NULL, &mig);
	assert_int_equal(mig.count, 1);
	assert_int_equal(mig.instances[0].id, 2);
	assert_true(isnan(mig.instances[0].activity));
	nvml_mig_read(&library, NULL, &mig);
	assert_true(mig.instances[0].activity > 0);
	assert_int_equal(samples, 2);
	nvml_mig_clear(&library, &mig);
	assert_int_equal(samples, 0);
}

static void only_a_board_in_mig_mode_has_any(void **state)
{
	struct nvml_library old = library;

	assert_true(nvml_mig_is_on(&library, NULL));
	mig_mode = 0;
	assert_false(nvml_mig_is_on(&library, NULL));
	mig_mode = 1;
	old.attributes = NULL;
	assert_false(nvml_mig_is_on(&old, NULL));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(activity_is_scaled_to_the_board, begin),
		cmocka_unit_test_setup(compute_instances_are_one_instance, begin),
		cmocka_unit_test_setup(without_gpm_size_decides, begin),
		cmocka_unit_test_setup(an_impossible_activity_is_ignored, begin),
		cmocka_unit_test_setup(instances_come_and_go, begin),
		cmocka_unit_test_setup(only_a_board_in_mig_mode_has_any, begin),
	};

	return unit_run(tests);
}
