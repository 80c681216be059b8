// SPDX-License-Identifier: Apache-2.0
#include "doctor/peers/doctor_otlp.h"

#include "export/otlp/otlp_probe.h"

#define TOPIC "receivers"

void doctor_examine_otlp(struct findings *findings, const struct config *config)
{
	struct diag diag = { 0 };
	char site[160];
	int r = otlp_probe(&config->push.otlp, site, sizeof(site), &diag);

	if (!site[0])
		return;
	if (r == 0)
		findings_add(
			findings, FINDING_OK, TOPIC, NULL,
			"%s accepts OTLP; kepler_exporter_send_samples_total of a running Kepler "
			"counts the data that it has accepted",
			site);
	else
		findings_add(findings, FINDING_FIX, TOPIC,
			     "check --otlp.endpoint, its port (4318 for HTTP) and the token or "
			     "headers; docs/otlp.md",
			     "no energy can be sent by OTLP: %s", diag.text);
}
