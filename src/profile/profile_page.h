/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile for people and for other programs: a flame graph as one file of HTML, which needs no
 * other file and no server, and the JSON of speedscope (file format "0.0.1", "sampled"). Energies
 * are whole microjoules in both, so their sum is the profile's. Names are untrusted, and are text
 * in either format. Pure.
 */
#pragma once

#include "base/strbuf.h"
#include "profile/profile.h"

struct profile_about {
	const char *title;   /* "make", "container checkout" */
	const char *quality; /* "measured", "estimated" */
	const char *caveat;  /* a sentence on what limits the profile; "": none */
	double elapsed_s;
	int64_t began_unix_ns;
	uint32_t frequency_hz; /* of the samples */
};

void profile_page_html(const struct profile *profile, const struct profile_about *about,
		       struct strbuf *out);
void profile_page_speedscope(const struct profile *profile, const struct profile_about *about,
			     struct strbuf *out);
