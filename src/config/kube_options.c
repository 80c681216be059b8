// SPDX-License-Identifier: Apache-2.0
#include "config/kube_options.h"

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "config/option_rows.h"
#include "kube/kube.h"
#include "kube/pods/pod_resources.h"
#include "net/http_unix.h"

static const struct option_choice kube_pods[] = { { "auto", KUBE_AUTO },
						  { "kubelet", KUBE_KUBELET },
						  { "apiserver", KUBE_APISERVER },
						  { "off", KUBE_OFF },
						  { 0 } };

static int check_pod_resources(const char *text, struct diag *diag)
{
	if (strcmp(text, POD_RESOURCES_AUTO) == 0 || strcmp(text, POD_RESOURCES_OFF) == 0)
		return 0;
	if (text[0] == '/' && strlen(text) <= HTTP_UNIX_PATH_MAX)
		return 0;
	return diag_set(diag, -EINVAL,
			"must be auto, off or the absolute path of a socket, not \"%.100s\"", text);
}

static const struct option kube_rows[] = {
	{ "kube.pods", NULL, OPTION_ENUM, FIELD(kube_options, source), .choices = kube_pods,
	  .default_text = "auto", .metavar = "SOURCE",
	  .help = "Source of the names of this node's pods: the kubelet, the API server, or off. "
		  "auto: in a pod or with kube.kubeconfig, the kubelet if it responds, otherwise "
		  "the API server." },
	{ "kube.kubeconfig", "kube.config", OPTION_STRING, FIELD(kube_options, kubeconfig),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "Kubeconfig file for the API server. Empty: use the pod's service account." },
	{ "kube.context", NULL, OPTION_STRING, FIELD(kube_options, context), .default_text = "",
	  .metavar = "NAME", .may_be_empty = true,
	  .help = "Context in the kubeconfig. Empty: its current-context." },
	{ "kube.node-name", NULL, OPTION_STRING, FIELD(kube_options, node_name), .default_text = "",
	  .metavar = "NAME", .may_be_empty = true,
	  .help = "Name of this node in Kubernetes. Empty: $NODE_NAME, otherwise the host name." },
	{ "kube.kubelet-url", NULL, OPTION_STRING, FIELD(kube_options, kubelet_url),
	  .default_text = "", .metavar = "URL", .may_be_empty = true,
	  .help = "URL of the kubelet. Empty: https://$NODE_IP:10250, otherwise "
		  "https://127.0.0.1:10250." },
	{ "kube.kubelet-ca-file", NULL, OPTION_STRING, FIELD(kube_options, kubelet_ca_file),
	  .default_text = "", .metavar = "FILE", .may_be_empty = true,
	  .help = "CA certificate (PEM) for the kubelet. Empty: the API server's CA." },
	{ "kube.pod-labels", NULL, OPTION_STRING, FIELD(kube_options, pod_labels),
	  .default_text = "", .metavar = "NAMES", .may_be_empty = true,
	  .help = "Pod labels and annotations to add to the series of pods, separated by commas, "
		  "such as app,team." },
	{ "kube.pod-resources", NULL, OPTION_STRING, FIELD(kube_options, pod_resources),
	  .default_text = POD_RESOURCES_AUTO, .metavar = "PATH", .check = check_pod_resources,
	  .help = "Socket of the kubelet's PodResources API, which reports the containers that "
		  "GPUs "
		  "are assigned to: a path, off, or auto. auto: " POD_RESOURCES_SOCKET
		  " if its directory exists when Kepler starts and names come from Kubernetes. "
		  "Used only with gpu.idle=holder." },
};

const struct option_section *kube_options_at(size_t index)
{
	static const struct option_section section = { kube_rows, ARRAY_SIZE(kube_rows), 0 };

	return index == 0 ? &section : NULL;
}
