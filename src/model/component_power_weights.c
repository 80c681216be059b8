// SPDX-License-Identifier: Apache-2.0
/*
 * Written by "kepler-model train-builtin components"; do not edit. Fitted weights, our own.
 *
 * Fitted to RAPL readings of nx12 and of four bare-metal machines of EC2. Errors of machines that
 * were held out, with all others of their CPU model:
 * package: mean error over levels; idle, half, full load; rows within the bound
 *   c5.metal           83.6 W   25.4 %    -18   -42    -8 %   92.2 %
 *   m5.metal           24.4 W   10.4 %     +7   -22    +0 %  100.0 %
 *   r5.metal           18.5 W    9.0 %    +10   -19    +3 %  100.0 %
 *   m7i.metal-24xl     93.9 W   38.6 %    -51   -39   -35 %   83.6 %
 *   nx12               35.5 W   25.7 %    +38    -8   +61 %   99.7 %
 *   mean (absolute)    51.2 W   21.8 %    +25   +26   +21 %   95.1 %
 * dram: mean error over levels; idle, half, full load; rows within the bound
 *   c5.metal           12.9 W   78.6 %    +35   +72   +87 %  100.0 %
 *   m5.metal           12.4 W   60.1 %    +85   +42   +49 %  100.0 %
 *   r5.metal            3.1 W    9.7 %    +29    -5    -3 %  100.0 %
 *   m7i.metal-24xl      3.9 W   12.4 %    -25    +5   +21 %  100.0 %
 *   nx12               35.6 W   65.3 %    -61   -67   -63 %   92.0 %
 *   mean (absolute)    13.6 W   45.2 %    +47   +38   +45 %   98.4 %
 */
#include "model/component_power.h"

/* clang-format off */
static const struct component_weights weights = {
	.share = {
		{ 0.161028, 0.265836, 0.343203, 0.44458, 0.608364, 0.722496, 0.765747, 0.832127, 0.913581, 0.943731, 0.95686 },
		{ 5.75313, 6.25772, 6.72877, 6.96377, 7.59015, 7.90033, 7.96034, 8.06737, 8.10539, 8.16214, 8.20572 },
	},
	.spread = {
		{ 0.945342, 0.734515, 0.661543, 0.478335, 0.82221, 0.912889, 0.841945, 0.824395, 0.81161, 0.781013, 0.756211 },
		{ 1.33362, 1.62929, 1.58603, 1.58914, 1.56064, 1.47814, 1.45774, 1.43943, 1.44241, 1.43636, 1.44881 },
	},
};
/* clang-format on */

const struct component_model builtin_component_model = {
	.name = "rapl-components-1",
	.trained_on = "RAPL readings of 5 machines",
	.mape_percent = { 21.8, 45.2 },
	.mae_w = { 51.2, 13.6 },
	.weights = &weights,
};
