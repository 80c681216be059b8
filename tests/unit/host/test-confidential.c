// SPDX-License-Identifier: Apache-2.0
/* Files of /sys that only a protected guest has, and others that its host has. */
#include "host/confidential.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/macro.h"
#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

static void put(const char *root, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		(void)mkdir(path, 0700);
	}
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void test_what_shows_it(void **state)
{
	static const struct {
		bool flag;
		const char *name, *text; /* of a file; NULL: none */
		const char *kind;
	} cases[] = {
		{ false, NULL, NULL, "" },
		{ true, NULL, NULL, "TDX" },
		{ false, "class/misc/tdx_guest/dev", "10:125\n", "TDX" },
		{ false, "devices/platform/sev-guest/modalias", "platform:sev-guest\n", "SEV-SNP" },
		/* Hosts have these; their own memory is not protected from anything. */
		{ false, "class/misc/sev/dev", "10:124\n", "" },
		{ false, "module/kvm_amd/parameters/sev_snp", "Y\n", "" },
		{ false, "firmware/uv/prot_virt_host", "1\n", "" },
		{ false, "firmware/uv/prot_virt_guest", "0\n", "" },
		{ false, "firmware/uv/prot_virt_guest", "1\n", "Secure Execution" },
		{ false, "firmware/uv/prot_virt_guest", "10\n", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char root[] = "/tmp/kepler-confidential-XXXXXX";

		assert_non_null(mkdtemp(root));
		if (cases[i].name)
			put(root, cases[i].name, cases[i].text);
		if (strcmp(confidential_kind(cases[i].flag, root), cases[i].kind) != 0)
			fail_msg("case %zu: %s", i, confidential_kind(cases[i].flag, root));
		assert_int_equal(remove_tree(root), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_shows_it),
	};

	return unit_run(tests);
}
