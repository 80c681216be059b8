// SPDX-License-Identifier: Apache-2.0
#include "kepler/config_command.h"

#include <unistd.h>

#include "tests/unit/unit.h"

static int run(const char **argv, char **out, char **err)
{
	struct option_args args = { .default_file = "" };
	size_t out_len, err_len;
	FILE *out_file = open_memstream(out, &out_len), *err_file = open_memstream(err, &err_len);
	int status;

	memcpy((void *)&args.argv, (const void *)&argv, sizeof(argv)); /* main()'s is not const */
	while (argv[args.argc])
		args.argc++;
	status = config_command(&args, out_file, err_file);
	(void)fclose(out_file);
	(void)fclose(err_file);
	return status;
}

static void check(void **state)
{
	char path[] = "/tmp/kepler-test-XXXXXX";
	int fd = mkstemp(path);
	const char *argv[] = { "check", path, NULL };
	char *out, *err;

	assert_int_equal(run(argv, &out, &err), 0);
	assert_non_null(strstr(out, ": ok"));
	assert_string_equal(err, "");
	free(out);
	free(err);
	assert_true(write(fd, "tabel: auto\nlgo:\n", 17) == 17);
	assert_int_equal(run(argv, &out, &err), 2);
	assert_non_null(strstr(err, ":1:1: tabel: unknown key; did you mean table?\n"));
	assert_non_null(strstr(err, ":2:1: lgo: unknown key; did you mean log?\n"));
	assert_string_equal(out, "");
	free(out);
	free(err);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
}

static void show(void **state)
{
	const char *argv[] = { "show", "--idle.mode=off", NULL };
	const char *bad[] = {
		"show",          "--nope",           "its value",    "--log.level=loud",   "stray",
		"--tabel=never", "--no-bpf.enabled", "--table=auto", "--monitor.interval", NULL
	};
	char *out, *err;

	assert_int_equal(run(argv, &out, &err), 0);
	assert_non_null(strstr(out, "mode: \"off\"  # flag --idle.mode"));
	assert_non_null(strstr(out, "interval: 1s  # default"));
	assert_non_null(strstr(out, "metrics:\n  schema: "));
	free(out);
	free(err);
	assert_int_equal(run(bad, &out, &err), 2);
	assert_string_equal(err, "kepler: --nope: unknown flag; see --help\n"
				 "kepler: --log.level: must be debug, info, warn or error, not "
				 "\"loud\"\n"
				 "kepler: unexpected argument \"stray\"; flags begin with --\n"
				 "kepler: --tabel: unknown flag; did you mean --table?\n"
				 "kepler: --monitor.interval: needs a value: "
				 "--monitor.interval=DURATION\n");
	free(out);
	free(err);
}

static void expect_import(const char **argv, int status, const char *in_out, const char *in_err)
{
	char *out, *err;

	assert_int_equal(run(argv, &out, &err), status);
	assert_non_null(strstr(out, in_out));
	assert_non_null(strstr(err, in_err));
	free(out);
	free(err);
}

static void import(void **state)
{
	static const char text[] = "SAMPLE_PERIOD_SEC=7\nMETRIC_PATH=/energy\n";
	char path[] = "/tmp/kepler-test-XXXXXX";
	int fd = mkstemp(path), input = dup(STDIN_FILENO);
	const char *plain[] = { "import", path, NULL }, *in[] = { "import", "-", NULL },
		   *strict[] = { "import", "--strict", path, NULL },
		   *gone[] = { "import", "/nonexistent", NULL };

	assert_true(write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	expect_import(plain, 0, "interval: 7s", ":2:1: METRIC_PATH: left out: ");
	expect_import(strict, 1, "interval: 7s",
		      "kepler: keys: 1 translated, 1 left out, 0 not needed\n");
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	expect_import(in, 0, "translated from standard input", "standard input:2:1: ");
	expect_import(gone, 2, "", "kepler: /nonexistent: cannot be read: No such file");
	assert_int_equal(ftruncate(fd, 0), 0);
	expect_import(plain, 2, "", ": has no key of Kepler's configuration\n");
	assert_int_equal(dup2(input, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(close(input), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(path), 0);
}

static void wrong_use(void **state)
{
	const char *none[] = { NULL }, *more[] = { "sample", "x", NULL },
		   *two[] = { "check", "x", "y", NULL }, *nothing[] = { "import", NULL },
		   *flag[] = { "import", "--lax", "x", NULL };
	const char **cases[] = { none, more, two, nothing, flag };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *out, *err;

		assert_int_equal(run(cases[i], &out, &err), 2);
		assert_non_null(strstr(err, "usage:"));
		free(out);
		free(err);
	}
}

static void an_unknown_command_is_named(void **state)
{
	const char *near[] = { "chekc", NULL }, *far[] = { "frobnicate", NULL };
	char *out, *err;

	assert_int_equal(run(near, &out, &err), 2);
	assert_string_equal(err,
			    "kepler: config chekc: no such command; did you mean config check?\n");
	free(out);
	free(err);
	assert_int_equal(run(far, &out, &err), 2);
	assert_string_equal(err, "kepler: config frobnicate: no such command; see config --help\n");
	free(out);
	free(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check),
		cmocka_unit_test(show),
		cmocka_unit_test(import),
		cmocka_unit_test(wrong_use),
		cmocka_unit_test(an_unknown_command_is_named),
	};

	return unit_run(tests);
}
