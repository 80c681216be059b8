// SPDX-License-Identifier: Apache-2.0
/*
 * kube-probe [OPTIONS] - the source of Kubernetes' names alone: starts it, and answers each line of
 * its input with a line of JSON.
 *
 *     find ID     what the directory knows of a container ("{}": nothing, and it is wanted)
 *     stats       of the source, the directory and this process
 *     interval MS how often names are looked for from now on
 *     stop        ends the source; says how long that took
 *
 * Durations of --timing are in milliseconds: --timing poll=500,retry=200.
 */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"
#include "kube/kube.h"
#include "workload/name_directory.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

static _Noreturn void fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "%s: %s\n", what, why);
	exit(2);
}

static uint64_t number(const char *text)
{
	uint64_t value = 0;

	if (parse_u64(text, strcspn(text, ","), &value) < 0)
		fail("no number", text);
	return value;
}

static void set_timing(struct kube_timing *timing, const char *text)
{
	const struct {
		const char *name;
		uint64_t *value;
	} names[] = {
		{ "poll=", &timing->poll },
		{ "demand=", &timing->demand },
		{ "connect=", &timing->connect },
		{ "request=", &timing->request },
		{ "watch_idle=", &timing->watch_idle },
		{ "watch_life=", &timing->watch_life },
		{ "refused_min=", &timing->refused_min },
		{ "refused_max=", &timing->refused_max },
		{ "resume=", &timing->resume },
		{ "retry=", &timing->retry },
		{ "retry_spread=", &timing->retry_spread },
		{ "denied_max=", &timing->denied_max },
		{ "boot_window=", &timing->boot_window },
		{ "boot_spread=", &timing->boot_spread },
	};

	while (*text) {
		size_t i = 0;

		while (i < ARRAY_SIZE(names) &&
		       strncmp(text, names[i].name, strlen(names[i].name)) != 0)
			i++;
		if (i == ARRAY_SIZE(names))
			fail("unknown timing", text);
		*names[i].value = number(text + strlen(names[i].name));
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

static enum kube_source source_of(const char *text)
{
	if (strcmp(text, "kubelet") == 0)
		return KUBE_KUBELET;
	return strcmp(text, "apiserver") == 0 ? KUBE_APISERVER : KUBE_AUTO;
}

static void read_options(int argc, char **argv, struct kube_options *options)
{
	static const struct option names[] = {
		{ "source", 1, NULL, 's' },        { "kubeconfig", 1, NULL, 'c' },
		{ "context", 1, NULL, 'x' },       { "node", 1, NULL, 'n' },
		{ "kubelet-url", 1, NULL, 'u' },   { "kubelet-ca", 1, NULL, 'a' },
		{ "labels", 1, NULL, 'l' },        { "in-cluster-dir", 1, NULL, 'd' },
		{ "max-pod-bytes", 1, NULL, 'm' }, { "interval", 1, NULL, 'i' },
		{ "timing", 1, NULL, 't' },        { NULL, 0, NULL, 0 },
	};
	int option;

	/* The time since boot has no effect, unless an option sets it. */
	*options = (struct kube_options){ .source = KUBE_AUTO, .timing.boot_window = 1 };
	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		switch (option) {
		case 's':
			options->source = source_of(optarg);
			break;
		case 'c':
			options->kubeconfig = optarg;
			break;
		case 'x':
			options->context = optarg;
			break;
		case 'n':
			options->node_name = optarg;
			break;
		case 'u':
			options->kubelet_url = optarg;
			break;
		case 'a':
			options->kubelet_ca_file = optarg;
			break;
		case 'l':
			options->pod_labels = optarg;
			break;
		case 'd':
			options->in_cluster_dir = optarg;
			break;
		case 'm':
			options->max_pod_bytes = number(optarg);
			break;
		case 'i':
			options->interval_ms = number(optarg);
			break;
		case 't':
			set_timing(&options->timing, optarg);
			break;
		default:
			exit(2);
		}
	}
}

static void print(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);

	(void)printf("%s\n", text ? text : "");
	(void)fflush(stdout);
	free(text);
	json_decref(object);
}

static void find(struct directory *directory, const char *id)
{
	struct names_table *table = names_table_get(NULL);
	struct directory_record found;
	const char *const *text;
	json_t *labels;

	if (!table || !directory_find(directory, id, table, &found)) {
		print(json_object());
		names_table_put(table);
		return;
	}
	text = found.names->text;
	labels = json_object();
	for (size_t i = 0; i < found.names->extra_count; i++)
		(void)json_object_set_new(labels, found.names->extra[i].name,
					  json_string(found.names->extra[i].value));
	print(json_pack("{ss ss ss ss ss ss so ss sI sI}", "name", text[LABEL_CONTAINER_NAME],
			"pod", text[LABEL_POD_NAME], "namespace", text[LABEL_NAMESPACE], "pod_id",
			text[LABEL_POD_ID], "workload", text[LABEL_WORKLOAD], "type",
			text[LABEL_WORKLOAD_TYPE], "labels", labels, "qos", text[LABEL_QOS_CLASS],
			"cpu_request", (json_int_t)found.cpu_request_milli, "cpu_limit",
			(json_int_t)found.cpu_limit_milli));
	owner_names_unref(found.names);
	names_table_put(table);
}

/* A field of /proc/self/status in KiB. */
static json_int_t memory_kib(const char *field)
{
	char text[8192];
	const char *at;
	uint64_t value = 0;

	if (read_file_at(-1, "/proc/self/status", text, sizeof(text)) < 0)
		return 0;
	at = strstr(text, field);
	if (!at)
		return 0;
	at += strlen(field);
	at += strspn(at, ": \t");
	return parse_u64(at, strspn(at, "0123456789"), &value) < 0 ? 0 : (json_int_t)value;
}

static json_int_t cpu_us(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
	       usage.ru_stime.tv_usec;
}

static void show_stats(struct kube *kube, struct directory *directory)
{
	struct directory_stats known;
	struct kube_stats stats;

	kube_get_stats(kube, &stats);
	directory_get_stats(directory, &known);
	print(json_pack(
		"{ss sb sI sI sI sI sI sI sI sf ss sI sb sI sI sI sb}", "source", stats.source,
		"reachable", stats.reachable, "requests", (json_int_t)stats.requests, "failures",
		(json_int_t)stats.failures, "relists", (json_int_t)stats.relists, "events",
		(json_int_t)stats.events, "bad_pods", (json_int_t)stats.bad_pods, "pods",
		(json_int_t)stats.pods, "labels_lost", (json_int_t)stats.labels_lost, "age_s",
		isnan(stats.age_s) ? -1.0 : stats.age_s, "error", stats.last_error, "containers",
		(json_int_t)known.containers[DIRECTORY_KUBERNETES], "directory_reachable",
		directory_source_is_reachable(directory, DIRECTORY_KUBERNETES), "cpu_us", cpu_us(),
		"rss_kib", memory_kib("VmRSS"), "peak_kib", memory_kib("VmHWM"), "sanitized",
		SANITIZED));
}

static void answer_line(struct kube *kube, struct directory *directory, const char *line)
{
	if (strncmp(line, "find ", 5) == 0) {
		find(directory, line + 5);
	} else if (strncmp(line, "interval ", 9) == 0) {
		kube_set_interval(kube, number(line + 9));
		print(json_object());
	} else {
		show_stats(kube, directory);
	}
}

int main(int argc, char **argv)
{
	struct kube_options options;
	struct directory *directory = NULL;
	struct kube *kube = NULL;
	struct diag diag = { "" };
	char line[256];
	uint64_t begin_ns;

	read_options(argc, argv, &options);
	if (directory_new(20000, &directory) < 0)
		fail("directory", "out of memory");
	print(json_pack("{sI sI}", "rss_kib", memory_kib("VmRSS"), "cpu_us", cpu_us()));
	if (kube_start(&options, directory, &kube, &diag) < 0) {
		print(json_pack("{ss}", "refused", diag.text));
		directory_free(directory);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strcmp(line, "stop") == 0)
			break;
		answer_line(kube, directory, line);
	}
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	kube_stop(kube);
	print(json_pack("{sI}", "stop_ms",
			(json_int_t)((clock_ns(CLOCK_MONOTONIC) - begin_ns) / NSEC_PER_MSEC)));
	directory_free(directory);
	return 0;
}
