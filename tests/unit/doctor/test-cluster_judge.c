// SPDX-License-Identifier: Apache-2.0
/* A healthy cluster has no finding; each fault has its own one and no other. */
#include "doctor/cluster/cluster_judge.h"

#include "doctor/cluster/cluster_report.h"
#include "doctor/cluster/judge_pages.h"
#include "tests/unit/doctor/cluster_world.h"
#include "tests/unit/unit.h"

static void test_none_is_invented(void **state)
{
	struct world *world = world_new();

	world_expect_healthy(world);
	assert_int_equal(cluster_findings_exit_status(&world->findings), 0);
	/* Without the operator nothing is known of scrapes. */
	world->facts.has_operator = false;
	world_set_list(&world->facts.pod_monitors.items, NULL);
	world_expect_healthy(world);
	world_free(world);
}

/* ---- pods ---- */

static void test_taint_keeps_pods_off_nodes(void **state)
{
	static const char taint[] = "[{\"key\":\"gpu\",\"value\":\"a\",\"effect\":\"NoSchedule\"}]";
	struct world *world = world_new();
	const struct cluster_finding *found;

	world_set_taints(world, 0, taint);
	world_set_taints(world, 2, taint);
	found = world_only(world, "node-without-pod");
	assert_int_equal(found->level, FINDING_FIX);
	assert_string_equal(found->object, "DaemonSet energy/kepler");
	assert_string_equal(found->what,
			    "no pod on a node: the taint gpu=a:NoSchedule is not tolerated");
	assert_int_equal(found->node_count, 2);
	assert_string_equal(found->nodes[1], "node-2");
	assert_non_null(strstr(found->command, "kubectl -n energy patch daemonset kepler"));
	assert_int_equal(cluster_findings_exit_status(&world->findings), 1);
	world_free(world);
}

static void expect_absence(const char *taint, const char *tolerations, const char *words)
{
	struct world *world = world_new();

	world_set_daemonset(world, tolerations, NULL);
	world_set_taints(world, 0, taint);
	assert_non_null(strstr(world_only(world, "node-without-pod")->what, words));
	world_free(world);
}

static void test_tolerations_are_understood(void **state)
{
	expect_absence("[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]",
		       "\"tolerations\":[{\"key\":\"b\",\"operator\":\"Exists\"}],",
		       "the taint a:");
	expect_absence("[{\"key\":\"a\",\"value\":\"1\",\"effect\":\"NoExecute\"}]",
		       "\"tolerations\":[{\"key\":\"a\",\"value\":\"2\"}],", "the taint a=1:");
	expect_absence("[{\"key\":\"a\",\"effect\":\"NoExecute\"}]",
		       "\"tolerations\":[{\"key\":\"a\",\"operator\":\"Exists\",\"effect\":"
		       "\"NoSchedule\"}],",
		       "the taint a:NoExecute");
	/* These keep no pod off, so that the reason is another one. */
	expect_absence("[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]",
		       "\"tolerations\":[{\"operator\":\"Exists\"}],", "although it may run");
	expect_absence("[{\"key\":\"a\",\"value\":\"1\",\"effect\":\"NoSchedule\"}]",
		       "\"tolerations\":[{\"key\":\"a\",\"value\":\"1\"}],", "although it may run");
	expect_absence("[{\"key\":\"a\",\"effect\":\"PreferNoSchedule\"}]", "",
		       "although it may run");
	expect_absence("[{\"key\":\"node.kubernetes.io/unschedulable\",\"effect\":\"NoSchedule\"}]",
		       "", "although it may run");
}

static void test_windows_needs_no_kepler(void **state)
{
	struct world *world = world_new();

	world->facts.nodes[1].is_linux = false;
	world->facts.nodes[1].pod_count = 0;
	world_expect_healthy(world);
	world_free(world);
}

static void test_node_that_is_not_ready_is_a_note(void **state)
{
	struct world *world = world_new();

	world->facts.nodes[1].is_ready = false;
	world->facts.nodes[1].pods[0].is_ready = false;
	assert_int_equal(world_only(world, "node-not-ready")->level, FINDING_NOTE);
	world_free(world);
}

static void expect_reason(const char *status, const char *reason, const char *words,
			  const char *command)
{
	struct world *world = world_new();
	const struct cluster_finding *found;
	char text[1024];
	json_t *pod;

	(void)snprintf(text, sizeof(text),
		       "{\"metadata\":{\"name\":\"kepler-x\",\"labels\":{\"app\":\"kepler\"}},"
		       "\"spec\":{\"affinity\":{"
		       "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
		       "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
		       "\"operator\":\"In\",\"values\":[\"node-1\"]}]}]}}}},\"status\":%s}",
		       status);
	pod = json_loads(text, 0, NULL);
	assert_non_null(pod);
	world->facts.nodes[1].pod_count = 0;
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, pod), 0);
	assert_string_equal(world_pod(world, 1)->reason, reason);
	found = world_only(world, "pod-not-running");
	assert_non_null(strstr(found->what, words));
	assert_string_equal(found->command, command);
	assert_string_equal(found->nodes[0], "node-1");
	json_decref(pod);
	world_free(world);
}

static void test_reason_why_a_pod_does_not_run(void **state)
{
	expect_reason("{\"containerStatuses\":[{\"name\":\"kepler\",\"restartCount\":7,\"state\":{"
		      "\"waiting\":{\"reason\":\"CrashLoopBackOff\"}}}]}",
		      "CrashLoopBackOff", "again and again",
		      "kubectl -n energy logs --previous kepler-x");
	expect_reason("{\"containerStatuses\":[{\"name\":\"kepler\",\"state\":{\"waiting\":{"
		      "\"reason\":\"ImagePullBackOff\",\"message\":\"no such image\"}}}]}",
		      "ImagePullBackOff", "cannot be pulled",
		      "kubectl -n energy describe pod kepler-x");
	expect_reason(
		"{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
		"\"False\",\"reason\":\"Unschedulable\",\"message\":\"Insufficient cpu\"}]}",
		"Unschedulable", "cannot be scheduled", "kubectl -n energy describe pod kepler-x");
	expect_reason("{\"phase\":\"Pending\"}", "Pending", "waiting",
		      "kubectl -n energy describe pod kepler-x");
}

static void test_running_pods_can_be_ill(void **state)
{
	struct world *world = world_new();

	world_pod(world, 0)->is_ready = false;
	(void)world_only(world, "pod-not-ready");
	world_pod(world, 0)->is_ready = true;
	(void)snprintf(world_pod(world, 0)->last_end, sizeof(world_pod(world, 0)->last_end),
		       "OOMKilled");
	world_pod(world, 0)->last_end_s = WORLD_NOW_S - 3600;
	(void)world_only(world, "pod-out-of-memory");
	world_free(world);
}

static void test_daemonset_that_is_not_rolled_out(void **state)
{
	struct world *world = world_new();
	json_t *status = json_object_get(world->facts.daemonsets[0].object, "status");

	(void)json_object_set_new(status, "updatedNumberScheduled", json_integer(1));
	assert_string_equal(world_only(world, "daemonset-not-updated")->what,
			    "1 of 3 pods have its newest template");
	(void)json_object_set_new(status, "observedGeneration", json_integer(2));
	(void)world_only(world, "daemonset-not-observed");
	world->facts.daemonset_count = 0;
	for (size_t i = 0; i < WORLD_NODES; i++)
		world->facts.nodes[i].pod_count = 0;
	world->facts.right_count = 0;
	assert_int_equal(world_only(world, "kepler-not-installed")->level, FINDING_FAIL);
	world->facts.daemonset_count = 1;
	world_free(world);
}

/* ---- rights ---- */

static void test_right_that_is_missing(void **state)
{
	struct world *world = world_new();

	world->facts.rights[1].is_allowed = false;
	assert_string_equal(world_only(world, "right-missing")->command,
			    "kubectl auth can-i watch pods --all-namespaces "
			    "--as=system:serviceaccount:energy:kepler");
	/* An unknown right is not a missing one. */
	world->facts.rights[1].is_known = false;
	world_expect_healthy(world);
	world_free(world);
}

static void test_names_from_the_kubelet(void **state)
{
	struct world *world = world_new();
	struct cluster_right *gets_pods = &world->facts.rights[2];
	const struct cluster_finding *found;

	world_set_daemonset(world, "", "\"args\":[\"run\",\"--kube.pods=kubelet\"],");
	found = world_only(world, "right-missing");
	assert_non_null(strstr(found->what, "may not get nodes/pods"));
	gets_pods->is_allowed = true;
	world_expect_healthy(world);
	(void)snprintf(world->facts.nodes[1].kubelet, sizeof(world->facts.nodes[1].kubelet),
		       "v1.32.9");
	found = world_only(world, "kubelet-too-old");
	assert_int_equal(found->node_count, 1);
	assert_string_equal(found->nodes[0], "node-1");
	world->facts.rights[3].is_allowed = true; /* nodes/proxy, which old kubelets know */
	world_expect_healthy(world);
	world_free(world);
}

static void test_either_source_is_enough_for_auto(void **state)
{
	struct world *world = world_new();

	world_set_daemonset(world, "", "");
	world->facts.rights[0].is_allowed = world->facts.rights[1].is_allowed = false;
	world->facts.rights[2].is_allowed = true;
	world_expect_healthy(world);
	world_free(world);
}

static void test_own_rights_of_the_doctor(void **state)
{
	struct world *world = world_new();
	struct cluster_refusal *refusal = &world->facts.refusals[0];
	const struct cluster_finding *found;

	*refusal = (struct cluster_refusal){ .resource = "pods",
					     .subresource = "proxy",
					     .verb = "get",
					     .group = "",
					     .ns = "energy",
					     .status = 403,
					     .message = "forbidden\nby \033[2Jrule" };
	world->facts.refusal_count = 1;
	found = world_only(world, "doctor-right-missing");
	assert_int_equal(found->level, FINDING_FIX);
	assert_string_equal(found->command, "kubectl auth can-i get pods --subresource=proxy -n "
					    "energy");
	assert_null(strchr(found->why, '\033'));
	assert_null(strchr(found->why, '\n'));
	refusal->resource = "leases";
	refusal->subresource = "";
	refusal->group = "coordination.k8s.io";
	assert_int_equal(world_only(world, "doctor-right-missing")->level, FINDING_NOTE);
	refusal->status = 500;
	(void)world_only(world, "doctor-request-failed");
	refusal->resource = "nodes";
	assert_int_equal(world_only(world, "doctor-request-failed")->level, FINDING_FAIL);
	world->facts.refusal_count = 0;
	world->facts.pages_too_late = 9;
	assert_non_null(strstr(world_only(world, "not-examined")->what, "9 pages"));
	world_free(world);
}

/* ---- pages ---- */

static void test_meters_and_estimates(void **state)
{
	struct world *world = world_new();
	const struct cluster_finding *found;

	world_set_page(world, 0,
		       "kepler_build_info{version=\"0.1.0\"} 1\n"
		       "kepler_exporter_interval_seconds 5\n"
		       "kepler_zone_info{zone=\"platform\",source=\"regression\","
		       "quality=\"estimated\"} 1\n");
	found = world_only(world, "node-estimates");
	assert_int_equal(found->level, FINDING_NOTE);
	assert_string_equal(found->command, "kubectl -n energy exec kepler-0 -- kepler doctor");
	world_set_page(world, 0,
		       "kepler_build_info{version=\"0.1.0\"} 1\n"
		       "kepler_exporter_interval_seconds 5\n");
	assert_int_equal(world_only(world, "node-without-power")->level, FINDING_FIX);
	world_set_page(world, 0,
		       "+kepler_exporter_source_up{zone=\"package\",package=\"1\","
		       "source=\"rapl-sysfs\"} 0\n");
	assert_string_equal(world_only(world, "meter-down")->what,
			    "meter rapl-sysfs of zone package does not answer");
	world_free(world);
}

static void test_versions_and_schemas(void **state)
{
	struct world *world = world_new();
	const struct cluster_finding *found;

	world_set_page(world, 2, "+kepler_build_info{version=\"0.0.9\"} 1\n");
	found = world_only(world, "versions-differ");
	assert_string_equal(found->what, "a node runs version 0.0.9, another node 0.1.0");
	assert_int_equal(found->node_count, 1);
	world_set_page(world, 2, "+kepler_exporter_build_info{version=\"0.1.0\"} 1\n");
	found = world_only(world, "schemas-differ");
	assert_int_equal(found->node_count, 2); /* those that lack the classic names */
	world_set_page(world, 2, "+");
	(void)snprintf(world->facts.own_version, sizeof(world->facts.own_version), "0.2.0");
	found = world_only(world, "version-old");
	assert_int_equal(found->level, FINDING_NOTE);
	assert_int_equal(found->node_count, 3);
	world_free(world);
}

static void test_order_of_versions(void **state)
{
	assert_int_equal(version_order("0.9.1", "0.10.0"), -1);
	assert_int_equal(version_order("v1.33.0", "v1.9.9"), 1);
	assert_int_equal(version_order("1.2", "1.2"), 0);
	assert_int_equal(version_order("main", "1.2"), 0);
}

static void test_pages_of_others(void **state)
{
	struct world *world = world_new();

	world_set_page(world, 1, "kepler_build_info{version=\"v0.11.0\"} 1\n");
	world_set_page(world, 0, "kepler_build_info{version=\"v0.11.0\"} 1\n");
	world_set_page(world, 2, "kepler_build_info{version=\"v0.11.0\"} 1\n");
	assert_int_equal(world_only(world, "other-kepler")->node_count, 3);
	for (size_t i = 0; i < WORLD_NODES; i++)
		world_set_page(world, i, "up 1\n");
	(void)world_only(world, "page-of-another-program");
	world_free(world);
}

static void test_page_that_cannot_be_read(void **state)
{
	struct world *world = world_new();
	struct cluster_pod *pod = world_pod(world, 0);

	pod->state = PAGE_FAILED;
	pod->status = 503;
	(void)snprintf(pod->error, sizeof(pod->error), "HTTP 503: no route to host");
	assert_string_equal(world_only(world, "page-unreadable")->command,
			    "kubectl get --raw "
			    "/api/v1/namespaces/energy/pods/kepler-0:28282/proxy/metrics");
	pod->status = 401;
	assert_int_equal(world_only(world, "page-unreadable")->level, FINDING_NOTE);
	world_free(world);
}

static void test_limits_names_and_pace(void **state)
{
	static const struct {
		const char *line, *id;
	} faults[] = {
		{ "+kepler_exporter_series_merged_total{level=\"pod\"} 4\n",
		  "series-limit-reached" },
		{ "+kepler_exporter_own_pid_namespace 1\n", "host-pid-missing" },
		{ "+kepler_exporter_name_source_up{source=\"kubernetes\"} 0\n", "names-missing" },
		{ "+kepler_exporter_snapshot_timestamp_seconds 900\n", "exporter-stalled" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		struct world *world = world_new();

		world_set_page(world, 1, faults[i].line);
		(void)world_only(world, faults[i].id);
		world_free(world);
	}
}

static void test_clocks(void **state)
{
	struct world *world = world_new();

	world_pod(world, 1)->clock = (struct clock_offset){ true, 7.0, 8.2 };
	assert_non_null(strstr(world_only(world, "clock-skew")->why, "at least 6.5 s"));
	world_pod(world, 1)->clock = (struct clock_offset){ true, -8.2, -7.0 };
	assert_non_null(strstr(world_only(world, "clock-skew")->what, "behind"));
	/* An answer that took long shows less, and is not held against a node. */
	world_pod(world, 1)->clock = (struct clock_offset){ true, -8.2, -0.1 };
	world_expect_healthy(world);
	/* A lease of the future; one of the past may only be late. */
	world->facts.nodes[2].lease_age_s = -30;
	(void)world_only(world, "clock-skew");
	world->facts.nodes[2].lease_age_s = 30;
	world_expect_healthy(world);
	/* All clocks but this machine's agree. */
	world->facts.clock = (struct clock_offset){ true, 99.0, 100.5 };
	for (size_t i = 0; i < WORLD_NODES; i++)
		world_pod(world, i)->clock = world->facts.clock;
	assert_int_equal(world_only(world, "own-clock-skew")->level, FINDING_NOTE);
	world_free(world);
}

static void test_two_keplers_on_a_node(void **state)
{
	struct world *world = world_new();
	struct cluster_node *node = &world->facts.nodes[0];

	assert_int_equal(node->pod_count, 1); /* there is room for four */
	node->pods[1] = node->pods[0];
	node->pod_count = 2;
	(void)world_only(world, "node-measured-twice");
	world_free(world);
}

/* ---- scrapes ---- */

#define PROMETHEUS(spec)                                                                           \
	"[{\"metadata\":{\"name\":\"main\",\"namespace\":\"monitoring\"},\"spec\":{" spec "}}]"

static void test_monitor_that_no_prometheus_selects(void **state)
{
	struct world *world = world_new();
	const struct cluster_finding *found;

	world_set_list(&world->facts.prometheuses.items,
		       PROMETHEUS("\"podMonitorSelector\":{\"matchLabels\":{\"team\":\"sre\"}},"
				  "\"podMonitorNamespaceSelector\":{}"));
	found = world_only(world, "monitor-not-selected");
	assert_string_equal(found->object, "PodMonitor energy/kepler");
	assert_string_equal(found->command,
			    "kubectl -n energy label podmonitor kepler --overwrite team=sre");
	/* A selector that is missing selects nothing; an empty one everything. */
	world_set_list(&world->facts.prometheuses.items,
		       PROMETHEUS("\"podMonitorNamespaceSelector\":{}"));
	(void)world_only(world, "monitor-not-selected");
	world_set_list(&world->facts.prometheuses.items,
		       PROMETHEUS("\"podMonitorSelector\":{},\"podMonitorNamespaceSelector\":{}"));
	world_expect_healthy(world);
	/* Namespaces: without a selector its own only. */
	world_set_list(&world->facts.prometheuses.items, PROMETHEUS("\"podMonitorSelector\":{}"));
	assert_non_null(strstr(world_only(world, "monitor-not-selected")->why, "its namespace"));
	world_set_list(&world->facts.prometheuses.items,
		       PROMETHEUS("\"podMonitorSelector\":{},\"podMonitorNamespaceSelector\":{"
				  "\"matchExpressions\":[{\"key\":\"watched\",\"operator\":\"In\","
				  "\"values\":[\"yes\"]}]}"));
	world_expect_healthy(world);
	/* An object's text does not reach a shell. */
	world_set_list(&world->facts.prometheuses.items,
		       PROMETHEUS("\"podMonitorSelector\":{\"matchLabels\":{\"x\":\"$(id)\"}},"
				  "\"podMonitorNamespaceSelector\":{}"));
	assert_null(strstr(world_only(world, "monitor-not-selected")->command, "$("));
	world_free(world);
}

static void test_agents_scrape_as_well(void **state)
{
	struct world *world = world_new();

	world_set_list(&world->facts.prometheuses.items, "[]");
	world_set_list(&world->facts.agents.items,
		       PROMETHEUS("\"podMonitorSelector\":{},\"podMonitorNamespaceSelector\":{}"));
	world_expect_healthy(world);
	world_set_list(&world->facts.agents.items, "[]");
	(void)world_only(world, "prometheus-missing");
	world_free(world);
}

static void test_monitor_that_is_missing(void **state)
{
	struct world *world = world_new();

	world_set_list(&world->facts.pod_monitors.items, "[]");
	(void)world_only(world, "monitor-missing");
	/* A ServiceMonitor is as good. */
	world_set_list(&world->facts.services.items,
		       "[{\"metadata\":{\"name\":\"kepler\",\"namespace\":\"energy\",\"labels\":{"
		       "\"app\":\"k\"}},\"spec\":{\"selector\":{\"app\":\"kepler\"},\"ports\":[{"
		       "\"name\":\"http\",\"port\":80,\"targetPort\":\"metrics\"}]}}]");
	world_set_list(
		&world->facts.service_monitors.items,
		"[{\"metadata\":{\"name\":\"k\",\"namespace\":\"x\"},\"spec\":{\"selector\":{"
		"\"matchLabels\":{\"app\":\"k\"}},\"namespaceSelector\":{\"matchNames\":["
		"\"energy\"]},\"endpoints\":[{\"port\":\"http\"}]}}]");
	world_set_list(
		&world->facts.prometheuses.items,
		PROMETHEUS("\"serviceMonitorSelector\":{},\"serviceMonitorNamespaceSelector\":"
			   "{\"matchLabels\":{}}"));
	world_expect_healthy(world);
	world_free(world);
}

#define MONITOR(more, endpoint)                                                                    \
	"[{\"metadata\":{\"name\":\"kepler\",\"namespace\":\"energy\",\"labels\":{\"release\":"    \
	"\"prom\"}},\"spec\":{" more "\"selector\":{\"matchLabels\":{\"app\":\"kepler\"}},"        \
	"\"podMetricsEndpoints\":[" endpoint "]}}]"

static void test_endpoint_interval_and_limits(void **state)
{
	struct world *world = world_new();

	world_set_list(&world->facts.pod_monitors.items,
		       MONITOR("", "{\"port\":\"metrics\",\"interval\":\"2s\"}"));
	assert_int_equal(world_only(world, "scrape-too-fast")->level, FINDING_NOTE);
	world_set_list(&world->facts.pod_monitors.items,
		       MONITOR("", "{\"port\":\"metrics\",\"interval\":\"2m\"}"));
	world_expect_healthy(world); /* metrics.settle=auto follows it */
	world_set_daemonset(world, "", "\"args\":[\"--metrics.settle=60s\"],");
	(void)world_only(world, "settle-too-short");
	world_set_daemonset(world, "", NULL);
	world_set_list(&world->facts.pod_monitors.items,
		       MONITOR("", "{\"port\":\"metrics\",\"interval\":\"3m\"}"));
	assert_string_equal(
		world_only(world, "settle-too-short")->command,
		"kubectl -n energy set env daemonset kepler KEPLER_METRICS_SETTLE=185s");
	world_set_list(&world->facts.pod_monitors.items,
		       MONITOR("", "{\"port\":\"http-metrics\"}"));
	(void)world_only(world, "monitor-port-missing");
	world_set_list(&world->facts.pod_monitors.items,
		       MONITOR("\"sampleLimit\":5,", "{\"port\":\"metrics\"}"));
	(void)world_only(world, "sample-limit-exceeded");
	world_set_list(&world->facts.pod_monitors.items,
		       MONITOR("\"sampleLimit\":5000,", "{\"port\":\"metrics\"}"));
	world_expect_healthy(world);
	world_free(world);
}

/* Tenants choose names in monitors, and exporters what is on their pages. */
static void test_texts_cannot_command_a_terminal(void **state)
{
	struct cluster_findings *findings = calloc(1, sizeof(*findings));
	const struct cluster_finding draft = { .level = FINDING_FIX,
					       .id = "x",
					       .object = "PodMonitor a\033]0;b",
					       .what = "port \033[2J",
					       .why = "\033[1m",
					       .command = "kubectl \033[A" };

	assert_non_null(findings);
	cluster_findings_add(findings, &draft, NULL);
	cluster_findings_add(findings, &draft, NULL); /* is the same one */
	assert_int_equal(findings->count, 1);
	assert_null(strchr(findings->list[0].object, '\033'));
	assert_null(strchr(findings->list[0].what, '\033'));
	assert_null(strchr(findings->list[0].why, '\033'));
	assert_null(strchr(findings->list[0].command, '\033'));
	free(findings);
}

static void test_scraped_twice(void **state)
{
	struct world *world = world_new();
	json_t *more = json_deep_copy(json_array_get(world->facts.pod_monitors.items, 0));

	(void)json_object_set_new(json_object_get(more, "metadata"), "name", json_string("again"));
	(void)json_array_append_new(world->facts.pod_monitors.items, more);
	assert_string_equal(world_only(world, "scraped-twice")->object, "PodMonitor energy/again");
	world_free(world);
}

/* ---- report ---- */

static void test_report_groups_nodes(void **state)
{
	const struct findings_view view = { .width = 0 };
	struct world *world = world_new();
	struct strbuf out = STRBUF_INIT;
	json_t *root;

	world_pod(world, 0)->is_ready = false;
	(void)world_only(world, "pod-not-ready");
	cluster_report_text(&world->facts, &world->findings, &view, &out);
	assert_string_equal(
		out.data,
		"Kubernetes v1.36.3 at https://api: 3 nodes, 3 with a page of Kepler, 3 measured, "
		"0 "
		"estimated, 36 series.\n"
		"FIX   DaemonSet energy/kepler: a pod runs and is not ready. On 1 node: node-0. "
		"Why: "
		"/readyz fails: a scrape through the Service leaves the node out.\n"
		"      → kubectl -n energy logs kepler-0\n"
		"nodes\n"
		"  3 nodes: measured: package (rapl-sysfs); version 0.1.0, names current, kubelet "
		"v1.36.3, 12 to 12 series a page\n"
		"      node-0, node-1, node-2\n");
	strbuf_reset(&out);
	cluster_report_json(&world->facts, &world->findings, &out);
	root = json_loads(out.data, 0, NULL);
	assert_true(json_is_false(json_object_get(root, "healthy")));
	assert_string_equal(
		kube_text(json_array_get(json_object_get(root, "findings"), 0), "id", KUBE_END),
		"pod-not-ready");
	assert_int_equal(json_array_size(json_object_get(root, "nodes")), 3);
	json_decref(root);
	strbuf_release(&out);
	world_free(world);
}

static void test_findings_are_bounded(void **state)
{
	CLEANUP_FREE struct cluster_findings *findings = calloc(1, sizeof(*findings));
	struct cluster_finding draft = { .level = FINDING_NOTE, .id = "x", .object = "cluster" };

	for (size_t i = 0; i < CLUSTER_FINDINGS_MAX + 5; i++) {
		(void)snprintf(draft.what, sizeof(draft.what), "fault %zu", i);
		cluster_findings_add(findings, &draft, "node");
	}
	assert_int_equal(findings->count, CLUSTER_FINDINGS_MAX);
	assert_int_equal(findings->left_out, 5);
	(void)snprintf(draft.what, sizeof(draft.what), "fault 0");
	for (size_t i = 0; i < 99; i++)
		cluster_findings_add(findings, &draft, "node");
	assert_int_equal(findings->list[0].node_count, 100);
}

static void test_times(void **state)
{
	assert_float_equal(kube_time_s("1970-01-02T00:00:01.250000Z"), 86401.25, 1e-6);
	assert_float_equal(kube_time_s("1970-01-02T00:00:01Z"), 86401, 1e-6);
	assert_true(isnan(kube_time_s("")));
	assert_true(isnan(kube_time_s("1970-01-02T00:00:01+02:00")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_is_invented),
		cmocka_unit_test(test_taint_keeps_pods_off_nodes),
		cmocka_unit_test(test_tolerations_are_understood),
		cmocka_unit_test(test_windows_needs_no_kepler),
		cmocka_unit_test(test_node_that_is_not_ready_is_a_note),
		cmocka_unit_test(test_reason_why_a_pod_does_not_run),
		cmocka_unit_test(test_running_pods_can_be_ill),
		cmocka_unit_test(test_daemonset_that_is_not_rolled_out),
		cmocka_unit_test(test_right_that_is_missing),
		cmocka_unit_test(test_names_from_the_kubelet),
		cmocka_unit_test(test_either_source_is_enough_for_auto),
		cmocka_unit_test(test_own_rights_of_the_doctor),
		cmocka_unit_test(test_meters_and_estimates),
		cmocka_unit_test(test_versions_and_schemas),
		cmocka_unit_test(test_order_of_versions),
		cmocka_unit_test(test_pages_of_others),
		cmocka_unit_test(test_page_that_cannot_be_read),
		cmocka_unit_test(test_limits_names_and_pace),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_two_keplers_on_a_node),
		cmocka_unit_test(test_monitor_that_no_prometheus_selects),
		cmocka_unit_test(test_agents_scrape_as_well),
		cmocka_unit_test(test_monitor_that_is_missing),
		cmocka_unit_test(test_endpoint_interval_and_limits),
		cmocka_unit_test(test_scraped_twice),
		cmocka_unit_test(test_texts_cannot_command_a_terminal),
		cmocka_unit_test(test_report_groups_nodes),
		cmocka_unit_test(test_findings_are_bounded),
		cmocka_unit_test(test_times),
	};

	return unit_run(tests);
}
