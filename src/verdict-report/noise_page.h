/* SPDX-License-Identifier: Apache-2.0 */
/* noise.html: a report on noise as one page with pictures, without scripts or outside resources. */
#pragma once

#include "base/strbuf.h"
#include "verdict-report/noise_report.h"

void noise_html_add(struct strbuf *out, const struct noise_report *report);
