// SPDX-License-Identifier: Apache-2.0
/*
 * Written by "kepler-model train-builtin components"; do not edit. Fitted weights, our own.
 *
 * Fitted to RAPL readings of nx12 and of four bare-metal machines of EC2. Errors of machines that
 * were held out, with all others of their CPU model:
 * package: mean error over levels; idle, half, full load; rows within the bound
 *   c5.metal           77.4 W   24.0 %    -18   -41    -6 %   94.8 %
 *   m5.metal           18.1 W    8.3 %     +7   -20    +0 %  100.0 %
 *   r5.metal           20.0 W    9.2 %    +10   -15    +3 %  100.0 %
 *   m7i.metal-24xl     91.2 W   37.8 %    -51   -40   -35 %   88.2 %
 *   nx12               38.0 W   27.1 %    +38    -9   +61 %   99.7 %
 *   mean (absolute)    48.9 W   21.3 %    +25   +25   +21 %   96.5 %
 * dram: mean error over levels; idle, half, full load; rows within the bound
 *   c5.metal           13.1 W   79.5 %    +35   +72   +88 %  100.0 %
 *   m5.metal           12.6 W   61.0 %    +84   +43   +49 %  100.0 %
 *   r5.metal            2.9 W    9.4 %    +29    -4    -3 %  100.0 %
 *   m7i.metal-24xl      4.0 W   12.8 %    -25    +5   +21 %  100.0 %
 *   nx12               35.5 W   65.3 %    -61   -67   -63 %   92.0 %
 *   mean (absolute)    13.6 W   45.6 %    +47   +38   +45 %   98.4 %
 */
#include "model/component_power.h"

/* clang-format off */
static const struct component_weights weights = {
	.share = {
		{ 0.161028, 0.265836, 0.343203, 0.44458, 0.608364, 0.722496, 0.765747, 0.832127, 0.913581, 0.943731, 0.95686 },
		{ 5.75313, 6.25772, 6.72877, 6.96377, 7.59015, 7.90033, 7.96034, 8.06737, 8.10539, 8.16214, 8.20572 },
	},
	.spread = {
		{ 0.945476, 0.734357, 0.661901, 0.47769, 0.81613, 0.900269, 0.761389, 0.753868, 0.750361, 0.773979, 0.75368 },
		{ 1.3331, 1.62891, 1.58564, 1.58931, 1.56505, 1.48435, 1.45986, 1.44176, 1.44777, 1.44238, 1.45174 },
	},
};
/* clang-format on */

const struct component_model builtin_component_model = {
	.name = "rapl-components-1",
	.trained_on = "RAPL readings of 5 machines",
	.mape_percent = { 21.3, 45.6 },
	.mae_w = { 48.9, 13.6 },
	.weights = &weights,
};
