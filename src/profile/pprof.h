/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The format of pprof: the protobuf message perftools.profiles.Profile, which a file has compressed
 * with gzip. A sample is a stack with three values: samples/count, cpu/nanoseconds and
 * energy/microjoules. Energy is shown by default. The values are integers and sum to the profile's.
 * The same profile gives the same bytes. Of a comparison, the present run is written. Format:
 * fields as of google/pprof, proto/profile.proto. Pure.
 *
 * Functions of one name and kind are one function, which has a mapping only if it is in one file. A
 * location has no address.
 */
#pragma once

#include "base/strbuf.h"
#include "profile/profile_page.h"

void pprof_write(const struct profile *profile, const struct profile_about *about,
		 struct strbuf *out);
