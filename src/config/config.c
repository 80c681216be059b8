// SPDX-License-Identifier: Apache-2.0
/*
 * The one table of options. A row describes an option completely; nothing else in the tree repeats
 * any of it. Each part of struct config has its rows, here or in the file of its topic; rows with a
 * common prefix are adjacent, so that the YAML made from the table nests without repeating a key.
 *
 * A list's default and environment form separate items by commas; its flag is repeated instead.
 */
#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "config/activity_options.h"
#include "config/attribution_options.h"
#include "config/kube_options.h"
#include "config/local_options.h"
#include "config/model_url.h"
#include "config/option_rows.h"
#include "export/prometheus.h"
#include "kube/pods/pod_resources.h"
#include "meter/meter_sources.h"
#include "model/component_power.h"
#include "net/http_unix.h"
#include "net/server/http_host.h"
#include "net/server/http_listen.h"
#include "net/server/http_vsock.h"
#include "options/render.h"
#include "rates/rates.h"
#include "service/needs.h"

_Static_assert(offsetof(struct config, options) == 0, "as src/options knows it");

#define SECTION(rows, member)                                                                      \
	{                                                                                          \
		rows, ARRAY_SIZE(rows), offsetof(struct config, member)                            \
	}

#define MORE(options_at, member)                                                                   \
	{                                                                                          \
		.more = (options_at), .offset = offsetof(struct config, member)                    \
	}

static const struct option_choice log_levels[] = { { "debug", LOG_LEVEL_DEBUG },
						   { "info", LOG_LEVEL_INFO },
						   { "warn", LOG_LEVEL_WARN },
						   { "error", LOG_LEVEL_ERROR },
						   { 0 } };
static const struct option_choice log_formats[] = { { "text", LOG_FORMAT_TEXT },
						    { "json", LOG_FORMAT_JSON },
						    { 0 } };
static const struct option_choice model_parts[] = {
	{ "all", COMPONENT_ALL },
	{ "package", COMPONENT_BIT(COMPONENT_PACKAGE) },
	{ "dram", COMPONENT_BIT(COMPONENT_DRAM) },
	{ "none", 0 },
	{ 0 },
};
static const struct option_choice schemas[] = {
	{ "classic", SCHEMA_CLASSIC }, { "current", SCHEMA_CURRENT }, { "both", SCHEMA_BOTH }, { 0 }
};
static const struct option_choice processes_shown[] = { { "shown", PROCESSES_SHOWN },
							{ "hidden", PROCESSES_HIDDEN },
							{ 0 } };
static const struct option_choice table_modes[] = {
	{ "auto", TABLE_AUTO }, { "always", TABLE_ALWAYS }, { "never", TABLE_NEVER }, { 0 }
};
static const struct option_choice web_auths[] = { { "none", WEB_AUTH_NONE },
						  { "kubernetes", WEB_AUTH_KUBERNETES },
						  { 0 } };
static const struct option_choice settles[] = { { "auto", -1 /* SETTLE_AUTO */ }, { 0 } };
static const struct option_choice services[] = { { "unit", SERVICES_UNIT },
						 { "merged", SERVICES_MERGED },
						 { 0 } };
static const struct option_choice counters[] = { { "auto", COUNTERS_AUTO },
						 { "off", COUNTERS_OFF },
						 { 0 } };

static const struct option file_rows[] = {
	{ "config.file", NULL, OPTION_STRING, FIELD(config, options.file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true, .not_in_file = true,
	  .help = "Configuration file (YAML). Without it " CONFIG_DEFAULT_FILE
		  " is read if it exists." },
};

static const struct option log_rows[] = {
	{ "log.level", NULL, OPTION_ENUM, FIELD(log_options, level), .choices = log_levels,
	  .default_text = "info", .metavar = "LEVEL", .reloadable = true,
	  .help = "Least severe level that is logged." },
	{ "log.format", NULL, OPTION_ENUM, FIELD(log_options, format), .choices = log_formats,
	  .default_text = "text", .metavar = "FORMAT", .reloadable = true,
	  .help = "Form of a log line: key=value text, or JSON." },
};

static const struct option host_rows[] = {
	{ "host.sysfs", NULL, OPTION_STRING, FIELD(config_host, sysfs), .default_text = "/sys",
	  .metavar = "DIR",
	  .help = "Where the host's sysfs is mounted, for sensors and topology. A file that is "
		  "missing there is not an error." },
	{ "host.procfs", NULL, OPTION_STRING, FIELD(config_host, procfs), .default_text = "/proc",
	  .metavar = "DIR", .help = "Where the host's procfs is mounted." },
	{ "host.cgroupfs", NULL, OPTION_STRING, FIELD(config_host, cgroupfs),
	  .default_text = "/sys/fs/cgroup", .metavar = "DIR",
	  .help = "Where the host's cgroup hierarchy is mounted." },
	{ "host.state-dir", NULL, OPTION_STRING, FIELD(config_host, state_dir),
	  .default_text = "/var/lib/kepler", .metavar = "DIR", .may_be_empty = true,
	  .help = "Directory in which learned idle power and learned costs of work survive a "
		  "restart. Empty: keep no state." },
	{ "host.state-every", NULL, OPTION_DURATION, FIELD(config_host, state_every_ns),
	  RANGE(NSEC_PER_SEC, 24 * 3600 * NSEC_PER_SEC), .default_text = "5m",
	  .metavar = "DURATION", .reloadable = true,
	  .help = "How often the state is written to host.state-dir. It is also written at "
		  "shutdown." },
};

static const struct option monitor_rows[] = {
	{ "monitor.interval", NULL, OPTION_DURATION, FIELD(config_monitor, interval_ns),
	  RANGE(100 * NSEC_PER_MSEC, 3600 * NSEC_PER_SEC), .default_text = "1s",
	  .metavar = "DURATION", .reloadable = true, .help = "Time from one reading to the next." },
	{ "monitor.hang-limit", NULL, OPTION_DURATION, FIELD(config_monitor, hang_limit_ns),
	  RANGE(NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "30s", .metavar = "DURATION",
	  .reloadable = true,
	  .help = "How long the measuring loop may hang before /healthz and /metrics answer 503. "
		  "Three intervals are always allowed." },
	{ "monitor.resident-every", NULL, OPTION_DURATION, FIELD(config_monitor, resident_every_ns),
	  RANGE(0, 3600 * NSEC_PER_SEC), .default_text = "0s", .metavar = "DURATION",
	  .help = "How often the memory of each container is read, page cache included, as a "
		  "signal by which energy can be shared. 0: never." },
	{ "monitor.max-processes", NULL, OPTION_U32, FIELD(config_monitor, max_processes),
	  RANGE(256, 4194304), .default_text = "20000", .metavar = "N",
	  .help = "Limit on the processes that have their own row. Above it, the smallest are "
		  "merged into the row \"other\" of their container, and counted. Run times are "
		  "tracked for four times as many processes; any process beyond that is measured "
		  "only as part of the node, and its energy is unattributed." },
	{ "monitor.max-containers", NULL, OPTION_U32, FIELD(config_monitor, max_containers),
	  RANGE(16, 65536), .default_text = "1000", .metavar = "N",
	  .help = "Limit on the containers, services and scopes that have their own row. Above it, "
		  "the smallest are merged into the row \"other\" of their namespace, and "
		  "counted." },
};

static const struct option meter_own_rows[] = {
	{ "meter.enabled", NULL, OPTION_BOOL, FIELD(config, meter_enabled), .default_text = "true",
	  .help = "Use the machine's energy meters. If false, energy is estimated even where a "
		  "meter exists." },
};

static const struct option meters_rows[] = {
	{ "meters", NULL, OPTION_STRING, FIELD(meter_options, sources), .default_text = METERS_AUTO,
	  .metavar = "NAMES", .check = meter_check_sources,
	  .help = "Energy meters to read, separated by commas: auto for all that the machine has, "
		  "and names from docs/meters.md. Without auto, only the named meters are read. "
		  "kepler doctor shows which meters were found and which are charged." },
};

static const struct option meter_rows[] = {
	{ "meter.read-deadline", NULL, OPTION_DURATION, FIELD(meter_options, read_deadline_ns),
	  RANGE(NSEC_PER_MSEC, 60 * NSEC_PER_SEC), .default_text = "100ms", .metavar = "DURATION",
	  .help = "Deadline for a reading. A meter that misses it has no reading in this interval. "
		  "A zone that takes longer than a quarter of the deadline no longer delays the "
		  "others." },
	{ "meter.max-watts", NULL, OPTION_MICRO, FIELD(meter_options, max_power_uw),
	  RANGE(0, 1000000), .default_text = "0", .metavar = "WATTS",
	  .help = "Highest plausible power of a zone. Readings that imply more are rejected as "
		  "faults. 0: 2,000 W for package, core and uncore, 1,000 W for dram, and 20,000 W "
		  "for psys. Counters are read at least twice in the time that they need to wrap "
		  "at this power." },
};

static const struct option model_rows[] = {
	{ "model.file", NULL, OPTION_STRINGS,
	  LIST(config, model_files, model_file_count, CONFIG_MODELS_MAX), .default_text = "",
	  .metavar = "FILE",
	  .help = "Trained power model that estimates a component without a meter (platform, "
		  "package, core, uncore or dram) from the node's own counters. docs/models.md "
		  "describes the formats. If several files model the same component, the one with "
		  "the lowest expected error is used. A changed file is read again." },
	{ "model.url", NULL, OPTION_STRING, FIELD(config, model_url), .default_text = "",
	  .metavar = "URL", .may_be_empty = true, .check = model_url_check,
	  .help = "URL of a trained model: a file if the path ends in .json, otherwise a model "
		  "server, which chooses a model for this machine. Used like --model.file and "
		  "checked for updates. The last good model is kept in host.state-dir." },
	{ "model.refresh", NULL, OPTION_DURATION, FIELD(config, model_refresh_ns),
	  RANGE(10 * NSEC_PER_SEC, 30 * 24 * 3600 * NSEC_PER_SEC), .default_text = "1h",
	  .metavar = "DURATION",
	  .help = "How often model.url is checked for a newer model. It is used from the next "
		  "interval on." },
	{ "model.ca-file", NULL, OPTION_STRING, FIELD(config, model_ca_file), .default_text = "",
	  .metavar = "FILE", .may_be_empty = true,
	  .help = "CA certificate (PEM) for model.url. Empty: the system's CA certificates." },
	{ "model.token-file", NULL, OPTION_STRING, FIELD(config, model_token_file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "File with the bearer token for model.url, readable only by its owner (chmod "
		  "600). The token is sent over https only." },
	{ "model.public-key", NULL, OPTION_STRING, FIELD(config, model_public_key),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "Public key (Ed25519, PEM) that verifies the signature of a model server's "
		  "model. Empty: no signature is required." },
	{ "model.parts", NULL, OPTION_ENUM, FIELD(config, model_parts), .choices = model_parts,
	  .default_text = "none", .metavar = "PARTS",
	  .help = "Components that the built-in model estimates in addition to platform on a "
		  "machine without a meter: all (package and dram), package, dram, or none. On "
		  "machines outside its training data, the error averaged 22 % for package and 45 "
		  "% for dram; all had Intel processors." },
	{ "model.machine", NULL, OPTION_STRING, FIELD(config, model_machine), .default_text = "",
	  .metavar = "FACTS", .may_be_empty = true,
	  .help = "Overrides facts about this machine that the power model uses, such as "
		  "cores=8,threads=16,year=2021. Other keys: sockets, frequency-ghz, memory-gib, "
		  "processor and vm." },
};

static const struct option vm_rows[] = {
	{ "vm.host-processor", NULL, OPTION_STRING, FIELD(vm_options, host_processor),
	  .default_text = "", .metavar = "NAME", .may_be_empty = true,
	  .help = "In a virtual machine: the host's processor, if the hypervisor hides its name, "
		  "such as \"Intel(R) Xeon(R) Gold 6330\". Empty: the processor of the instance "
		  "type, if the firmware names a known type (Amazon EC2)." },
	{ "vm.host-cpus", NULL, OPTION_U32, FIELD(vm_options, host_cpus), RANGE(0, 65536),
	  .default_text = "0", .metavar = "N",
	  .help = "In a virtual machine: number of logical CPUs of the host. 0: as on hosts of the "
		  "instance type, if the firmware names a known type (Amazon EC2); otherwise as on "
		  "the model's machine, or on a typical host with that processor." },
	{ "vm.neighbour-load", NULL, OPTION_STRING, FIELD(vm_options, neighbour_load),
	  .default_text = "0-1", .metavar = "LOW-HIGH", .check = vm_hints_check_load,
	  .help = "In a virtual machine: range of the load of the host's other CPUs, as a share of "
		  "their time. The estimate covers this range; a narrower range gives a narrower "
		  "error. A single number means ± 0.1." },
};

static const struct option runtimes_own_rows[] = {
	{ "runtimes.enabled", NULL, OPTION_BOOL, FIELD(config, runtimes_enabled),
	  .default_text = "true",
	  .help = "For containers without a name from Kubernetes, read names from the files that "
		  "Docker, Podman, containerd and CRI-O keep on this host." },
};

static const struct option runtimes_rows[] = {
	{ "runtimes.docker-socket", NULL, OPTION_STRING, FIELD(runtimes_options, docker_socket),
	  .default_text = "", .metavar = "PATH", .may_be_empty = true,
	  .help = "Also query the Docker daemon through its socket, such as /run/docker.sock. A "
		  "process with access to that socket can do anything on the host." },
	{ "runtimes.podman-socket", NULL, OPTION_STRING, FIELD(runtimes_options, podman_socket),
	  .default_text = "", .metavar = "PATH", .may_be_empty = true,
	  .help = "Also query Podman through its socket, such as /run/podman/podman.sock." },
};

static const struct option pages_rows[] = {
	{ "metrics.schema", NULL, OPTION_ENUM, FIELD(page_options, schema), .choices = schemas,
	  .default_text = "classic", .metavar = "SCHEMA", .reloadable = true,
	  .help = "Metric names: classic (Kepler up to 0.9), current (Kepler 0.10 and later), or "
		  "both. On pages, in files and in remote write." },
	{ "metrics.created", NULL, OPTION_BOOL, FIELD(page_options, created),
	  .default_text = "false", .reloadable = true,
	  .help = "Add a _created line with its start time to each counter in OpenMetrics 1.0 "
		  "responses. Prometheus stores each such line as a separate series, which doubles "
		  "the number of series, unless its feature created-timestamp-zero-ingestion is "
		  "enabled." },
	{ "metrics.processes", NULL, OPTION_ENUM, FIELD(page_options, processes),
	  .choices = processes_shown, .default_text = "shown", .metavar = "HOW",
	  .help = "hidden: no series of processes on pages, in files and in remote write, about "
		  "half of all series. Containers have all of their energy. kepler top and "
		  "/explain show processes either way." },
};

static const struct option publication_rows[] = {
	{ "metrics.process.min-joules", NULL, OPTION_MICRO, FIELD(publisher_options, min_uj),
	  RANGE(0, 1000000000), .default_text = "1", .metavar = "JOULES", .reloadable = true,
	  .help = "Energy that a process must use before it gets its own series. Energy used "
		  "before that is in the row \"other\" of its container, and stays there." },
	{ "metrics.settle", NULL, OPTION_DURATION, FIELD(publisher_options, settle_ns),
	  RANGE(0, 3600 * NSEC_PER_SEC), .choices = settles, .default_text = "auto",
	  .metavar = "DURATION", .reloadable = true,
	  .help = "How long a new series stays at 0, so that a scrape sees it before it counts. "
		  "auto: the longest gap between two scrapes by one client in the last ten "
		  "minutes, at most 2m; 1m until a client has scraped twice, 5s without any "
		  "scrape. A fixed duration must not be shorter than the scrape interval." },
	{ "metrics.keep", NULL, OPTION_DURATION, FIELD(publisher_options, keep_ns),
	  RANGE(0, 24 * 3600 * NSEC_PER_SEC), .default_text = "5m", .metavar = "DURATION",
	  .reloadable = true,
	  .help = "How long an ended process keeps its series; not less than metrics.settle." },
};

static const struct option metrics_rows[] = {
	{ "metrics.max-series", NULL, OPTION_U32, FIELD(config_metrics, max_series),
	  RANGE(1000, 10000000), .default_text = "50000", .metavar = "N", .reloadable = true,
	  .help = "Limit on the series of processes, containers, pods, VMs and namespaces in one "
		  "response. Above it the smallest processes are merged into their containers, "
		  "then the smallest containers into their namespaces, and counted. Units of work "
		  "take a quarter of it at most. Series of the "
		  "node and of Kepler itself are not limited." },
	{ "metrics.services", NULL, OPTION_ENUM, FIELD(config_metrics, services),
	  .choices = services, .default_text = "unit", .metavar = "HOW",
	  .help = "unit: show each systemd unit separately. merged: merge all units into "
		  "system_processes, as classic Kepler does." },
	{ "metrics.per-package", NULL, OPTION_BOOL, FIELD(config_metrics, per_package),
	  .default_text = "false",
	  .help = "Show the energy of processes, containers, pods, VMs and namespaces for each "
		  "socket, with the label package (and path under current names). Without it, they "
		  "have one series per kind of zone, summed over all sockets, as in both upstream "
		  "versions. Memory and series grow with the number of sockets." },
	{ "metrics.counters", NULL, OPTION_ENUM, FIELD(config_metrics, counters),
	  .choices = counters, .default_text = "auto", .metavar = "HOW",
	  .help = "Show activity counters other than CPU time for processes, containers, pods and "
		  "VMs, such as instructions and network packets. auto: every counter that this "
		  "machine has. off: none; they can still be used to share energy." },
};

static const struct option record_rows[] = {
	{ "record.dir", NULL, OPTION_STRING, FIELD(config_record, dir), .default_text = "",
	  .metavar = "DIR", .may_be_empty = true,
	  .help = "Directory for recordings of all input to the attribution of energy, from which "
		  "kepler replay can repeat it with other options. It must exist. Empty: nothing "
		  "is recorded." },
	{ "record.keep", NULL, OPTION_DURATION, FIELD(config_record, keep_ns),
	  RANGE(60 * NSEC_PER_SEC, 30 * 24 * 3600 * NSEC_PER_SEC), .default_text = "1h",
	  .metavar = "DURATION", .help = "How long recordings are kept." },
	{ "record.max-size", NULL, OPTION_SIZE, FIELD(config_record, max_bytes), RANGE(64, 2097152),
	  .default_text = "256MiB", .metavar = "SIZE",
	  .help = "Limit on the total size of recordings. The oldest are removed first." },
	{ "record.anonymize", NULL, OPTION_BOOL, FIELD(config_record, anonymize),
	  .default_text = "false",
	  .help = "Replace names, process ids and device ids in recordings with keyed hashes. The "
		  "key is random and is not stored." },
};

static const struct option web_rows[] = {
	WEB_LISTEN_OPTION(struct config, "127.0.0.1:28282"),
	WEB_CONNECTIONS_OPTION(struct config, "128"),
	{ "web.allow-fast-updates", NULL, OPTION_BOOL, FIELD(config, allow_fast_updates),
	  .default_text = "false", .reloadable = true,
	  .help = "Allow a monitor.interval below 1s if clients outside this machine can connect. "
		  "The finer the readings, the more they reveal about what runs here." },
};

static const struct option web_auth_rows[] = {
	{ "web.auth", NULL, OPTION_ENUM, FIELD(config, web_auth), .choices = web_auths,
	  .default_text = "none", .metavar = "WHO",
	  .help = "kubernetes: let the API server decide which bearer tokens are valid "
		  "(TokenReview), and whether their owner may get the non-resource URL "
		  "/metrics, for all pages, or, with ?namespace=NAME, the pods of that namespace "
		  "(SubjectAccessReview). Every request needs a token then, except for health "
		  "checks; users and tokens of files are admitted as well. Kepler's account needs "
		  "the "
		  "ClusterRole system:auth-delegator." },
	{ "web.auth-audience", NULL, OPTION_STRING, FIELD(config, web_auth_audience),
	  .default_text = "", .metavar = "NAME", .may_be_empty = true,
	  .help = "Audience that tokens must be for with web.auth=kubernetes. Empty: the audience "
		  "of "
		  "the API server, for which Kubernetes issues tokens by default." },
};

static const struct option table_rows[] = {
	{ "table", NULL, OPTION_ENUM, FIELD(config, table), .choices = table_modes,
	  .default_text = "auto", .metavar = "WHEN",
	  .help = "Show a live table of processes: on a terminal only, always, or never." },
};

static const struct option security_rows[] = {
	{ "security.seccomp", NULL, OPTION_BOOL, FIELD(config_security, seccomp),
	  .default_text = "true",
	  .help = "After startup, deny every system call that Kepler does not need. A call that "
		  "only an attacker would make ends the program." },
	{ "security.seccomp-log", NULL, OPTION_BOOL, FIELD(config_security, seccomp_log),
	  .default_text = "false",
	  .help = "Only log the system calls that the filter would deny (to the kernel log or "
		  "audit log)." },
	{ "security.landlock", NULL, OPTION_BOOL, FIELD(config_security, landlock),
	  .default_text = "true",
	  .help = "Let the kernel deny (Landlock) writing any file outside host.state-dir and "
		  "record.dir, and reading any file in /home, /root, /srv, /boot, /mnt and /media "
		  "except the files that options name." },
	{ "security.drop-capabilities", NULL, OPTION_BOOL,
	  FIELD(config_security, drop_capabilities), .default_text = "true",
	  .help = "After startup, drop every capability that later readings do not need." },
};

static const struct option_section sections[] = {
	{ file_rows, ARRAY_SIZE(file_rows), 0 },
	SECTION(log_rows, log),
	SECTION(host_rows, host),
	SECTION(monitor_rows, monitor),
	MORE(activity_options_at, activity),
	SECTION(meters_rows, meter),
	{ meter_own_rows, ARRAY_SIZE(meter_own_rows), 0 },
	SECTION(meter_rows, meter),
	MORE(meter_options_at, meter),
	{ model_rows, ARRAY_SIZE(model_rows), 0 },
	SECTION(vm_rows, vm),
	MORE(idle_options_at, idle),
	MORE(share_options_at, share),
	{ .more = computed_options_at, .offset = offsetof(struct config, computed) },
	MORE(kube_options_at, kube),
	{ runtimes_own_rows, ARRAY_SIZE(runtimes_own_rows), 0 },
	SECTION(runtimes_rows, runtimes),
	SECTION(pages_rows, pages),
	SECTION(publication_rows, publication),
	SECTION(metrics_rows, metrics),
	SECTION(record_rows, record),
	{ .more = push_options_at, .offset = offsetof(struct config, push) },
	{ web_rows, ARRAY_SIZE(web_rows), 0 },
	{ web_rows_of_options, WEB_OPTION_COUNT, offsetof(struct config, web) },
	{ web_auth_rows, ARRAY_SIZE(web_auth_rows), 0 },
	MORE(local_options_at, local),
	MORE(rates_options_at, rates),
	MORE(units_options_at, units),
	{ table_rows, ARRAY_SIZE(table_rows), 0 },
	SECTION(security_rows, security),
};

/* Set by the cluster; src/host reads it. */
static const char *const other_variables[] = { "KEPLER_NODE_NAME", NULL };

/* Keys of the other Keplers' files. */
static const char *const foreign_keys[] = { "rapl",         "exporter",   "debug", "dev",
					    "experimental", "apiVersion", NULL };

static const char reference_head[] =
	"# Configuration reference\n\n"
	"<!-- Made from the option table in src/config/config.c: `ninja -C DIR "
	"docs-update`. -->\n\n"
	"This page lists all options of `kepler run`. Each of them can be given as a flag, as an\n"
	"environment variable and in the configuration file. A flag wins over the environment, "
	"the\nenvironment over the file, and the file over the default; a list is replaced as a "
	"whole. In the\nenvironment, a list's items are separated by commas.\n\n"
	"The file is YAML. The key is the flag's path: `--web.listen-address` is\n\n"
	"```yaml\nweb:\n  listen-address: [\"127.0.0.1:28282\"]\n```\n\n"
	"camelCase forms of a key (`metrics.process.minJoules`) are accepted. Without "
	"`--config.file`, "
	"`" CONFIG_DEFAULT_FILE "`\nis read if it exists. `kepler config check FILE` lists the "
	"errors of a file, `kepler config show` prints the values in force\nand where each value "
	"came from, "
	"`kepler config sample` prints a file with every default, `kepler config schema` "
	"a\n"
	"JSON Schema for editors,\n`kepler config import FILE` translates the configuration of "
	"[another Kepler](migration.md).\n\n"
	"Durations are written as `500ms`, `5s`, `1m30s` or `2h`. SIGHUP reads the file "
	"again. An option that\ncannot change while Kepler runs is named in the log and keeps its "
	"old value.\n\n";

const struct option_program config_program = {
	.name = "kepler",
	.prefix = "KEPLER_",
	.other_variables = other_variables,
	.default_file = CONFIG_DEFAULT_FILE,
	.foreign_keys = foreign_keys,
	.foreign_advice = "kepler config import translates files of other Keplers",
	.reference_head = reference_head,
};

const char *config_reachable_address(const struct config *config)
{
	for (size_t i = 0; i < config->web.listen_count; i++) {
		if (!http_listen_is_local(config->web.listen[i]))
			return config->web.listen[i];
	}
	return NULL;
}

const char *config_network_address(const struct config *config)
{
	for (size_t i = 0; i < config->web.listen_count; i++) {
		const char *text = config->web.listen[i];

		if (!http_listen_is_local(text) && !http_vsock_is(text))
			return text;
	}
	return NULL;
}

static bool listens_to_vsock(const struct config *config)
{
	for (size_t i = 0; i < config->web.listen_count; i++) {
		if (http_vsock_is(config->web.listen[i]))
			return true;
	}
	return false;
}

int config_check_interval(const struct config *config, const char *reachable, struct diag *diag)
{
	bool everyone = *config->local.socket && config->local.everyone != EVERYONE_NONE;

	if (config->monitor.interval_ns >= NSEC_PER_SEC || config->allow_fast_updates ||
	    (!reachable && !everyone))
		return 0;
	if (!reachable)
		return diag_set(diag, -EINVAL,
				"monitor.interval: local.everyone lets all users connect to "
				"local.socket, and readings below 1s reveal what runs here; "
				"web.allow-fast-updates allows it");
	return diag_set(diag, -EINVAL,
			"monitor.interval: other machines can connect to \"%.100s\", and "
			"readings below 1s reveal what runs here; web.allow-fast-updates allows it",
			reachable);
}

/* Rules that concern several options; src/options has checked each by itself. */
int config_check(const struct option_values *values, struct diag *diag)
{
	const struct config *config = (const struct config *)(const void *)values;

	if (config->idle.mode == IDLE_MODE_FIXED && !config->idle.watts_count)
		return diag_set(diag, -EINVAL,
				"idle.mode: fixed needs idle.watts, as in package=12.5");
	if (!config->web.listen_count)
		return diag_set(diag, -EINVAL,
				"web.listen-address: must have at least one address");
	if (web_options_check(&config->web, diag) < 0)
		return -EINVAL;
	if (rates_options_check(&config->rates, diag) < 0 ||
	    units_options_check(&config->units, diag) < 0)
		return -EINVAL;
	return config_check_interval(config, config_reachable_address(config), diag);
}

const struct option_set config_options = {
	.program = &config_program,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct config),
	.check = config_check,
};

bool config_wants_kubernetes(const struct config *config)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");

	if (config->kube.source == KUBE_AUTO)
		return config->kube.kubeconfig[0] || (host && host[0]);
	return config->kube.source != KUBE_OFF;
}

bool config_uses_api_server(const struct config *config)
{
	return config_wants_kubernetes(config) || config->web_auth == WEB_AUTH_KUBERNETES;
}

struct meter_options config_meter_options(const struct config *config)
{
	struct meter_options options = config->meter;

	options.sysfs = config->host.sysfs;
	options.procfs = config->host.procfs;
	return options;
}

const char *config_pod_resources(const struct config *config)
{
	const char *socket = config->kube.pod_resources;

	if (!config->meter_enabled || config->idle.device != DEVICE_IDLE_HOLDER ||
	    strcmp(socket, POD_RESOURCES_OFF) == 0)
		return NULL;
	if (strcmp(socket, POD_RESOURCES_AUTO) != 0)
		return socket;
	return config_wants_kubernetes(config) && access(POD_RESOURCES_DIR, F_OK) == 0
		       ? POD_RESOURCES_SOCKET
		       : NULL;
}

static unsigned needs_of_counters(enum switch_mode mode)
{
	if (mode == SWITCH_NEVER)
		return 0;
	return mode == SWITCH_ALWAYS ? NEED_COUNTERS | NEED_PERF_ENERGY : NEED_COUNTERS;
}

unsigned config_needs(const struct config *config)
{
	unsigned needs = 0;

	if (config->activity.allow_bpf)
		needs |= NEED_BPF | NEED_CGROUP_HANDLE;
	if (config->activity.allow_bpf && config->activity.switches.switches != SWITCH_NEVER)
		needs |= needs_of_counters(config->activity.switches.counters);
	if (config->meter_enabled) {
		const struct meter_options options = config_meter_options(config);

		needs |= meter_needs(&options);
	}
	needs |= push_needs(&config->push);
	if (listens_to_vsock(config))
		needs |= NEED_VSOCK;
	if (config->runtimes_enabled || config->options.file[0])
		needs |= NEED_READ_FILES;
	if (config_uses_api_server(config))
		needs |= NEED_CLIENTS;
	if (config->model_url[0] || rates_use_network(&config->rates) || config->units.rule_count)
		needs |= NEED_CLIENTS;
	if (config_pod_resources(config))
		needs |= NEED_CLIENTS | NEED_POD_RESOURCES;
	if (config->runtimes_enabled &&
	    (config->runtimes.docker_socket[0] || config->runtimes.podman_socket[0]))
		needs |= NEED_CLIENTS;
	return needs;
}

void config_devices(const struct config *config, const char *ret[static CONFIG_DEVICES_MAX + 1])
{
	const struct meter_options options = config_meter_options(config);
	const struct meter_device *device;
	size_t count = 0;

	while (config->meter_enabled && (device = meter_device_at(&options, count)))
		ret[count++] = device->unit;
	ret[count] = NULL;
}

int config_load(const struct option_args *args, struct config *ret, struct diag *diag)
{
	return options_load(&config_options, args, &ret->options, diag);
}

int config_load_text(const char *name, const char *text, size_t len, struct config *ret,
		     struct diag *diag)
{
	return options_load_text(&config_options, name, text, len, &ret->options, diag);
}

int config_load_file(const char *path, struct config *ret, struct diag *diag)
{
	return options_load_file(&config_options, path, &ret->options, diag);
}

int config_copy(const struct config *config, struct config *ret)
{
	return options_copy(&config_options, &config->options, &ret->options);
}

void config_release(struct config *config)
{
	http_auth_free(TAKE_PTR(config->auth));
	web_security_unref(TAKE_PTR(config->web_security));
	options_release(&config_options, &config->options);
}

void config_show(const struct config *config, struct strbuf *out)
{
	options_show(&config_options, &config->options, out);
}

void config_unreloadable_changes(const struct config *old, const struct config *fresh, char *buf,
				 size_t size)
{
	options_unreloadable_changes(&config_options, &old->options, &fresh->options, buf, size);
}

void config_keep_unreloadable(struct config *old, struct config *fresh)
{
	options_keep_unreloadable(&config_options, &old->options, &fresh->options);
}
