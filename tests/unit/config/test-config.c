// SPDX-License-Identifier: Apache-2.0
/* Layers and where values come from: flags, environment, files. */
#include "config/config.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "attribution/learning/idle.h"
#include "base/log.h"
#include "base/num.h"
#include "config/config.h"
#include "tests/unit/unit.h"

#define ENVIRONMENT(...) ((const char *[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })
#define FLAGS(...)       ((const char *[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static int load(const char **flags, const char **variables, const char *default_file,
		struct config *ret, struct diag *diag)
{
	struct option_args args = { .default_file = default_file };

	/* main()'s vectors are not const, ours are */
	memcpy((void *)&args.argv, (const void *)&flags, sizeof(flags));
	memcpy((void *)&args.environ_, (const void *)&variables, sizeof(variables));
	while (flags[args.argc])
		args.argc++;
	return config_load(&args, ret, diag);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static enum option_origin origin(const struct config *config, const char *name)
{
	return config->options.origins[option_find(&config_options, name)];
}

static void defaults(void **state)
{
	struct config config;
	struct diag diag = { 0 };

	assert_int_equal(load(FLAGS(), ENVIRONMENT(), "", &config, &diag), 0);
	assert_string_equal(config.options.file, "");
	assert_int_equal(config.log.level, LOG_LEVEL_INFO);
	assert_string_equal(config.host.sysfs, "/sys");
	assert_true(config.monitor.interval_ns == NSEC_PER_SEC);
	assert_int_equal(config.activity.end_buffer_bytes, 512 * 1024);
	assert_int_equal(config.monitor.max_processes, 20000);
	assert_true(config.meter.read_deadline_ns == 100 * NSEC_PER_MSEC);
	assert_int_equal(config.meter.max_power_uw, 0);
	assert_int_equal(config.idle.watts_count, 0);
	assert_int_equal(config.publication.min_uj, 1000000);
	assert_true(config.publication.keep_ns == 300 * NSEC_PER_SEC);
	assert_int_equal(config.web.listen_count, 1);
	assert_string_equal(config.web.listen[0], "127.0.0.1:28282");
	assert_true(config.security.seccomp && config.security.drop_capabilities &&
		    !config.security.seccomp_log);
	assert_string_equal(config.options.warnings, "");
	config_release(&config);
}

static void flag_forms(void **state)
{
	struct config config;
	struct diag diag = { 0 };
	const char **flags =
		FLAGS("--log.level=debug", "--monitor.interval", "2s", "--no-bpf.enabled",
		      "--security.seccomp-log", "--meter.enabled=false", "--web.listen-address=:1",
		      "--web.listen-address", "[::1]:2", "--");

	assert_int_equal(load(flags, ENVIRONMENT(), "", &config, &diag), 0);
	assert_int_equal(config.log.level, LOG_LEVEL_DEBUG);
	assert_true(config.monitor.interval_ns == 2 * NSEC_PER_SEC);
	assert_false(config.activity.allow_bpf);
	assert_false(config.meter_enabled);
	assert_true(config.security.seccomp_log);
	assert_int_equal(config.web.listen_count, 2);
	assert_string_equal(config.web.listen[1], "[::1]:2");
	assert_int_equal(origin(&config, "web.listen-address"), ORIGIN_FLAG);
	assert_int_equal(origin(&config, "log.format"), ORIGIN_DEFAULT);
	config_release(&config);
}

static void precedence(void **state)
{
	char path[] = "/tmp/kepler-test-XXXXXX";
	struct config config;
	struct diag diag = { 0 };
	CLEANUP_FD int fd = mkstemp(path);
	CLEANUP_FREE char *file_flag = NULL, *file_variable = NULL;

	assert_true(fd >= 0);
	write_text(path, "log: {level: warn, format: json}\nidle: {mode: \"off\"}\n"
			 "web: {listen-address: ['1.1.1.1:1', '2.2.2.2:2']}\n");
	assert_true(asprintf(&file_flag, "--config.file=%s", path) > 0);
	assert_true(asprintf(&file_variable, "KEPLER_CONFIG_FILE=%s", path) > 0);
	assert_int_equal(load(FLAGS(file_flag, "--log.level=error"),
			      ENVIRONMENT("KEPLER_LOG_LEVEL=debug", "KEPLER_LOG_FORMAT=text",
					  "KEPLER_WEB_LISTEN_ADDRESS=:3,:4,:5"),
			      "", &config, &diag),
			 0);
	assert_int_equal(config.log.level, LOG_LEVEL_ERROR); /* flag over environment over file */
	assert_int_equal(config.log.format, LOG_FORMAT_TEXT);
	assert_int_equal(config.idle.mode, IDLE_MODE_OFF);
	assert_int_equal(config.web.listen_count, 3); /* a list is replaced, not joined */
	assert_string_equal(config.web.listen[2], ":5");
	assert_int_equal(origin(&config, "log.level"), ORIGIN_FLAG);
	assert_int_equal(origin(&config, "log.format"), ORIGIN_ENVIRONMENT);
	assert_int_equal(origin(&config, "idle.mode"), ORIGIN_FILE);
	config_release(&config);

	assert_int_equal(load(FLAGS(), ENVIRONMENT(file_variable), "", &config, &diag), 0);
	assert_string_equal(config.options.file, path);
	assert_int_equal(config.web.listen_count, 2);
	config_release(&config);
	assert_int_equal(unlink(path), 0);
}

static void default_file(void **state)
{
	char path[] = "/tmp/kepler-test-XXXXXX";
	struct config config;
	struct strbuf shown = STRBUF_INIT;
	struct diag diag = { 0 };
	CLEANUP_FD int fd = mkstemp(path);

	assert_true(fd >= 0);
	write_text(path, "table: never\n");
	assert_int_equal(load(FLAGS(), ENVIRONMENT(), path, &config, &diag), 0);
	assert_int_equal(config.table, TABLE_NEVER);
	assert_string_equal(config.options.file, path);
	config_show(&config, &shown);
	assert_non_null(strstr(shown.data, "the default, which exists"));
	strbuf_release(&shown);
	config_release(&config);

	/* --config.file= asks for none */
	assert_int_equal(load(FLAGS("--config.file="), ENVIRONMENT(), path, &config, &diag), 0);
	assert_int_equal(config.table, TABLE_AUTO);
	config_release(&config);

	/* a default file that exists and cannot be used is an error, a missing one is not */
	write_text(path, "tabel: never\n");
	assert_int_equal(load(FLAGS(), ENVIRONMENT(), path, &config, &diag), -EINVAL);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(load(FLAGS(), ENVIRONMENT(), path, &config, &diag), 0);
	config_release(&config);
	assert_int_equal(load(FLAGS("--config.file", path), ENVIRONMENT(), "", &config, &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "cannot be read: No such file"));
}

static void refused(void **state)
{
	static const struct {
		const char *flag;
		const char *text;
	} cases[] = {
		{ "--web.listen-adress=:1",
		  "--web.listen-adress: unknown flag; did you mean --web.listen-address?" },
		{ "--no-bpf.enabeld",
		  "--no-bpf.enabeld: unknown flag; did you mean --no-bpf.enabled?" },
		{ "--quite-another-thing", "--quite-another-thing: unknown flag; see --help" },
		{ "--no-log.level", "--no-log.level: unknown flag; did you mean --log.level?" },
		/* Several switches end so: a guess would turn off something else. */
		{ "--no-enabled", "--no-enabled: unknown flag; see --help" },
		{ "--monitor.interval=5", "--monitor.interval: must be a duration from 100ms to "
					  "1h, such as 500ms, 5s or 1m30s, "
					  "not \"5\"" },
		{ "--monitor.interval=10ms", "--monitor.interval: must be a duration from 100ms to "
					     "1h, such as 500ms, 5s or 1m30s, "
					     "not \"10ms\"" },
		{ "--log.level=loud",
		  "--log.level: must be debug, info, warn or error, not \"loud\"" },
		{ "--bpf.end-buffer=96KiB",
		  "--bpf.end-buffer: must be a power of two from 64KiB to "
		  "64MiB, such as 512KiB or 1MiB, not \"96KiB\"" },
		{ "--meter.enabled=maybe",
		  "--meter.enabled: must be true or false, not \"maybe\"" },
		{ "--no-meter.enabled=true", "--no-meter.enabled: takes no value" },
		{ "--log.level", "--log.level: needs a value: --log.level=LEVEL" },
		{ "--host.sysfs=", "--host.sysfs: must be text that is not empty, not \"\"" },
		{ "stray", "unexpected argument \"stray\"; flags begin with --" },
		{ "-v", "-v: unknown flag; see --help" },
		{ "--idle.watts=package", "--idle.watts: must be ZONE=WATTS, such as package=12.5, "
					  "with WATTS from 0 to 1000000, "
					  "not \"package\"" },
		{ "--idle.mode=fixed", "idle.mode: fixed needs idle.watts, as in package=12.5" },
		{ "--host.sysfs=a\nb",
		  "--host.sysfs: must be UTF-8 text without control characters" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char flag[128];
		struct config config = { .table = 77 };
		struct diag diag = { 0 };

		(void)snprintf(flag, sizeof(flag), "%s", cases[i].flag);
		assert_int_equal(load(FLAGS(flag), ENVIRONMENT(), "", &config, &diag), -EINVAL);
		assert_string_equal(diag.text, cases[i].text);
		assert_int_equal(config.table, 77); /* untouched */
	}
}

static void after_the_end(void **state)
{
	struct config config;
	struct diag diag = { 0 };

	assert_int_equal(load(FLAGS("--", "--table=never"), ENVIRONMENT(), "", &config, &diag),
			 -EINVAL);
	assert_non_null(strstr(diag.text, "unexpected argument"));
}

static void environment(void **state)
{
	struct config config;
	struct diag diag = { 0 };

	assert_int_equal(
		load(FLAGS(),
		     ENVIRONMENT("KEPLER_LOG_LEVL=debug", "KEPLER_NODE_NAME=n1",
				 "KEPLER_SERVICE_HOST=10.0.0.1", "KEPLER_PORT=tcp://1",
				 "KEPLER_PORT_28282_TCP=tcp://x", "PATH=/bin", "KEPLER_\n=1",
				 "KEPLER_NO_EQUALS", "KEPLER_IDLE_WATTS=package=12.5,dram=3"),
		     "", &config, &diag),
		0);
	assert_string_equal(config.options.warnings,
			    "KEPLER_LOG_LEVL: unknown environment variable, ignored; did you mean "
			    "KEPLER_LOG_LEVEL?\n"
			    "KEPLER_?: unknown environment variable, ignored");
	assert_int_equal(config.idle.watts_count, 2);
	assert_string_equal(config.idle.watts[1].name, "dram");
	assert_float_equal(config.idle.watts[1].amount, 3, 0);
	config_release(&config);

	assert_int_equal(load(FLAGS(), ENVIRONMENT("KEPLER_TABLE=sometimes"), "", &config, &diag),
			 -EINVAL);
	assert_string_equal(diag.text,
			    "KEPLER_TABLE: must be auto, always or never, not \"sometimes\"");
	assert_int_equal(
		load(FLAGS(), ENVIRONMENT("KEPLER_WEB_LISTEN_ADDRESS="), "", &config, &diag),
		-EINVAL);
	assert_string_equal(diag.text, "web.listen-address: must have at least one address");
}

static void too_many_items(void **state)
{
	const char *flags[WEB_LISTEN_MAX + 2];
	struct config config;
	struct diag diag = { 0 };

	for (size_t i = 0; i < WEB_LISTEN_MAX + 1; i++)
		flags[i] = "--web.listen-address=:1";
	flags[WEB_LISTEN_MAX + 1] = NULL;
	assert_int_equal(load(flags, ENVIRONMENT(), "", &config, &diag), -EINVAL);
	assert_string_equal(diag.text, "--web.listen-address: must have at most 8 items");
	flags[WEB_LISTEN_MAX] = NULL;
	assert_int_equal(load(flags, ENVIRONMENT(), "", &config, &diag), 0);
	config_release(&config);
}

static void unreloadable(void **state)
{
	struct config a, b;
	struct diag diag = { 0 };
	char names[128], narrow[30];

	assert_int_equal(load(FLAGS(), ENVIRONMENT(), "", &a, &diag), 0);
	assert_int_equal(load(FLAGS("--log.level=debug", "--host.sysfs=/x", "--monitor.interval=3s",
				    "--web.listen-address=:9"),
			      ENVIRONMENT(), "", &b, &diag),
			 0);
	config_unreloadable_changes(&a, &b, names, sizeof(names));
	assert_string_equal(names, "host.sysfs, web.listen-address");
	config_unreloadable_changes(&a, &b, narrow, sizeof(narrow));
	assert_string_equal(narrow, "host.sysfs");
	config_unreloadable_changes(&a, &a, names, sizeof(names));
	assert_string_equal(names, "");
	config_release(&a);
	config_release(&b);
	config_release(&b); /* releasing what is released is harmless */
}

/* A value that the option takes and that is not its default; false when the list has none. */
static bool set_other(size_t index, struct config *config, const struct config *defaults)
{
	static const char *const texts[] = { "/elsewhere",
					     "false",
					     "true",
					     "1m",
					     "333",
					     "2MiB",
					     ":9",
					     "off",
					     "both",
					     "kubelet",
					     "merged",
					     "always",
					     "a/power1=dram",
					     "hwmon",
					     "basic",
					     "https://a",
					     "holder",
					     "cycles",
					     "on",
					     "dram",
					     "0.5",
					     "beside",
					     "own",
					     "3=vm",
					     "1uJ",
					     "EUR",
					     "delta",
					     "gzip",
					     "process",
					     "socks5h://a",
					     "a=b",
					     "1.0",
					     "csv",
					     "2m",
					     "5",
					     "/srv/a",
					     "kubernetes",
					     "hidden",
					     "u metric=m label=a=b port=1" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct diag diag = { "" };

		if (option_take(&config_options, index, &config->options, ORIGIN_FLAG, texts[i],
				&diag) == 0 &&
		    !option_is_same(&config_options, index, &config->options, &defaults->options))
			return true;
	}
	return false;
}

/*
 * Options that a reload says it does not change stay as they are; those that it may change, change.
 */
static void unreloadable_stay(void **state)
{
	struct config defaults, old, fresh;
	struct diag diag = { 0 };
	char names[4096];
	size_t count = option_count(&config_options), fixed = 0;

	assert_int_equal(load(FLAGS(), ENVIRONMENT(), "", &defaults, &diag), 0);
	assert_int_equal(load(FLAGS(), ENVIRONMENT(), "", &old, &diag), 0);
	assert_int_equal(load(FLAGS("--log.level=debug"), ENVIRONMENT(), "", &fresh, &diag), 0);
	for (size_t i = 0; i < count; i++) {
		if (option_at(&config_options, i)->reloadable ||
		    option_at(&config_options, i)->not_in_file)
			continue;
		if (!set_other(i, &fresh, &defaults))
			fail_msg("no other value is known for %s",
				 option_at(&config_options, i)->name);
		fixed++;
	}
	assert_true(fixed > 20);
	config_keep_unreloadable(&old, &fresh);
	config_unreloadable_changes(&defaults, &fresh, names, sizeof(names));
	assert_string_equal(names, "");
	for (size_t i = 0; i < count; i++)
		assert_true(option_at(&config_options, i)->reloadable ||
			    option_at(&config_options, i)->not_in_file ||
			    fresh.options.origins[i] == ORIGIN_DEFAULT);
	assert_int_not_equal(fresh.log.level, defaults.log.level);
	config_release(&defaults);
	config_release(&old);
	config_release(&fresh);
}

/* As a thread gets it that may outlive the original. */
static void a_copy_has_all_values_and_shares_none(void **state)
{
	static char flags[][28] = { "--meter.external=/a",       "--meter.external=/b",
				    "--idle.watts=package=12.5", "--monitor.interval=2s",
				    "--metrics.settle=auto",     "--meter.hmc.cpc=c" };
	char *argv[ARRAY_SIZE(flags)];
	const struct option_args args = { .argc = ARRAY_SIZE(flags),
					  .argv = argv,
					  .default_file = "" };
	struct config config, copy;

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		argv[i] = flags[i];
	assert_int_equal(config_load(&args, &config, NULL), 0);
	assert_int_equal(config_copy(&config, &copy), 0);
	for (size_t i = 0; i < option_count(&config_options); i++) {
		assert_true(option_is_same(&config_options, i, &config.options, &copy.options));
		assert_int_equal(copy.options.origins[i], config.options.origins[i]);
	}
	assert_int_equal(copy.meter.external.file_count, 2);
	assert_ptr_not_equal(copy.meter.external.files[1], config.meter.external.files[1]);
	assert_ptr_not_equal(copy.host.sysfs, config.host.sysfs);
	config_release(&config);
	assert_string_equal(copy.meter.external.files[1], "/b");
	config_release(&copy);
}

static void file_limits(void **state)
{
	struct config config;
	struct diag diag = { 0 };
	CLEANUP_FREE char *text = malloc(OPTIONS_FILE_MAX + 1);

	assert_non_null(text);
	memset(text, ' ', OPTIONS_FILE_MAX + 1);
	text[0] = '#';
	assert_int_equal(config_load_text("f", text, OPTIONS_FILE_MAX + 1, &config, &diag), -EFBIG);
	assert_string_equal(diag.text, "f: larger than 1 MiB");
	assert_int_equal(config_load_text("f", text, OPTIONS_FILE_MAX, &config, &diag), 0);
	config_release(&config);
	assert_int_equal(config_load_file("/", &config, &diag), -EISDIR);
	assert_int_equal(config_load_file("/nonexistent", &config, NULL), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(flag_forms),
		cmocka_unit_test(precedence),
		cmocka_unit_test(default_file),
		cmocka_unit_test(refused),
		cmocka_unit_test(after_the_end),
		cmocka_unit_test(environment),
		cmocka_unit_test(too_many_items),
		cmocka_unit_test(unreloadable),
		cmocka_unit_test(unreloadable_stay),
		cmocka_unit_test(file_limits),
		cmocka_unit_test(a_copy_has_all_values_and_shares_none),
	};

	return unit_run(tests);
}
