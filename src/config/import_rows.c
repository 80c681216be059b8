// SPDX-License-Identifier: Apache-2.0
/*
 * The keys are those that the two Keplers document and those that they read; sources are their
 * tables of options. A key that Kepler itself does not follow is needless here, too.
 */
#include "config/import_rows.h"

#include "base/macro.h"

#define COPY(upstream, ours)                                                                       \
	{                                                                                          \
		.key = (upstream), .option = (ours), .form = IMPORT_COPY                           \
	}
#define WORDS(upstream, ours, list, reason)                                                        \
	{                                                                                          \
		.key = (upstream), .option = (ours), .form = IMPORT_WORDS, .words = (list),        \
		.why = (reason)                                                                    \
	}
/* No option; @values ask for nothing. */
#define NONE(upstream, values, reason)                                                             \
	{                                                                                          \
		.key = (upstream), .needless = (values), .why = (reason)                           \
	}

#define FAMILIES                                                                                   \
	"metrics.processes=hidden leaves out the processes; drop other families in Prometheus "    \
	"with metric_relabel_configs"
#define UNREAD    "classic Kepler does not use it either"
#define ALL_ZONES "all zones are read; drop series in Prometheus with metric_relabel_configs"
#define FAKE                                                                                       \
	"there is no simulated meter; without a meter, power is estimated, and marked as "         \
	"estimated"
#define CREDENTIALS                                                                                \
	"write its nodes into a file of lines NODE,USER,PASSWORD,https://HOST, which "             \
	"meter.redfish.credentials names"
#define GPUS "GPUs are read if there are any; meter.nvml-library: \"\" turns NVIDIA's off"
#define SIGNAL                                                                                     \
	"the signal is chosen from the machine's counters; nearest equivalent: "                   \
	"attribution.package"
#define MODELS                                                                                     \
	"nearest equivalent: model.file, with the model's file, or model.url (docs/models.md)"
#define MCP "there is no MCP server; ask Prometheus, or this program's pages"

const struct import_row import_rows[] = {
	COPY("log.level", "log.level"),
	COPY("log.format", "log.format"),
	{ .key = "host.sysfs", .option = "host.sysfs", .form = IMPORT_SYSFS },
	COPY("host.procfs", "host.procfs"),
	COPY("monitor.interval", "monitor.interval"),
	NONE("monitor.staleness", "*", "a scrape never takes a reading: it has the last interval"),
	NONE("monitor.maxTerminated", "*",
	     "ended workloads are never dropped before a scrape; metrics.keep sets how long their "
	     "series stay, and metrics.max-series the number of series"),
	NONE("monitor.minTerminatedEnergyThreshold", "0",
	     "nearest equivalent: metrics.process.min-joules, for processes that run as well"),
	NONE("rapl.zones", "", ALL_ZONES),
	WORDS("exporter.stdout.enabled", "table", "true=always false=never", NULL),
	NONE("exporter.prometheus.enabled", "true",
	     "metrics are always served; web.listen-address: [\"unix:PATH\"] hides them"),
	NONE("exporter.prometheus.debugCollectors", "*",
	     "the program's own figures are always served, as kepler_exporter_…"),
	NONE("exporter.prometheus.metricsLevel", "node,process,container,vm,pod 31", FAMILIES),
	NONE("exporter.mcp.enabled", "false", MCP),
	NONE("exporter.mcp.transport", "*", MCP),
	NONE("exporter.mcp.httpPath", "*", MCP),
	COPY("web.listenAddresses", "web.listen-address"),
	COPY("web.configFile", "web.config-file"),
	NONE("debug.pprof.enabled", "false",
	     "there is no Go runtime; the program's own cost is served as kepler_exporter_…"),
	WORDS("kube.enabled", "kube.pods", "false=off true=",
	      "pods have names if Kepler runs in a pod or kube.kubeconfig is set"),
	COPY("kube.config", "kube.kubeconfig"),
	COPY("kube.nodeName", "kube.node-name"),
	WORDS("kube.podInformer.mode", "kube.pods", "kubelet=kubelet apiserver=apiserver", NULL),
	NONE("kube.podInformer.pollInterval", "*",
	     "the kubelet is asked every 15 s, and when an unknown container appears"),
	NONE("dev.fake-cpu-meter.enabled", "false", FAKE),
	NONE("dev.fake-cpu-meter.zones", "", FAKE),
	NONE("experimental.platform.redfish.enabled", "*",
	     "a BMC is read if meter.redfish.url or meter.redfish.credentials is set"),
	NONE("experimental.platform.redfish.configFile", "", CREDENTIALS),
	NONE("experimental.platform.redfish.nodeName", "",
	     "nearest equivalent: kube.node-name, by which the lines of meter.redfish.credentials "
	     "are found"),
	NONE("experimental.platform.redfish.nodeID", "",
	     "nearest equivalent: kube.node-name, by which the lines of meter.redfish.credentials "
	     "are found"),
	COPY("experimental.platform.redfish.staleness", "meter.redfish.period"),
	NONE("experimental.platform.redfish.httpTimeout", "*",
	     "requests to a BMC have a deadline of their own"),
	WORDS("experimental.hwmon.forceEnabled", "meters", "true=hwmon false=",
	      "all meters of the machine are read, and the best of each kind is charged"),
	NONE("experimental.hwmon.enabled", "*", "sensors of hwmon are read if there are any"),
	NONE("experimental.hwmon.zones", "",
	     "nearest equivalent: meter.hwmon, with a rule CHIP/CHANNEL=none for each other "
	     "sensor"),
	NONE("experimental.hwmon.chipRules", "",
	     "nearest equivalent: meter.hwmon, with a rule CHIP/CHANNEL=ZONE for each sensor"),
	NONE("experimental.gpu.enabled", "*", GPUS),
	NONE("experimental.gpu.idlePower", "0",
	     "idle power is learned; nearest equivalent: idle.mode: fixed and idle.watts: "
	     "[\"gpu=WATTS\"]"),
	NONE("experimental.gpu.dcgmEndpoint", "*",
	     "MIG devices are read through NVIDIA's own library, without DCGM"),

	{ .key = "SAMPLE_PERIOD_SEC", .option = "monitor.interval", .form = IMPORT_SECONDS },
	COPY("BIND_ADDRESS", "web.listen-address"),
	COPY("PROC_DIR", "host.procfs"),
	{ .key = "SYS_DIR", .option = "host.sysfs", .form = IMPORT_SYSFS },
	WORDS("KEPLER_LOG_LEVEL", "log.level",
	      "0=warn 1=info 2=info 3=info 4=debug 5=debug 6=debug 7=debug 8=debug 9=debug "
	      "10=debug debug=debug info=info warn=warn error=error",
	      NULL),
	COPY("NODE_NAME", "kube.node-name"),
	COPY("KUBE_CONFIG", "kube.kubeconfig"),
	WORDS("ENABLE_API_SERVER", "kube.pods", "true=apiserver false=kubelet", NULL),
	WORDS("ENABLE_PROCESS_METRICS", "metrics.process.min-joules", "false=1000000000 true=",
	      "a process has series of its own from metrics.process.min-joules on"),
	WORDS("EXPOSE_BPF_METRICS", "metrics.counters", "true=auto false=off", NULL),
	WORDS("EXPOSE_IRQ_COUNTER_METRICS", "bpf.io", "true=on false=off", NULL),
	COPY("REDFISH_CRED_FILE_PATH", "meter.redfish.credentials"),
	{ .key = "REDFISH_PROBE_INTERVAL_IN_SECONDS",
	  .option = "meter.redfish.period",
	  .form = IMPORT_SECONDS },
	{ .key = "REDFISH_SKIP_SSL_VERIFY",
	  .option = "meter.redfish.insecure",
	  .form = IMPORT_BOOL },
	{ .key = "MODEL_SERVER_ENABLE", .form = IMPORT_SERVER, .part = IMPORT_SERVER_ENABLE },
	{ .key = "MODEL_SERVER_URL", .form = IMPORT_SERVER, .part = IMPORT_SERVER_URL },
	{ .key = "MODEL_SERVER_PORT", .form = IMPORT_SERVER, .part = IMPORT_SERVER_PORT },
	NONE("MODEL_SERVER_MODEL_REQ_PATH", "/model",
	     "a model server is asked under the paths of docs/model-server.md"),
	NONE("MODEL_CONFIG", "", MODELS),
	NONE("METRIC_PATH", "/metrics", "the path is /metrics; a proxy can serve another one"),
	NONE("KUBELET_PORT", "10250", "nearest equivalent: kube.kubelet-url"),
	NONE("NODE_IP", "*", "it is read from the environment here, too"),
	NONE("EXPOSE_CONTAINER_METRICS", "true", FAMILIES),
	NONE("EXPOSE_VM_METRICS", "true", FAMILIES),
	NONE("EXPOSE_COMPONENT_POWER", "true", FAMILIES),
	NONE("EXPERIMENTAL_BPF_SAMPLE_RATE", "0", "all run time is counted; none is sampled"),
	NONE("LIBVIRT_METADATA_URI", "",
	     "machines have the names and UUIDs of their command lines, see docs/design/owners.md"),
	NONE("LIBVIRT_METADATA_TOKEN", "*",
	     "it selects metadata from LIBVIRT_METADATA_URI, which is not read"),
	NONE("CPU_ARCH_OVERRIDE", "",
	     "nearest equivalent: model.machine, as in processor=NAME,cores=N"),
	NONE("MOCK_ACPI_POWER_PATH", "",
	     "nearest equivalent: meter.external, for the power of a program"),
	NONE("ENABLE_QAT", "false", "Intel's QAT is not read"),
	NONE("ENABLE_GPU", "*", GPUS),
	NONE("GPU_USAGE_METRIC", "*",
	     "a GPU's energy is divided by the use that its driver reports"),
	NONE("NVIDIA_HOSTENGINE_ENDPOINT", "*",
	     "GPUs are read through NVIDIA's own library, without DCGM"),
	NONE("ENABLE_MSR", "*", "nearest equivalent: meters: [\"auto\", \"rapl-msr\"]"),
	NONE("EXPOSE_HW_COUNTER_METRICS", "*",
	     "the machine's counters are served; nearest equivalent: "
	     "counters.enabled"),
	NONE("EXPOSE_ESTIMATED_IDLE_POWER_METRICS", "*",
	     "idle power is learned and shown separately; idle.mode: off makes all energy dynamic"),
	NONE("ENABLE_EBPF_CGROUPID", "*", "the cgroup of a process is known in any case"),
	NONE("EXCLUDE_SWAPPER_PROCESS", "*", "the idle task is never charged"),
	NONE("CORE_USAGE_METRIC", "*", SIGNAL),
	NONE("DRAM_USAGE_METRIC", "*", SIGNAL),
	NONE("UNCORE_USAGE_METRIC", "*", SIGNAL),
	NONE("GENERAL_USAGE_METRIC", "*", SIGNAL),
	NONE("PROMETHEUS_SCRAPE_INTERVAL", "*", "it is set in Prometheus"),
	NONE("KEPLER_NAMESPACE", "*", UNREAD),
	NONE("MAX_LOOKUP_RETRY", "*", UNREAD),
	NONE("ESTIMATOR_MODEL", "*", UNREAD),
	NONE("ESTIMATOR_SELECT_FILTER", "*", UNREAD),
	NONE("MODEL_SERVER_ENDPOINT", "*", UNREAD),
	NONE("MODEL_SERVER_MODEL_LIST_PATH", "*", UNREAD),
	NONE("EXPOSE_CGROUP_METRICS", "*", UNREAD),
	NONE("CGROUP_METRICS", "*", UNREAD),
	NONE("EXPOSE_KUBELET_METRICS", "*", UNREAD),
	NONE("KUBELET_METRICS", "*", UNREAD),
	NONE("COUNTER_METRICS", "*", UNREAD),
	NONE("BPF_METRICS", "*", UNREAD),
	NONE("PERF_METRICS", "*", UNREAD),
	NONE("GPU_METRICS", "*", UNREAD),
	NONE("EXPOSE_CPU_FREQUENCY_METRICS", "*", UNREAD),
	NONE("NODE_TOTAL_POWER_KEY", "*", "it names parts of MODEL_CONFIG"),
	NONE("NODE_COMPONENTS_POWER_KEY", "*", "it names parts of MODEL_CONFIG"),
	NONE("CONTAINER_TOTAL_POWER_KEY", "*", "it names parts of MODEL_CONFIG"),
	NONE("CONTAINER_COMPONENTS_POWER_KEY", "*", "it names parts of MODEL_CONFIG"),
	NONE("PROCESS_TOTAL_POWER_KEY", "*", "it names parts of MODEL_CONFIG"),
	NONE("PROCESS_COMPONENTS_POWER_KEY", "*", "it names parts of MODEL_CONFIG"),
};
const size_t import_row_count = ARRAY_SIZE(import_rows);
