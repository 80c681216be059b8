// SPDX-License-Identifier: Apache-2.0
/* A program that the kernel refuses costs what it does, and nothing that the others do. */
#include <bpf/bpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/rig/activity_rig.h"

#include <cmocka.h>

#include "tests/rig/remove_tree.h"

static struct activity_reader *open_without(const char *program)
{
	const struct activity_options options = {
		.allow_bpf = true,
		.allow_walk = true,
		.spoil_program = program,
	};
	struct activity_reader *reader = NULL;
	struct activity activity;

	assert_int_equal(activity_open(&options, &reader), 0);
	rig_rename();
	assert_int_equal(activity_read(reader, &activity), 0);
	return reader;
}

static void burn(void *arg)
{
	(void)arg;
	rig_burn_ms(200);
}

/*
 * Two burners, one that passes see alive: their reported time, and whether their end is reported.
 */
static struct rig_tally work(const char *program, uint64_t *ret_truth_ns)
{
	struct rig_tally tally = { .reader = open_without(program), .comm = rig_comm() };
	pid_t pid = rig_fork(rig_comm(), burn, NULL);

	rig_sleep_ms(60);
	rig_pass(&tally);
	*ret_truth_ns = rig_wait(pid) + rig_wait(rig_fork(rig_comm(), burn, NULL));
	rig_pass_until(&tally, 2);
	return tally;
}

static bool walks_by_default(void)
{
	struct activity_reader *reader = open_without(NULL);
	struct activity_info info;

	activity_get_info(reader, &info);
	assert_int_equal(info.refused, 0);
	assert_string_equal(info.refused_text, "");
	activity_close(reader);
	return strcmp(info.reader, "bpf-walk") == 0;
}

static void check(const char *program, const char *reader, unsigned int refused)
{
	struct activity_info info;
	uint64_t truth_ns;
	struct rig_tally tally = work(program, &truth_ns);

	activity_get_info(tally.reader, &info);
	printf("# without %s: %s, \"%s\"\n", program, info.reader, info.refused_text);
	assert_string_equal(info.reader, reader);
	assert_int_equal(info.refused, refused);
	if (refused)
		assert_non_null(strstr(info.refused_text, program));
	assert_true(info.exits_seen);
	assert_int_equal(tally.ended, 2);
	/*
	 * A process that is freed on top of a guarded one is reported only by its exit, less its
	 * last tick.
	 */
	rig_assert_between(program, tally.named_ns, truth_ns,
			   rig_is_guarded(tally.reader) ? 30 : 10, 10);
	activity_close(tally.reader);
}

static void test_without_walk(void **state)
{
	(void)state;
	check("walk", "bpf-iter", walks_by_default());
}

static void test_without_iterator(void **state)
{
	(void)state;
	if (!walks_by_default()) {
		print_message("# not possible here: there is only the iterator\n");
		return;
	}
	check("iterate", "bpf-walk", 1);
}

static void test_without_cgroups(void **state)
{
	(void)state;
	check("cgroup_made", walks_by_default() ? "bpf-walk" : "bpf-iter", 1);
}

static void test_without_exits(void **state)
{
	(void)state;
	check("exiting", walks_by_default() ? "bpf-walk" : "bpf-iter", 0); /* raw ones do */
}

static void test_without_typed_ends(void **state)
{
	(void)state;
	check("ended", walks_by_default() ? "bpf-walk" : "bpf-iter", 0); /* raw ones do */
}

/* Returns true if a descriptor is a map that only the kernel, or no process at all, may write. */
static bool is_to_be_frozen(int fd, struct bpf_map_info *ret_info)
{
	uint32_t size = sizeof(*ret_info);

	*ret_info = (struct bpf_map_info){ 0 };
	return bpf_obj_get_info_by_fd(fd, ret_info, &size) == 0 && ret_info->value_size &&
	       (strcmp(ret_info->name, "records") == 0 || strstr(ret_info->name, "rodata"));
}

static void test_maps_are_frozen(void **state)
{
	struct activity_reader *reader = open_without(NULL);
	static char value[4096];
	unsigned int found = 0;

	(void)state;
	for (int own_fd = 3; own_fd < 256; own_fd++) {
		struct bpf_map_info info;
		uint32_t key = 0;
		int fd;

		if (!is_to_be_frozen(own_fd, &info))
			continue;
		fd = bpf_map_get_fd_by_id(info.id); /* as another process gets it */
		assert_true(fd >= 0);
		assert_true(info.value_size <= sizeof(value));
		errno = 0;
		assert_int_not_equal(bpf_map_update_elem(fd, &key, value, BPF_ANY), 0);
		assert_int_equal(errno, EPERM);
		assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
				 MAP_FAILED);
		(void)close(fd);
		found++;
	}
	assert_int_equal(found, 2);
	activity_close(reader);
}

/* Is one of our programs in the kernel, whichever way it is attached? */
static bool is_loaded(const char *program)
{
	for (int fd = 3; fd < 256; fd++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		char path[64], what[64];
		ssize_t len;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, what, sizeof(what) - 1);
		what[len > 0 ? len : 0] = '\0';
		if (strcmp(what, "anon_inode:bpf-prog") == 0 &&
		    bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
		    strncmp(info.name, program, strlen(program)) == 0)
			return true;
	}
	return false;
}

/* Opens with this /proc; after some passes. */
static struct rig_tally look_in(const char *procfs)
{
	struct activity_options options = {
		.procfs = procfs,
		.allow_bpf = true,
		.allow_walk = true,
	};
	struct rig_tally tally = { .comm = rig_comm() };

	tally.reader = rig_open(&options);
	assert_true(is_loaded("exiting"));
	for (int i = 0; i < 3; i++)
		rig_pass(&tally);
	return tally;
}

static void test_exits_are_reported_if_a_process_is_guarded(void **state)
{
	struct rig_tally tally = look_in("/proc");

	(void)state;
	printf("# a process is guarded here: %s\n", rig_is_guarded(tally.reader) ? "yes" : "no");
	assert_int_equal(is_loaded("exiting"), rig_is_guarded(tally.reader));
	assert_true(is_loaded("ended"));
	activity_close(tally.reader);
}

/* A /proc in which there is nothing but what @names says. */
static void make_procfs(char *procfs, const char *const *names)
{
	assert_non_null(mkdtemp(procfs));
	for (; *names; names++) {
		char link[64], process[64];

		(void)snprintf(link, sizeof(link), "%s/%s", procfs, *names);
		(void)snprintf(process, sizeof(process), "/proc/%s", *names);
		assert_int_equal(symlink(process, link), 0);
	}
}

/* Whatever is guarded is not to be found. */
static void test_exits_are_not_reported_if_no_process_is_guarded(void **state)
{
	static const char *const names[] = { "self", "2", NULL };
	char procfs[] = "/tmp/kepler-test-procfs.XXXXXX";
	struct activity_info info;
	struct rig_tally tally;
	uint64_t truth_ns;

	(void)state;
	make_procfs(procfs, names);
	tally = look_in(procfs);
	assert_false(rig_is_guarded(tally.reader));
	assert_false(is_loaded("exiting"));
	truth_ns = rig_wait(rig_fork(rig_comm(), burn, NULL));
	rig_pass_until(&tally, 1);
	activity_get_info(tally.reader, &info);
	assert_true(info.exits_seen);
	assert_string_equal(info.refused_text, "");
	printf("# %u of 1 ended, %.1f of %.1f ms\n", tally.ended, (double)tally.named_ns / 1e6,
	       (double)truth_ns / 1e6);
	activity_close(tally.reader);
	assert_int_equal(remove_tree(procfs), 0);
}

/* With hidepid what is guarded may be hidden: kthreadd, which is always there, is not found. */
static void test_exits_are_reported_if_proc_hides_processes(void **state)
{
	static const char *const names[] = { "self", NULL };
	char procfs[] = "/tmp/kepler-test-procfs.XXXXXX";
	struct rig_tally tally;

	(void)state;
	make_procfs(procfs, names);
	tally = look_in(procfs);
	assert_true(is_loaded("exiting"));
	activity_close(tally.reader);
	assert_int_equal(remove_tree(procfs), 0);
}

/* A question that a look cannot answer is not decided by it. */
static void test_exits_are_reported_if_proc_is_unreadable(void **state)
{
	struct rig_tally tally = look_in("/sys");

	(void)state;
	assert_true(is_loaded("exiting"));
	activity_close(tally.reader);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_walk),
		cmocka_unit_test(test_without_iterator),
		cmocka_unit_test(test_without_cgroups),
		cmocka_unit_test(test_without_exits),
		cmocka_unit_test(test_exits_are_reported_if_a_process_is_guarded),
		cmocka_unit_test(test_exits_are_not_reported_if_no_process_is_guarded),
		cmocka_unit_test(test_exits_are_reported_if_proc_hides_processes),
		cmocka_unit_test(test_exits_are_reported_if_proc_is_unreadable),
		cmocka_unit_test(test_without_typed_ends),
		cmocka_unit_test(test_maps_are_frozen),
	};

	/* Skips where BPF is refused altogether. */
	activity_close(rig_open(&(const struct activity_options){ .allow_bpf = true }));
	rig_calibrate();
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
