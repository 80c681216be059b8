/* SPDX-License-Identifier: Apache-2.0 */
/* `kepler doctor --cluster`: what do the Keplers of a Kubernetes cluster lack? */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "doctor/findings.h"

struct doctor_cluster_options {
	const char *kubeconfig; /* "": $KUBECONFIG, ~/.kube/config, the pod's service account */
	const char *context;    /* "": its current-context */
	const char *api_server; /* "", or http://127.0.0.1:8001, where kubectl proxy listens */
	uint64_t time_ns;       /* for all of it */
};

/*
 * Asks, judges, and prints to @out, as JSON or as @view has it. The exit status: 0, 1 if anything
 * is to be fixed, or -errno with a diagnosis where the API server could not be asked.
 */
int doctor_cluster(const struct doctor_cluster_options *options, bool json,
		   const struct findings_view *view, struct strbuf *out, struct diag *diag);
