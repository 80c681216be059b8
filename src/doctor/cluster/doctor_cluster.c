// SPDX-License-Identifier: Apache-2.0
#include "doctor/cluster/doctor_cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "doctor/cluster/cluster_judge.h"
#include "doctor/cluster/cluster_reader.h"
#include "doctor/cluster/cluster_report.h"
#include "kube/kube_access.h"
#include "net/http_url.h"

#define IN_CLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* Credentials stay with the proxy, so that it may be reached without TLS, on this machine only. */
static int use_proxy(const char *url, struct kube_access *ret, struct diag *diag)
{
	size_t len = strlen(url);

	if (strncmp(url, "http://", 7) != 0 || !http_url_is_loopback(url) || http_url_has_user(url))
		return diag_set(diag, -EINVAL,
				"--api-server must be http:// on this machine, as kubectl proxy "
				"serves it (http://127.0.0.1:8001), not \"%.100s\"",
				url);
	while (len && url[len - 1] == '/')
		len--;
	kube_access_init(ret);
	ret->server = strndup(url, len);
	return ret->server ? 0 : diag_set(diag, -ENOMEM, "out of memory");
}

/* kubectl's way: its flag, $KUBECONFIG, ~/.kube/config. 0, -ENOENT: there is none, or -EINVAL. */
static int find_kubeconfig(const char *flag, char *buf, size_t size, struct diag *diag)
{
	const char *variable = getenv("KUBECONFIG"), *home = getenv("HOME");

	if (*flag)
		variable = flag;
	else if (variable && strchr(variable, ':'))
		return diag_set(
			diag, -EINVAL,
			"KUBECONFIG names several files, which are not merged: name one with "
			"--kubeconfig, or make one with kubectl config view --flatten");
	if (variable && *variable) {
		(void)snprintf(buf, size, "%s", variable);
		return 0;
	}
	(void)snprintf(buf, size, "%s/.kube/config", home ? home : "");
	return home && *home && access(buf, F_OK) == 0 ? 0 : -ENOENT;
}

static int from_kubeconfig(const char *path, const char *context, struct kube_access *ret,
			   struct diag *diag)
{
	struct diag reason = { "" };
	int r = kube_access_from_kubeconfig(path, *context ? context : NULL, ret, &reason);

	if (r == -EOPNOTSUPP)
		return diag_set(diag, r,
				"%.380s; or start kubectl proxy and add "
				"--api-server=http://127.0.0.1:8001",
				reason.text);
	return r < 0 ? diag_set(diag, r, "%s", reason.text) : 0;
}

static int find_access(const struct doctor_cluster_options *options, struct kube_access *ret,
		       struct diag *diag)
{
	char path[4096];
	int r;

	if (*options->api_server)
		return use_proxy(options->api_server, ret, diag);
	r = find_kubeconfig(options->kubeconfig, path, sizeof(path), diag);
	if (r == 0)
		return from_kubeconfig(path, options->context, ret, diag);
	if (r != -ENOENT)
		return r;
	r = kube_access_in_cluster(IN_CLUSTER_DIR, getenv("KUBERNETES_SERVICE_HOST"),
				   getenv("KUBERNETES_SERVICE_PORT"), ret, diag);
	if (r < 0 || ret->server)
		return r;
	kube_access_release(ret);
	return diag_set(
		diag, -ENOENT,
		"no cluster to ask: there is no --kubeconfig, KUBECONFIG or ~/.kube/config, "
		"and this is not a pod");
}

static int examine(const struct kube_access *access, const struct doctor_cluster_options *options,
		   struct cluster_facts *facts, struct diag *diag)
{
	struct api_client client;
	int r = api_client_open(&client, access, clock_ns(CLOCK_MONOTONIC) + options->time_ns,
				diag);

	if (r == 0)
		r = cluster_read(&client, facts, diag);
	api_client_close(&client);
	return r;
}

int doctor_cluster(const struct doctor_cluster_options *options, bool json,
		   const struct findings_view *view, struct strbuf *out, struct diag *diag)
{
	CLEANUP_FREE struct cluster_findings *findings = calloc(1, sizeof(*findings));
	CLEANUP_FREE struct cluster_facts *facts = calloc(1, sizeof(*facts));
	CLEANUP(kube_access_release) struct kube_access access = { 0 };
	int r;

	if (!findings || !facts)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = find_access(options, &access, diag);
	if (r == 0)
		r = examine(&access, options, facts, diag);
	if (r == 0) {
		cluster_judge(facts, findings);
		if (json)
			cluster_report_json(facts, findings, out);
		else
			cluster_report_text(facts, findings, view, out);
		r = cluster_findings_exit_status(findings);
	}
	cluster_facts_release(facts);
	return r;
}
