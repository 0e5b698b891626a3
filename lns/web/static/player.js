// Plays recorded steps: forwards, back, one at a time, at any speed.
import { h } from "./elements.js";

/** Controls for `total` steps; `show(n)` draws the state after n steps and returns what to say of it. */
export class Player {
  constructor(box, title, total, show) {
    Object.assign(this, { total, show, at: 0, timer: 0 });
    const button = (text, label, click) => h("button", { type: "button", "aria-label": label, click }, text);
    this.playButton = button("Play", "Play", () => (this.timer ? this.pause() : this.play()));
    this.slider = h("input", { type: "range", min: 0, max: total, value: 0, "aria-label": "Step", input: () => { this.pause(); this.go(Number(this.slider.value)); } });
    this.speed = h("input", { type: "range", min: 0, max: 10, value: 3, "aria-label": "Steps a second", input: () => { if (this.timer) this.play(); } });
    this.line = h("p", { role: "status" });
    this.number = h("span", { class: "soft" });
    box.hidden = false;
    box.replaceChildren(h("h2", { id: `${box.id}-head` }, title),
      h("div", { class: "bar" }, button("|<", "To the start", () => { this.pause(); this.go(0); }), button("<", "One step back", () => { this.pause(); this.go(this.at - 1); }),
        this.playButton, button(">", "One step", () => { this.pause(); this.go(this.at + 1); }), button(">|", "To the end", () => { this.pause(); this.go(total); }), this.number),
      h("div", { class: "bar" }, h("label", {}, "step ", this.slider), h("label", {}, "speed ", this.speed)), this.line);
    box.setAttribute("aria-labelledby", `${box.id}-head`);
    this.go(0);
  }

  go(number) {
    this.at = Math.min(this.total, Math.max(0, number));
    this.slider.value = this.at;
    this.number.textContent = `${this.at} of ${this.total}`;
    this.line.textContent = this.show(this.at) || "";
  }

  play() {
    this.pause();
    if (this.at === this.total) this.go(0);
    this.playButton.textContent = "Pause";
    this.line.setAttribute("aria-live", "off");  // nobody can listen to 30 sentences a second
    const perSecond = 2 ** Number(this.speed.value), pace = Math.max(1, Math.round(perSecond / 30));
    this.timer = setInterval(() => { if (this.at >= this.total) this.pause(); else this.go(this.at + pace); }, 1000 * pace / perSecond);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.playButton.textContent = "Play";
    this.line.setAttribute("aria-live", "polite");
  }
}
