/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of the whole machine, as its management controller reports it over the network
 * (Redfish, DMTF DSP0266), by HTTP Basic or a token, over verified TLS. Each resource is asked at
 * most once a second, and has 5 s to answer.
 */
#pragma once

#include "base/diag.h"
#include "truth/truth_meters.h"

/*
 * Looks for the power of the chassis that the URL names, or of the only one that has power: in
 * EnvironmentMetrics, in Power, else as the sum of the inputs of its power supplies. 0, or -errno
 * with a diagnosis, which never contains the password or the token.
 */
int truth_search_redfish(const struct truth_redfish *options, struct truth *truth,
			 struct diag *diag);
