// SPDX-License-Identifier: Apache-2.0
/*
 * The picture is complete without a script: a page that contains it as an image executes none. The
 * script (flame.svg) finds the frames in the picture, so nothing is in the file twice.
 */
#include "profile/profile_svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

/* Made from flame.svg, which has the place for the frames. */
extern const char flame_svg[];

static const char place[] = "<!-- frames -->\n";

#define WIDTH      1200
#define ROW        18
#define TOP        66
#define BOTTOM     30
#define LETTER     6.8
#define NARROWEST  (1.0 / 3)
#define MARGIN     3
#define NAME_BYTES (PROFILE_NAME_MAX + sizeof("…"))

struct drawing {
	const struct profile *profile;
	const struct profile_about *about;
	uint64_t (*sum_uj)[PROFILE_RUNS]; /* [node_count]: with the children */
	uint64_t *from_uj;                /* [node_count]: what is left of it */
	uint32_t *depth, *order;          /* [node_count]: children of a node stand together */
};

static void release(struct drawing *drawing)
{
	free(drawing->sum_uj);
	free(drawing->from_uj);
	free(drawing->depth);
	free(drawing->order);
}

static int compare_nodes(const void *left, const void *right, void *userdata)
{
	const struct profile *profile = userdata;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct profile_node *first = &profile->nodes[a], *second = &profile->nodes[b];
	int by_name;

	if (first->parent != second->parent)
		return first->parent < second->parent ? -1 : 1;
	by_name = strcmp(profile->frames[first->frame].name, profile->frames[second->frame].name);
	return by_name ? by_name : (a > b) - (a < b);
}

/* Parents come before their children, so sums are made from the end. */
static bool lay_out(struct drawing *drawing)
{
	const struct profile *profile = drawing->profile;
	const uint32_t count = profile->node_count;
	uint64_t next_uj = 0;

	drawing->sum_uj = calloc(count, sizeof(*drawing->sum_uj));
	drawing->from_uj = calloc(count, sizeof(*drawing->from_uj));
	drawing->depth = calloc(count, sizeof(*drawing->depth));
	drawing->order = calloc(count, sizeof(*drawing->order));
	if (!drawing->sum_uj || !drawing->from_uj || !drawing->depth || !drawing->order)
		return false;
	for (uint32_t i = count; i-- > 0;) {
		for (enum profile_run run = 0; run < PROFILE_RUNS; run++) {
			drawing->sum_uj[i][run] += profile->nodes[i].energy_uj[run];
			if (i != PROFILE_ROOT)
				drawing->sum_uj[profile->nodes[i].parent][run] +=
					drawing->sum_uj[i][run];
		}
		drawing->order[i] = i;
	}
	/* The root is its own parent, and stays the first. */
	if (count > 1)
		qsort_r(drawing->order + 1, count - 1, sizeof(*drawing->order), compare_nodes,
			(void *)(uintptr_t)profile);
	for (uint32_t i = 1; i < count; i++) {
		uint32_t node = drawing->order[i], parent = profile->nodes[node].parent;

		if (i == 1 || parent != profile->nodes[drawing->order[i - 1]].parent)
			next_uj = drawing->from_uj[parent];
		drawing->from_uj[node] = next_uj;
		drawing->depth[node] = drawing->depth[parent] + 1;
		next_uj += drawing->sum_uj[node][RUN_NOW];
	}
	return true;
}

static double scaled(const struct drawing *drawing, uint64_t energy_uj)
{
	uint64_t all_uj = drawing->sum_uj[PROFILE_ROOT][RUN_NOW];

	return all_uj ? (double)energy_uj * WIDTH / (double)all_uj : 0;
}

static double width_of(const struct drawing *drawing, uint32_t node)
{
	return node == PROFILE_ROOT ? WIDTH : scaled(drawing, drawing->sum_uj[node][RUN_NOW]);
}

static void add_text(struct strbuf *out, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c == '<')
			strbuf_add_str(out, "&lt;");
		else if (*c == '>')
			strbuf_add_str(out, "&gt;");
		else if (*c == '&')
			strbuf_add_str(out, "&amp;");
		else
			strbuf_add_char(out, (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c);
	}
}

static void add_joules(struct strbuf *out, uint64_t energy_uj)
{
	if (energy_uj >= 1000000)
		strbuf_addf(out, "%.4g J", (double)energy_uj / 1e6);
	else if (energy_uj >= 1000)
		strbuf_addf(out, "%.4g mJ", (double)energy_uj / 1e3);
	else
		strbuf_addf(out, "%" PRIu64 " µJ", energy_uj);
}

static void add_watts(struct strbuf *out, const struct drawing *drawing, uint64_t energy_uj)
{
	if (drawing->about->elapsed_s > 0)
		strbuf_addf(out, ", %.4g W", (double)energy_uj / 1e6 / drawing->about->elapsed_s);
}

static void add_value(struct strbuf *out, const struct drawing *drawing, uint32_t node)
{
	const uint64_t *sum_uj = drawing->sum_uj[node];

	add_joules(out, sum_uj[RUN_NOW]);
	add_watts(out, drawing, sum_uj[RUN_NOW]);
	strbuf_addf(out, ", %.2f %%", scaled(drawing, sum_uj[RUN_NOW]) * 100 / WIDTH);
	if (drawing->profile->is_compared) {
		strbuf_add_str(out, "; before ");
		add_joules(out, sum_uj[RUN_BEFORE]);
	}
}

/* Red: more energy than before; blue: less. */
static void add_change(struct strbuf *out, const uint64_t *sum_uj)
{
	double now = (double)sum_uj[RUN_NOW], before = (double)sum_uj[RUN_BEFORE];
	double most = now > before ? now : before;
	double change = most > 0 ? (now - before) / most : 0, size = change < 0 ? -change : change;

	strbuf_addf(out, "hsl(%d,%.0f%%,%.0f%%)", change > 0 ? 8 : 215, 20 + 70 * size,
		    88 - 22 * size);
}

/* The colours of flame.html. */
static void add_colour(struct strbuf *out, const struct drawing *drawing, uint32_t node)
{
	const struct profile_frame *frame =
		&drawing->profile->frames[drawing->profile->nodes[node].frame];
	uint32_t hash = 0, turn;

	for (const char *c = frame->name; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	turn = hash % 24;
	if (drawing->profile->is_compared)
		add_change(out, drawing->sum_uj[node]);
	else if (node == PROFILE_ROOT || frame->kind == FRAME_NOTE)
		strbuf_add_str(out, "hsl(220,8%,78%)");
	else if (frame->kind == FRAME_OWNER)
		strbuf_addf(out, "hsl(%u,42%%,76%%)", 205 + turn / 2);
	else if (frame->kind == FRAME_KERNEL)
		strbuf_addf(out, "hsl(%u,62%%,%u%%)", (352 + turn / 2) % 360, 74 + hash % 6);
	else if (frame->kind == FRAME_JIT)
		strbuf_addf(out, "hsl(%u,45%%,%u%%)", 105 + turn, 70 + hash % 7);
	else if (frame->kind == FRAME_INLINED)
		strbuf_addf(out, "hsl(%u,78%%,%u%%)", 44 + turn / 2, 78 + hash % 6);
	else
		strbuf_addf(out, "hsl(%u,82%%,%u%%)", 22 + turn, 70 + hash % 7);
}

/* As many letters of the name as there is room for; a letter may have several bytes. */
static void add_fitting(struct strbuf *out, const char *name, double width)
{
	size_t room = width > 2 * MARGIN ? (size_t)((width - 2 * MARGIN) / LETTER) : 0;
	size_t letters = 0, cut = 0, at = 0;
	char text[NAME_BYTES];

	if (room < 3)
		return;
	for (; at < PROFILE_NAME_MAX && name[at]; at++) {
		bool begins = ((unsigned char)name[at] & 0xc0) != 0x80;

		if (begins && letters == room - 1)
			cut = at;
		letters += begins;
	}
	if (letters <= room)
		cut = at;
	memcpy(text, name, cut);
	text[cut] = '\0';
	add_text(out, text);
	if (letters > room)
		strbuf_add_str(out, "…");
}

static void add_frame(struct strbuf *out, const struct drawing *drawing, uint32_t node)
{
	const struct profile *profile = drawing->profile;
	const char *name =
		node == PROFILE_ROOT ? "all" : profile->frames[profile->nodes[node].frame].name;
	double x = scaled(drawing, drawing->from_uj[node]), width = width_of(drawing, node);
	uint32_t y = TOP + drawing->depth[node] * ROW;

	strbuf_add_str(out, "<g><title>");
	add_text(out, name);
	strbuf_add_str(out, ": ");
	add_value(out, drawing, node);
	strbuf_addf(out,
		    "</title><rect x=\"%.3f\" y=\"%u\" width=\"%.3f\" height=\"%d\" rx=\"2\" "
		    "fill=\"",
		    x, y, width, ROW - 1);
	add_colour(out, drawing, node);
	strbuf_addf(out, "\"/><text x=\"%.1f\" y=\"%u\">", x + MARGIN, y + ROW - 6);
	add_fitting(out, name, width);
	strbuf_add_str(out, "</text></g>\n");
}

static void add_head(struct strbuf *out, const struct drawing *drawing)
{
	const struct profile_about *about = drawing->about;
	const uint64_t *sum_uj = drawing->sum_uj[PROFILE_ROOT];

	strbuf_addf(out,
		    "<rect id=\"paper\" width=\"100%%\" height=\"100%%\"/>\n"
		    "<text id=\"title\" x=\"%d\" y=\"20\">Energy of ",
		    MARGIN);
	add_text(out, about->title);
	strbuf_addf(out, "</text>\n<text id=\"sum\" x=\"%d\" y=\"38\">", MARGIN);
	add_joules(out, sum_uj[RUN_NOW]);
	add_watts(out, drawing, sum_uj[RUN_NOW]);
	strbuf_addf(out, ", %s, in %.4g s", about->quality, about->elapsed_s);
	if (drawing->profile->is_compared)
		strbuf_add_str(out, ". Red functions used more than before, blue ones less");
	if (about->caveat[0])
		strbuf_add_str(out, ". ");
	add_text(out, about->caveat);
	strbuf_addf(
		out,
		"</text>\n<text id=\"detail\" x=\"%d\" y=\"56\"></text>\n"
		"<text id=\"found\" x=\"%d\" y=\"20\" text-anchor=\"end\"></text>\n"
		"<text id=\"search\" class=\"command\" style=\"display:none\" x=\"%d\" y=\"20\" "
		"text-anchor=\"end\">Search</text>\n"
		"<text id=\"reset\" class=\"command\" style=\"display:none\" x=\"%d\" y=\"20\" "
		"text-anchor=\"end\">Whole profile</text>\n",
		MARGIN, WIDTH - 140, WIDTH - 90, WIDTH - MARGIN);
}

static void add_picture(struct strbuf *out, const struct drawing *drawing, uint32_t deepest)
{
	add_head(out, drawing);
	strbuf_add_str(out, "<g id=\"frames\">\n");
	for (uint32_t i = 0; i < drawing->profile->node_count; i++) {
		if (width_of(drawing, drawing->order[i]) >= NARROWEST)
			add_frame(out, drawing, drawing->order[i]);
	}
	strbuf_addf(out,
		    "</g>\n<text id=\"keys\" class=\"command\" style=\"display:none;cursor:auto;"
		    "text-decoration:none\" x=\"%d\" y=\"%u\">arrow keys: neighbours · Enter: zoom "
		    "· Esc: whole profile · /: search</text>\n",
		    MARGIN, TOP + (deepest + 1) * ROW + BOTTOM / 2);
}

void profile_svg(const struct profile *profile, const struct profile_about *about,
		 struct strbuf *out)
{
	CLEANUP(release) struct drawing drawing = { .profile = profile, .about = about };
	const char *at = strstr(flame_svg, place);
	uint32_t deepest = 0;

	if (!lay_out(&drawing)) {
		out->failed = true;
		return;
	}
	for (uint32_t i = 0; i < profile->node_count; i++) {
		if (width_of(&drawing, i) >= NARROWEST && drawing.depth[i] > deepest)
			deepest = drawing.depth[i];
	}
	strbuf_addf(out,
		    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
		    "xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"100%%\" "
		    "preserveAspectRatio=\"xMinYMin\">\n"
		    "<title>Energy of ",
		    WIDTH, TOP + (deepest + 1) * ROW + BOTTOM);
	add_text(out, about->title);
	strbuf_add_str(out, "</title>\n");
	strbuf_add(out, flame_svg, (size_t)(at - flame_svg));
	add_picture(out, &drawing, deepest);
	strbuf_add_str(out, at + strlen(place));
	strbuf_add_str(out, "</svg>\n");
}
