/* SPDX-License-Identifier: Apache-2.0 */
/* The state of an exporter between its pages: for exporter.c and exporter_page.c alone. */
#pragma once

#include "base/strbuf.h"
#include "evidence/pages/exporter_page.h"
#include "evidence/pages/exporter_rows.h"
#include "evidence/prometheus_source.h"
#include "net/http_client.h"

/* The state while one page is read, and between pages. */
struct exporter_state {
	struct exporter_options options;
	struct http_client *http;
	struct prometheus_source *prometheus; /* NULL: its pages come from the URL */
	struct strbuf page;
	struct exporter_rows rows;
	enum exporter_kind names; /* the exporter that names zones this way */
	/* These describe the page that is being read. */
	bool has_own, has_classic, has_grown;
	enum exporter_kind seen, hint;
	uint64_t series, energies;
	double named_s, span_s;
	char typed[256], type[32];
	/* These describe earlier pages. */
	double asked_s, changed_s;
};
