/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exporter that is read again and again over HTTP, and what its pages have said: the power of
 * each zone at each level as series, and everything that contradicts itself.
 *
 * Energy is counted row by row, as what each series has grown by since the page before; a series
 * that is new counts as a whole, unless the page is the first or it is the node's. A page with the
 * same numbers as the one before is not a new sample: exporters update at their own interval. The
 * time of a page is the one that it names, if that is possible, else half way between the
 * question and the one before.
 *
 * A page may be hostile: its size, its time and its rows are limited, and excess is counted.
 */
#pragma once

#include "base/diag.h"
#include "evidence/pages/exporter_page.h"

#define EXPORTER_PAGE_MAX (64U * 1024 * 1024)

/* 0 or -errno with a diagnosis. @options and what it has are borrowed. */
int exporter_open(const struct exporter_options *options, struct exporter **ret, struct diag *diag);
/*
 * Asks for the page once; @now_s is the time of the question. A page that does not come is counted
 * in no_page. 0 or -ENOMEM.
 */
int exporter_scrape(struct exporter *exporter, double now_s);
/* Once, after the last page: finishes its series. */
void exporter_finish(struct exporter *exporter);
void exporter_free(struct exporter *exporter);
