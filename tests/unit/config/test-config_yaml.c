// SPDX-License-Identifier: Apache-2.0
/* The contents that a configuration file may have, and the messages about all others. */
#include "base/num.h"
#include "config/config.h"
#include "tests/unit/unit.h"

static int load(const char *text, struct config *ret, struct diag *diag)
{
	return config_load_text("f.yaml", text, strlen(text), ret, diag);
}

static void accepted(void **state)
{
	static const char *const texts[] = {
		"",
		"# only a comment\n",
		"---\n",
		"---\n...\n",
		"~\n",
		"{}\n",
		"web:\n",
		"web: {}\n",
		"web: ~\n",
		"table: \"never\"\n",
		"web.listen-address: ':1'\n", /* the flag's path as one key */
		"web:\n  listen-address:\n  - :1\n  - '[::1]:2'\n",
		"\xef\xbb\xbftable: auto\n", /* byte order mark */
		"table: auto\r\nlog: {level: warn}\r\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct config config;
		struct diag diag = { 0 };

		if (load(texts[i], &config, &diag) < 0)
			fail_msg("%s: %s", texts[i], diag.text);
		config_release(&config);
	}
}

static void values(void **state)
{
	static const char text[] =
		"log:\n"
		"  level: error\n"
		"monitor: {interval: 2.5s, max-processes: 300}\n"
		"bpf: {enabled: false, end-buffer: 1MiB}\n"
		"meter: {max-watts: 1e3}\n"
		"host:\n  state-dir: \"\"\n"
		"idle: {mode: fixed, watts: [package=12.5, dram-1=3]}\n"
		"metrics:\n  process:\n    minJoules: 0.5\n"
		"web:\n  listenAddresses: [':28282']\n"; /* as the current Kepler */
	struct config config;
	struct diag diag = { 0 };

	assert_int_equal(load(text, &config, &diag), 0);
	assert_true(config.monitor.interval_ns == 2500 * NSEC_PER_MSEC);
	assert_int_equal(config.monitor.max_processes, 300);
	assert_false(config.activity.allow_bpf);
	assert_int_equal(config.activity.end_buffer_bytes, 1024 * 1024);
	assert_int_equal(config.meter.max_power_uw, 1000000000);
	assert_string_equal(config.host.state_dir, "");
	assert_int_equal(config.idle.watts_count, 2);
	assert_string_equal(config.idle.watts[1].name, "dram-1");
	assert_int_equal(config.publication.min_uj, 500000);
	assert_int_equal(config.web.listen_count, 1);
	assert_string_equal(config.web.listen[0], ":28282");
	config_release(&config);
}

struct refusal {
	const char *text;
	const char *why;
};

static const struct refusal refusals[] = {
	{ "web:\n  listen-adress: x\n",
	  "f.yaml:2:3: web.listen-adress: unknown key; did you mean web.listen-address?" },
	{ "wbe:\n  listen-address: x\n", "f.yaml:1:1: wbe: unknown key; did you mean web?" },
	{ "nothing-like-it: 1\n", "f.yaml:1:1: nothing-like-it: unknown key" },
	{ "web: x\n", "f.yaml:1:6: web: must be a mapping of settings" },
	{ "- a\n", "f.yaml:1:1: must be a mapping of settings" },
	{ "text\n", "f.yaml:1:1: must be a mapping of settings" },
	{ "log:\n  level: loud\n",
	  "f.yaml:2:10: log.level: must be debug, info, warn or error, not \"loud\"" },
	{ "log: {level: [info]}\n",
	  "f.yaml:1:14: log.level: must be debug, info, warn or error, not a list" },
	{ "log: {level: {a: b}}\n",
	  "f.yaml:1:14: log.level: must be debug, info, warn or error, not a mapping" },
	{ "log:\n  level:\n", "f.yaml:2:9: log.level: has no value; write one or remove the key" },
	{ "monitor: {interval: 1}\n", "f.yaml:1:21: monitor.interval: must be a duration "
				      "from 100ms to 1h, such as 500ms, 5s "
				      "or 1m30s, not \"1\"" },
	{ "monitor: {max-processes: 10}\n", "f.yaml:1:26: monitor.max-processes: must be a whole "
					    "number from 256 to 4194304, not \"10\"" },
	{ "monitor: {max-processes: 1e4}\n", "f.yaml:1:26: monitor.max-processes: must be "
					     "a whole number from 256 to 4194304, not "
					     "\"1e4\"" },
	{ "table: auto\ntable: auto\n", "f.yaml:2:1: table: set twice, first on line 1" },
	{ "web: {listen-address: ':1', listenAddresses: ':2'}\n",
	  "f.yaml:1:29: web.listenAddresses: set twice, first on line 1" },
	{ "log: {level: info}\nlog: {format: json}\n",
	  "f.yaml:2:1: log: set twice; put its keys together" },
	{ "log:\n\tlevel: info\n", "f.yaml:2:1: a tab cannot indent YAML; use spaces" },
	{ "log: &a {level: info}\n", "f.yaml:1:6: log: anchors (&name) are not supported" },
	{ "table: *a\n",
	  "f.yaml:1:8: table: aliases (*name) are not supported; write the value out" },
	{ "table: !!str auto\n", "f.yaml:1:8: table: tags (!name) are not supported" },
	{ "table: auto\n---\ntable: auto\n", "f.yaml:2:1: only one document is allowed" },
	{ "config: {file: /x}\n", "f.yaml:1:10: config.file: cannot be set in a file" },
	{ "host: {sysfs: \"a\\0b\"}\n", "f.yaml:1:15: host.sysfs: must not contain a NUL byte" },
	{ "host: {sysfs: \"a\\nb\"}\n",
	  "f.yaml:1:15: host.sysfs: must be UTF-8 text without control characters" },
	{ "? [a]\n: b\n", "f.yaml:1:3: keys must be plain text" },
	{ "log: {? {a: b} : c}\n", "f.yaml:1:9: log: keys must be plain text" },
	{ "web: {listen-address: [[':1']]}\n",
	  "f.yaml:1:24: web.listen-address: must be a list of plain values" },
	{ "web: {listen-address: []}\n",
	  "f.yaml: web.listen-address: must have at least one address" },
	{ "web: {listen-address: nowhere}\n",
	  "f.yaml:1:23: web.listen-address: \"nowhere\": must be HOST:PORT, [IPv6]:PORT, "
	  "or :PORT for all addresses" },
	{ "idle: {watts: [package=1, package=2]}\n",
	  "f.yaml:1:27: idle.watts: names package twice" },
	{ "idle: {mode: fixed}\n",
	  "f.yaml: idle.mode: fixed needs idle.watts, as in package=12.5" },
	{ "\x1b[31m: 1\n", "f.yaml: byte 0: control characters are not allowed" },
	{ "\xff: 1\n", "f.yaml: byte 0: invalid leading UTF-8 octet" },
};

static void refused(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct config config;
		struct diag diag = { 0 };

		assert_int_equal(load(refusals[i].text, &config, &diag), -EINVAL);
		assert_string_equal(diag.text, refusals[i].why);
	}
}

/* Each wrong key and value has its line, and what is below a wrong key has none. */
static void all_at_once(void **state)
{
	static const char text[] = "log: {level: loud, format: text}\n"
				   "tabel: auto\n"
				   "exporter:\n"
				   "  prometheus: [a, {b: c}]\n"
				   "config: {file: /x}\n"
				   "monitor:\n"
				   "  interval: {a: [b]}\n"
				   "  max-processes:\n"
				   "  interval: 1s\n"
				   "  intreval: 1s\n"
				   "web: {listen-address: [[a], nowhere, ':1']}\n"
				   "host: 1\n"
				   "host: {sysfs: /x}\n"
				   "log: {level: info}\n"
				   "table: *a\n"
				   "not: reached\n";
	static const char *const lines[] = {
		"f.yaml:2:1: tabel: unknown key; did you mean table?",
		"f.yaml:3:1: exporter: unknown key; kepler config import translates files of other "
		"Keplers",
		"f.yaml:5:10: config.file: cannot be set in a file",
		"f.yaml:7:13: monitor.interval: must be a duration from 100ms to 1h, such as "
		"500ms, 5s or 1m30s, not a mapping",
		"f.yaml:8:17: monitor.max-processes: has no value; write one or remove the key",
		"f.yaml:9:3: monitor.interval: set twice, first on line 7",
		"f.yaml:10:3: monitor.intreval: unknown key; did you mean monitor.interval?",
		"f.yaml:11:24: web.listen-address: must be a list of plain values",
		"f.yaml:11:29: web.listen-address: \"nowhere\": must be HOST:PORT, [IPv6]:PORT, or "
		":PORT for all addresses",
		"f.yaml:12:7: host: must be a mapping of settings",
		"f.yaml:13:1: host: set twice; put its keys together",
		"f.yaml:14:1: log: set twice; put its keys together",
		"f.yaml:15:8: table: aliases (*name) are not supported; write the value out",
	};
	struct strbuf more = STRBUF_INIT, expected = STRBUF_INIT;
	struct diag diag = { .more = &more };
	struct config config;

	assert_int_equal(load(text, &config, &diag), -EINVAL);
	assert_string_equal(diag.text, "f.yaml:1:14: log.level: must be debug, info, warn or "
				       "error, not \"loud\"");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		strbuf_addf(&expected, "%s\n", lines[i]);
	assert_string_equal(more.data, expected.data);
	assert_int_equal(diag.others, ARRAY_SIZE(lines));
	strbuf_release(&more);
	strbuf_release(&expected);
}

/* A file full of wrong keys is counted to its end, in a time that it does not choose. */
static void very_many(void **state)
{
	struct strbuf text = STRBUF_INIT, more = STRBUF_INIT;
	struct diag diag = { .more = &more };
	struct config config;
	size_t lines = 0;

	for (unsigned i = 0; i < 50000; i++)
		strbuf_addf(&text, "listen%u: 1\n", i);
	assert_int_equal(load(text.data, &config, &diag), -EINVAL);
	assert_int_equal(diag.others, 49999);
	for (const char *at = more.data; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, DIAG_MORE_MAX);
	strbuf_release(&text);
	strbuf_release(&more);
}

/* Whatever is nested, however long a name: an answer, soon, that fits. */
static void hostile(void **state)
{
	char text[20000];
	struct config config;
	struct diag diag = { 0 };

	memset(text, '[', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(load(text, &config, &diag), -EINVAL);
	diag = (struct diag){ 0 };
	memset(text, 'k', sizeof(text) - 1);
	memcpy(text + 900, ": 1", 3);
	text[903] = '\0';
	assert_int_equal(load(text, &config, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "unknown key"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted),  cmocka_unit_test(values),
		cmocka_unit_test(refused),   cmocka_unit_test(all_at_once),
		cmocka_unit_test(very_many), cmocka_unit_test(hostile),
	};

	return unit_run(tests);
}
