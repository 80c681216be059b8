// SPDX-License-Identifier: Apache-2.0
#include "truth/vm_process.h"

#include <errno.h>

#include "tests/unit/truth/truth_root.h"

#define WEB "3f2a9c1e-5b7d-4e8f-9a6b-0c1d2e3f4a5b"

static void write_bytes(const char *path, const char *bytes, size_t len)
{
	FILE *file;

	open_text(path, "w", &file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static void write_process(const char *pid, const char *comm, const char *cmdline, size_t len)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/comm", pid);
	write_text(path, comm);
	(void)snprintf(path, sizeof(path), "%s/cmdline", pid);
	write_bytes(path, cmdline, len);
}

#define PROCESS(pid, comm, cmdline) write_process(pid, comm, cmdline, sizeof(cmdline))

static int find(const char *wanted, struct vm_process *ret)
{
	struct diag diag = { "" };
	int r = vm_process_find(root, wanted, ret, &diag);

	assert_true(r == 0 || strstr(diag.text, wanted));
	return r;
}

static void a_machine_is_found_by_each_of_its_names(void **state)
{
	static const char *const names[] = { "web", WEB, "3F2A9C1E-5B7D-4E8F-9A6B-0C1D2E3F4A5B",
					     "21" };
	struct vm_process vm;

	PROCESS("20", "bash\n", "bash\0-uuid\0" WEB);
	PROCESS("21", "qemu-system-x86\n",
		"qemu\0-name\0guest=web,debug-threads=on\0-uuid\0" WEB "\0-m\0"
		"16");
	PROCESS("22", "firecracker\n", "firecracker\0--id\0db");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(find(names[i], &vm), 0);
		assert_int_equal(vm.pid, 21);
		assert_string_equal(vm.name, "web");
		assert_string_equal(vm.uuid, WEB);
	}
	assert_int_equal(find("db", &vm), 0);
	assert_int_equal(vm.pid, 22);
	assert_string_equal(vm.uuid, "");
	assert_int_equal(find("bash", &vm), -ENOENT);
	assert_int_equal(find("auto", &vm), -EEXIST);
}

static void its_process_has_its_cpu_time(void **state)
{
	const struct vm_process vm = { .pid = 21 };
	double tick_s = 1. / (double)sysconf(_SC_CLK_TCK);

	write_text("21/stat", "21 (qemu) x (y) S 1 2 3 4 5 6 7 8 9 10 300 45 13 14 15\n");
	assert_true(fabs(vm_process_cpu_s(root, &vm) - 345 * tick_s) < 1e-9);
	write_text("21/stat", "21 (qemu");
	assert_true(vm_process_cpu_s(root, &vm) < 0);
}

static void one_that_has_ended_has_no_cpu_time(void **state)
{
	const struct vm_process vm = { .pid = 21 };

	assert_true(vm_process_cpu_s(root, &vm) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_machine_is_found_by_each_of_its_names, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(its_process_has_its_cpu_time, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(one_that_has_ended_has_no_cpu_time, make_root,
						remove_root),
	};
	return unit_run(tests);
}
