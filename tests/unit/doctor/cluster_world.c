// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/doctor/cluster_world.h"

#include "doctor/cluster/cluster_judge.h"
#include "tests/unit/unit.h"

#define PAGE                                                                                       \
	"# HELP kepler_build_info The running build of Kepler.\n"                                  \
	"kepler_build_info{version=\"0.1.0\"} 1\n"                                                 \
	"kepler_node_cpu_joules_total{zone=\"package\",node_name=\"a\"} 12.5\n"                    \
	"kepler_zone_info{zone=\"package\",package=\"0\",source=\"rapl-sysfs\","                   \
	"quality=\"measured\"} 1\n"                                                                \
	"kepler_zone_info{zone=\"package\",package=\"1\",source=\"rapl-sysfs\","                   \
	"quality=\"measured\"} 1\n"                                                                \
	"kepler_exporter_source_up{zone=\"package\",package=\"0\",source=\"rapl-sysfs\"} 1\n"      \
	"kepler_exporter_interval_seconds 5\n"                                                     \
	"kepler_exporter_settle_seconds 60\n"                                                      \
	"kepler_exporter_snapshot_timestamp_seconds 1000\n"                                        \
	"kepler_exporter_series_limit 20000\n"                                                     \
	"kepler_exporter_series_merged_total{level=\"process\"} 0\n"                               \
	"kepler_exporter_own_pid_namespace 0\n"                                                    \
	"kepler_exporter_name_source_up{source=\"kubernetes\",via=\"apiserver\"} 1\n"

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *object = json_loads(text, 0, &error);

	if (!object)
		fail_msg("%s: %s", error.text, text);
	return object;
}

void world_set_list(json_t **list, const char *text)
{
	json_decref(*list);
	*list = text ? parse(text) : NULL;
}

static json_t *daemonset(const char *pod_spec, const char *container_more)
{
	char text[4096];

	(void)snprintf(
		text, sizeof(text),
		"{\"metadata\":{\"name\":\"kepler\",\"namespace\":\"energy\",\"generation\":3},"
		"\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"kepler\"}},\"template\":{"
		"\"metadata\":{\"labels\":{\"app\":\"kepler\"}},\"spec\":{\"serviceAccountName\":"
		"\"kepler\",%s\"containers\":[{\"name\":\"kepler\",%s\"ports\":[{\"name\":"
		"\"metrics\",\"containerPort\":28282}]}]}}},\"status\":{\"observedGeneration\":3,"
		"\"desiredNumberScheduled\":3,\"updatedNumberScheduled\":3}}",
		pod_spec, container_more);
	return parse(text);
}

#define AS_API_SERVER "\"env\":[{\"name\":\"KEPLER_KUBE_PODS\",\"value\":\"apiserver\"}],"

void world_set_daemonset(struct world *world, const char *pod_spec, const char *container_more)
{
	json_t *object = daemonset(pod_spec, container_more ? container_more : AS_API_SERVER);

	if (world->facts.daemonset_count)
		json_decref(world->facts.daemonsets[0].object);
	world->facts.daemonset_count = 0;
	assert_int_equal(cluster_facts_take_daemonset(&world->facts, object), 0);
	assert_int_equal(world->facts.daemonset_count, 1);
	world->facts.daemonsets[0].pods_are_known = true;
	world->facts.daemonsets[0].services_are_known = true;
	json_decref(object);
}

static void add_node(struct world *world, size_t index)
{
	char text[1024];
	json_t *object;

	(void)snprintf(text, sizeof(text),
		       "{\"metadata\":{\"name\":\"node-%zu\",\"labels\":{\"kubernetes.io/os\":"
		       "\"linux\"}},\"spec\":{},\"status\":{\"nodeInfo\":{\"kubeletVersion\":"
		       "\"v1.36.3\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
		       index);
	object = parse(text);
	assert_int_equal(cluster_facts_take_node(&world->facts, object), 0);
	json_decref(object);
	(void)snprintf(
		text, sizeof(text),
		"{\"metadata\":{\"name\":\"kepler-%zu\",\"labels\":{\"app\":\"kepler\"}},\"spec\":{"
		"\"nodeName\":\"node-%zu\"},"
		"\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":"
		"\"kepler\",\"ready\":true,\"restartCount\":0,\"state\":{\"running\":{}}}]}}",
		index, index);
	object = parse(text);
	assert_int_equal(cluster_facts_take_pod(&world->facts, 0, object), 0);
	json_decref(object);
	world_set_page(world, index, PAGE);
}

void world_set_page(struct world *world, size_t node, const char *page)
{
	struct cluster_pod *pod = world_pod(world, node);
	struct diag diag = { "" };
	char text[8192];

	/* A replacement's lines come last, so that their values are the ones that count. */
	(void)snprintf(text, sizeof(text), "%s%s",
		       strcmp(page, PAGE) != 0 && *page == '+' ? PAGE : "", page + (*page == '+'));
	if (exporter_page_read(text, strlen(text), &pod->page, &diag) < 0)
		fail_msg("%s", diag.text);
	pod->state = PAGE_READ;
	pod->status = 200;
	pod->clock = (struct clock_offset){ true, -0.5, 0.7 };
	pod->page_date_s = 1003;
}

static void set_rights(struct world *world)
{
	static const struct cluster_right rights[] = {
		{ 0, "list", "pods", "", true, true },
		{ 0, "watch", "pods", "", true, true },
		{ 0, "get", "nodes", "pods", true, false },
		{ 0, "get", "nodes", "proxy", true, false },
	};

	memcpy(world->facts.rights, rights, sizeof(rights));
	world->facts.right_count = ARRAY_SIZE(rights);
}

struct world *world_new(void)
{
	struct world *world = calloc(1, sizeof(*world));
	struct cluster_facts *facts = &world->facts;

	(void)snprintf(facts->own_version, sizeof(facts->own_version), "0.1.0");
	(void)snprintf(facts->version, sizeof(facts->version), "v1.36.3");
	(void)snprintf(facts->server, sizeof(facts->server), "https://api");
	facts->clock = (struct clock_offset){ true, -0.5, 0.5 };
	facts->has_operator = facts->daemonsets_are_known = true;
	facts->now_s = WORLD_NOW_S;
	facts->pod_monitors.is_whole = facts->service_monitors.is_whole = true;
	facts->prometheuses.is_whole = facts->agents.is_whole = true;
	facts->namespaces.is_whole = facts->services.is_whole = true;
	world_set_daemonset(world, "", NULL);
	for (size_t i = 0; i < WORLD_NODES; i++)
		add_node(world, i);
	set_rights(world);
	world_set_list(&facts->pod_monitors.items,
		       "[{\"metadata\":{\"name\":\"kepler\",\"namespace\":\"energy\",\"labels\":{"
		       "\"release\":\"prom\"}},\"spec\":{\"selector\":{\"matchLabels\":{\"app\":"
		       "\"kepler\"}},\"podMetricsEndpoints\":[{\"port\":\"metrics\",\"interval\":"
		       "\"15s\"}]}}]");
	world_set_list(&facts->service_monitors.items, "[]");
	world_set_list(&facts->services.items, "[]");
	world_set_list(&facts->agents.items, "[]");
	world_set_list(&facts->namespaces.items,
		       "[{\"metadata\":{\"name\":\"energy\",\"labels\":{\"watched\":\"yes\"}}}]");
	world_set_list(&facts->prometheuses.items,
		       "[{\"metadata\":{\"name\":\"main\",\"namespace\":\"monitoring\"},\"spec\":{"
		       "\"podMonitorSelector\":{\"matchLabels\":{\"release\":\"prom\"}},"
		       "\"podMonitorNamespaceSelector\":{},\"serviceMonitorSelector\":{},"
		       "\"serviceMonitorNamespaceSelector\":{}}}]");
	return world;
}

void world_free(struct world *world)
{
	cluster_facts_release(&world->facts);
	free(world);
}

struct cluster_pod *world_pod(struct world *world, size_t node)
{
	assert_true(node < world->facts.node_count && world->facts.nodes[node].pod_count > 0);
	return &world->facts.nodes[node].pods[0];
}

void world_set_taints(struct world *world, size_t node, const char *taints)
{
	world_set_list(&world->facts.nodes[node].taints, taints);
	world->facts.nodes[node].pod_count = 0;
}

static void judge(struct world *world)
{
	world->findings = (struct cluster_findings){ .count = 0 };
	cluster_judge(&world->facts, &world->findings);
}

const struct cluster_finding *world_only(struct world *world, const char *id)
{
	const struct cluster_finding *first = &world->findings.list[0];

	judge(world);
	if (world->findings.count == 0)
		fail_msg("%s was not found", id);
	assert_string_equal(first->id, id);
	if (world->findings.count > 1)
		fail_msg("%s: also %s: %s", id, first[1].id, first[1].what);
	assert_true(first->object[0] && first->what[0] && first->why[0] && first->command[0]);
	return first;
}

void world_expect_healthy(struct world *world)
{
	judge(world);
	if (world->findings.count)
		fail_msg("%s: %s", world->findings.list[0].id, world->findings.list[0].what);
}
