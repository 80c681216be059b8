// SPDX-License-Identifier: Apache-2.0
/* The form of the file is that of Linux, arch/s390/kernel/sysinfo.c; the machines are our own. */
#include "host/sysinfo.h"

#include "tests/unit/unit.h"

static const char partition[] = "Manufacturer:         IBM\n"
				"Type:                 3931\n"
				"Sequence Code:        0000000000012345\n"
				"\n"
				"LPAR Number:          17\n"
				"LPAR Characteristics: Shared \n"
				"LPAR Name:            LINUX1  \n"
				"LPAR CPUs Total:      8\n";
static const char guest[] = "LPAR Name:            ZVM1    \n"
			    "\n"
			    "VM00 Name:            LNX00042\n"
			    "VM00 Control Program: z/VM    7.3.0\n";

static void expect(const char *text, const char *name, bool is_guest)
{
	struct sysinfo_facts facts;

	sysinfo_parse(text, strlen(text), &facts);
	assert_string_equal(facts.partition, name);
	assert_int_equal(facts.is_guest, is_guest);
}

static void a_partition_and_a_guest_in_one(void **state)
{
	expect(partition, "LINUX1", false);
	expect(guest, "ZVM1", true);
}

static void an_empty_name_is_unknown(void **state)
{
	expect("", "", false);
	expect("LPAR Number: 17\nLPAR Name:            \n", "", false);
	expect("LPAR Name: NINECHARS\n", "", false);
	expect("LPAR Name: A B\n", "", false);
	expect("XLPAR Name: LINUX1\nMy VM00 Name: X\n", "", false);
	expect("LPAR Name: LINUX1", "LINUX1", false);
}

static void other_machines_have_no_such_file(void **state)
{
	struct sysinfo_facts facts;

	assert_int_equal(sysinfo_read("/nonexistent", &facts), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_partition_and_a_guest_in_one),
		cmocka_unit_test(an_empty_name_is_unknown),
		cmocka_unit_test(other_machines_have_no_such_file),
	};

	return unit_run(tests);
}
