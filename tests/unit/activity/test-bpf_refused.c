/* SPDX-License-Identifier: Apache-2.0 */
#include "activity/bpf_reader/bpf_refused.h"

#include "tests/unit/unit.h"

static const struct bpf_refusal fine = {
	.err = -EPERM,
	.has_btf = true,
	.has_cap_bpf = true,
	.has_cap_perfmon = true,
	.kernel = { 6, 1 },
};

static void expect(struct bpf_refusal refusal, const char *part)
{
	char text[256] = "";

	bpf_refusal_explain(&refusal, text, sizeof(text));
	if (!strstr(text, part))
		fail_msg("\"%s\" does not say \"%s\"", text, part);
	assert_true(strlen(text) < sizeof(text) - 1); /* not cut */
}

static void test_each_reason_has_its_sentence(void **state)
{
	struct bpf_refusal refusal;

	expect(fine, "seccomp");
	refusal = fine;
	refusal.err = -EINVAL;
	expect(refusal, "verifier");
	refusal = fine;
	refusal.memlock_limited = true;
	expect(refusal, "LimitMEMLOCK=infinity");
	refusal.locked_down = true;
	expect(refusal, "lockdown=integrity");
	refusal.has_cap_perfmon = false;
	expect(refusal, "missing CAP_PERFMON;");
	refusal.has_cap_bpf = false;
	expect(refusal, "missing CAP_BPF and CAP_PERFMON;");
	refusal.has_cap_perfmon = true;
	expect(refusal, "missing CAP_BPF;");
	refusal.has_btf = false;
	expect(refusal, "CONFIG_DEBUG_INFO_BTF=y");
	refusal.kernel = (struct kernel_version){ 5, 7 };
	expect(refusal, "Linux 5.7");
}

static void test_inspection_sees_this_machine(void **state)
{
	struct bpf_refusal refusal;

	bpf_refusal_inspect(-EPERM, &refusal);
	assert_int_equal(refusal.err, -EPERM);
	assert_true(refusal.kernel.major >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_reason_has_its_sentence),
		cmocka_unit_test(test_inspection_sees_this_machine),
	};

	return unit_run(tests);
}
