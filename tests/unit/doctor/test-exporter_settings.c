// SPDX-License-Identifier: Apache-2.0
/* The settings of an exporter from its container and its file, and where that file is. */
#include "doctor/cluster/exporter_settings.h"

#include <errno.h>

#include "base/macro.h"
#include "tests/unit/unit.h"

static json_t *parse(const char *text)
{
	json_t *object = json_loads(text, 0, NULL);

	if (!object)
		fail_msg("no JSON: %s", text);
	return object;
}

struct expectation {
	const char *container, *file; /* NULL: none */
	int r;
	const char *source, *settle;
	bool pushes, are_partial;
};

static const struct expectation expectations[] = {
	{ "{}", NULL, 0, "auto", "auto", false, false },
	{ "{\"args\":[\"run\",\"--kube.pods=kubelet\",\"--metrics.settle\",\"60s\"]}", NULL, 0,
	  "kubelet", "60s", false, false },
	{ "{\"env\":[{\"name\":\"KEPLER_KUBE_PODS\",\"value\":\"off\"}]}", NULL, 0, "off", "auto",
	  false, false },
	{ "{}", "kube: {pods: apiserver}\nmetrics: {settle: 30s}\n", 0, "apiserver", "30s", false,
	  false },
	/* The file is the weakest. */
	{ "{\"args\":[\"--kube.pods=kubelet\"]}", "kube: {pods: off}\nmetrics: {settle: 30s}\n", 0,
	  "kubelet", "30s", false, false },
	{ "{}", "otlp: {endpoint: 'http://collector:4318'}\n", 0, "auto", "auto", true, false },
	{ "{}", "remote-write: {url: ['http://receiver/api/v1/write']}\n", 0, "auto", "auto", true,
	  false },
	{ "{\"args\":[\"--remote-write.url=http://receiver/api/v1/write\"]}", NULL, 0, "auto",
	  "auto", true, false },
	{ "{\"env\":[{\"name\":\"OTEL_EXPORTER_OTLP_ENDPOINT\",\"value\":\"http://x:4318\"}]}",
	  NULL, 0, "auto", "auto", true, false },
	{ "{\"envFrom\":[{\"secretRef\":{\"name\":\"x\"}}]}", NULL, 0, "auto", "auto", false,
	  true },
	/* A file that is not taken: others may be set. */
	{ "{\"args\":[\"--kube.pods=kubelet\"]}", "no: such\n", -EINVAL, "kubelet", "auto", false,
	  true },
};

static void settings_of_a_container_and_its_file(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(expectations); i++) {
		const struct expectation *e = &expectations[i];
		json_t *container = parse(e->container);
		struct exporter_settings settings;
		struct diag diag = { "" };

		print_message("# case %zu\n", i);
		assert_int_equal(exporter_settings_read(container, e->file,
							e->file ? strlen(e->file) : 0, &settings,
							&diag),
				 e->r);
		assert_string_equal(settings.source, e->source);
		assert_string_equal(settings.settle, e->settle);
		assert_int_equal(settings.pushes, e->pushes);
		assert_int_equal(settings.are_partial, e->are_partial);
		json_decref(container);
	}
}

#define MOUNT(rest)                                                                                \
	"{\"volumeMounts\":[{\"name\":\"logs\",\"mountPath\":\"/var\"},{\"name\":\"c\"," rest "}]"
#define IN_FOLDER    MOUNT("\"mountPath\":\"/etc/kepler\"") "}"
#define VOLUME(rest) "{\"volumes\":[{\"name\":\"logs\",\"emptyDir\":{}},{\"name\":\"c\"," rest "}]}"

struct place_case {
	const char *pod_spec, *container;
	const char *config_map, *key; /* NULL: in none */
	bool is_elsewhere;
};

static const struct place_case places[] = {
	{ "{}", "{}", NULL, NULL, false },
	{ VOLUME("\"configMap\":{\"name\":\"k\"}"), IN_FOLDER, "k", "kepler.yaml", false },
	{ VOLUME("\"configMap\":{\"name\":\"k\",\"items\":[{\"key\":\"a\",\"path\":\"kepler.yaml\"}"
		 "]}"),
	  IN_FOLDER, "k", "a", false },
	/* The map does not show it there. */
	{ VOLUME("\"configMap\":{\"name\":\"k\",\"items\":[{\"key\":\"a\",\"path\":\"b\"}]}"),
	  IN_FOLDER, NULL, NULL, false },
	{ VOLUME("\"configMap\":{\"name\":\"k\"}"),
	  MOUNT("\"mountPath\":\"/etc/kepler/kepler.yaml\",\"subPath\":\"own.yaml\"") "}", "k",
	  "own.yaml", false },
	{ VOLUME("\"configMap\":{\"name\":\"k\"}"),
	  MOUNT("\"mountPath\":\"/settings/\"") ",\"args\":[\"--config.file=/settings/x.yaml\"]}",
	  "k", "x.yaml", false },
	{ VOLUME("\"projected\":{\"sources\":[{\"secret\":{\"name\":\"s\"}},"
		 "{\"configMap\":{\"name\":\"k\"}}]}"),
	  IN_FOLDER, "k", "kepler.yaml", false },
	{ VOLUME("\"secret\":{\"secretName\":\"s\"}"), IN_FOLDER, NULL, NULL, true },
	{ VOLUME("\"configMap\":{\"name\":\"k\"}"), MOUNT("\"mountPath\":\"/etc/kep\"") "}", NULL,
	  NULL, false },
};

static void the_file_is_found_in_its_config_map(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		json_t *pod_spec = parse(places[i].pod_spec);
		json_t *container = parse(places[i].container);
		struct settings_place place = exporter_settings_place(pod_spec, container);

		print_message("# case %zu\n", i);
		if (places[i].config_map) {
			assert_non_null(place.config_map);
			assert_string_equal(place.config_map, places[i].config_map);
			assert_string_equal(place.key, places[i].key);
		} else {
			assert_null(place.config_map);
		}
		assert_int_equal(place.is_elsewhere, places[i].is_elsewhere);
		json_decref(container);
		json_decref(pod_spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_of_a_container_and_its_file),
		cmocka_unit_test(the_file_is_found_in_its_config_map),
	};

	return unit_run(tests);
}
