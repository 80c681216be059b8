// SPDX-License-Identifier: Apache-2.0
#include "stat/stat_phases.h"

#include <stdio.h>

#include "base/macro.h"
#include "stat/stat_text.h"

void stat_phases_end(struct stat_phases *phases, const struct stat_moment *now)
{
	struct stat_moment *used;

	if (!phases->count)
		return;
	used = &phases->phases[phases->count - 1].used;
	used->seconds = now->seconds - phases->began.seconds;
	used->joules = now->joules - phases->began.joules;
	used->cpu_seconds = now->cpu_seconds - phases->began.cpu_seconds;
}

void stat_phases_begin(struct stat_phases *phases, const char *name, const struct stat_moment *now)
{
	struct stat_phase *phase;

	if (phases->count == STAT_PHASES_MAX)
		return;
	stat_phases_end(phases, now);
	phases->began = *now;
	phase = &phases->phases[phases->count++];
	(void)snprintf(phase->name, sizeof(phase->name), "%s", name);
	for (char *c = phase->name; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
}

void stat_phases_text(const struct stat_phases *phases, struct strbuf *out)
{
	for (size_t i = 0; i < phases->count; i++) {
		const struct stat_phase *phase = &phases->phases[i];
		CLEANUP(strbuf_release) struct strbuf number = STRBUF_INIT;

		stat_add_value(&number, phase->used.joules);
		strbuf_addf(out, "%18s %-5s %-24s # phase of %.3f s, %.3f s of CPU time\n",
			    number.data ? number.data : "", "J", phase->name, phase->used.seconds,
			    phase->used.cpu_seconds);
	}
}

void stat_phases_json(const struct stat_phases *phases, struct strbuf *out)
{
	strbuf_add_str(out, ",\n \"phases\":[");
	for (size_t i = 0; i < phases->count; i++) {
		const struct stat_phase *phase = &phases->phases[i];

		strbuf_addf(out, "%s\n  {\"phase\":\"", i ? "," : "");
		strbuf_add_json(out, phase->name);
		strbuf_addf(out,
			    "\",\"joules\":%.6f,\"elapsed_seconds\":%.6f,\"cpu_seconds\":%.6f}",
			    phase->used.joules, phase->used.seconds, phase->used.cpu_seconds);
	}
	strbuf_add_char(out, ']');
}
