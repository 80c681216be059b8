// SPDX-License-Identifier: Apache-2.0
#include "workload/vm_cmdline.h"

#include "tests/unit/unit.h"

#define UUID "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"

/* Words are parted by '|' here, where the kernel has NUL. */
struct vector {
	const char *comm, *words, *hypervisor, *uuid, *name;
};

static const struct vector vectors[] = {
	{ "qemu-system-x86",
	  "/usr/bin/qemu-system-x86_64|-name|guest=web01,debug-threads=on|-S|"
	  "-machine|pc-q35-8.2,usb=off,accel=kvm,dump-guest-core=off|-uuid|" UUID "|",
	  "kvm", UUID, "web01" },
	{ "qemu-system-x86", "qemu-system-x86_64|-accel|kvm|-name|web01|", "kvm", "", "web01" },
	{ "qemu-system-x86", "qemu-system-x86_64|-enable-kvm|-m|1G|", "kvm", "", "" },
	{ "qemu-system-x86", "qemu-system-x86_64|-accel|tcg|-name|a,process=b|", "qemu", "", "a" },
	{ "qemu-system-x86", "q|-name|debug-threads=on,guest=x,,y,z=1|", "qemu", "", "x,y" },
	{ "qemu-system-x86", "q|--name|two|--uuid|8A4C1F0E-33B7-4D19-9E5F-7C2B6A1D0E48|", "qemu",
	  UUID, "two" },
	{ "qemu-system-aar", "qemu-system-aarch64|-M|virt|-uuid|not-a-uuid|", "qemu", "", "" },
	{ "qemu-system-x86", "q|-uuid|00000000-0000-0000-0000-000000000000|", "qemu", "", "" },
	{ "qemu-system-x86", "q|-uuid|" UUID, "qemu", UUID, "" }, /* cut after its last byte */
	{ "kvm", "/usr/bin/kvm|-id|101|-name|web,debug-threads=on|-smbios|type=1,uuid=" UUID "|",
	  "qemu", UUID, "web" },
	{ "kvm", "kvm|-smbios|type=1,manufacturer=x,uuid=" UUID ",serial=1|", "qemu", UUID, "" },
	{ "kvm", "kvm|-smbios|type=2,uuid=" UUID "|", "qemu", "", "" },
	{ "qemu-kvm",
	  "/usr/libexec/qemu-kvm|-name|guest=default_vm1,debug-threads=on|-machine|"
	  "q35,accel=kvm|-uuid|" UUID "|",
	  "kvm", UUID, "default_vm1" },
	{ "cloud-hyperviso", "cloud-hypervisor|--platform|num_pci_segments=1,uuid=" UUID "|",
	  "cloud-hypervisor", UUID, "" },
	{ "cloud-hyperviso", "ch|--api-socket|path=/run/vm/blue.sock,fd=3|--kernel|k|",
	  "cloud-hypervisor", "", "blue" },
	{ "cloud-hyperviso", "ch|--api-socket=/run/vm/blue.sock|", "cloud-hypervisor", "", "blue" },
	{ "firecracker", "firecracker|--id|vm-7|--api-sock|/run/fc.socket|", "firecracker", "",
	  "vm-7" },
	{ "firecracker", "firecracker|--id=" UUID "|", "firecracker", UUID, UUID },
	{ "firecracker", "firecracker|--api-sock|/run/fc-9.socket|", "firecracker", "", "fc-9" },
	{ "cloud-hyperviso", "ch|--api-socket|/run/vc/vm/0a1b2c/clh-api.sock|", "cloud-hypervisor",
	  "", "0a1b2c" },
	{ "cloud-hyperviso", "ch|--api-socket|/run/kata/0a1b2c/root/ch-api.sock|",
	  "cloud-hypervisor", "", "0a1b2c" },
	{ "firecracker", "firecracker|--api-sock|/run/fcs/web-1/root/run/firecracker.socket|",
	  "firecracker", "", "web-1" },
	{ "firecracker", "firecracker|--api-sock|/run/firecracker.socket|", "firecracker", "", "" },
	{ "firecracker", "firecracker|--id|anonymous-instance|", "firecracker", "", "" },
	{ "crosvm", "crosvm|run|-s|/run/vm/vm.x7/crosvm.sock|", "crosvm", "", "vm.x7" },
	{ "stratovirt", "stratovirt|-qmp|unix:/run/vc/vm/0a1b2c/qmp.sock,server,nowait|",
	  "stratovirt", "", "0a1b2c" },
	{ "stratovirt", "stratovirt|-name|web|-uuid|" UUID "|", "stratovirt", UUID, "web" },
	{ "crosvm", "crosvm|run|--socket|/run/a.sock|vmlinux|", "crosvm", "", "a" },
	{ "crosvm", "crosvm|run|--name|blue|--socket|/run/a.sock|", "crosvm", "", "blue" },
	{ "VBoxHeadless",
	  "/usr/lib/virtualbox/VBoxHeadless|--comment|my vm|--startvm|" UUID "|--vrde|config|",
	  "virtualbox", UUID, "my vm" },
	{ "VirtualBoxVM", "VirtualBoxVM|--comment|x|--startvm|" UUID "|--no-startvm-errormsgbox|",
	  "virtualbox", UUID, "x" },
};

static const struct vector none[] = {
	{ "qemu-system-x86", "qemu-system-x86_64|--version|" },
	{ "qemu-system-x86", "qemu-system-x86_64|-help|" },
	{ "qemu-system-x86", "qemu-system-x86_64|-machine|none,accel=kvm:tcg|-daemonize|" },
	{ "qemu-system-x86", "qemu-system-x86_64|-M|help|" },
	{ "qemu-system-x86", "qemu-system-x86_64|" },
	{ "qemu-system-x86", "" },
	{ "qemu-system-x86", "|" },
	{ "crosvm", "crosvm|device|gpu|--socket|/x|" },
	{ "crosvm", "crosvm|stop|/run/a.sock|" },
	{ "firecracker", "firecracker|--version|" },
	{ "cloud-hyperviso", "ch|--version|" },
	{ "bash", "bash|-name|x|" },
	{ "qemu-img", "qemu-img|convert|-uuid|" UUID "|" },
	{ "kvmx", "kvmx|-name|x|" },
	{ "", "x|-name|x|" },
};

static size_t words_of(const char *text, char *buf)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		buf[i] = text[i] == '|' ? '\0' : text[i];
	return len;
}

static void test_machines(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector *want = &vectors[i];
		struct vm_description got = { 0 };
		char words[512];
		size_t len = words_of(want->words, words);

		assert_true(vm_comm_is_candidate(want->comm));
		if (!vm_cmdline_parse(want->comm, words, len, &got) ||
		    strcmp(got.hypervisor, want->hypervisor) != 0 ||
		    strcmp(got.uuid, want->uuid) != 0 || strcmp(got.name, want->name) != 0)
			fail_msg("%s is %s \"%s\" \"%s\"", want->words, got.hypervisor, got.uuid,
				 got.name);
	}
}

static void test_other_programs_are_not_machines(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		struct vm_description got;
		char words[512];
		size_t len = words_of(none[i].words, words);

		if (vm_cmdline_parse(none[i].comm, words, len, &got))
			fail_msg("%s is %s", none[i].words, got.hypervisor);
	}
}

static void test_vsock_addresses(void **state)
{
	static const struct {
		const char *words;
		uint32_t cid;
	} machines[] = {
		{ "q|-device|vhost-vsock-pci,id=vsock0,guest-cid=42,vhostfd=30|", 42 },
		{ "q|-device|{\"driver\":\"vhost-vsock-pci\",\"guest-cid\":1234,\"vhostfd\":\"3\"}"
		  "|",
		  1234 },
		{ "q|-device|vhost-vsock-device,guest-cid=4294967294|", 4294967294 },
		{ "q|-device|vhost-vsock-pci,guest-cid=2|", 0 },
		{ "q|-device|vhost-vsock-pci,guest-cid=4294967295|", 0 },
		{ "q|-device|vhost-vsock-pci,guest-cid=|", 0 },
		{ "q|-device|virtio-net-pci,guest-cid=42|", 0 },
		{ "q|-device|{\"driver\":\"x\",\"guest-cid\":42}|", 0 },
		{ "q|-device|{\"driver\":\"vhost-vsock-pci\",\"guest-cid\":", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct vm_description vm = { 0 };
		char words[512];
		size_t len = words_of(machines[i].words, words);

		assert_true(vm_cmdline_parse("qemu-kvm", words, len, &vm));
		assert_int_equal(vm.vsock_cid, machines[i].cid);
	}
}

static void test_long_names_are_cut(void **state)
{
	struct vm_description vm;
	size_t size = 60000;
	char *words = malloc(size);

	assert_non_null(words);
	memset(words, 'n', size);
	memcpy(words, "q\0-name", 8);
	assert_true(vm_cmdline_parse("qemu-kvm", words, size, &vm));
	assert_int_equal(strlen(vm.name), VM_TEXT_MAX - 1);
	free(words);
}

static void test_kernel_threads(void **state)
{
	assert_int_equal(vm_comm_served_pid("vhost-1234"), 1234);
	assert_int_equal(vm_comm_served_pid("kvm-pit/77"), 77);
	assert_int_equal(vm_comm_served_pid("vhost-"), 0);
	assert_int_equal(vm_comm_served_pid("vhost-12x"), 0);
	assert_int_equal(vm_comm_served_pid("vhost--1"), 0);
	assert_int_equal(vm_comm_served_pid("vhost-99999999999"), 0);
	assert_int_equal(vm_comm_served_pid("kworker/0:1"), 0);
	assert_int_equal(vm_comm_served_pid(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_other_programs_are_not_machines),
		cmocka_unit_test(test_vsock_addresses),
		cmocka_unit_test(test_long_names_are_cut),
		cmocka_unit_test(test_kernel_threads),
	};

	return unit_run(tests);
}
