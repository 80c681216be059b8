/* SPDX-License-Identifier: Apache-2.0 */
/* Exporters that a Prometheus scrapes: the options of run that say which, and how it is asked. */
#pragma once

#include "evidence/pages/exporter.h"
#include "evidence/prometheus_source.h"
#include "kepler-validator/checks/observation.h"
#include "options/option_set.h"

struct prometheus_flags {
	char *url, *token_file, *user, *password_file, *ca_file;
	char *selectors[EXPORTERS_MAX];
	size_t selector_count;
};

/* Rows of struct prometheus_flags. */
#define PROMETHEUS_FLAG_COUNT 6
extern const struct option prometheus_flag_rows[PROMETHEUS_FLAG_COUNT];

/* 0, or -EINVAL with a diagnosis. */
int prometheus_flags_check(const struct prometheus_flags *flags, struct diag *diag);
/*
 * Adds an exporter for each selector, or one without selectors; @common is what all have in
 * common. Nothing without a URL. 0, or -errno with a diagnosis.
 */
int prometheus_flags_open(const struct prometheus_flags *flags,
			  const struct exporter_options *common, struct observation *observation,
			  struct diag *diag);
