// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_page.h"

#include <string.h>

/* Made from flame.html, which has the place for the data. */
extern const char flame_page[];

static const char place[] = "<!-- data -->\n";

/* A string of JSON in which no "<" can end the script element around it. */
static void add_text(struct strbuf *out, const char *text)
{
	struct strbuf json = STRBUF_INIT;

	strbuf_add_json(&json, text);
	strbuf_add_char(out, '"');
	for (const char *c = json.data ? json.data : ""; *c; c++) {
		if (*c == '<')
			strbuf_add_str(out, "\\u003c");
		else
			strbuf_add_char(out, *c);
	}
	strbuf_add_char(out, '"');
	out->failed |= json.failed;
	strbuf_release(&json);
}

static void add_frames(const struct profile *profile, struct strbuf *out)
{
	for (uint32_t i = 0; i < profile->frame_count; i++) {
		strbuf_add_str(out, i ? ",\n[" : "[");
		add_text(out, profile->frames[i].name);
		strbuf_addf(out, ",%d]", (int)profile->frames[i].kind);
	}
}

static void add_nodes(const struct profile *profile, struct strbuf *out)
{
	for (uint32_t i = 0; i < profile->node_count; i++) {
		const struct profile_node *node = &profile->nodes[i];

		strbuf_addf(out, "%s[%u,%u,%llu", i ? ",\n" : "", node->parent, node->frame,
			    (unsigned long long)node->energy_uj[RUN_NOW]);
		if (profile->is_compared)
			strbuf_addf(out, ",%llu", (unsigned long long)node->energy_uj[RUN_BEFORE]);
		strbuf_add_char(out, ']');
	}
}

void profile_page_html(const struct profile *profile, const struct profile_about *about,
		       struct strbuf *out)
{
	const char *at = strstr(flame_page, place);

	strbuf_add(out, flame_page, (size_t)(at - flame_page));
	strbuf_add_str(out, "<script type=\"application/json\" id=\"profile\">{\"title\":");
	add_text(out, about->title);
	strbuf_add_str(out, ",\"quality\":");
	add_text(out, about->quality);
	strbuf_add_str(out, ",\"caveat\":");
	add_text(out, about->caveat);
	strbuf_addf(out, ",\"seconds\":%.3f,\"compared\":%s,\"frames\":[", about->elapsed_s,
		    profile->is_compared ? "true" : "false");
	add_frames(profile, out);
	strbuf_add_str(out, "],\n\"nodes\":[");
	add_nodes(profile, out);
	strbuf_add_str(out, "]}</script>\n");
	strbuf_add_str(out, at + strlen(place));
}

/* The frames of the node's stack, the outermost first. */
static void add_stack(const struct profile *profile, uint32_t node, struct strbuf *out)
{
	uint32_t path[PROFILE_DEPTH_MAX];
	size_t depth = profile_stack(profile, node, path);

	strbuf_add_char(out, '[');
	if (!depth)
		strbuf_add_char(out, '0');
	while (depth) {
		strbuf_add_u64(out, path[--depth]);
		if (depth)
			strbuf_add_char(out, ',');
	}
	strbuf_add_char(out, ']');
}

/* Appends the stacks with energy, or their energies; returns the sum. */
static uint64_t add_samples(const struct profile *profile, bool weights, struct strbuf *out)
{
	uint64_t sum_uj = 0;

	for (uint32_t i = 0; i < profile->node_count; i++) {
		uint64_t energy_uj = profile->nodes[i].energy_uj[RUN_NOW];

		if (!energy_uj)
			continue;
		if (sum_uj)
			strbuf_add_str(out, ",\n");
		if (weights)
			strbuf_add_u64(out, energy_uj);
		else
			add_stack(profile, i, out);
		sum_uj += energy_uj;
	}
	return sum_uj;
}

/* speedscope knows no unit of energy: "none" shows the numbers as they are, which are µJ. */
void profile_page_speedscope(const struct profile *profile, const struct profile_about *about,
			     struct strbuf *out)
{
	uint64_t sum_uj;

	strbuf_add_str(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			    "\"exporter\":\"kepler\",\n\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < profile->frame_count; i++) {
		strbuf_add_str(out, i ? ",\n{\"name\":" : "{\"name\":");
		add_text(out, profile->frames[i].name);
		strbuf_add_char(out, '}');
	}
	strbuf_add_str(out, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":");
	add_text(out, about->title);
	strbuf_add_str(out, ",\"unit\":\"none\",\"startValue\":0,\n\"samples\":[");
	(void)add_samples(profile, false, out);
	strbuf_add_str(out, "],\n\"weights\":[");
	sum_uj = add_samples(profile, true, out);
	strbuf_addf(out, "],\n\"endValue\":%llu}]}\n", (unsigned long long)sum_uj);
}
