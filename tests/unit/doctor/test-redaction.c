// SPDX-License-Identifier: Apache-2.0
#include "doctor/redaction.h"

#include "tests/unit/unit.h"

static bool is_ours(const char *word)
{
	return strcmp(word, "web.listen-address") == 0;
}

static int setup(void **state)
{
	struct redaction *redaction = redaction_new(is_ours);

	redaction_add(redaction, REDACTED_HOST, "vm");
	redaction_add(redaction, REDACTED_HOST, "hostmark7");
	redaction_add(redaction, REDACTED_HOST, "hostmark7.example.com");
	redaction_add(redaction, REDACTED_USER, "ada");
	redaction_add(redaction, REDACTED_NAME, "");
	redaction_add(redaction, REDACTED_NAME, "package");
	redaction_add_root(redaction, "/tmp/rig/sys/", "/sys");
	redaction_add_root(redaction, "/", "/nothing");
	*state = redaction;
	return redaction ? 0 : -1;
}

static int teardown(void **state)
{
	redaction_free(*state);
	return 0;
}

static void expect(void **state, const char *text, bool by_form, const char *want)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	assert_int_equal(redaction_text(*state, text, by_form, &out), 0);
	assert_string_equal(out.data ? out.data : "", want);
}

static void what_was_added_is_replaced_wherever_it_stands(void **state)
{
	expect(state, "HostMark7: package-0 of ada, Canada", false,
	       "host-1: package-0 of user-1, Canada");
	expect(state, "hostmark7.example.com and xhostmark7x, vm: a VM by --vm.cpus, vm.", false,
	       "host-2 and xhost-1x, host-3: a VM by --vm.cpus, host-3.");
	expect(state, "/tmp/rig/sys/class/powercap, /tmp/rig/system", false,
	       "/sys/class/powercap, /tmp/rig/system");
	expect(state, "", false, "");
}

static void forms_of_names_are_known(void **state)
{
	expect(state, "no answer from https://me:pw@bmc.corp/redfish/v1?a=b,c; retrying", true,
	       "no answer from url-1 retrying");
	expect(state, "reads /home/x/.token: denied", true, "reads path-1: denied");
	expect(state, "10.1.2.3:443, [fd00::7]:443, aa:bb:cc:dd:ee:0f", true,
	       "address-1, [address-2]:443, address-3");
	expect(state, "root@db7, bmc7.rack12, web.listen-addres, shop/cart-7", true,
	       "name-1, host-1, host-2, name-2");
	expect(state, "User \"system:serviceaccount:x\" or name 'bmc'", true,
	       "User \"name-3\" or name 'name-4'");
	expect(state, "Could not resolve host: bmc9; connect to bmc8 port 443", true,
	       "Could not resolve host: host-3; connect to host-4 port 443");
	expect(state,
	       "GPU-1b4e28ba-2fa1-11d2-883f-0016d3cca427 e3b0c44298fc1c14 "
	       "eyJhbGciOiJSUzI1NiIsImtp12",
	       true, "id-1 id-2 id-3");
}

static void what_the_program_says_stays(void **state)
{
	static const char *const texts[] = {
		"package-0 is read from /sys/class/powercap/intel-rapl:0 (rapl-sysfs); it reads "
		"1.5 %",
		"--web.listen-address=:28282, --no-web.listen-address, 127.0.0.1:28282, "
		"[::1]:28282",
		"Linux 6.1.0-18-amd64, 5.14.0-427.el9.x86_64 on x86_64 (2.40GHz), libfoo.so.1",
		"the zone \"platform\" of 0000:03:00.0 at 08:15:00; others' energy is the kernel's",
		"read docs/meters.md, e.g. of 05/21/2018; HTTP/1.1; 262143328850 of "
		"specpower-platform-4",
		"platform is read from hwmon2/power1, none from power_meter@ACPI000D:00/power1",
		"only 2.5 W ± 0.1 W, 14.0 of it (/proc, /sys/fs/cgroup): "
		"kernel.perf_event_paranoid",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		expect(state, texts[i], true, texts[i]);
}

static void the_same_is_the_same_and_the_rest_has_one_name(void **state)
{
	expect(state, "/a/b /a/c /a/b", true, "path-1 path-2 path-1");
	for (unsigned i = 0; i < REDACTION_ORIGINALS_MAX; i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT, out = STRBUF_INIT;

		strbuf_addf(&text, "/x/%u", i);
		assert_int_equal(redaction_text(*state, text.data, true, &out), 0);
	}
	expect(state, "/y/1 /a/c", true, "path-more path-2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_added_is_replaced_wherever_it_stands,
						setup, teardown),
		cmocka_unit_test_setup_teardown(forms_of_names_are_known, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_program_says_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_is_the_same_and_the_rest_has_one_name,
						setup, teardown),
	};

	return unit_run(tests);
}
