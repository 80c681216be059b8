/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can be set, in one struct. config_options.c holds the one table behind it: flag,
 * YAML key, environment variable, type, range, default and help of each. From that table
 * src/options makes --help, the man page, docs/configuration.md, etc/kepler.yaml and the YAML
 * schema; its layers.h says what wins over what.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "options/layers.h"
#include "options/option_set.h"

#define CONFIG_LISTEN_MAX     8
#define CONFIG_HOSTS_MAX      32
#define CONFIG_IDLE_WATTS_MAX 16
#define CONFIG_DEFAULT_FILE   "/etc/kepler/kepler.yaml"

enum config_table_mode { TABLE_AUTO, TABLE_ALWAYS, TABLE_NEVER };
enum config_kube_pods { KUBE_PODS_AUTO, KUBE_PODS_KUBELET, KUBE_PODS_APISERVER, KUBE_PODS_OFF };
enum config_services { SERVICES_UNIT, SERVICES_MERGED };

/* Strings are owned and never NULL after a load; config_release() frees them. */
struct config {
	struct option_values options; /* --config.file, where values came from, warnings */
	int log_level;                /* --log.level=debug|info|warn|error (enum log_level) */
	int log_format;               /* --log.format=text|json (enum log_format) */
	char *host_sysfs;             /* --host.sysfs=/sys */
	char *host_procfs;            /* --host.procfs=/proc */
	char *host_cgroupfs;          /* --host.cgroupfs=/sys/fs/cgroup */
	char *host_state_dir;         /* --host.state-dir=/var/lib/kepler; "" keeps no state */
	bool bpf_enabled;             /* --bpf.enabled=true */
	bool meter_enabled;    /* --meter.enabled=true; false: estimate even where a meter exists */
	bool security_seccomp; /* --security.seccomp=true */
	bool security_drop;    /* --security.drop-capabilities=true */
	bool security_landlock;       /* --security.landlock=true */
	bool seccomp_log;             /* --security.seccomp-log=false: log what it would deny */
	uint64_t monitor_interval_ns; /* --monitor.interval=1s, 100ms..1h */
	uint64_t hang_limit_ns;       /* --monitor.hang-limit=30s: of the loop, for /healthz */
	uint64_t state_every_ns;      /* --host.state-every=5m */
	uint64_t meter_deadline_ns;   /* --meter.read-deadline=100ms */
	double meter_max_watts;       /* --meter.max-watts=0, per zone; 0: by its kind */
	uint32_t bpf_end_buffer_kib;  /* --bpf.end-buffer=512KiB: KiB, a power of two, 64..65536 */
	uint32_t max_processes;       /* --monitor.max-processes=20000 */
	uint32_t max_containers;      /* --monitor.max-containers=1000 */
	char *model_machine; /* --model.machine: "cores=8,year=2021,…" overrides facts; "" none */
	int idle_mode;       /* --idle.mode=learned|fixed|off (enum idle_mode) */
	int idle_share;      /* --idle.share=node|size|usage|equal (enum idle_share) */
	/* --idle.watts=ZONE=W; "package", "package-0": zone name, optionally its number */
	struct option_amount idle_watts[CONFIG_IDLE_WATTS_MAX];
	size_t idle_watts_count;
	int metrics_schema;   /* --metrics.schema=classic|current|both (enum metrics_schema) */
	bool metrics_created; /* --metrics.created=false */
	double metrics_process_min_joules;           /* --metrics.process.min-joules=1 */
	uint64_t metrics_settle_ns;                  /* --metrics.settle=15s */
	uint64_t metrics_keep_ns;                    /* --metrics.keep=5m */
	uint32_t metrics_max_series;                 /* --metrics.max-series=50000 */
	char *web_listen_address[CONFIG_LISTEN_MAX]; /* --web.listen-address=127.0.0.1:28282 */
	size_t web_listen_count;
	char *web_socket_mode;                     /* --web.socket-mode=0660: octal */
	char *web_allowed_hosts[CONFIG_HOSTS_MAX]; /* --web.allowed-hosts=NAME */
	size_t web_allowed_hosts_count;
	bool web_allow_fast_updates;  /* --web.allow-fast-updates=false */
	uint32_t web_max_connections; /* --web.max-connections=128 */
	int kube_pods;              /* --kube.pods=auto|kubelet|apiserver|off (config_kube_pods) */
	char *kube_config;          /* --kube.kubeconfig: path; "" in-cluster */
	char *kube_context;         /* --kube.context: of the kubeconfig; "" its current-context */
	char *kube_node_name;       /* --kube.node-name; "" $NODE_NAME, else the host name */
	char *kube_kubelet_url;     /* --kube.kubelet-url; "" https://127.0.0.1:10250 */
	char *kube_kubelet_ca_file; /* --kube.kubelet-ca-file; "" the API server's */
	char *kube_pod_labels;      /* --kube.pod-labels: "app,team"; "" none */
	char *runtimes_docker_socket; /* --runtimes.docker-socket; "" not asked */
	char *runtimes_podman_socket; /* --runtimes.podman-socket; "" not asked */
	bool runtimes_enabled;        /* --runtimes.enabled=true */
	int metrics_services;         /* --metrics.services=unit|merged (config_services) */
	int table;                    /* live table on the terminal: enum config_table_mode */
};

/* All options, as a table over struct config. */
extern const struct option_set config_options;

/* As options_load() and its kin. */
int config_load(const struct option_args *args, struct config *ret, struct diag *diag);
/* Reads nothing but @path over the defaults: `kepler config check FILE`. */
int config_load_file(const char *path, struct config *ret, struct diag *diag);
/* From memory: for tests and fuzzing. @name stands for the file in messages. */
int config_load_text(const char *name, const char *text, size_t len, struct config *ret,
		     struct diag *diag);
void config_release(struct config *config);

/* An address of @config that others than this machine's processes can reach, or NULL. */
const char *config_reachable_address(const struct config *config);
/*
 * May @config's interval be used while @reachable is served? 0, or -EINVAL with what is wrong:
 * below a second others than this machine's processes could read too much.
 */
int config_check_interval(const struct config *config, const char *reachable, struct diag *diag);

/* What is right by itself and wrong together; @values begins a struct config. 0 or -EINVAL. */
int config_check(const struct option_values *values, struct diag *diag);

/* `kepler config show`: as options_show(). */
void config_show(const struct config *config, struct strbuf *out);
/* As options_unreloadable_changes(). */
void config_unreloadable_changes(const struct config *old, const struct config *fresh, char *buf,
				 size_t size);
/* As options_keep_unreloadable(). */
void config_keep_unreloadable(struct config *old, struct config *fresh);
