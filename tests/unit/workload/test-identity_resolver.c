// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "host/proc.h"
#include "proc_rig.h"
#include "tests/unit/unit.h"
#include "workload/cgroup/cgroup_reads.h"
#include "workload/cgroup/hierarchy.h"
#include "workload/identity.h"
#include "workload/name_directory.h"

#define ID  "3f1c0d52a9e84b7760d1c2f8e5a4b39017c6d8e2f4a1b0935c7e6d8f2a4b1c30"
#define UID "5f0c7a3e-1b2d-4c6f-9a8b-0d1e2f3a4b5c"
#define POD "0::/kubepods/burstable/pod" UID "/" ID "\n"
#define S   NSEC_PER_SEC
#define T0  (1000 * S)

static uint64_t now_ns;

/* No cgroup file system there: ids cannot be opened, so paths come from the test's /proc. */
static struct identity_resolver *open_with(struct identity_options options)
{
	struct identity_resolver *resolver;

	options.procfs = rig_procfs();
	options.cgroupfs = "/nonexistent";
	if (!options.cgroup_patience_ns)
		options.cgroup_patience_ns = 60 * S; /* however busy this computer is */
	now_ns = T0;
	assert_int_equal(identity_resolver_open(&options, &resolver), 0);
	assert_string_equal(identity_resolver_controller(resolver), "");
	identity_resolver_begin(resolver, T0);
	return resolver;
}

/* As an interval does, and one for each: a process is read once an interval. */
static const struct identity *meet(struct identity_resolver *resolver,
				   const struct process_ref *process)
{
	identity_resolver_begin(resolver, now_ns);
	for (int round = 0; round < 3; round++) {
		identity_resolver_announce(resolver, process);
		if (!identity_resolver_await(resolver))
			break;
	}
	return identity_resolve(resolver, process);
}

static struct identity_resolver *open_resolver(uint32_t max_cgroups)
{
	return open_with((struct identity_options){ .max_cgroups = max_cgroups });
}

/* Every process of these tests began 5 s after boot. */
static const struct identity *resolve(struct identity_resolver *resolver, uint64_t cgroup_id,
				      uint32_t pid)
{
	const struct process_ref process = { pid, 5 * S, cgroup_id, "x", false };

	return meet(resolver, &process);
}

static void check(struct identity_resolver *resolver, uint64_t cgroup_id, uint32_t pid,
		  const char *expected)
{
	assert_string_equal(resolve(resolver, cgroup_id, pid)->names->text[LABEL_CONTAINER_ID],
			    expected);
}

static void test_known_cgroup_needs_no_process(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	rig_process(7, "x", 5, "0::/system.slice/nginx.service\n");
	check(resolver, 1000, 7, "nginx.service");
	rig_forget(7);
	check(resolver, 1000, 8, "nginx.service");
	check(resolver, 1000, 0, "nginx.service");
	check(resolver, 1001, 8, "system_processes");
	identity_resolver_close(resolver);
}

static void test_labels_of_every_kind(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);
	const struct process_ref kernel = { 2, 0, 1, "kthreadd", true };
	const struct identity *identity;

	identity = identity_resolve(resolver, &kernel);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], "kernel_processes");
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "kernel");
	assert_int_equal(identity->kind, OWNER_KERNEL);
	rig_process(7, "x", 5, "0::/user.slice/user-1.slice/user@1.service/a.slice/b.service\n");
	identity = resolve(resolver, 1, 7);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], "user-1.slice/b.service");
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "b.service");
	assert_string_equal(identity->names->text[LABEL_POD_NAME], "b.service");
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "system");
	assert_int_equal((int)identity->names->extra_count, 0);
	rig_process(7, "x", 5, POD);
	identity = resolve(resolver, 2, 7);
	assert_int_equal(identity->kind, OWNER_CONTAINER);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], ID);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "3f1c0d52a9e8");
	assert_string_equal(identity->names->text[LABEL_POD_ID], UID);
	assert_string_equal(identity->names->text[LABEL_POD_NAME], UID);
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "unknown");
	assert_string_equal(identity->names->text[LABEL_RUNTIME], "kubernetes");
	assert_false(identity->waiting);
	rig_process(7, "x", 5, "0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope\n");
	identity = resolve(resolver, 3, 7);
	assert_int_equal(identity->kind, OWNER_VM);
	assert_string_equal(identity->names->text[LABEL_VM_ID],
			    identity->names->text[LABEL_CONTAINER_ID]);
	assert_string_equal(identity->names->text[LABEL_VM_NAME], "web");
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "web");
	assert_string_equal(identity->names->text[LABEL_HYPERVISOR], "qemu");
	identity_resolver_close(resolver);
}

static void test_units_are_below_the_systemd_of_pid_1(void **state)
{
	struct identity_resolver *resolver;

	rig_process(1, "systemd", 1, "0::/distro/init.scope\n");
	resolver = open_resolver(0);
	rig_process(7, "x", 5, "0::/distro/system.slice/ssh.service\n");
	check(resolver, 1, 7, "ssh.service");
	rig_process(8, "x", 5, "0::/guest/system.slice/ssh.service\n");
	check(resolver, 2, 8, "system_processes");
	identity_resolver_learn(resolver, 3, "/distro/user.slice/user-1.slice/session-2.scope");
	check(resolver, 3, 0, "session-2.scope");
	identity_resolver_learn(resolver, 4, "/guest/user.slice/user-1.slice/session-2.scope");
	check(resolver, 4, 0, "system_processes");
	identity_resolver_close(resolver);
}

static void test_failure_is_not_remembered(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	check(resolver, 5, 7, "system_processes");
	rig_process(7, "x", 5, "0::/a.service\n");
	check(resolver, 5, 7, "a.service");
	identity_resolver_close(resolver);
}

static void test_a_pid_used_again_tells_nothing(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	rig_process(7, "x", 6, "0::/docker/" ID "\n");
	check(resolver, 5, 7, "system_processes");
	check(resolver, 0, 7, "system_processes");
	identity_resolver_close(resolver);
}

static void test_without_cgroup_id_a_process_is_asked_once(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);
	struct process_ref process = { 7, 5 * S, 0, "x", false };

	rig_process(7, "x", 5, "0::/a.service\n");
	check(resolver, 0, 7, "a.service");
	rig_process(7, "x", 5, "0::/b.service\n");
	check(resolver, 0, 7, "a.service");
	process.comm = "y"; /* exec */
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "b.service");
	rig_process(7, "x", 5, "0::/c.service\n");
	now_ns = T0 + 31 * S;
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "c.service");
	check(resolver, 0, 0, "system_processes");
	identity_resolver_close(resolver);
}

static bool asks_again(struct identity_resolver *resolver, const char *comm, uint32_t first_pid,
		       uint32_t count)
{
	identity_resolver_begin(resolver, now_ns);
	for (uint32_t i = 0; i < count; i++) {
		const struct process_ref process = { first_pid + i, 5 * S, 0, comm, false };

		identity_resolver_announce(resolver, &process);
	}
	return identity_resolver_await(resolver);
}

/* A second look at all that ran is only for what could not be asked in the first. */
static void test_announced_again_only_if_more_can_be_asked(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	rig_process(7, "x", 5, "0::/a.service\n");
	rig_process(8, "kvm", 5, "0::/b.service\n");
	assert_false(asks_again(resolver, "x", 7, 1));
	assert_true(asks_again(resolver, "kvm", 8, 1)); /* whether it is a machine */
	assert_false(asks_again(resolver, "x", 1000, CGROUP_READS_MAX));
	assert_true(asks_again(resolver, "x", 2000, CGROUP_READS_MAX + 1));
	assert_false(asks_again(resolver, "x", 7, 1));
	check(resolver, 0, 7, "a.service");
	identity_resolver_close(resolver);
}

/* Hybrid: the id is still the root's of its hierarchy, and another hierarchy decides. */
static void test_a_move_in_another_hierarchy_is_noticed(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);
	struct process_ref process = { .pid = 7, .start_ns = 5 * S, .comm = "x", .cgroup_set = 1 };

	rig_process(7, "x", 5, "2:pids:/\n1:freezer:/a.service\n");
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "a.service");
	rig_process(7, "x", 5, "2:pids:/\n1:freezer:/docker/" ID "\n");
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "a.service");
	process.cgroup_set = 2;
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], ID);
	rig_forget(7);
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], ID);
	identity_resolver_close(resolver);
}

/* Owners of processes from 7 on, in one set; the last of them may have ended. */
static void check_set(const char *const *owners, uint32_t count, bool last_has_ended)
{
	struct identity_resolver *resolver = open_resolver(0);
	struct process_ref set[4];

	identity_resolver_begin(resolver, now_ns);
	for (uint32_t i = 0; i < count; i++) {
		set[i] = (struct process_ref){ .pid = 7 + i,
					       .start_ns = 5 * S,
					       .comm = "x",
					       .cgroup_set = 1,
					       .has_ended = i == count - 1 && last_has_ended };
		identity_resolver_announce(resolver, &set[i]);
	}
	(void)identity_resolver_await(resolver);
	for (uint32_t i = 0; i < count; i++)
		assert_string_equal(
			identity_resolve(resolver, &set[i])->names->text[LABEL_CONTAINER_ID],
			owners[i]);
	identity_resolver_close(resolver);
}

static void test_two_of_a_set_speak_for_the_others(void **state)
{
	rig_process(7, "x", 5, "0::/a.service\n");
	rig_process(8, "x", 5, "0::/a.service\n");
	rig_process(10, "x", 5, "0::/b.service\n");
	/* Nothing is known of 9 but its set; and of 10 nothing else is read. */
	check_set((const char *[]){ "a.service", "a.service", "a.service" }, 3, false);
	check_set((const char *[]){ "a.service", "a.service", "a.service", "a.service" }, 4, false);
	/*
	 * A process that has ended is not read, nor does its set, which may be another's by now,
	 * count.
	 */
	check_set((const char *[]){ "a.service", "system_processes" }, 2, true);
	check_set((const char *[]){ "a.service", "a.service", "system_processes" }, 3, true);
	/* One of the two was moved, or the address is used again: each is read. */
	rig_process(8, "x", 5, "0::/c.service\n");
	check_set((const char *[]){ "a.service", "c.service", "system_processes", "b.service" }, 4,
		  false);
	rig_forget(8);
	check_set((const char *[]){ "a.service", "system_processes", "system_processes",
				    "b.service" },
		  4, false);
}

static void test_cache_is_bounded(void **state)
{
	struct identity_resolver *resolver = open_resolver(10);

	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t id = 1; id <= 25; id++) {
			char text[64], unit[32];

			now_ns = T0 + round * 25 + id;
			(void)snprintf(unit, sizeof(unit), "u%lu.service", id);
			(void)snprintf(text, sizeof(text), "0::/%s\n", unit);
			rig_process(7, "x", 5, text);
			check(resolver, id, 7, unit);
			check(resolver, id, 8, unit);
		}
	}
	identity_resolver_close(resolver);
	identity_resolver_close(NULL);
}

static void test_the_least_used_cgroups_go(void **state)
{
	struct identity_resolver *resolver = open_resolver(4);

	for (uint64_t id = 1; id <= 5; id++) {
		char text[64];

		now_ns = T0 + id * S;
		(void)snprintf(text, sizeof(text), "0::/u%lu.service\n", id);
		rig_process(7, "x", 5, text);
		(void)resolve(resolver, id, 7);
		rig_forget(7);
		check(resolver, 1, 0, "u1.service");
	}
	check(resolver, 2, 0, "system_processes");
	identity_resolver_close(resolver);
}

static void test_text_longer_than_the_buffer(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);
	char *text = malloc(70000);

	assert_non_null(text);
	memset(text, 'x', 70000);
	memcpy(text, "1:pids:/a.service\n2:x:/", 23);
	text[69999] = '\0';
	rig_process(7, "x", 5, text);
	check(resolver, 9, 7, "a.service");
	free(text);
	identity_resolver_close(resolver);
}

static void test_what_the_kernel_told_is_known_when_it_is_gone(void **state)
{
	struct identity_resolver *resolver = open_resolver(0);

	identity_resolver_learn(resolver, 77, "/docker/" ID);
	identity_resolver_learn(resolver, 0, "/docker/" ID);
	check(resolver, 77, 9, ID);
	check(resolver, 77, 0, ID);
	identity_resolver_close(resolver);
}

static void test_services_merged(void **state)
{
	struct identity_resolver *resolver =
		open_with((struct identity_options){ .merge_services = true });

	rig_process(7, "x", 5, "0::/system.slice/nginx.service\n");
	check(resolver, 1, 7, "system_processes");
	rig_process(7, "x", 5, POD);
	check(resolver, 2, 7, ID);
	identity_resolver_close(resolver);
}

/* ---- what hangs ---- */

static uint32_t outstanding(const struct identity_resolver *resolver)
{
	struct identity_info info;

	identity_resolver_get_info(resolver, &info);
	return info.reads_outstanding;
}

static uint64_t late(const struct identity_resolver *resolver)
{
	struct identity_info info;

	identity_resolver_get_info(resolver, &info);
	return info.reads_late;
}

/* Its cgroup is a pipe: opening it waits for a writer. */
static void hang(uint32_t pid, char *path, size_t size)
{
	rig_process(pid, "x", 5, "");
	(void)snprintf(path, size, "%s/%u/cgroup", rig_procfs(), pid);
	(void)unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void let_readers_go(const char *pipe)
{
	int fd = open(pipe, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

/*
 * From now on the cgroup is @text. Readers of the pipe still wait for let_readers_go(@pipe), which
 * is repeated, since a reader may have found the pipe and not opened it yet.
 */
static void replace(const char *path, char *pipe, size_t size, const char *text)
{
	(void)snprintf(pipe, size, "%s-pipe", path);
	assert_int_equal(rename(path, pipe), 0);
	rig_process(7, "x", 5, text);
}

/* The hung read ends, without a result: the cgroup is asked again, and is @text. */
static void answer(struct identity_resolver *resolver, const char *path, const char *text)
{
	char pipe[160];

	replace(path, pipe, sizeof(pipe), text);
	while (outstanding(resolver)) {
		let_readers_go(pipe);
		(void)poll(NULL, 0, 1);
		identity_resolver_begin(resolver, now_ns);
	}
	assert_int_equal(unlink(pipe), 0);
}

/*
 * Links to the folder that has one for each thread. An emulator has a thread of its own, so that
 * the number before the first test is the one to come back to.
 */
static nlink_t thread_links(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/task", &st), 0);
	return st.st_nlink;
}

static nlink_t links_without_readers;

static void wait_for_readers(const char *pipe)
{
	do {
		let_readers_go(pipe);
		(void)poll(NULL, 0, 1);
	} while (thread_links() > links_without_readers);
}

static void test_a_cgroup_that_hangs_is_waited_for_once(void **state)
{
	struct identity_resolver *resolver =
		open_with((struct identity_options){ .cgroup_patience_ns = NSEC_PER_MSEC });
	char path[128];

	hang(7, path, sizeof(path));
	rig_process(8, "x", 5, "0::/b.service\n");
	check(resolver, 0, 7, "system_processes");
	assert_int_equal(outstanding(resolver), 1);
	assert_int_equal(late(resolver), 0);
	for (uint64_t n = 1; n <= 3; n++) {
		now_ns = T0 + n * S;
		check(resolver, 0, 7, "system_processes");
		check(resolver, 0, 8, "system_processes"); /* one batch at a time */
	}
	assert_int_equal(outstanding(resolver), 1);
	assert_int_equal(late(resolver), 1);
	answer(resolver, path, "0::/a.service\n");
	while (strcmp(resolve(resolver, 0, 7)->names->text[LABEL_CONTAINER_ID], "a.service") != 0)
		(void)poll(NULL, 0, 1);
	while (strcmp(resolve(resolver, 0, 8)->names->text[LABEL_CONTAINER_ID], "b.service") != 0)
		(void)poll(NULL, 0, 1);
	assert_int_equal(late(resolver), 1);
	identity_resolver_close(resolver);
}

static void test_who_was_known_stays_known_while_it_hangs(void **state)
{
	struct identity_resolver *resolver =
		open_with((struct identity_options){ .cgroup_patience_ns = NSEC_PER_MSEC });
	struct process_ref process = { 7, 5 * S, 0, "x", false };
	char path[128];

	rig_process(7, "x", 5, "0::/a.service\n");
	while (strcmp(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "a.service") != 0)
		(void)poll(NULL, 0, 1);
	hang(7, path, sizeof(path));
	now_ns += 31 * S;
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "a.service");
	assert_int_equal(outstanding(resolver), 1);
	process.cgroup_set = 2; /* it moved */
	assert_string_equal(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID],
			    "system_processes");
	answer(resolver, path, "0::/c.service\n");
	process.cgroup_set = 0;
	while (strcmp(meet(resolver, &process)->names->text[LABEL_CONTAINER_ID], "c.service") != 0)
		(void)poll(NULL, 0, 1);
	identity_resolver_close(resolver);
}

/* The thread owns what it uses: closing the resolver does not wait for it. */
static void test_closed_while_it_hangs(void **state)
{
	struct identity_resolver *resolver =
		open_with((struct identity_options){ .cgroup_patience_ns = NSEC_PER_MSEC });
	char path[128], pipe[160];

	hang(7, path, sizeof(path));
	check(resolver, 0, 7, "system_processes");
	identity_resolver_close(resolver);
	replace(path, pipe, sizeof(pipe), "0::/a.service\n");
	wait_for_readers(pipe);
	assert_int_equal(unlink(pipe), 0);
}

/* A hierarchy's id of a directory. */
struct told {
	uint64_t id;
	int r;
	char path[4352];
};

static struct told path_of(const struct hierarchy *hierarchy, const char *directory)
{
	struct told told = { .r = -ENOENT };
	struct stat st;

	if (stat(directory, &st) == 0) {
		told.id = st.st_ino;
		told.r = hierarchy_path(hierarchy, told.id, told.path, sizeof(told.path));
	}
	return told;
}

/* On the real hierarchy, where we may: a new cgroup's id leads to its path while it lives. */
static void test_id_of_a_real_cgroup(void **state)
{
	struct hierarchy hierarchy;
	char path[512], found[4352];
	struct told told;
	struct stat st;

	hierarchy_open("/sys/fs/cgroup", &hierarchy);
	if (hierarchy.fd < 0) {
		print_message("# not possible here: no cgroup file system\n");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/kepler-test-%d.slice", hierarchy.root, getpid());
	if (mkdir(path, 0755) < 0) {
		print_message("# not possible here: no cgroup can be made: %s\n", strerror(errno));
		hierarchy_release(&hierarchy);
		return;
	}
	told = path_of(&hierarchy, path);
	assert_int_equal(rmdir(path), 0);
	if (told.r == -EPERM) {
		print_message("# not possible here: ids may not be opened\n");
	} else {
		assert_true(told.r > 0);
		assert_string_equal(told.path, path + strlen(hierarchy.root));
		assert_true(hierarchy_path(&hierarchy, told.id, found, sizeof(found)) < 0);
		assert_int_equal(fstat(hierarchy.fd, &st), 0);
		assert_int_equal(hierarchy_path(&hierarchy, st.st_ino, found, sizeof(found)), 1);
		assert_string_equal(found, "/");
	}
	hierarchy_release(&hierarchy);
}

/* As seen in a container with a cgroup file system that begins at its own group. */
static void test_part_of_a_hierarchy(void **state)
{
	struct hierarchy whole, part;
	char outside[512], inside[600], below[700];
	struct told of_outside, of_inside, of_below;

	hierarchy_open("/sys/fs/cgroup/unified", &whole);
	if (whole.fd < 0)
		hierarchy_open("/sys/fs/cgroup", &whole);
	(void)snprintf(outside, sizeof(outside), "%s/kepler-test-%d.slice", whole.root, getpid());
	if (whole.fd < 0 || whole.controller[0] || mkdir(outside, 0755) < 0) {
		print_message("# not possible here: no v2 hierarchy, or no cgroup can be made\n");
		hierarchy_release(&whole);
		return;
	}
	(void)snprintf(inside, sizeof(inside), "%s/own", outside);
	(void)snprintf(below, sizeof(below), "%s/sub", inside);
	(void)mkdir(inside, 0755);
	hierarchy_open(inside, &part);
	(void)mkdir(below, 0755);
	of_outside = path_of(&part, outside);
	of_inside = path_of(&part, inside);
	of_below = path_of(&part, below);
	(void)rmdir(below);
	(void)rmdir(inside);
	assert_int_equal(rmdir(outside), 0);
	assert_false(whole.is_part);
	assert_true(part.is_part);
	assert_int_equal(of_inside.r, -EXDEV);
	assert_int_equal(of_below.r, 4);
	assert_string_equal(of_below.path, "/sub");
	assert_true(of_outside.r > 6);
	assert_string_equal(of_outside.path + of_outside.r - 6, ".slice");
	hierarchy_release(&part);
	hierarchy_release(&whole);
}

/* A child in a container below @docker, in the freezer's hierarchy alone; 0: not possible here. */
static pid_t child_in_freezer(const char *docker, const char *container)
{
	char procs[256];
	int fd = -1;
	pid_t pid;

	(void)snprintf(procs, sizeof(procs), "%s/cgroup.procs", container);
	(void)mkdir(docker, 0755);
	if (mkdir(container, 0755) == 0)
		fd = open(procs, O_WRONLY | O_CLOEXEC);
	pid = fd < 0 ? 0 : fork();
	if (pid == 0 && fd >= 0) {
		(void)pause();
		_exit(0);
	}
	if (pid > 0 && dprintf(fd, "%d", pid) < 0) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		pid = 0;
	}
	if (fd >= 0)
		(void)close(fd);
	return pid;
}

/* Hybrid, on the real system where it is: the hierarchy of the ids knows nothing. */
static void test_every_hierarchy_is_tried(void **state)
{
	const struct identity_options options = { .procfs = "/proc",
						  .cgroupfs = "/sys/fs/cgroup",
						  .cgroup_patience_ns = 60 * S };
	struct process_ref process = { .comm = "x" };
	struct identity_resolver *resolver;
	char docker[80], container[160];
	struct proc_stat child;
	struct hierarchy hierarchy;
	struct stat root = { 0 };
	char before[80], after[80];
	pid_t pid;
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	(void)snprintf(docker, sizeof(docker), "/sys/fs/cgroup/freezer/kepler-test-%d-docker",
		       getpid());
	(void)snprintf(container, sizeof(container), "%s/" ID, docker);
	assert_int_equal(identity_resolver_open(&options, &resolver), 0);
	hierarchy_open(options.cgroupfs, &hierarchy);
	pid = hierarchy.is_one_of_several && strcmp(hierarchy.controller, "freezer") != 0
		      ? child_in_freezer(docker, container)
		      : 0;
	r = pid ? proc_read_stat(proc_fd, (uint32_t)pid, &child) : -ENOENT;
	if (pid && r == 0) {
		(void)fstat(hierarchy.fd, &root);
		process.pid = (uint32_t)pid;
		process.start_ns = proc_start_ns(&child);
		process.cgroup_id = root.st_ino;
		now_ns = T0;
		(void)snprintf(before, sizeof(before), "%s",
			       meet(resolver, &process)->names->text[LABEL_CONTAINER_ID]);
	}
	if (pid) {
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
	}
	for (int i = 0; i < 100 && rmdir(container) < 0 && errno == EBUSY; i++)
		(void)usleep(10000);
	(void)rmdir(docker);
	(void)close(proc_fd);
	hierarchy_release(&hierarchy);
	if (r < 0) {
		print_message("# not possible here: not a hybrid system, or not root\n");
		identity_resolver_close(resolver);
		return;
	}
	(void)snprintf(after, sizeof(after), "%s",
		       meet(resolver, &process)->names->text[LABEL_CONTAINER_ID]);
	identity_resolver_close(resolver);
	assert_string_equal(before, ID);
	assert_string_equal(after, ID); /* gone, and known */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define PROC_TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
		PROC_TEST(test_known_cgroup_needs_no_process),
		PROC_TEST(test_labels_of_every_kind),
		PROC_TEST(test_units_are_below_the_systemd_of_pid_1),
		PROC_TEST(test_failure_is_not_remembered),
		PROC_TEST(test_a_pid_used_again_tells_nothing),
		PROC_TEST(test_without_cgroup_id_a_process_is_asked_once),
		PROC_TEST(test_announced_again_only_if_more_can_be_asked),
		PROC_TEST(test_a_move_in_another_hierarchy_is_noticed),
		PROC_TEST(test_two_of_a_set_speak_for_the_others),
		PROC_TEST(test_cache_is_bounded),
		PROC_TEST(test_the_least_used_cgroups_go),
		PROC_TEST(test_text_longer_than_the_buffer),
		PROC_TEST(test_what_the_kernel_told_is_known_when_it_is_gone),
		PROC_TEST(test_services_merged),
		PROC_TEST(test_a_cgroup_that_hangs_is_waited_for_once),
		PROC_TEST(test_who_was_known_stays_known_while_it_hangs),
		PROC_TEST(test_closed_while_it_hangs),
		cmocka_unit_test(test_id_of_a_real_cgroup),
		cmocka_unit_test(test_part_of_a_hierarchy),
		cmocka_unit_test(test_every_hierarchy_is_tried),
	};

	links_without_readers = thread_links();
	return unit_run(tests);
}
