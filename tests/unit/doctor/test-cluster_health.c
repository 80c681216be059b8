// SPDX-License-Identifier: Apache-2.0
/*
 * Set-ups of clusters in which nothing is wrong, or in which it is not known: no finding is
 * invented, and no finding is hidden by what belongs to other programs.
 */
#include "doctor/cluster/cluster_judge.h"

#include "doctor/cluster/label_selector.h"
#include "doctor/cluster/node_fit.h"
#include "tests/unit/doctor/cluster_world.h"
#include "tests/unit/unit.h"

#define YOUNG_S (WORLD_NOW_S - 60)
#define OLD_S   (WORLD_NOW_S - 3600)

static json_t *parse(const char *text)
{
	json_t *object = json_loads(text, 0, NULL);

	if (!object)
		fail_msg("no JSON: %s", text);
	return object;
}

/* ---- monitors of others ---- */

#define KEPLER_MONITOR                                                                             \
	"{\"metadata\":{\"name\":\"kepler\",\"namespace\":\"energy\",\"labels\":{\"release\":"     \
	"\"prom\"}},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"kepler\"}},"                \
	"\"podMetricsEndpoints\":[{\"port\":\"metrics\",\"interval\":\"15s\"}]}}"
/* It selects each pod of each namespace. */
#define EVERY_POD(endpoint)                                                                        \
	"{\"metadata\":{\"name\":\"all\",\"namespace\":\"monitoring\",\"labels\":{\"release\":"    \
	"\"prom\"}},\"spec\":{\"namespaceSelector\":{\"any\":true},\"selector\":{},"               \
	"\"podMetricsEndpoints\":[" endpoint "]}}"

static const char *const others[] = {
	EVERY_POD("{\"port\":\"web\"}"),
	EVERY_POD("{\"portNumber\":9090}"),
	EVERY_POD("{\"targetPort\":\"admin\"}"),
	EVERY_POD("{\"port\":\"metrics\",\"path\":\"/actuator/prometheus\"}"),
	EVERY_POD(""),
};

static void test_monitor_of_others_is_not_counted(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct world *world = world_new();
		char list[2048];

		(void)snprintf(list, sizeof(list), "[%s,%s]", others[i], KEPLER_MONITOR);
		world_set_list(&world->facts.pod_monitors.items, list);
		world_expect_healthy(world);
		/* Nor does it hide that there is none of Kepler's. */
		(void)snprintf(list, sizeof(list), "[%s]", others[i]);
		world_set_list(&world->facts.pod_monitors.items, list);
		(void)world_only(world, "monitor-missing");
		world_free(world);
	}
}

static void test_monitor_of_all_counts_where_it_scrapes(void **state)
{
	static const char *const scraping[] = {
		EVERY_POD("{\"port\":\"metrics\"}"),
		EVERY_POD("{\"portNumber\":28282}"),
		EVERY_POD("{\"targetPort\":28282,\"path\":\"/metrics\"}"),
		EVERY_POD("{\"port\":\"web\"},{}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(scraping); i++) {
		struct world *world = world_new();
		char list[2048];

		(void)snprintf(list, sizeof(list), "[%s]", scraping[i]);
		world_set_list(&world->facts.pod_monitors.items, list);
		world_expect_healthy(world);
		(void)snprintf(list, sizeof(list), "[%s,%s]", scraping[i], KEPLER_MONITOR);
		world_set_list(&world->facts.pod_monitors.items, list);
		(void)world_only(world, "scraped-twice");
		world_free(world);
	}
}

/* They may drop Kepler, or lead elsewhere: neither a second scrape nor a missing one is claimed. */
static void test_relabelings_make_it_uncertain(void **state)
{
	static const char *const uncertain[] = {
		EVERY_POD("{\"port\":\"metrics\",\"interval\":\"1s\",\"relabelings\":[{\"action\":"
			  "\"keep\",\"regex\":\"true\"}]}"),
		EVERY_POD("{\"relabelings\":[{\"targetLabel\":\"__metrics_path__\"}]}"),
		EVERY_POD("{\"port\":\"metrics\",\"relabelings\":[{\"action\":\"Drop\"}]}"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(uncertain); i++) {
		struct world *world = world_new();
		char list[2048];

		(void)snprintf(list, sizeof(list), "[%s,%s]", uncertain[i], KEPLER_MONITOR);
		world_set_list(&world->facts.pod_monitors.items, list);
		world_expect_healthy(world);
		(void)snprintf(list, sizeof(list), "[%s]", uncertain[i]);
		world_set_list(&world->facts.pod_monitors.items, list);
		world_expect_healthy(world);
		world_free(world);
	}
}

static void test_monitor_that_discards_series_scrapes_no_second_time(void **state)
{
	struct world *world = world_new();

	world_set_list(&world->facts.pod_monitors.items,
		       "[" EVERY_POD("{\"port\":\"metrics\",\"metricRelabelings\":[{\"action\":"
				     "\"keep\",\"regex\":\"up\"}]}") "," KEPLER_MONITOR "]");
	world_expect_healthy(world);
	world_free(world);
}

static void test_port_of_a_sidecar_is_a_port(void **state)
{
	static const char sidecar[] =
		"[{\"metadata\":{\"name\":\"kepler-proxy\",\"namespace\":\"energy\",\"labels\":{"
		"\"release\":\"prom\"}},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":"
		"\"kepler\"}},\"podMetricsEndpoints\":[{\"port\":\"proxy\"}]}}," KEPLER_MONITOR "]";
	struct world *world = world_new();

	world_set_daemonset(world,
			    "\"initContainers\":[{\"name\":\"proxy\",\"ports\":[{\"name\":"
			    "\"proxy\",\"containerPort\":8080}]}],",
			    NULL);
	world_set_list(&world->facts.pod_monitors.items, sidecar);
	world_expect_healthy(world);
	world_set_daemonset(world, "", NULL);
	(void)world_only(world, "monitor-port-missing");
	world_free(world);
}

#define SERVICES(annotations, target)                                                              \
	"[{\"metadata\":{\"name\":\"kepler\",\"namespace\":\"energy\"," annotations "\"labels\":{" \
	"\"app\":\"k\"}},\"spec\":{\"selector\":{\"app\":\"kepler\"},\"ports\":[{\"name\":"        \
	"\"http\",\"port\":80,\"targetPort\":" target "}]}}]"
#define EVERY_SERVICE(endpoint)                                                                    \
	"[{\"metadata\":{\"name\":\"all\",\"namespace\":\"x\"},\"spec\":{\"selector\":{},"         \
	"\"namespaceSelector\":{\"any\":true},\"endpoints\":[" endpoint "]}}]"

static void test_service_monitor_follows_ports(void **state)
{
	static const struct {
		const char *endpoint, *target;
		bool scrapes;
	} cases[] = {
		{ "{\"port\":\"http\"}", "\"metrics\"", true },
		{ "{\"port\":\"http\"}", "28282", true },
		{ "{\"targetPort\":\"metrics\"}", "9", true },
		{ "{}", "28282", true },
		{ "{\"port\":\"http\"}", "8080", false },
		{ "{\"port\":\"https\"}", "28282", false },
		{ "{\"port\":\"http\",\"path\":\"/x\"}", "28282", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *world = world_new();
		char text[1024];

		world_set_list(&world->facts.pod_monitors.items, "[]");
		(void)snprintf(text, sizeof(text), SERVICES("", "%s"), cases[i].target);
		world_set_list(&world->facts.services.items, text);
		(void)snprintf(text, sizeof(text), EVERY_SERVICE("%s"), cases[i].endpoint);
		world_set_list(&world->facts.service_monitors.items, text);
		if (cases[i].scrapes)
			world_expect_healthy(world);
		else
			(void)world_only(world, "monitor-missing");
		world_free(world);
	}
}

/* ---- other ways to Prometheus ---- */

static struct world *without_monitors(void)
{
	struct world *world = world_new();

	world_set_list(&world->facts.pod_monitors.items, "[]");
	(void)world_only(world, "monitor-missing");
	return world;
}

static void test_other_ways_need_no_monitor(void **state)
{
	static const char *const containers[] = {
		"\"args\":[\"--otlp.endpoint=http://c:4318\"],",
		"\"args\":[\"run\",\"--remote-write.url\",\"http://p/api/v1/write\"],",
		"\"env\":[{\"name\":\"KEPLER_REMOTE_WRITE_URL\",\"value\":\"http://p\"}],",
		"\"env\":[{\"name\":\"OTEL_EXPORTER_OTLP_ENDPOINT\",\"value\":\"http://c\"}],",
		"\"envFrom\":[{\"secretRef\":{\"name\":\"more\"}}],",
	};
	struct world *world = without_monitors();
	json_t *metadata;

	for (size_t i = 0; i < ARRAY_SIZE(containers); i++) {
		world_set_daemonset(world, "", containers[i]);
		world_expect_healthy(world);
	}
	world_set_daemonset(world, "", NULL);
	world_set_list(&world->facts.services.items,
		       SERVICES("\"annotations\":{\"prometheus.io/scrape\":\"true\"},", "28282"));
	world_expect_healthy(world);
	world_set_list(&world->facts.services.items, "[]");
	(void)world_only(world, "monitor-missing");
	metadata = kube_at(world->facts.daemonsets[0].object, "spec", "template", "metadata",
			   KUBE_END);
	(void)json_object_set_new(metadata, "annotations",
				  json_pack("{s:s}", "prometheus.io/scrape", "true"));
	world_expect_healthy(world);
	(void)json_object_del(metadata, "annotations");
	world_set_list(&world->facts.prometheuses.items,
		       "[{\"metadata\":{\"name\":\"main\",\"namespace\":\"monitoring\"},\"spec\":{"
		       "\"additionalScrapeConfigs\":{\"name\":\"s\",\"key\":\"k\"}}}]");
	world_expect_healthy(world);
	world_free(world);
}

static void test_services_that_are_not_known(void **state)
{
	struct world *world = without_monitors();

	world->facts.daemonsets[0].services_are_known = false;
	world_expect_healthy(world);
	world_free(world);
}

/* ---- lists that were cut ---- */

static void test_nothing_is_absent_from_a_cut_list(void **state)
{
	struct world *world = without_monitors();
	const struct cluster_finding *found;

	world->facts.pod_monitors.is_whole = false;
	found = world_only(world, "not-examined");
	assert_int_equal(found->level, FINDING_NOTE);
	assert_non_null(strstr(found->what, "podmonitors"));
	world_free(world);

	world = world_new();
	world_set_list(&world->facts.prometheuses.items, "[]");
	world->facts.prometheuses.is_whole = false;
	assert_non_null(strstr(world_only(world, "not-examined")->what, "prometheuses"));
	world_free(world);

	world = world_new();
	world_set_list(&world->facts.prometheuses.items,
		       "[{\"metadata\":{\"name\":\"main\",\"namespace\":\"monitoring\"},\"spec\":{"
		       "\"podMonitorSelector\":{},\"podMonitorNamespaceSelector\":{\"matchLabels\":"
		       "{\"a\":\"b\"}}}}]");
	world_set_list(&world->facts.namespaces.items, "[]");
	(void)world_only(world, "monitor-not-selected");
	world->facts.namespaces.is_whole = false;
	assert_non_null(strstr(world_only(world, "not-examined")->what, "namespaces"));
	world_free(world);
}

/* Lists that were refused have a finding of their own. */
static void test_agents_that_were_refused_may_scrape(void **state)
{
	struct world *world = world_new();

	world_set_list(&world->facts.prometheuses.items,
		       "[{\"metadata\":{\"name\":\"main\",\"namespace\":\"monitoring\"},"
		       "\"spec\":{}}]");
	(void)world_only(world, "monitor-not-selected");
	world_set_list(&world->facts.agents.items, NULL);
	world->facts.agents.is_whole = false;
	world_expect_healthy(world);
	world_free(world);
}

/* ---- nodes without a pod ---- */

static void test_absent_pods_need_a_list(void **state)
{
	struct world *world = world_new();

	world->facts.nodes[1].pod_count = 0;
	(void)world_only(world, "node-without-pod");
	world->facts.daemonsets[0].pods_are_known = false;
	(void)world_only(world, "not-examined");
	world->facts.refusals[0] = (struct cluster_refusal){
		.resource = "pods", .subresource = "", .verb = "list", .group = "", .status = 403
	};
	world->facts.refusal_count = 1;
	(void)world_only(world, "doctor-right-missing");
	world->facts.refusal_count = 0;
	world->facts.daemonsets[0].pods_are_known = true;
	world->facts.daemonsets_left_out = 1;
	(void)world_only(world, "not-examined");
	world_free(world);
}

static void test_selectors_of_expressions(void **state)
{
	json_t *selector = parse(
		"{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"tier\","
		"\"operator\":"
		"\"In\",\"values\":[\"x\",\"y\"]},{\"key\":\"old\",\"operator\":\"DoesNotExist\"},"
		"{\"key\":\"new\",\"operator\":\"Exists\"},{\"key\":\"c\",\"operator\":\"NotIn\","
		"\"values\":[\"z\"]}]}");
	struct strbuf query = STRBUF_INIT;
	struct world *world = world_new();
	json_t *pod;

	label_selector_query(selector, &query);
	assert_string_equal(query.data, "a=b,tier in (x,y),!old,new,c notin (z)");
	strbuf_release(&query);
	world->facts.nodes[1].pod_count = 0;
	(void)json_object_set(json_object_get(world->facts.daemonsets[0].object, "spec"),
			      "selector", selector);
	pod = parse("{\"metadata\":{\"name\":\"p\",\"labels\":{\"a\":\"b\",\"tier\":\"x\",\"new\":"
		    "\"\"}},\"spec\":{\"nodeName\":\"node-1\"}}");
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, pod), 0);
	assert_int_equal(world->facts.nodes[1].pod_count, 1);
	(void)json_object_set_new(kube_at(pod, "metadata", "labels", KUBE_END), "old",
				  json_string("1"));
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, pod), 0);
	assert_int_equal(world->facts.nodes[1].pod_count, 1);
	json_decref(pod);
	json_decref(selector);
	world_free(world);
}

static void test_pod_belongs_to_its_controller(void **state)
{
	struct world *world = world_new();
	json_t *pod = parse("{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"kepler\"},"
			    "\"ownerReferences\":[{\"uid\":\"2\",\"controller\":true}]},\"spec\":{"
			    "\"nodeName\":\"node-1\"}}");

	(void)json_object_set_new(json_object_get(world->facts.daemonsets[0].object, "metadata"),
				  "uid", json_string("1"));
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, pod), 0);
	assert_int_equal(world->facts.nodes[1].pod_count, 1);
	json_decref(pod);
	world_free(world);
}

#define REQUIRED(terms)                                                                            \
	"{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"    \
	"\"nodeSelectorTerms\":[" terms "]}}}}"
#define LABEL_TERM(key, operator, values)                                                          \
	"{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\""                              \
	operator"\",\"values\":[" values "]}]}"

static void test_affinity(void **state)
{
	static const struct {
		const char *spec;
		bool is_wanted;
	} cases[] = {
		{ "{}", true },
		{ "{\"nodeSelector\":{\"zone\":\"a\"}}", true },
		{ "{\"nodeSelector\":{\"zone\":\"b\"}}", false },
		{ REQUIRED(LABEL_TERM("zone", "In", "\"b\",\"a\"")), true },
		{ REQUIRED(LABEL_TERM("zone", "In", "\"b\"")), false },
		{ REQUIRED(LABEL_TERM("zone", "NotIn", "\"a\"")), false },
		{ REQUIRED(LABEL_TERM("none", "NotIn", "\"a\"")), true },
		{ REQUIRED(LABEL_TERM("zone", "Exists", "")), true },
		{ REQUIRED(LABEL_TERM("none", "Exists", "")), false },
		{ REQUIRED(LABEL_TERM("zone", "DoesNotExist", "")), false },
		{ REQUIRED(LABEL_TERM("cores", "Gt", "\"7\"")), true },
		{ REQUIRED(LABEL_TERM("cores", "Gt", "\"8\"")), false },
		{ REQUIRED(LABEL_TERM("cores", "Lt", "\"9\"")), true },
		{ REQUIRED(LABEL_TERM("cores", "Lt", "\"8\"")), false },
		{ REQUIRED(LABEL_TERM("zone", "Gt", "\"1\"")), false },
		{ REQUIRED(LABEL_TERM("none", "Lt", "\"1\"")), false },
		/* Any term is enough; all of a term are needed; an empty one fits nothing. */
		{ REQUIRED(LABEL_TERM("zone", "In", "\"b\"") "," LABEL_TERM("zone", "Exists", "")),
		  true },
		{ REQUIRED("{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"},{"
			   "\"key\":\"none\",\"operator\":\"Exists\"}]}"),
		  false },
		{ REQUIRED("{}"), false },
		{ REQUIRED("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","
			   "\"values\":[\"n\"]}]}"),
		  true },
		{ REQUIRED("{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"NotIn\","
			   "\"values\":[\"n\"]}]}"),
		  false },
		{ "{\"affinity\":{\"nodeAffinity\":{"
		  "\"preferredDuringSchedulingIgnoredDuringExecution\":[]}}}",
		  true },
	};
	json_t *labels = parse("{\"zone\":\"a\",\"cores\":\"8\"}");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *spec = parse(cases[i].spec);

		if (node_is_wanted(spec, "n", labels) != cases[i].is_wanted)
			fail_msg("case %zu: %s", i, cases[i].spec);
		json_decref(spec);
	}
	json_decref(labels);
}

static void test_node_that_is_excluded_is_a_note(void **state)
{
	static const char *const specs[] = {
		"\"nodeSelector\":{\"kubernetes.io/os\":\"linux\",\"x\":\"y\"},",
		"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\""
		":{\"nodeSelectorTerms\":[" LABEL_TERM("x", "Exists", "") "]}}},",
	};
	struct world *world = world_new();
	const struct cluster_finding *found;

	world->facts.nodes[1].pod_count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		world_set_daemonset(world, specs[i], NULL);
		found = world_only(world, "node-excluded");
		assert_int_equal(found->level, FINDING_NOTE);
		assert_string_equal(found->nodes[0], "node-1");
	}
	assert_int_equal(cluster_findings_exit_status(&world->findings), 0);
	/* No DaemonSet can run on a node without a machine. */
	world_set_daemonset(world, "", NULL);
	world_set_taints(world, 1,
			 "[{\"key\":\"virtual-kubelet.io/provider\",\"effect\":\"NoSchedule\"}]");
	(void)world_only(world, "node-excluded");
	world_free(world);
}

/* ---- memory ---- */

static void expect_memory_command(const char *limit, const char *command)
{
	struct world *world = world_new();
	struct cluster_pod *pod = world_pod(world, 0);
	char container[256];

	(void)snprintf(container, sizeof(container), "\"resources\":{\"limits\":{%s}},", limit);
	world_set_daemonset(world, "", container);
	world->facts.right_count = 0;
	(void)snprintf(pod->last_end, sizeof(pod->last_end), "OOMKilled");
	pod->last_end_s = WORLD_NOW_S - 23 * 3600;
	assert_string_equal(world_only(world, "pod-out-of-memory")->command, command);
	world_free(world);
}

static void test_memory_limit_is_never_lowered(void **state)
{
	static const char set[] = "kubectl -n energy set resources daemonset kepler -c kepler "
				  "--limits=memory=";
	static const struct {
		const char *limit, *doubled;
	} cases[] = { { "256Mi", "512Mi" }, { "1Gi", "2048Mi" }, { "2G", "3815Mi" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char limit[64], command[256];

		(void)snprintf(limit, sizeof(limit), "\"memory\":\"%s\"", cases[i].limit);
		(void)snprintf(command, sizeof(command), "%s%s", set, cases[i].doubled);
		expect_memory_command(limit, command);
	}
	expect_memory_command("", "kubectl -n energy describe pod kepler-0");
}

static void test_memory_of_yesterday_is_over(void **state)
{
	struct world *world = world_new();
	struct cluster_pod *pod = world_pod(world, 0);

	(void)snprintf(pod->last_end, sizeof(pod->last_end), "OOMKilled");
	pod->last_end_s = WORLD_NOW_S - 25 * 3600;
	world_expect_healthy(world);
	pod->last_end_s = (double)NAN;
	world_expect_healthy(world);
	world_free(world);
}

/* ---- what is about to change ---- */

static struct cluster_pod *not_running(struct world *world, const char *reason, double created_s)
{
	struct cluster_pod *pod = world_pod(world, 0);

	pod->runs = pod->is_ready = false;
	pod->state = PAGE_NOT_ASKED;
	pod->created_s = created_s;
	(void)snprintf(pod->reason, sizeof(pod->reason), "%s", reason);
	return pod;
}

static void test_pods_that_start_or_end(void **state)
{
	struct world *world = world_new();
	struct cluster_pod *pod = not_running(world, "ContainerCreating", YOUNG_S);

	assert_int_equal(world_only(world, "pod-starting")->level, FINDING_NOTE);
	pod->created_s = OLD_S;
	(void)world_only(world, "pod-not-running");
	(void)not_running(world, "CrashLoopBackOff", YOUNG_S); /* is a fault */
	(void)world_only(world, "pod-not-running");
	pod->is_ending = true;
	assert_int_equal(world_only(world, "pod-ending")->level, FINDING_NOTE);
	pod->is_ending = false;
	pod->runs = true;
	pod->created_s = YOUNG_S;
	(void)world_only(world, "pod-starting");
	pod->created_s = OLD_S;
	(void)world_only(world, "pod-not-ready");
	world_free(world);
}

static void test_pods_are_read_with_their_end(void **state)
{
	struct world *world = world_new();
	json_t *pod = parse("{\"metadata\":{\"name\":\"p\",\"labels\":{\"app\":\"kepler\"},"
			    "\"creationTimestamp\":\"1970-01-12T13:45:40Z\",\"deletionTimestamp\":"
			    "\"1970-01-12T13:46:40Z\"},\"spec\":{\"nodeName\":\"node-1\"}}");

	world->facts.nodes[1].pod_count = 0;
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, pod), 0);
	assert_float_equal(world_pod(world, 1)->created_s, YOUNG_S, 1e-6);
	(void)world_only(world, "pod-ending"); /* and the node is not without a pod */
	(void)json_object_del(json_object_get(pod, "metadata"), "deletionTimestamp");
	(void)json_object_set_new(pod, "status",
				  parse("{\"phase\":\"Failed\",\"reason\":"
					"\"Evicted\"}"));
	world->facts.nodes[1].pod_count = 0;
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, pod), 0);
	assert_non_null(strstr(world_only(world, "pod-not-running")->what, "Evicted"));
	json_decref(pod);
	world_free(world);
}

static void test_new_nodes(void **state)
{
	struct world *world = world_new();
	struct cluster_node *node = &world->facts.nodes[0];

	node->settled_s = YOUNG_S;
	world_pod(world, 0)->is_ready = false;
	(void)world_only(world, "pod-starting");
	world_pod(world, 0)->state = PAGE_FAILED;
	world_pod(world, 0)->is_ready = true;
	assert_int_equal(world_only(world, "page-unreadable")->level, FINDING_NOTE);
	node->pod_count = 0;
	assert_int_equal(world_only(world, "node-new")->level, FINDING_NOTE);
	node->settled_s = OLD_S;
	(void)world_only(world, "node-without-pod");
	world_free(world);
}

static void test_node_is_new_after_its_start(void **state)
{
	struct world *world = world_new();
	json_t *node = parse("{\"metadata\":{\"name\":\"x\",\"creationTimestamp\":"
			     "\"1970-01-02T00:00:00Z\"},\"status\":{\"conditions\":[{\"type\":"
			     "\"Ready\",\"status\":\"True\",\"lastTransitionTime\":"
			     "\"1970-01-12T13:45:40Z\"}]}}");

	assert_int_equal(cluster_facts_take_node(&world->facts, node), 0);
	(void)world_only(world, "node-new");
	json_decref(node);
	world_free(world);
}

static void test_rollout_in_progress(void **state)
{
	struct world *world = world_new();
	struct cluster_daemonset *set = &world->facts.daemonsets[0];
	json_t *status = json_object_get(set->object, "status");

	(void)json_object_set_new(status, "updatedNumberScheduled", json_integer(2));
	(void)world_only(world, "daemonset-not-updated");
	set->changed_s = YOUNG_S;
	assert_int_equal(world_only(world, "rollout-in-progress")->level, FINDING_NOTE);
	set->changed_s = OLD_S;
	world_pod(world, 2)->created_s = YOUNG_S;
	(void)world_only(world, "rollout-in-progress");
	world_set_page(world, 2, "+kepler_build_info{version=\"0.0.9\"} 1\n");
	world_pod(world, 2)->created_s = OLD_S;
	set->changed_s = YOUNG_S;
	(void)json_object_set_new(status, "observedGeneration", json_integer(2));
	world_set_page(world, 2, "+");
	(void)world_only(world, "rollout-in-progress");
	set->changed_s = OLD_S;
	(void)world_only(world, "daemonset-not-observed");
	/* Each node has a pod of the newest template but one, which has none. */
	(void)json_object_set_new(status, "observedGeneration", json_integer(3));
	(void)json_object_set_new(status, "currentNumberScheduled", json_integer(2));
	world_expect_healthy(world);
	world_free(world);
}

static void test_versions_differ_in_a_rollout(void **state)
{
	struct world *world = world_new();
	struct cluster_daemonset *set = &world->facts.daemonsets[0];
	bool differ = false;

	(void)json_object_set_new(json_object_get(set->object, "status"), "updatedNumberScheduled",
				  json_integer(2));
	set->changed_s = YOUNG_S;
	world_set_page(world, 2, "+kepler_build_info{version=\"0.0.9\"} 1\n");
	cluster_judge(&world->facts, &world->findings);
	for (size_t i = 0; i < world->findings.count; i++) {
		assert_int_equal(world->findings.list[i].level, FINDING_NOTE);
		differ |= strcmp(world->findings.list[i].id, "versions-differ") == 0;
	}
	assert_true(differ);
	world_free(world);
}

static void test_surge_of_a_rollout_is_not_two_keplers(void **state)
{
	struct world *world = world_new();
	struct cluster_node *node = &world->facts.nodes[0];

	node->pods[1] = node->pods[0];
	node->pod_count = 2;
	(void)world_only(world, "node-measured-twice");
	node->pods[1].is_ending = true;
	(void)world_only(world, "pod-ending");
	node->pods[1].is_ending = false;
	node->pods[1].has_ended = true;
	world_expect_healthy(world);
	world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_monitor_of_others_is_not_counted),
		cmocka_unit_test(test_monitor_of_all_counts_where_it_scrapes),
		cmocka_unit_test(test_relabelings_make_it_uncertain),
		cmocka_unit_test(test_monitor_that_discards_series_scrapes_no_second_time),
		cmocka_unit_test(test_port_of_a_sidecar_is_a_port),
		cmocka_unit_test(test_service_monitor_follows_ports),
		cmocka_unit_test(test_other_ways_need_no_monitor),
		cmocka_unit_test(test_services_that_are_not_known),
		cmocka_unit_test(test_nothing_is_absent_from_a_cut_list),
		cmocka_unit_test(test_agents_that_were_refused_may_scrape),
		cmocka_unit_test(test_absent_pods_need_a_list),
		cmocka_unit_test(test_selectors_of_expressions),
		cmocka_unit_test(test_pod_belongs_to_its_controller),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_node_that_is_excluded_is_a_note),
		cmocka_unit_test(test_memory_limit_is_never_lowered),
		cmocka_unit_test(test_memory_of_yesterday_is_over),
		cmocka_unit_test(test_pods_that_start_or_end),
		cmocka_unit_test(test_pods_are_read_with_their_end),
		cmocka_unit_test(test_new_nodes),
		cmocka_unit_test(test_node_is_new_after_its_start),
		cmocka_unit_test(test_rollout_in_progress),
		cmocka_unit_test(test_versions_differ_in_a_rollout),
		cmocka_unit_test(test_surge_of_a_rollout_is_not_two_keplers),
	};

	return unit_run(tests);
}
