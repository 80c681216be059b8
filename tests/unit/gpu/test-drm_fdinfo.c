// SPDX-License-Identifier: Apache-2.0
/* Texts as the drivers print them (Linux: Documentation/gpu, and the drivers' show_fdinfo). */
#include "gpu/drm_fdinfo.h"

#include "tests/unit/unit.h"

#define HEAD "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t685\n"

static const char amdgpu[] = HEAD "drm-driver:\tamdgpu\n"
				  "drm-client-id:\t217\n"
				  "drm-pdev:\t0000:08:00.0\n"
				  "pasid:\t32784\n"
				  "drm-total-vram:\t2068 KiB\n"
				  "drm-shared-vram:\t0\n"
				  "drm-memory-vram:\t2068 KiB\n"
				  "amd-evicted-vram:\t0 KiB\n"
				  "drm-engine-gfx:\t107322799 ns\n"
				  "drm-engine-dec:\t42 ns\n";

static const char i915[] = HEAD "drm-driver:\ti915\n"
				"drm-client-id:\t12\n"
				"drm-pdev:\t0000:4d:00.0\n"
				"drm-total-system0:\t1024 KiB\n"
				"drm-engine-render:\t9288864723 ns\n"
				"drm-engine-copy:\t2035071108 ns\n"
				"drm-engine-video:\t0 ns\n"
				"drm-engine-capacity-video:\t2\n"
				"drm-engine-video-enhance:\t0 ns\n";

static const char xe[] = HEAD "drm-driver:\txe\n"
			      "drm-client-id:\t3\n"
			      "drm-pdev:\t0000:03:00.0\n"
			      "drm-total-vram0:\t23992 KiB\n"
			      "drm-cycles-rcs:\t28257900\n"
			      "drm-total-cycles-rcs:\t7655183225\n"
			      "drm-cycles-vcs:\t0\n"
			      "drm-total-cycles-vcs:\t7655183225\n"
			      "drm-engine-capacity-vcs:\t2\n";

/* No PCI device; cycles together with ns, but without all cycles. */
static const char panfrost[] = HEAD "drm-driver:\tpanfrost\n"
				    "drm-client-id:\t4\n"
				    "drm-engine-fragment:\t1846584880 ns\n"
				    "drm-cycles-fragment:\t1424359409\n"
				    "drm-maxfreq-fragment:\t799999987 Hz\n"
				    "drm-curfreq-fragment:\t799999987 Hz\n"
				    "drm-engine-vertex-tiler:\t71932239 ns\n";

static const char msm[] = HEAD "drm-driver:\tmsm\n"
			       "drm-client-id:\t7\n"
			       "drm-engine-gpu:\t412345678 ns\n"
			       "drm-cycles-gpu:\t123456789\n"
			       "drm-maxfreq-gpu:\t800000000 Hz\n";

static struct drm_fdinfo parse(const char *text)
{
	struct drm_fdinfo info;

	assert_int_equal(drm_fdinfo_parse(text, strlen(text), &info), 0);
	return info;
}

static void expect_engine(const struct drm_fdinfo *info, size_t index, const char *name,
			  uint64_t busy_ns)
{
	assert_true(index < info->engine_count);
	assert_string_equal(info->engines[index].name, name);
	assert_true(info->engines[index].has_busy_ns);
	assert_int_equal(info->engines[index].busy_ns, busy_ns);
}

static void those_of_each_driver_are_read(void **state)
{
	struct drm_fdinfo info = parse(amdgpu);

	assert_string_equal(info.driver, "amdgpu");
	assert_string_equal(info.address, "0000:08:00.0");
	assert_int_equal(info.client_id, 217);
	assert_int_equal(info.engine_count, 2);
	expect_engine(&info, 0, "gfx", 107322799);
	expect_engine(&info, 1, "dec", 42);
	assert_int_equal(info.engines[0].capacity, 1);

	info = parse(i915);
	assert_int_equal(info.engine_count, 4);
	expect_engine(&info, 1, "copy", 2035071108);
	assert_string_equal(info.engines[2].name, "video");
	assert_int_equal(info.engines[2].capacity, 2);
	assert_int_equal(info.engines[3].capacity, 1);
	assert_string_equal(info.engines[3].name, "video-enhance");

	info = parse(xe);
	assert_int_equal(info.engine_count, 2);
	assert_false(info.engines[0].has_busy_ns);
	assert_true(info.engines[0].has_cycles);
	assert_int_equal(info.engines[0].cycles, 28257900);
	assert_int_equal(info.engines[0].total_cycles, 7655183225);
	assert_int_equal(info.engines[1].capacity, 2);
}

static void those_without_a_pci_device_are_read_too(void **state)
{
	struct drm_fdinfo info = parse(panfrost);

	assert_string_equal(info.address, "");
	assert_int_equal(info.engine_count, 2);
	expect_engine(&info, 0, "fragment", 1846584880);
	assert_false(info.engines[0].has_cycles); /* there is no number of all of them */
	info = parse(msm);
	assert_int_equal(info.engine_count, 1);
}

static void an_invalid_client_is_refused(void **state)
{
	/* A file, and amdgpu from 5.14 to 5.18, which says neither driver nor client. */
	static const char *const texts[] = {
		"",
		HEAD,
		HEAD "pdev:\t0000:08:00.0\npasid:\t32770\nvram mem:\t100 kB\ngfx0:\t50.00%\n",
		HEAD "drm-driver:\ti915\ndrm-pdev:\t0000:4d:00.0\ndrm-engine-render:\t9 ns\n",
		HEAD "drm-client-id:\t9\ndrm-engine-render:\t9 ns\n",
		HEAD "drm-driver:\ti915\ndrm-client-id:\t18446744073709551616\n",
	};
	struct drm_fdinfo info;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(drm_fdinfo_parse(texts[i], strlen(texts[i]), &info), -ENODATA);
}

static void malformed_lines_are_left_out(void **state)
{
	struct drm_fdinfo info = parse("drm-driver: i915\r\ndrm-client-id: 1\n"
				       "drm-engine-a: 5\n"          /* without its unit */
				       "drm-engine-b: -5 ns\n"      /* no number */
				       "drm-engine-c: 5 us\n"       /* of another unit */
				       "drm-engine-: 5 ns\n"        /* without a name */
				       "drm-engine-capacity-d: 0\n" /* cannot be */
				       "drm-cycles-e: 7\n"          /* of how many? */
				       "drm-engine-d 5 ns\n"        /* no colon */
				       "drm-engine-d:6 ns\n"        /* no blank: good */
				       "drm-total-cycles-f: 8\n"    /* in any order: good */
				       "drm-cycles-f: 7");

	assert_string_equal(info.driver, "i915");
	assert_int_equal(info.engine_count, 2);
	expect_engine(&info, 0, "d", 6);
	assert_int_equal(info.engines[0].capacity, 1);
	assert_string_equal(info.engines[1].name, "f");
}

static void engines_beyond_the_table_are_counted(void **state)
{
	char text[4096] = "drm-driver:\ti915\ndrm-client-id:\t1\n";
	struct drm_fdinfo info;

	for (int i = 0; i < DRM_ENGINES_MAX + 3; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "drm-engine-e%d:\t%d ns\n", i, i);
	info = parse(text);
	assert_int_equal(info.engine_count, DRM_ENGINES_MAX);
	assert_int_equal(info.beyond, 3);
	expect_engine(&info, DRM_ENGINES_MAX - 1, "e15", 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_each_driver_are_read),
		cmocka_unit_test(those_without_a_pci_device_are_read_too),
		cmocka_unit_test(an_invalid_client_is_refused),
		cmocka_unit_test(malformed_lines_are_left_out),
		cmocka_unit_test(engines_beyond_the_table_are_counted),
	};

	return unit_run(tests);
}
