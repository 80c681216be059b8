// SPDX-License-Identifier: Apache-2.0
/* Each key that is translated: what is printed is loaded, and has the value. */
#include "config/config_import.h"

#include "config/config.h"
#include "config/import_rows.h"
#include "config/import_source.h"
#include "tests/unit/unit.h"

struct imported {
	struct strbuf out, report;
	struct import_counts counts;
	struct diag diag;
	int result;
};

static void import(const char *text, struct imported *ret)
{
	*ret = (struct imported){ .result = 0 };
	ret->result = config_import("old", text, strlen(text), &ret->out, &ret->report,
				    &ret->counts, &ret->diag);
}

static void release(struct imported *imported)
{
	strbuf_release(&imported->out);
	strbuf_release(&imported->report);
}

static void load(const struct imported *imported, struct config *ret)
{
	struct diag diag = { 0 };

	assert_int_equal(imported->result, 0);
	if (config_load_text("new", imported->out.data, imported->out.len, ret, &diag) < 0)
		fail_msg("%s in\n%s", diag.text, imported->out.data);
}

/* "a.b: v" as a nested mapping, or "A=v". */
static void write_setting(const char *key, const char *value, struct strbuf *ret)
{
	size_t depth = 0;

	if (!strchr(key, '.')) {
		strbuf_addf(ret, "%s=%s\n", key, value);
		return;
	}
	for (const char *at = key; *at; depth++) {
		size_t len = strcspn(at, ".");

		strbuf_addf(ret, "%*s%.*s:%s", (int)(2 * depth), "", (int)len, at,
			    at[len] ? "\n" : "");
		at += len + (at[len] == '.');
	}
	strbuf_addf(ret, " %s\n", value);
}

struct translation {
	const char *key, *value, *option, *text;
};

static const struct translation translations[] = {
	{ "log.level", "warn", "log.level", "warn" },
	{ "log.format", "json", "log.format", "json" },
	{ "host.sysfs", "/host/sys", "host.sysfs", "/host/sys" },
	{ "host.sysfs", "/host/sys", "host.cgroupfs", "/host/sys/fs/cgroup" },
	{ "host.sysfs", "/sys", "host.cgroupfs", "/sys/fs/cgroup" },
	{ "host.procfs", "/host/proc", "host.procfs", "/host/proc" },
	{ "monitor.interval", "1m0s", "monitor.interval", "1m" },
	{ "exporter.stdout.enabled", "true", "table", "always" },
	{ "exporter.stdout.enabled", "false", "table", "never" },
	{ "web.listenAddresses", "[\":28282\"]", "web.listen-address", ":28282" },
	{ "web.configFile", "/etc/kepler/web.yml", "web.config-file", "/etc/kepler/web.yml" },
	{ "kube.enabled", "false", "kube.pods", "off" },
	{ "kube.enabled", "true", "kube.pods", "auto" },
	{ "kube.config", "/k", "kube.kubeconfig", "/k" },
	{ "kube.nodeName", "n1", "kube.node-name", "n1" },
	{ "kube.podInformer.mode", "apiserver", "kube.pods", "apiserver" },
	{ "kube.podInformer.mode", "kubelet", "kube.pods", "kubelet" },
	{ "experimental.platform.redfish.staleness", "30s", "meter.redfish.period", "30s" },
	{ "experimental.hwmon.forceEnabled", "true", "meters", "hwmon" },
	{ "experimental.hwmon.forceEnabled", "false", "meters", "auto" },
	{ "SAMPLE_PERIOD_SEC", "3", "monitor.interval", "3s" },
	{ "BIND_ADDRESS", "0.0.0.0:8888", "web.listen-address", "0.0.0.0:8888" },
	{ "PROC_DIR", "/p", "host.procfs", "/p" },
	{ "SYS_DIR", "/s", "host.sysfs", "/s" },
	{ "SYS_DIR", "/s", "host.cgroupfs", "/s/fs/cgroup" },
	{ "KEPLER_LOG_LEVEL", "1", "log.level", "info" },
	{ "KEPLER_LOG_LEVEL", "10", "log.level", "debug" },
	{ "KEPLER_LOG_LEVEL", "Error", "log.level", "error" },
	{ "NODE_NAME", "n1", "kube.node-name", "n1" },
	{ "KUBE_CONFIG", "/k", "kube.kubeconfig", "/k" },
	{ "ENABLE_API_SERVER", "True", "kube.pods", "apiserver" },
	{ "ENABLE_API_SERVER", "false", "kube.pods", "kubelet" },
	{ "ENABLE_PROCESS_METRICS", "false", "metrics.process.min-joules", "1000000000" },
	{ "ENABLE_PROCESS_METRICS", "true", "metrics.process.min-joules", "1" },
	{ "EXPOSE_BPF_METRICS", "false", "metrics.counters", "off" },
	{ "EXPOSE_IRQ_COUNTER_METRICS", "true", "bpf.io", "on" },
	{ "REDFISH_CRED_FILE_PATH", "/c.csv", "meter.redfish.credentials", "/c.csv" },
	{ "REDFISH_PROBE_INTERVAL_IN_SECONDS", "60", "meter.redfish.period", "1m" },
	{ "REDFISH_SKIP_SSL_VERIFY", "TRUE", "meter.redfish.insecure", "true" },
	{ "REDFISH_SKIP_SSL_VERIFY", "1", "meter.redfish.insecure", "false" },
	{ "MODEL_SERVER_ENABLE", "true", "model.url", "http://kepler-model-server:8100" },
	{ "MODEL_SERVER_ENABLE", "false", "model.url", "" },
	{ "MODEL_SERVER_URL", "http://m:1", "model.url", "" },
	{ "MODEL_SERVER_PORT", "1", "model.url", "" },
};

static void each_key_round_trips(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(translations); i++) {
		const struct translation *at = &translations[i];
		size_t index = option_find(&config_options, at->option);
		const struct option *option = option_at(&config_options, index);
		struct strbuf source = STRBUF_INIT, value = STRBUF_INIT;
		struct imported imported;
		struct config config;

		write_setting(at->key, at->value, &source);
		import(source.data, &imported);
		load(&imported, &config);
		option_format(option, option_part_of(&config_options, index, &config.options), 0,
			      &value);
		if (strcmp(value.data ? value.data : "", at->text) != 0)
			fail_msg("%s: %s is %s, not %s", at->key, at->option,
				 value.data ? value.data : "", at->text);
		assert_int_equal(imported.counts.left_out, 0);
		assert_non_null(strstr(imported.out.data, strchr(at->key, '.')
								  ? "schema: current "
								  : "schema: classic "));
		config_release(&config);
		strbuf_release(&source);
		strbuf_release(&value);
		release(&imported);
	}
}

static bool is_translated(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(translations); i++) {
		if (strcmp(translations[i].key, key) == 0)
			return true;
	}
	return false;
}

/* A key with an option is in the table above; another one is reported, with the reason. */
static void each_key_is_known(void **state)
{
	for (size_t i = 0; i < import_row_count; i++) {
		const struct import_row *row = &import_rows[i];
		struct strbuf source = STRBUF_INIT;
		struct imported imported;
		struct config config;

		if (row->form != IMPORT_NOTHING) {
			if (!is_translated(row->key))
				fail_msg("%s: no test", row->key);
			continue;
		}
		write_setting(row->key, "odd-value", &source);
		import(source.data, &imported);
		load(&imported, &config);
		assert_non_null(strstr(imported.report.data, row->key));
		assert_non_null(strstr(imported.report.data, row->why));
		assert_non_null(strstr(imported.out.data, row->why));
		assert_int_equal(imported.counts.needless, row->needless[0] == '*');
		assert_int_equal(imported.counts.left_out, row->needless[0] != '*');
		config_release(&config);
		strbuf_release(&source);
		release(&imported);
	}
}

static void expect(const char *text, const char *const *lines, size_t count, unsigned left_out)
{
	struct imported imported;
	struct config config;

	import(text, &imported);
	load(&imported, &config);
	for (size_t i = 0; i < count; i++) {
		if (!strstr(imported.report.data ? imported.report.data : "", lines[i]) &&
		    !strstr(imported.out.data, lines[i]))
			fail_msg("\"%s\" is neither in\n%s nor in\n%s", lines[i], imported.out.data,
				 imported.report.data ? imported.report.data : "");
	}
	assert_int_equal(imported.counts.left_out, left_out);
	config_release(&config);
	release(&imported);
}

#define EXPECT(text, lines, left_out) expect(text, lines, ARRAY_SIZE(lines), left_out)

static void a_current_file(void **state)
{
	static const char text[] = "log: {level: debug}\n"
				   "monitor:\n"
				   "  interval: 5s\n"
				   "  stalenes: 500ms\n"
				   "  staleness: 500ms\n"
				   "exporter:\n"
				   "  prometheus:\n"
				   "    metricsLevel: [pod, node, process, vm, container]\n"
				   "kube: {enabled: false, podInformer: {mode: kubelet}}\n"
				   "rapl: {zones: [package]}\n"
				   "debug:\n"
				   "dev: {}\n"
				   "web:\n"
				   "  listenAddresses: [':28282', nowhere]\n"
				   "experimental:\n"
				   "  hwmon: {chipRules: [{name: x}], zones: []}\n";
	static const char *const lines[] = {
		"level: debug  # log.level\n",
		"interval: 5s  # monitor.interval\n",
		"pods: \"off\"  # kube.enabled\n",
		"left out: not an upstream key; did you mean monitor.staleness?",
		"old:4:3: monitor.stalenes: ",
		"old:5:3: monitor.staleness: not needed: ",
		"old:8:5: exporter.prometheus.metricsLevel: not needed: ",
		"old:9:38: kube.podInformer.mode: not needed: kube.pods is set by kube.enabled\n",
		"old:10:8: rapl.zones: left out: ",
		"old:14:3: web.listenAddresses: left out: web.listen-address \"nowhere\": must be ",
		"old:16:11: experimental.hwmon.chipRules: left out: ",
		"old:16:35: experimental.hwmon.zones: not needed: ",
		"# web.listen-address has the default of this program; Kepler's is [\":28282\"].\n",
	};

	EXPECT(text, lines, 4);
}

static void a_manifest(void **state)
{
	static const char text[] = "kind: Namespace\n"
				   "data: {SAMPLE_PERIOD_SEC: '7'}\n"
				   "---\n"
				   "kind: ConfigMap\n"
				   "data:\n"
				   "  SAMPLE_PERIOD_SEC: \"3\"\n"
				   "  ENABLE_GPU: \"true\"\n"
				   "  MODEL_SERVER_ENABLE: 'true'\n"
				   "  MODEL_SERVER_PORT: '81'\n"
				   "  MODEL_CONFIG: |\n"
				   "    NODE_TOTAL_ESTIMATOR=true\n"
				   "---\n"
				   "kind: List\n"
				   "items:\n"
				   "- kind: Secret\n"
				   "- kind: ConfigMap\n"
				   "  data:\n"
				   "    config.yaml: |\n"
				   "      kube: {nodeName: n1}\n"
				   "      rapl: {zones: [dram]}\n";
	static const char *const lines[] = {
		"interval: 3s  # SAMPLE_PERIOD_SEC\n",
		"url: \"http://kepler-model-server:81\"  # MODEL_SERVER_URL\n",
		"node-name: \"n1\"  # kube.nodeName\n",
		"schema: both ",
		"old:7:3: ENABLE_GPU: not needed: ",
		"old:10:3: MODEL_CONFIG: left out: ",
		"old: config.yaml:2:8: rapl.zones: left out: ",
	};

	EXPECT(text, lines, 2);
}

static void lines_of_an_environment(void **state)
{
	static const char text[] = "\n# classic\n"
				   "export SAMPLE_PERIOD_SEC=\"5\"\r\n"
				   "  PROC_DIR='/host/proc'  \n"
				   "MODEL_SERVER_URL=http://m:8100/x=y\n"
				   "MODEL_SERVER_ENABLE=true\n"
				   "BIND_ADDRES=:1\n"
				   "SAMPLE_PERIOD_SEC=0\n";
	static const char *const lines[] = {
		"procfs: \"/host/proc\"  # PROC_DIR\n",
		"url: \"http://m:8100/x=y\"  # MODEL_SERVER_URL\n",
		"old:7:1: BIND_ADDRES: left out: not an upstream key; did you mean BIND_ADDRESS?",
		"old:8:1: SAMPLE_PERIOD_SEC: left out: monitor.interval must be a duration from ",
	};

	EXPECT(text, lines, 2);
}

static void a_model_server_of_three_keys(void **state)
{
	static const char off[] = "MODEL_SERVER_URL=http://m:1\nMODEL_SERVER_PORT=2\n"
				  "MODEL_SERVER_ENABLE=False\nENABLE_QAT=False\n";
	static const char on[] = "MODEL_SERVER_URL=http://m:1\nMODEL_SERVER_PORT=2\n"
				 "MODEL_SERVER_ENABLE=True\n";
	static const char bad[] = "MODEL_SERVER_URL=m\nMODEL_SERVER_ENABLE=true\n";
	static const char *const lines_off[] = {
		"old:1:1: MODEL_SERVER_URL: not needed: MODEL_SERVER_ENABLE is not true\n",
		"old:2:1: MODEL_SERVER_PORT: not needed: MODEL_SERVER_ENABLE is not true\n",
		"old:3:1: MODEL_SERVER_ENABLE: not needed: ",
		"old:4:1: ENABLE_QAT: not needed: ",
	};
	static const char *const lines_on[] = {
		"url: \"http://m:1\"  # MODEL_SERVER_URL\n",
		"old:2:1: MODEL_SERVER_PORT: not needed: MODEL_SERVER_URL is used as it is\n",
	};
	static const char *const lines_bad[] = { "MODEL_SERVER_URL: left out: model.url " };

	(void)state;
	EXPECT(off, lines_off, 0);
	EXPECT(on, lines_on, 0);
	EXPECT(bad, lines_bad, 1);
}

static void an_invalid_configuration_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "old: has no key of Kepler's configuration" },
		{ "# nothing\n", "old: has no key of Kepler's configuration" },
		{ "a: b\n", "old: has no key of Kepler's configuration" },
		{ "- a\n", "old:1:1: neither settings in YAML nor lines KEY=VALUE" },
		{ "? [a]\n: b\n", "old:1:3: not a key of Kepler's configuration" },
		{ "PROC_DIR=/p\nPROC DIR=/p\n", "old:2: not a line KEY=VALUE" },
		{ "a: [b\n", "old:2:1: did not find expected ',' or ']'" },
	};
	struct imported imported;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		import(rows[i].text, &imported);
		assert_int_equal(imported.result, -EINVAL);
		assert_string_equal(imported.diag.text, rows[i].why);
		release(&imported);
	}
	import("monitor: {interval: 500ms}\nweb: {listenAddresses: [':1']}\n", &imported);
	assert_int_equal(imported.result, -EINVAL);
	assert_non_null(strstr(imported.diag.text, "web.allow-fast-updates"));
	assert_non_null(strstr(imported.out.data, "interval: 500ms"));
	release(&imported);
}

/* Shared nodes, depth, and very many keys: an answer, soon. */
static void hostile(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct imported imported;

	strbuf_add_str(&text, "a0: &a0 {x: 1, y: 1}\n");
	for (int i = 1; i < 25; i++)
		strbuf_addf(&text, "a%d: &a%d {x: *a%d, y: *a%d}\n", i, i, i - 1, i - 1);
	import(text.data, &imported);
	assert_int_equal(imported.result, -EINVAL);
	assert_non_null(strstr(imported.diag.text, "more than 5000 values"));
	release(&imported);
	strbuf_reset(&text);
	for (int i = 0; i < 4000; i++)
		strbuf_addf(&text, "KEY_%d=\x1b[31m\n", i);
	strbuf_add_str(&text, "PROC_DIR=/p\n");
	import(text.data, &imported);
	assert_int_equal(imported.result, 0);
	assert_int_equal(imported.counts.left_out, 4000);
	assert_null(strchr(imported.report.data, '\x1b'));
	assert_null(strchr(imported.out.data, '\x1b'));
	assert_non_null(strstr(imported.out.data, "#   and 3500 more\n"));
	release(&imported);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_round_trips),
		cmocka_unit_test(each_key_is_known),
		cmocka_unit_test(a_current_file),
		cmocka_unit_test(a_manifest),
		cmocka_unit_test(lines_of_an_environment),
		cmocka_unit_test(a_model_server_of_three_keys),
		cmocka_unit_test(an_invalid_configuration_is_refused),
		cmocka_unit_test(hostile),
	};

	return unit_run(tests);
}
