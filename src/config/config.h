/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can be set, in one struct. The table in config.c has the flag, YAML key,
 * environment variable, type, range, default and help of each option. From that table src/options
 * makes --help, the man page, docs/configuration.md, etc/kepler.yaml and the YAML schema; its
 * layers.h describes the precedence.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "activity/activity.h"
#include "attribution/computed.h"
#include "attribution/learning/idle_options.h"
#include "attribution/share_rule.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "config/local_options.h"
#include "config/vm_hints.h"
#include "export/prometheus.h"
#include "export/push.h"
#include "kube/kube.h"
#include "meter/meter_sources.h"
#include "net/server/web_options.h"
#include "options/layers.h"
#include "options/option_set.h"
#include "rates/rate_options.h"
#include "runtimes/runtimes.h"
#include "snapshot/publisher.h"
#include "units/unit_options.h"

#define CONFIG_MODELS_MAX   4
#define CONFIG_DEFAULT_FILE "/etc/kepler/kepler.yaml"

/* For publisher_options.settle_ns: what scrapes say, each interval (export/scrape_pace.h). */
#define SETTLE_AUTO UINT64_MAX

enum config_web_auth { WEB_AUTH_NONE, WEB_AUTH_KUBERNETES };
enum config_table_mode { TABLE_AUTO, TABLE_ALWAYS, TABLE_NEVER };
enum config_services { SERVICES_UNIT, SERVICES_MERGED };
enum config_counters { COUNTERS_AUTO, COUNTERS_OFF };

/* Members are named like their options; strings are owned and never NULL after a load. */
struct config_host {
	char *sysfs;             /* /sys */
	char *procfs;            /* /proc */
	char *cgroupfs;          /* /sys/fs/cgroup */
	char *state_dir;         /* /var/lib/kepler; "" keeps no state */
	uint64_t state_every_ns; /* 5m */
};

struct config_monitor {
	uint64_t interval_ns;       /* 1s, 100ms..1h */
	uint64_t hang_limit_ns;     /* 30s: of the loop, for /healthz */
	uint64_t resident_every_ns; /* 0s: memory of containers is not read */
	uint32_t max_processes;     /* 20000 */
	uint32_t max_containers;    /* 1000 */
};

struct config_metrics {
	uint32_t max_series;           /* 50000 */
	enum config_services services; /* unit */
	bool per_package;              /* false */
	enum config_counters counters; /* auto */
};

/* --record.…: what was measured, kept on disk so that it can be booked again. */
struct config_record {
	char *dir;          /* "": nothing is recorded */
	uint64_t keep_ns;   /* 1h */
	uint32_t max_bytes; /* 256MiB */
	bool anonymize;     /* false */
};

struct config_security {
	bool seccomp;           /* true */
	bool seccomp_log;       /* false: log what it would deny */
	bool landlock;          /* true */
	bool drop_capabilities; /* true */
};

/*
 * A section is the struct of its room, if the room takes the values as they are. Other members of
 * such a struct stay zero here: they are a room's default, or the program sets them in a copy.
 */
struct config {
	struct option_values options; /* --config.file, where values came from, warnings */
	struct log_options log;
	struct config_host host;
	struct config_monitor monitor;
	struct activity_options activity; /* --bpf.… */
	bool meter_enabled; /* --meter.enabled=true; false: estimate even where a meter exists */
	struct meter_options meter;
	char *model_files[CONFIG_MODELS_MAX]; /* --model.file */
	size_t model_file_count;
	char *model_url; /* --model.url: a model server, or a file; "" none */
	char *model_ca_file, *model_token_file, *model_public_key;
	uint64_t model_refresh_ns; /* 1h */
	struct vm_options vm;
	int model_parts;     /* --model.parts: COMPONENT_BIT()s of those that are estimated; 0 */
	char *model_machine; /* --model.machine: "cores=8,year=2021,…" overrides facts; "" none */
	struct idle_options idle;
	struct share_options share; /* --attribution.… */
	struct computed_options computed;
	struct kube_options kube;
	bool runtimes_enabled; /* --runtimes.enabled=true */
	struct runtimes_options runtimes;
	struct push_options push;
	struct page_options pages; /* --metrics.schema, --metrics.created */
	/* --metrics.process.min-joules, --metrics.settle (or SETTLE_AUTO), --metrics.keep */
	struct publisher_options publication;
	struct config_metrics metrics;
	struct config_record record;
	struct web_values web;
	bool allow_fast_updates;       /* --web.allow-fast-updates=false */
	enum config_web_auth web_auth; /* --web.auth=none: a third party that knows tokens */
	char *web_auth_audience;       /* --web.auth-audience */
	struct http_auth *auth;        /* the tokens in --web.token-file; read by reload.h alone */
	/* From --web.config-file, or NULL; read as the tokens are, and by web_watch.h. */
	struct web_security *web_security;
	bool has_web_tls;           /* that has TLS; known even when the server has taken it over */
	struct local_options local; /* --local.… */
	struct rates_options rates; /* --price.…, --carbon.…, --site.… */
	struct units_options units; /* --units.… */
	enum config_table_mode table; /* --table: live table on the terminal */
	struct config_security security;
};

extern const struct option_program config_program;
/* The options of all commands, as a table over struct config. */
extern const struct option_set config_options;

/* Returns what the options_load functions return. */
int config_load(const struct option_args *args, struct config *ret, struct diag *diag);
/* Reads nothing but @path over the defaults: `kepler config check FILE`. */
int config_load_file(const char *path, struct config *ret, struct diag *diag);
/* From memory: for tests and fuzzing. @name stands for the file in messages. */
int config_load_text(const char *name, const char *text, size_t len, struct config *ret,
		     struct diag *diag);
/* 0 or -ENOMEM. Everything that options set, without the tokens; shares no memory with @config. */
int config_copy(const struct config *config, struct config *ret);
void config_release(struct config *config);

/* An address of @config that processes outside this machine can reach, or NULL. */
const char *config_reachable_address(const struct config *config);
/* The same, of those that are reached by a network: not by vsock. */
const char *config_network_address(const struct config *config);
/*
 * Returns 0 if @config's interval can be used while @reachable is served, else -EINVAL with a
 * diagnosis: below a second, other machines could learn too much about the processes.
 */
int config_check_interval(const struct config *config, const char *reachable, struct diag *diag);

/* Checks rules that concern several options; @values begins a struct config. 0 or -EINVAL. */
int config_check(const struct option_values *values, struct diag *diag);

/* Does the configuration (and the environment) ask for Kubernetes? */
bool config_wants_kubernetes(const struct config *config);
/* Does it ask the API server for anything? */
bool config_uses_api_server(const struct config *config);
/*
 * The kubelet's socket that is to be asked which containers hold devices, or NULL: that would
 * decide nothing, or it is not there. Looks for its directory.
 */
const char *config_pod_resources(const struct config *config);
/* The options of meters, with the folders in which these look for hardware. */
struct meter_options config_meter_options(const struct config *config);
/*
 * The needs from the kernel of the parts that @config asks for: bits of enum need. It looks into
 * sysfs, which may hang.
 */
unsigned config_needs(const struct config *config);
/* The devices, in the form of DeviceAllow= in a systemd unit; NULL ends the list. */
#define CONFIG_DEVICES_MAX (METERS_MAX * METER_DEVICES_MAX)
void config_devices(const struct config *config, const char *ret[static CONFIG_DEVICES_MAX + 1]);

/* `kepler config show`: as options_show(). */
void config_show(const struct config *config, struct strbuf *out);
/* See options_unreloadable_changes(). */
void config_unreloadable_changes(const struct config *old, const struct config *fresh, char *buf,
				 size_t size);
/* See options_keep_unreloadable(). */
void config_keep_unreloadable(struct config *old, struct config *fresh);
