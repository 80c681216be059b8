/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings about a cluster: what is wrong with which object, why that matters, and the one command
 * that mends or shows it. The same finding on several nodes is one, with their names. Pure.
 */
#pragma once

#include <stddef.h>

#include "doctor/findings.h"

#define CLUSTER_FINDINGS_MAX 128
#define FINDING_NODES_MAX    16 /* names that are kept; all are counted */

struct cluster_finding {
	enum finding_level level; /* FINDING_NOTE, FINDING_FIX or FINDING_FAIL */
	const char *id;           /* "pod-not-running", static: the kind of finding */
	char object[320];         /* "DaemonSet kepler/kepler" */
	char what[256];           /* begins in lower case, without a full stop */
	char why[512];            /* a sentence without a full stop */
	char command[640];        /* of the first node, where it has one */
	char nodes[FINDING_NODES_MAX][254];
	size_t node_count; /* may exceed FINDING_NODES_MAX */
};

struct cluster_findings {
	struct cluster_finding list[CLUSTER_FINDINGS_MAX];
	size_t count, left_out; /* beyond the limit */
};

/*
 * Texts of others, such as names in monitors and labels of pages, made fit for a terminal and for
 * JSON, also where they were cut. cluster_findings_add() does so with all texts of a finding.
 */
void cluster_findings_clean(char *text, size_t size);
/* Its object is "KIND NS/NAME". */
void cluster_finding_name(struct cluster_finding *finding, const char *kind, const char *ns,
			  const char *name);
/*
 * Adds @draft, or only its node @node (NULL: none) if there is a finding with its id, object and
 * text already.
 */
void cluster_findings_add(struct cluster_findings *findings, const struct cluster_finding *draft,
			  const char *node);
/* The worst first, otherwise as they were added. */
void cluster_findings_sort(struct cluster_findings *findings);
/* 1 if anything is to be fixed or fails, else 0: the exit status. */
int cluster_findings_exit_status(const struct cluster_findings *findings);
