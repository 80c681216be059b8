/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flame graph as one file of SVG, which a page or a document can contain as a picture, and which
 * zooms and searches where a browser opens it by itself. Frames that would be narrower than a third
 * of a pixel of 1,200 are left out. Names are untrusted, and are text. Pure.
 */
#pragma once

#include "profile/profile_page.h"

void profile_svg(const struct profile *profile, const struct profile_about *about,
		 struct strbuf *out);
