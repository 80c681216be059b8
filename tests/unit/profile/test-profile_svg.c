// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_svg.h"

#include <string.h>

#include "tests/unit/unit.h"

static const struct profile_about about = { "make <all>", "measured", "", 2 };

static uint32_t add(struct profile *profile, uint32_t parent, const char *name,
		    enum frame_kind kind, uint64_t energy_uj)
{
	uint32_t node = profile_child(profile, parent, profile_frame(profile, name, kind));

	profile->nodes[node].energy_uj[RUN_NOW] += energy_uj;
	return node;
}

static void draw(const struct profile *profile, struct strbuf *out)
{
	profile_svg(profile, &about, out);
	assert_int_equal(strbuf_error(out), 0);
}

/* Children stand side by side below their parent, in the order of their names. */
static void frames_are_as_wide_as_their_energy(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct profile profile;
	uint32_t owner;

	assert_int_equal(profile_init(&profile, 100), 0);
	owner = add(&profile, PROFILE_ROOT, "make", FRAME_OWNER, 1000000);
	add(&profile, owner, "b<c>", FRAME_USER, 2000000);
	add(&profile, owner, "a", FRAME_INLINED, 1000000);
	add(&profile, owner, "too narrow", FRAME_USER, 100);
	draw(&profile, &out);
	assert_non_null(strstr(out.data, "<title>Energy of make &lt;all&gt;</title>"));
	assert_non_null(strstr(out.data, "<title>all: 4 J, 2 W, 100.00 %</title>"
					 "<rect x=\"0.000\" y=\"66\" width=\"1200.000\""));
	assert_non_null(strstr(out.data, "<title>a: 1 J, 0.5 W, 25.00 %</title>"
					 "<rect x=\"0.000\" y=\"102\" width=\"299.993\""));
	assert_non_null(strstr(out.data, "<title>b&lt;c&gt;: 2 J, 1 W, 50.00 %</title>"
					 "<rect x=\"299.993\" y=\"102\" width=\"599.985\""));
	assert_null(strstr(out.data, "too narrow"));
	assert_non_null(strstr(out.data, ">b&lt;c&gt;</text></g>"));
	strbuf_release(&out);
	profile_release(&profile);
}

static void long_names_are_cut_between_letters(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct profile profile;
	uint32_t owner;

	assert_int_equal(profile_init(&profile, 100), 0);
	owner = add(&profile, PROFILE_ROOT, "make", FRAME_OWNER, 95000);
	add(&profile, owner, "äöüäöüäöüäöü", FRAME_USER, 5000); /* 60 pixels: 7 letters */
	draw(&profile, &out);
	assert_non_null(strstr(out.data, ">äöüäöü…</text>"));
	strbuf_release(&out);
	profile_release(&profile);
}

/* A profile without energy is a picture all the same. */
static void nothing_is_drawn_of_nothing(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct profile profile;

	assert_int_equal(profile_init(&profile, 100), 0);
	draw(&profile, &out);
	assert_non_null(strstr(out.data, "<title>all: 0 µJ, 0 W, 0.00 %</title>"));
	assert_non_null(strstr(out.data, "</svg>\n"));
	strbuf_release(&out);
	profile_release(&profile);
}

static void comparisons_are_red_and_blue(void **state)
{
	struct strbuf out = STRBUF_INIT;
	struct profile profile;
	uint32_t node;

	assert_int_equal(profile_init(&profile, 100), 0);
	profile.is_compared = true;
	(void)add(&profile, PROFILE_ROOT, "more", FRAME_OWNER, 3000);
	node = add(&profile, PROFILE_ROOT, "less", FRAME_OWNER, 1000);
	profile.nodes[node].energy_uj[RUN_BEFORE] = 5000;
	draw(&profile, &out);
	assert_non_null(
		strstr(out.data, "<title>more: 3 mJ, 0.0015 W, 75.00 %; before 0 µJ</title>"));
	assert_non_null(strstr(out.data, "fill=\"hsl(8,90%,66%)\""));
	assert_non_null(strstr(out.data, "fill=\"hsl(215,76%,70%)\""));
	strbuf_release(&out);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_as_wide_as_their_energy),
		cmocka_unit_test(long_names_are_cut_between_letters),
		cmocka_unit_test(nothing_is_drawn_of_nothing),
		cmocka_unit_test(comparisons_are_red_and_blue),
	};

	return unit_run(tests);
}
