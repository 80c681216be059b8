// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/kernel_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define ADDRESS 0xffffffff81000000ULL

static const char text[] = "ffffffff81000000 T first\n"
			   "ffffffff81100000 T second\n";

/* The file, which is opened by @path. */
static int write_list(char path[static 32])
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	(void)snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static uint32_t add(struct kernel_names *names, struct profile *profile, uint64_t address)
{
	uint32_t node =
		profile_child(profile, PROFILE_ROOT, kernel_names_frame(names, profile, address));

	profile->nodes[node].energy_uj[RUN_NOW] += 1;
	return node;
}

static uint64_t energy_of(struct profile *profile, const char *name)
{
	uint32_t count = profile->node_count,
		 node = profile_child(profile, PROFILE_ROOT,
				      profile_frame(profile, name, FRAME_KERNEL));

	assert_int_equal(profile->node_count, count);
	return profile->nodes[node].energy_uj[RUN_NOW];
}

static void names_are_read_at_the_end(void **state)
{
	struct kernel_names names;
	struct profile profile;
	char path[32];
	int fd = write_list(path);

	kernel_names_init(&names, path);
	assert_int_equal(profile_init(&profile, 100), 0);
	assert_int_equal(add(&names, &profile, ADDRESS + 4), add(&names, &profile, ADDRESS + 4));
	(void)add(&names, &profile, ADDRESS + 8);
	(void)add(&names, &profile, ADDRESS + 0x100000);
	(void)add(&names, &profile, 0x1000);
	assert_false(names.is_read);

	assert_int_equal(kernel_names_settle(&names, &profile), 0);
	assert_int_equal(energy_of(&profile, "first"), 3);
	assert_int_equal(energy_of(&profile, "second"), 1);
	assert_int_equal(energy_of(&profile, "[kernel]"), 1);
	kernel_names_release(&names);
	profile_release(&profile);
	(void)close(fd);
}

static void without_samples_in_the_kernel_nothing_is_read(void **state)
{
	struct kernel_names names;
	struct profile profile;

	kernel_names_init(&names, "/proc/self/fd/-1");
	assert_int_equal(profile_init(&profile, 100), 0);
	assert_int_equal(kernel_names_settle(&names, &profile), 0);
	assert_false(names.is_read);
	kernel_names_release(&names);
	profile_release(&profile);
}

static void very_many_addresses_are_named_at_once(void **state)
{
	struct kernel_names names;
	struct profile profile;
	char path[32];
	int fd = write_list(path);

	kernel_names_init(&names, path);
	assert_int_equal(profile_init(&profile, 2 * KERNEL_ADDRESSES_MAX), 0);
	for (uint64_t i = 0; i < KERNEL_ADDRESSES_MAX + 2; i++)
		(void)add(&names, &profile, ADDRESS + i);
	assert_int_equal(names.count, KERNEL_ADDRESSES_MAX);
	assert_int_equal(energy_of(&profile, "first"), 2);
	assert_int_equal(kernel_names_settle(&names, &profile), 0);
	assert_int_equal(energy_of(&profile, "first"), KERNEL_ADDRESSES_MAX + 2);
	assert_int_equal(profile.node_count, 2);
	kernel_names_release(&names);
	profile_release(&profile);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_at_the_end),
		cmocka_unit_test(without_samples_in_the_kernel_nothing_is_read),
		cmocka_unit_test(very_many_addresses_are_named_at_once),
	};

	return unit_run(tests);
}
