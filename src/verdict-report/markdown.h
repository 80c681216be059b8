/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.md: the report in the table form that the reports of upstream's validator have (Name, MSE,
 * MAPE, MAE, Pass / Fail), with the error that decides, the cause and the details of each result.
 */
#pragma once

#include "base/strbuf.h"
#include "verdict-report/verdict_report.h"

void markdown_add(struct strbuf *out, const struct verdict_report *report);
