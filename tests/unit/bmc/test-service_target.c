// SPDX-License-Identifier: Apache-2.0
#include "bmc/service_target.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

static int parse(const char *text, const char *node, const char *url, struct service_target *ret,
		 struct diag *diag)
{
	return service_target_parse("FILE", text, strlen(text), node, url, ret, diag);
}

static void check(const char *text, const char *url, const struct service_target *want)
{
	struct service_target target;
	struct diag diag = { "" };

	assert_int_equal(parse(text, "node-2", url, &target, &diag), 0);
	assert_string_equal(target.url, want->url);
	assert_string_equal(target.user, want->user);
	assert_string_equal(target.password, want->password);
	assert_int_equal(target.insecure, want->insecure);
}

static void the_line_of_this_machine(void **state)
{
	static const char classic[] = "node-1,root,one,https://10.0.0.1\r\n"
				      "node-2,root,two,https://10.0.0.2/\r\n";
	const struct service_target second = { "https://10.0.0.2", "root", "two", false };
	const struct service_target insecure = { "https://b:8443", "u", "p", true };
	const struct service_target quoted = { "https://b", "u", "a,\"b\"", false };
	const struct service_target elsewhere = { "https://[::1]:4", "root", "two", false };

	check(classic, "", &second);
	check(classic, "https://[::1]:4", &elsewhere);
	check("# a comment\n\nnode-2,u,p,https://b:8443,insecure", "", &insecure);
	check("node-2,u,\"a,\"\"b\"\"\",https://b\n", "", &quoted);
}

static void a_line_of_any_machine(void **state)
{
	const struct service_target any = { "https://any", "u", "p", false };
	const struct service_target own = { "https://own", "u", "p", false };

	check("*,u,p,https://any\nnode-1,u,p,https://one\n", "", &any);
	check("*,u,p,https://any\nnode-2,u,p,https://own\n", "", &own);
	check("node-2,u,p,https://own\n*,u,p,https://any\n", "", &own);
	check("u,p\n", "https://any", &any);
}

static void refuse(const char *text, const char *url, int err, const char *words)
{
	struct service_target target = { .url = "untouched" };
	struct diag diag = { "" };

	assert_int_equal(parse(text, "node-2", url, &target, &diag), err);
	assert_string_equal(target.url, "untouched");
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, diag.text);
	assert_null(strstr(diag.text, "s3cret"));
}

static void what_is_wrong_is_named_without_its_secret(void **state)
{
	refuse("", "", -ENOENT, "no line for the machine \"node-2\"");
	refuse("node-1,u,s3cret,https://a\n", "", -ENOENT, "node-2");
	refuse("\nnode-2,u,s3cret\n", "", -EINVAL, "FILE:2: must be NODE,USER");
	refuse("node-2,u,s3cret,http://a\n", "", -EINVAL, "FILE:1: must begin with https://");
	refuse("node-2,u,s3cret,https://a/path\n", "", -EINVAL, "without a path");
	refuse("node-2,u,s3cret,https://u:s3cret@a\n", "", -EINVAL, "without a path");
	refuse("node-2,u,s3cret,https://\n", "", -EINVAL, "without a path");
	refuse("node-2,u,s3cret,https://a\x01\n", "", -EINVAL, "printable");
	refuse("node-2,u,s3cret,https://a,verified\n", "", -EINVAL, "insecure");
	refuse("node-2,,s3cret,https://a\n", "", -EINVAL, "must not be empty");
	refuse("node-2,u,,https://a\n", "", -EINVAL, "must not be empty");
	refuse("u,s3cret\n", "", -EINVAL, "the option url is not set");
	refuse("node-2,u,\"s3cret,https://a\n", "", -EINVAL, "FILE:1:");
	refuse("node-2,u,\"s3cret\"x,https://a\n", "", -EINVAL, "CSV");
	refuse("node-2,u,s3cret,https://a,insecure,more\n", "", -EINVAL, "CSV");
	refuse("node-2,u,s3cret,https://a\nnode-2,u,s3cret,https://b\n", "", -EINVAL,
	       "FILE:2: a second");
}

static void a_field_has_a_limit(void **state)
{
	char text[2 * SERVICE_SECRET_MAX];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "node-2,u,", 9);
	refuse(text, "", -EINVAL, "CSV");
}

static void others_must_not_read_the_file(void **state)
{
	static const char path[] = "/tmp/test-service-target", text[] = "u,s3cret\n";
	struct service_target target;
	struct diag diag = { "" };

	assert_int_equal(write_file_atomic(path, text, strlen(text), 0600), 0);
	assert_int_equal(service_target_read(path, "n", "https://a", &target, &diag), 0);
	assert_string_equal(target.password, "s3cret");
	service_target_wipe(&target);
	assert_string_equal(target.password, "");
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(service_target_read(path, "n", "https://a", &target, &diag), -EPERM);
	assert_non_null(strstr(diag.text, "chmod 600"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(service_target_read(path, "n", "https://a", &target, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_of_this_machine),
		cmocka_unit_test(a_line_of_any_machine),
		cmocka_unit_test(what_is_wrong_is_named_without_its_secret),
		cmocka_unit_test(a_field_has_a_limit),
		cmocka_unit_test(others_must_not_read_the_file),
	};

	return unit_run(tests);
}
