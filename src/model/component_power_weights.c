// SPDX-License-Identifier: Apache-2.0
/*
 * Written by "builtin-models components"; do not edit. Fitted weights, our own.
 *
 * Fitted to RAPL readings of nx12 and of four bare-metal machines of EC2. Errors of machines that
 * were held out, with all others of their CPU model:
 * package: mean error over levels; idle, half, full load; rows within the bound
 *   c5.metal           81.9 W   24.9 %    -16   -41    -7 %   94.8 %
 *   m5.metal           26.3 W   11.1 %     +9   -23    +0 %  100.0 %
 *   r5.metal           19.6 W    9.5 %    +10   -20    +3 %  100.0 %
 *   m7i.metal-24xl     95.4 W   39.2 %    -51   -41   -35 %   85.5 %
 *   nx12               34.5 W   25.0 %    +38    -9   +61 %   99.7 %
 *   mean (absolute)    51.5 W   21.9 %    +25   +27   +21 %   96.0 %
 * dram: mean error over levels; idle, half, full load; rows within the bound
 *   c5.metal           13.1 W   79.8 %    +37   +73   +87 %  100.0 %
 *   m5.metal           12.3 W   60.1 %    +88   +42   +49 %  100.0 %
 *   r5.metal            3.1 W    9.7 %    +29    -5    -3 %  100.0 %
 *   m7i.metal-24xl      3.8 W   12.2 %    -25    +4   +21 %  100.0 %
 *   nx12               35.6 W   65.4 %    -61   -67   -63 %   92.4 %
 *   mean (absolute)    13.6 W   45.4 %    +48   +38   +45 %   98.5 %
 */
#include "model/component_power.h"

/* clang-format off */
static const struct component_weights weights = {
	.share = {
		{ 0.161028, 0.265836, 0.343203, 0.44458, 0.608364, 0.722496, 0.765747, 0.832127, 0.913581, 0.943731, 0.95686 },
		{ 5.75313, 6.25772, 6.72877, 6.96377, 7.59015, 7.90033, 7.96034, 8.06737, 8.10539, 8.16214, 8.20572 },
	},
	.spread = {
		{ 0.941572, 0.737454, 0.645049, 0.492514, 0.843597, 0.932994, 0.853199, 0.826007, 0.802113, 0.769317, 0.755338 },
		{ 1.3441, 1.63621, 1.59406, 1.59565, 1.56683, 1.48495, 1.46408, 1.44511, 1.44652, 1.43925, 1.44978 },
	},
};
/* clang-format on */

const struct component_model builtin_component_model = {
	.name = "rapl-components-1",
	.trained_on = "RAPL readings of 5 machines",
	.mape_percent = { 21.9, 45.4 },
	.mae_w = { 51.5, 13.6 },
	.weights = &weights,
};
