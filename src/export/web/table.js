// SPDX-License-Identifier: Apache-2.0
// The rows. Only those on the screen are elements, between two that are as high as the others would be.
import { watts, joules, percent } from "./format.js";

const OVERSCAN = 12;
export const COLUMNS = [
	{ key: "name", title: "Name" }, { key: "watts", title: "Power" }, { key: "share", title: "Share", sort: "watts" },
	{ key: "cpu", title: "CPU" }, { key: "joules", title: "Energy" }, { key: "why", title: "" },
];

function element(name, className) {
	const made = document.createElement(name);
	made.className = className || "";
	return made;
}

function setText(node, text) {
	if (node.textContent !== text)
		node.textContent = text;
}

/** The elements of one row, filled in again and again. */
class Row {
	constructor(onEnter, onWhy) {
		this.tr = element("tr");
		this.cells = {};
		for (const { key } of COLUMNS)
			this.tr.append(this.cells[key] = element("td", key));
		this.link = element("a");
		this.note = element("small");
		this.dot = element("i", "dot");
		this.cells.name.append(this.dot, this.link, this.note);
		this.value = element("span");
		this.bar = element("i");
		this.cells.watts.append(this.value, this.bar);
		this.why = element("button");
		this.why.type = "button";
		this.why.textContent = "why?";
		this.cells.why.append(this.why);
		this.link.addEventListener("click", event => {
			if (!event.metaKey && !event.ctrlKey && this.data.href) {
				event.preventDefault();
				onEnter(this.data);
			}
		});
		this.why.addEventListener("click", () => onWhy(this.data));
	}

	fill(data, index, table) {
		if (this.data === data && this.index === index && this.version === table.version)
			return;
		this.data = data;
		this.index = index;
		this.version = table.version;
		this.tr.setAttribute("aria-rowindex", index + 2);
		this.tr.classList.toggle("other", data.isOther);
		setText(this.link, data.name);
		this.dot.hidden = !data.colour;
		this.dot.style.background = data.colour;
		if (data.href)
			this.link.href = data.href;
		else
			this.link.removeAttribute("href");
		this.cells.name.title = data.note ? `${data.name} – ${data.note}` : data.name;
		setText(this.note, data.note);
		setText(this.value, watts(data.watts, table.estimated));
		this.bar.style.transform = `scaleX(${table.most > 0 && !data.isOther ? Math.min(1, data.watts / table.most) : 0})`;
		setText(this.cells.share, percent(table.total > 0 ? data.watts * 100 / table.total : NaN));
		setText(this.cells.cpu, percent(data.cpu));
		setText(this.cells.joules, joules(data.joules));
		this.why.hidden = data.isOther || !data.question;
		this.why.setAttribute("aria-label", `Why has ${data.name} this power?`);
	}
}

export class Table {
	constructor(body, onEnter, onWhy) {
		this.body = body;
		this.make = () => new Row(onEnter, onWhy);
		this.above = element("tr", "space");
		this.below = element("tr", "space");
		for (const space of [this.above, this.below]) {
			space.setAttribute("aria-hidden", "true");
			space.append(element("td"));
		}
		body.append(this.above, this.below);
		this.rows = [];
		this.pool = [];
		this.height = 36;
		this.first = 0;
		this.scrolled = -Infinity;
		addEventListener("scroll", () => {
			this.scrolled = performance.now();
			this.later();
		}, { passive: true });
		addEventListener("resize", () => this.later());
		body.addEventListener("keydown", event => this.key(event));
	}

	show(rows, { total, estimated }) {
		this.rows = rows;
		this.total = total;
		this.estimated = estimated;
		this.version = (this.version || 0) + 1;
		this.most = rows.reduce((most, row) => row.isOther ? most : Math.max(most, row.watts || 0), 0);
		this.draw();
	}

	/** New values wait until scrolling has stopped, for a while. */
	async still() {
		for (const until = performance.now() + 5000; performance.now() - this.scrolled < 150 && performance.now() < until;)
			await new Promise(done => setTimeout(done, 50));
	}

	later() {
		if (!this.waits) {
			this.waits = true;
			requestAnimationFrame(() => this.draw());
		}
	}

	draw() {
		this.waits = false;
		const top = this.body.getBoundingClientRect().top;
		let first = Math.max(0, Math.floor(-top / this.height) - OVERSCAN);
		let last = Math.min(this.rows.length, Math.ceil((innerHeight - top) / this.height) + OVERSCAN);
		first = Math.min(first, last = Math.max(last, Math.min(this.rows.length, OVERSCAN)));
		const holder = this.pool.findIndex(row => row.tr.contains(document.activeElement));
		const held = this.first + holder, isWhy = holder >= 0 && document.activeElement === this.pool[holder].why;
		const count = last - first;
		this.turn(first - this.first);
		this.first = first;
		while (this.pool.length < count) {
			const row = this.make();
			this.pool.push(row);
			this.below.before(row.tr);
		}
		while (this.pool.length > count)
			this.pool.pop().tr.remove();
		this.above.firstChild.style.height = `${first * this.height}px`;
		this.below.firstChild.style.height = `${(this.rows.length - last) * this.height}px`;
		for (let i = 0; i < count; i++)
			this.pool[i].fill(this.rows[first + i], first + i, this);
		if (this.rows.length > OVERSCAN && count && this.pool[0].tr.offsetHeight > 10)
			this.height = this.pool[0].tr.offsetHeight;
		if (holder >= 0)
			this.focusOn(held, isWhy);
	}

	/** Elements whose rows have left one end of the screen go to the other end; the others stay as they are. */
	turn(steps) {
		if (Math.abs(steps) >= this.pool.length)
			return;
		for (; steps > 0; steps--) {
			this.below.before(this.pool[0].tr);
			this.pool.push(this.pool.shift());
		}
		for (; steps < 0; steps++) {
			this.above.after(this.pool.at(-1).tr);
			this.pool.unshift(this.pool.pop());
		}
	}

	/** Elements move from row to row; the focus stays with its row. */
	focusOn(index, isWhy) {
		const row = this.pool[index - this.first];
		if (row)
			(row.data.href && !isWhy ? row.link : row.why).focus({ preventScroll: true });
	}

	/** Up and down go from row to row, also to those that are not on the screen yet. */
	key(event) {
		const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[event.key];
		const at = this.pool.findIndex(row => row.tr.contains(event.target));
		if (!step || at < 0)
			return;
		event.preventDefault();
		this.goTo(Math.max(0, Math.min(this.rows.length - 1, this.first + at + step)), event.target === this.pool[at].why);
	}

	goTo(index, isWhy) {
		const y = this.body.getBoundingClientRect().top + scrollY + index * this.height;
		if (y < scrollY + 60)
			scrollTo(0, y - 60);
		else if (y + this.height > scrollY + innerHeight)
			scrollTo(0, y + this.height - innerHeight + 8);
		this.draw();
		this.focusOn(index, isWhy);
	}
}
