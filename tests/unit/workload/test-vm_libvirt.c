// SPDX-License-Identifier: Apache-2.0
#include "workload/vm_libvirt.h"

#include "tests/unit/unit.h"

#define UUID "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"
#define HEAD "<!--\nWARNING\n-->\n\n<domstatus state='running' reason='booted' pid='994'>\n"
#define DOMAIN(devices)                                                                            \
	HEAD "<domain type='kvm' id='1'><name>web</name><uuid>" UUID "</uuid><devices>" devices    \
	     "</devices></domain></domstatus>"
#define CHANNEL(mode, path, name)                                                                  \
	"<channel type='unix'><source mode='" mode "' path='" path "'/>"                           \
	"<target type='virtio' name='" name "' state='disconnected'/></channel>"

static struct vm_libvirt parsed(const char *text)
{
	struct vm_libvirt vm;
	struct diag diag = { "" };

	if (vm_libvirt_parse(text, strlen(text), &vm, &diag) < 0)
		fail_msg("%s", diag.text);
	return vm;
}

static void the_live_state_is_read(void **state)
{
	struct vm_libvirt vm = parsed(
		DOMAIN(CHANNEL("bind", "/var/lib/libvirt/a &amp; b/" VM_PORT_ENERGY, VM_PORT_ENERGY)
			       CHANNEL("bind", "/run/v.sock",
				       VM_PORT_VHOSTMD) "<vsock model='virtio'><cid auto='yes' "
							"address='77'/></vsock>"));

	assert_int_equal(vm.pid, 994);
	assert_string_equal(vm.uuid, UUID);
	assert_int_equal(vm.vsock_cid, 77);
	assert_string_equal(vm.energy_socket, "/var/lib/libvirt/a & b/" VM_PORT_ENERGY);
	assert_string_equal(vm.vhostmd_socket, "/run/v.sock");
}

static void other_channels_do_not_count(void **state)
{
	struct vm_libvirt vm = parsed(DOMAIN(
		CHANNEL("connect", "/run/a.sock", VM_PORT_ENERGY) CHANNEL("bind", "relative.sock",
									  VM_PORT_ENERGY)
			CHANNEL("bind", "/run/agent.sock",
				"org.qemu.guest_agent.0") "<channel type='unix'><target type='xen' "
							  "name='" VM_PORT_ENERGY "'/>"
							  "<source mode='bind' "
							  "path='/run/b.sock'/></channel>"
							  "<vsock model='virtio'><cid auto='no' "
							  "address='2'/></vsock>"));

	assert_string_equal(vm.energy_socket, "");
	assert_string_equal(vm.vhostmd_socket, "");
	assert_int_equal(vm.vsock_cid, 0);
}

/* A machine's owner writes its metadata, and libvirt keeps them. */
static void metadata_are_not_the_machine(void **state)
{
	struct vm_libvirt vm = parsed(
		HEAD "<domain><metadata><domain><uuid>00000000-33b7-4d19-9e5f-7c2b6a1d0e48</uuid>"
		     "<devices><vsock><cid address='5'/></vsock></devices></domain></metadata>"
		     "<uuid>" UUID "</uuid><devices><hostdev><vsock><cid address='6'/></vsock>"
		     "</hostdev></devices></domain></domstatus>");

	assert_string_equal(vm.uuid, UUID);
	assert_int_equal(vm.vsock_cid, 0);
}

static void others_are_refused(void **state)
{
	static const char *const wrong[] = {
		"",
		"<domain><uuid>" UUID "</uuid></domain>",
		"<domstatus><domain><uuid>" UUID "</uuid></domain></domstatus>",
		HEAD "<domain><uuid>no</uuid></domain></domstatus>",
		HEAD "<domain><uuid>" UUID "</uuid><uuid>" UUID "</uuid></domain></domstatus>",
		HEAD "<domain><uuid>" UUID "</uuid></domain>",
		HEAD "</domstatus>",
	};
	struct vm_libvirt vm;
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (vm_libvirt_parse(wrong[i], strlen(wrong[i]), &vm, &diag) == 0)
			fail_msg("%s is taken", wrong[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_live_state_is_read),
		cmocka_unit_test(other_channels_do_not_count),
		cmocka_unit_test(metadata_are_not_the_machine),
		cmocka_unit_test(others_are_refused),
	};

	return unit_run(tests);
}
