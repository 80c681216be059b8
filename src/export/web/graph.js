// SPDX-License-Identifier: Apache-2.0
// The history as stacked areas. A step of which nothing is known is a gap.
import { watts, clock } from "./format.js";
import { colourOf, orderOf, plainColour } from "./colours.js";

const LEFT = 46, BOTTOM = 20, TOP = 8, RIGHT = 6;

/** The areas from below to above: { name, colour, values }. */
export function bandsOf(history, by) {
	if (by === "zone")
		return history.zones.filter(zone => zone.in_total).map(zone => ({
			name: `${zone.zone} ${zone.package}`.trim(), isEstimated: zone.quality === "estimated", colour: colourOf(`zone ${zone.zone} ${zone.package}`), values: zone.watts }));
	const bands = [{ name: "idle", colour: plainColour("idle"), values: history.idle.watts }];
	for (const owner of [...history.owners].sort((a, b) => orderOf(a.owner) - orderOf(b.owner)))
		bands.push({ name: owner.owner, colour: colourOf(owner.owner), values: owner.watts });
	bands.push({ name: "other owners", colour: plainColour("other"), values: history.other.watts });
	bands.push({ name: "unattributed", colour: plainColour("unattributed"), values: history.unattributed.watts });
	return bands.filter(band => band.values.some(value => value > 0));
}

function niceStep(most, count) {
	const raw = most / count, power = 10 ** Math.floor(Math.log10(raw));
	return [1, 2, 2.5, 5, 10].map(f => f * power).find(step => step >= raw);
}

export class Graph {
	constructor(canvas) {
		this.canvas = canvas;
		this.history = null;
		this.bands = [];
		this.cursor = -1;
	}

	show(history, by, seconds) {
		this.history = history;
		this.seconds = seconds;
		this.bands = bandsOf(history, by);
		this.sums = Array.from({ length: history.points }, (_, i) =>
			this.bands.some(band => band.values[i] !== null) ? this.bands.reduce((sum, band) => sum + (band.values[i] || 0), 0) : null);
		if (this.cursor >= history.points)
			this.cursor = -1;
		this.draw();
	}

	/** Where step i begins, in pixels: the newest is at the right. */
	x(i) {
		const { step, points } = this.history;
		return this.width - RIGHT - (points - i) * step * (this.width - LEFT - RIGHT) / this.seconds;
	}

	/** The step at a place, or -1. */
	stepAt(x) {
		if (!this.history || !this.history.points)
			return -1;
		const i = Math.floor(this.history.points - (this.width - RIGHT - x) * this.seconds / ((this.width - LEFT - RIGHT) * this.history.step));
		return i >= 0 && i < this.history.points ? i : -1;
	}

	draw() {
		const { canvas } = this, ratio = devicePixelRatio || 1;
		this.width = canvas.clientWidth;
		this.height = canvas.clientHeight;
		if (!this.width || !this.history)
			return;
		if (canvas.width !== Math.round(this.width * ratio) || canvas.height !== Math.round(this.height * ratio)) {
			canvas.width = Math.round(this.width * ratio);
			canvas.height = Math.round(this.height * ratio);
		}
		const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.clearRect(0, 0, this.width, this.height);
		this.line = style.getPropertyValue("--line");
		this.quiet = style.getPropertyValue("--quiet");
		context.font = `11px ${style.fontFamily}`;
		const most = Math.max(0.01, ...this.sums.filter(value => value !== null));
		const step = niceStep(most * 1.05, 4), top = Math.ceil(most * 1.05 / step) * step;
		this.y = value => this.height - BOTTOM - value * (this.height - BOTTOM - TOP) / top;
		this.drawGrid(context, step, top);
		this.drawBands(context);
		this.drawTimes(context);
		this.drawCursor(context);
	}

	drawGrid(context, step, top) {
		context.strokeStyle = this.line;
		context.fillStyle = this.quiet;
		context.textAlign = "right";
		context.textBaseline = "middle";
		for (let value = 0; value <= top * 1.001; value += step) {
			const y = Math.round(this.y(value)) + .5;
			context.beginPath();
			context.moveTo(LEFT, y);
			context.lineTo(this.width - RIGHT, y);
			context.stroke();
			context.fillText(watts(value).replace(/\.0+ /, " "), LEFT - 6, y);
		}
	}

	/** Each stretch without a gap, as steps: a value is the mean of its step. */
	drawBands(context) {
		const { points } = this.history, below = new Array(points).fill(0);
		for (const band of this.bands) {
			context.fillStyle = band.colour;
			for (let from = 0; from < points;) {
				if (this.sums[from] === null) {
					from++;
					continue;
				}
				let to = from;
				while (to < points && this.sums[to] !== null)
					to++;
				this.fillStretch(context, band, below, from, to);
				from = to;
			}
			band.values.forEach((value, i) => { below[i] += value || 0; });
		}
	}

	fillStretch(context, band, below, from, to) {
		const left = Math.max(LEFT, this.x(from));
		context.beginPath();
		context.moveTo(left, this.y(below[from]));
		for (let i = from; i < to; i++) {
			const y = this.y(below[i] + (band.values[i] || 0));
			context.lineTo(Math.max(LEFT, this.x(i)), y);
			context.lineTo(Math.max(LEFT, this.x(i + 1)), y);
		}
		for (let i = to - 1; i >= from; i--) {
			context.lineTo(Math.max(LEFT, this.x(i + 1)), this.y(below[i]));
			context.lineTo(Math.max(LEFT, this.x(i)), this.y(below[i]));
		}
		context.fill();
	}

	drawTimes(context) {
		const every = [15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600]
			.find(s => s * (this.width - LEFT - RIGHT) / this.seconds >= 84) || 21600;
		const { end } = this.history, zone = new Date(end * 1000).getTimezoneOffset() * 60;
		context.fillStyle = this.quiet;
		context.textAlign = "center";
		context.textBaseline = "bottom";
		for (let at = Math.floor((end - zone) / every) * every + zone; at > end - this.seconds; at -= every) {
			const x = this.width - RIGHT - (end - at) * (this.width - LEFT - RIGHT) / this.seconds;
			if (x > LEFT + 24 && x < this.width - 24)
				context.fillText(clock(at, every < 60), x, this.height);
		}
	}

	drawCursor(context) {
		if (this.cursor < 0)
			return;
		const x = Math.round((this.x(this.cursor) + this.x(this.cursor + 1)) / 2) + .5;
		context.strokeStyle = this.quiet;
		context.beginPath();
		context.moveTo(x, TOP);
		context.lineTo(x, this.height - BOTTOM);
		context.stroke();
	}

	/** The values at the cursor as texts, the largest first: { time, total, list, x }; null: there is none. */
	reading() {
		const i = this.cursor;
		if (i < 0 || !this.history)
			return null;
		const { start, step } = this.history;
		const estimated = this.history.estimated.watts[i] > 0;
		const list = this.bands.map(({ name, colour, values, isEstimated = estimated }) =>
			({ name, colour, value: values[i], text: watts(values[i], isEstimated) }))
			.filter(item => item.value > 0).sort((a, b) => b.value - a.value).slice(0, 7);
		return { time: clock(start + i * step, step < 60), total: watts(this.sums[i], estimated), list, x: (this.x(i) + this.x(i + 1)) / 2 };
	}

	/** Of a name that has an area now; else "". */
	colourOf(name) {
		const band = this.bands.find(item => item.name === name);
		return band ? band.colour : "";
	}

	/** Has any step a part that no meter counted? */
	isEstimated() {
		return this.history.estimated.watts.some(value => value > 0);
	}

	summary() {
		const values = this.sums.filter(value => value !== null);
		if (!values.length)
			return "No history yet.";
		const mean = values.reduce((a, b) => a + b, 0) / values.length;
		return `${this.isEstimated() ? "Estimated power" : "Power"} of the node: lowest ${watts(Math.min(...values))}, mean ${watts(mean)}, highest ${watts(Math.max(...values))}. ` +
			"The arrow keys read single steps.";
	}
}
