/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.html: the report as one page that needs nothing else: no script, no font, no network. The
 * verdict is on top, then a table of all results, then each result with its pictures, the machine
 * and the options. Of more than HTML_PAGE_CHARTS_MAX comparisons, those with the worst verdicts
 * have pictures.
 */
#pragma once

#include "base/strbuf.h"
#include "verdict-report/verdict_report.h"

#define HTML_PAGE_CHARTS_MAX 40

/* 0 or -ENOMEM. */
int html_page_add(struct strbuf *out, const struct verdict_report *report);
