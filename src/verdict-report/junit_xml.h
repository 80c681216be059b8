/* SPDX-License-Identifier: Apache-2.0 */
/*
 * junit.xml: a test case for each result, for a CI's page of tests. "Fail" is a failure and
 * "inconclusive" an error, since neither lets a gate pass; "not applicable" is skipped.
 */
#pragma once

#include "base/strbuf.h"
#include "verdict-report/verdict_report.h"

void junit_xml_add(struct strbuf *out, const struct verdict_report *report);
