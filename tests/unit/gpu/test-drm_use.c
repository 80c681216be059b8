// SPDX-License-Identifier: Apache-2.0
#include "gpu/drm_use.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define MS     NSEC_PER_MSEC
#define SECOND NSEC_PER_SEC

static struct drm_use use;

static int setup(void **state)
{
	use = (struct drm_use){ 0 };
	return 0;
}

static int teardown(void **state)
{
	drm_use_release(&use);
	return 0;
}

static struct drm_fdinfo client_of(uint64_t id)
{
	return (struct drm_fdinfo){ .driver = "i915", .client_id = id };
}

static void add_engine(struct drm_fdinfo *info, const char *name, uint64_t busy_ns,
		       uint64_t capacity)
{
	struct drm_engine *engine = &info->engines[info->engine_count++];

	*engine = (struct drm_engine){ .has_busy_ns = true,
				       .busy_ns = busy_ns,
				       .capacity = capacity };
	(void)snprintf(engine->name, sizeof(engine->name), "%s", name);
}

/* One client on one engine. */
static void read_ns(struct drm_client *client, uint32_t pid, uint64_t id, const char *engine,
		    uint64_t busy_ns)
{
	struct drm_fdinfo info = client_of(id);

	add_engine(&info, engine, busy_ns, 1);
	assert_int_equal(drm_use_add(&use, client, pid, &info, false), 0);
}

static uint64_t time_of(uint32_t pid)
{
	struct device_use list[16];
	size_t count = drm_use_list(&use, 97, list);
	uint64_t busy_ns = 0;

	assert_true(count <= 16);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(list[i].device, 97);
		if (list[i].pid == pid)
			busy_ns += list[i].busy_ns;
	}
	return busy_ns;
}

static void what_grew_is_used(void **state)
{
	struct drm_client first = { 0 }, second = { 0 };

	drm_use_begin(&use, 0);
	read_ns(&first, 10, 1, "render", 5000 * MS);
	read_ns(&second, 11, 2, "render", 100 * MS);
	assert_int_equal(use.count, 0); /* what was before is of another time */
	drm_use_begin(&use, SECOND);
	read_ns(&first, 10, 1, "render", 5600 * MS);
	read_ns(&second, 11, 2, "render", 400 * MS);
	assert_int_equal(time_of(10), 600 * MS);
	assert_int_equal(time_of(11), 300 * MS);
	drm_use_begin(&use, SECOND);
	read_ns(&first, 10, 1, "render", 5600 * MS);
	assert_int_equal(use.count, 0);
}

/* Clients add up by engine, and then the busiest engine counts, by how many there are of it. */
static void the_busiest_engine_counts(void **state)
{
	struct drm_client clients[3] = { 0 };
	struct drm_fdinfo video = client_of(3);

	drm_use_begin(&use, 0);
	read_ns(&clients[0], 10, 1, "render", 0);
	read_ns(&clients[1], 10, 2, "render", 0);
	add_engine(&video, "video", 0, 2);
	assert_int_equal(drm_use_add(&use, &clients[2], 10, &video, false), 0);
	drm_use_begin(&use, SECOND);
	read_ns(&clients[0], 10, 1, "render", 300 * MS);
	read_ns(&clients[1], 10, 2, "render", 200 * MS);
	video.engines[0].busy_ns = 900 * MS; /* of two */
	assert_int_equal(drm_use_add(&use, &clients[2], 10, &video, false), 0);
	assert_int_equal(time_of(10), 500 * MS);
	drm_use_begin(&use, SECOND);
	video.engines[0].busy_ns += 1400 * MS;
	assert_int_equal(drm_use_add(&use, &clients[2], 10, &video, false), 0);
	assert_int_equal(time_of(10), 700 * MS);
}

/* amdgpu leaves out engines that a client has not used yet. */
static void an_engine_may_appear_later(void **state)
{
	struct drm_client client = { 0 };
	struct drm_fdinfo info = client_of(1);

	drm_use_begin(&use, 0);
	read_ns(&client, 10, 1, "gfx", 7000 * MS);
	drm_use_begin(&use, SECOND);
	add_engine(&info, "dec", 250 * MS, 1);
	add_engine(&info, "gfx", 7100 * MS, 1);
	assert_int_equal(drm_use_add(&use, &client, 10, &info, false), 0);
	assert_int_equal(time_of(10), 250 * MS);
}

static void a_falling_counter_or_another_client_begins_again(void **state)
{
	struct drm_client client = { 0 };

	drm_use_begin(&use, SECOND);
	read_ns(&client, 10, 1, "render", 900 * MS);
	drm_use_begin(&use, SECOND);
	read_ns(&client, 10, 1, "render", 100 * MS); /* the GPU was reset */
	assert_int_equal(use.count, 0);
	read_ns(&client, 10, 1, "render", 150 * MS);
	assert_int_equal(time_of(10), 50 * MS);
	drm_use_begin(&use, SECOND);
	read_ns(&client, 10, 2, "render", 950 * MS); /* the descriptor is another file's now */
	assert_int_equal(use.count, 0);
	read_ns(&client, 10, 2, "render", 960 * MS);
	assert_int_equal(time_of(10), 10 * MS);
}

static void one_that_is_new_counts_from_its_beginning(void **state)
{
	struct drm_client client = { 0 }, other = { 0 };
	struct drm_fdinfo info = client_of(1);

	drm_use_begin(&use, SECOND);
	add_engine(&info, "render", 400 * MS, 1);
	assert_int_equal(drm_use_add(&use, &client, 10, &info, true), 0);
	assert_int_equal(time_of(10), 400 * MS);
	info.client_id = 2;
	info.engines[0].busy_ns = 90 * SECOND; /* it cannot have been busy for that long */
	assert_int_equal(drm_use_add(&use, &other, 11, &info, true), 0);
	assert_int_equal(time_of(11), SECOND);
}

static void read_cycles(struct drm_client *client, uint64_t cycles, uint64_t total,
			uint64_t capacity, bool is_new)
{
	struct drm_fdinfo info = client_of(1);

	info.engine_count = 1;
	info.engines[0] = (struct drm_engine){ .name = "ccs",
					       .has_cycles = true,
					       .cycles = cycles,
					       .total_cycles = total,
					       .capacity = capacity };
	assert_int_equal(drm_use_add(&use, client, 10, &info, is_new), 0);
}

static void cycles_are_a_part_of_all_cycles(void **state)
{
	struct drm_client client = { 0 };

	drm_use_begin(&use, SECOND);
	read_cycles(&client, 5000, 1000000, 1, true); /* of all of how much time? */
	assert_int_equal(use.count, 0);
	drm_use_begin(&use, 2 * SECOND);
	read_cycles(&client, 105000, 1400000, 1, false);
	assert_int_equal(time_of(10), 500 * MS);
	drm_use_begin(&use, 2 * SECOND);
	read_cycles(&client, 1305000, 1800000, 4, false); /* three of four engines */
	assert_int_equal(time_of(10), 1500 * MS);
	drm_use_begin(&use, SECOND);
	read_cycles(&client, 1305001, 1800000, 4, false); /* the clock of the GPU stands still */
	read_cycles(&client, 7, 9, 4, false);
	assert_int_equal(use.count, 0);
	read_cycles(&client, UINT64_MAX, 10, 1, false); /* cannot be */
	assert_int_equal(time_of(10), 0);
}

static void more_engines_than_there_is_room_for_are_left_out(void **state)
{
	struct drm_client client = { 0 };
	char name[16];

	drm_use_begin(&use, SECOND);
	for (int i = 0; i < DRM_ENGINES_MAX + 2; i++) {
		(void)snprintf(name, sizeof(name), "e%d", i);
		read_ns(&client, 10, 1, name, 0);
	}
	assert_int_equal(use.engine_count, DRM_ENGINES_MAX);
	read_ns(&client, 10, 1, "e17", 500 * MS);
	assert_int_equal(use.count, 0);
	read_ns(&client, 10, 1, "e15", 500 * MS);
	assert_int_equal(time_of(10), 500 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_grew_is_used, setup, teardown),
		cmocka_unit_test_setup_teardown(the_busiest_engine_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(an_engine_may_appear_later, setup, teardown),
		cmocka_unit_test_setup_teardown(a_falling_counter_or_another_client_begins_again,
						setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_is_new_counts_from_its_beginning, setup,
						teardown),
		cmocka_unit_test_setup_teardown(cycles_are_a_part_of_all_cycles, setup, teardown),
		cmocka_unit_test_setup_teardown(more_engines_than_there_is_room_for_are_left_out,
						setup, teardown),
	};

	return unit_run(tests);
}
