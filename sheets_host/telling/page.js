"use strict";
{
  const root = document.documentElement;
  root.classList.add("js");

  // A browser may refuse storage, to pages that are files above all; then nothing is remembered.
  const memory = (area) => ({
    get(key) {
      try {
        return JSON.parse(window[area].getItem(`sheets-host ${key}`));
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        window[area].setItem(`sheets-host ${key}`, JSON.stringify(value));
      } catch {
        // Not remembered.
      }
    },
  });
  const always = memory("localStorage");
  const here = memory("sessionStorage");
  const place = location.pathname;

  // --- dark and light: before the first paint, so that nothing flashes ------------------------

  const system = matchMedia("(prefers-color-scheme: dark)");
  const wanted = always.get("theme");
  if (wanted === "dark" || wanted === "light") root.dataset.theme = wanted;
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  const themes = () => {
    const button = document.getElementById("theme");
    const show = () => button.setAttribute("aria-pressed", String(dark()));
    button.addEventListener("click", () => {
      const theme = dark() ? "light" : "dark";
      // What the system wants anyway follows the system again.
      const own = theme === (system.matches ? "dark" : "light") ? null : theme;
      if (own) root.dataset.theme = own;
      else delete root.dataset.theme;
      always.set("theme", own);
      show();
    });
    system.addEventListener("change", show);
    show();
  };

  // --- sorting --------------------------------------------------------------------------------

  const worth = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.worth ?? (cell.querySelector(".who") ?? cell).textContent.trim();
  };

  const sortBy = (table, column, direction) => {
    const head = table.tHead.rows[0].cells[column];
    const numeric = head.dataset.sorts === "numbers";
    const sign = direction === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const one = worth(a, column);
      const other = worth(b, column);
      if (!one || !other) return (one ? 0 : 1) - (other ? 0 : 1); // blanks last, either way
      const order = numeric ? Number(one) - Number(other) : one.localeCompare(other, "en");
      return sign * order;
    });
    table.tBodies[0].append(...rows);
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", direction);
  };

  const sortable = (table) => {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const text = cell.textContent;
      const button = document.createElement("button");
      button.type = "button";
      button.id = `sort-${column}`;
      button.textContent = text;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = cell.getAttribute("aria-sort");
        const greatest = cell.dataset.sorts === "numbers" && text !== "Rank";
        const first = greatest ? "descending" : "ascending";
        const second = first === "ascending" ? "descending" : "ascending";
        const direction = now === first ? second : first;
        sortBy(table, column, direction);
        here.set(`sort ${place}`, { text, direction });
      });
      const kept = here.get(`sort ${place}`);
      if (kept?.text === text) sortBy(table, column, kept.direction);
    });
  };

  // --- one line of the chart ------------------------------------------------------------------

  const legend = () => {
    const charts = document.getElementById("tokens");
    if (!charts) return;
    const buttons = document.querySelectorAll(".legend button");
    const show = (player) => {
      charts.classList.toggle("one", player !== null);
      for (const line of charts.querySelectorAll(".line")) {
        line.classList.toggle("shown", line.dataset.player === player);
      }
    };
    const pressed = () =>
      [...buttons].find((b) => b.getAttribute("aria-pressed") === "true")?.dataset.player ?? null;
    for (const button of buttons) {
      button.addEventListener("pointerenter", () => show(button.dataset.player));
      button.addEventListener("pointerleave", () => show(pressed()));
      button.addEventListener("click", () => {
        const was = button.getAttribute("aria-pressed") === "true";
        for (const other of buttons) other.setAttribute("aria-pressed", "false");
        button.setAttribute("aria-pressed", String(!was));
        show(pressed());
      });
    }
  };

  // --- music ----------------------------------------------------------------------------------

  const MIDDLE_C = 261.626; // Hz; the game's one octave goes up from here
  const LEAD = 0.08; // seconds from the click to the first note, so that none is late
  let audio = null;
  let playing = null;

  const sound = (context, out, pitch, from, until) => {
    const gain = new GainNode(context, { gain: 0 });
    const frequency = MIDDLE_C * 2 ** (pitch / 12);
    // A soft attack, a slow decay, and silence before the note ends: no clicks, and repeated
    // notes stay apart.
    const end = until - 0.02;
    gain.gain.setValueAtTime(0, from);
    gain.gain.linearRampToValueAtTime(0.32, from + 0.02);
    gain.gain.setTargetAtTime(0.14, from + 0.02, 0.35);
    gain.gain.setTargetAtTime(0, Math.max(from + 0.03, end - 0.08), 0.025);
    gain.connect(out);
    return [
      ["triangle", 1, 1],
      ["sine", 2, 0.25],
    ].map(([type, times, share]) => {
      const voice = new OscillatorNode(context, { type, frequency: frequency * times });
      voice.connect(new GainNode(context, { gain: share })).connect(gain);
      voice.start(from);
      voice.stop(until + 0.1);
      return voice;
    });
  };

  const label = (button, on) => {
    button.textContent = on ? "Stop" : "Play";
    button.classList.toggle("on", on);
    const words = button.getAttribute("aria-label");
    button.setAttribute("aria-label", words.replace(/^(Play|Stop)/, on ? "Stop" : "Play"));
  };

  const stop = () => {
    if (!playing) return;
    const { button, out, voices, frame, bars } = playing;
    playing = null;
    cancelAnimationFrame(frame);
    out.gain.setTargetAtTime(0, audio.currentTime, 0.02);
    for (const voice of voices) voice.stop(audio.currentTime + 0.15);
    for (const bar of bars) bar.classList.remove("sounding");
    label(button, false);
  };

  const follow = () => {
    const now = audio.currentTime;
    if (now >= playing.end) {
      stop();
      return;
    }
    playing.bars.forEach((bar, i) => {
      const [from, until] = playing.times[i];
      const on = now >= from && now < until;
      if (on && !bar.classList.contains("sounding")) {
        const view = playing.roll;
        view.scrollLeft = bar.firstElementChild.x.baseVal.value - view.clientWidth / 3;
      }
      bar.classList.toggle("sounding", on);
    });
    playing.frame = requestAnimationFrame(follow);
  };

  const play = (button, perMinute) => {
    stop();
    audio ??= new AudioContext();
    audio.resume();
    const eighth = 30 / perMinute;
    const out = new GainNode(audio, { gain: 0.8 });
    out.connect(audio.destination);
    const voices = [];
    const times = [];
    let at = audio.currentTime + LEAD;
    for (const word of button.dataset.melody.split(" ")) {
      const [pitch, eighths] = word.split(":").map(Number);
      const until = at + eighths * eighth;
      voices.push(...sound(audio, out, pitch, at, until));
      times.push([at, until]);
      at = until;
    }
    const roll = button.closest(".piece").querySelector(".roll");
    const bars = [...roll.querySelectorAll("g")];
    playing = { button, out, voices, times, bars, roll: roll.parentElement, end: at, frame: 0 };
    label(button, true);
    playing.frame = requestAnimationFrame(follow);
  };

  const music = () => {
    const tempo = document.getElementById("tempo");
    if (!tempo) return;
    const shown = document.querySelector(".tempo output");
    tempo.value = always.get("tempo") ?? tempo.value;
    shown.textContent = tempo.value;
    tempo.addEventListener("input", () => {
      shown.textContent = tempo.value;
      always.set("tempo", tempo.value);
    });
    for (const button of document.querySelectorAll(".play")) {
      if (!window.AudioContext) {
        button.disabled = true;
        button.title = "This browser has no Web Audio";
      }
      button.addEventListener("click", () => {
        if (playing?.button === button) stop();
        else play(button, Number(tempo.value));
      });
    }
  };

  // --- loading itself anew --------------------------------------------------------------------

  // A reload keeps the place on the page by itself; what was opened and chosen is kept here.

  const remember = () => {
    const open = {};
    for (const part of document.querySelectorAll("details[id]")) open[part.id] = part.open;
    const focus = document.activeElement?.id ?? "";
    const pressed = document.querySelector('.legend [aria-pressed="true"]')?.dataset.player ?? null;
    here.set(`place ${place}`, { open, focus, pressed });
  };

  const resume = () => {
    const kept = here.get(`place ${place}`);
    here.set(`place ${place}`, null);
    if (!kept) return;
    for (const [id, open] of Object.entries(kept.open)) {
      const part = document.getElementById(id);
      if (part) part.open = open;
    }
    if (kept.pressed !== null) {
      document.querySelector(`.legend [data-player="${kept.pressed}"]`)?.click();
    }
    if (kept.focus) document.getElementById(kept.focus)?.focus({ preventScroll: true });
  };

  const refreshing = () => {
    const seconds = Number(document.body.dataset.refresh);
    const button = document.getElementById("refresh");
    if (!seconds || !button) return;
    const due = Date.now() + seconds * 1000;
    const live = () => button.getAttribute("aria-pressed") === "true";
    button.setAttribute("aria-pressed", String(always.get("live") !== false));
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!live()));
      always.set("live", live());
    });
    setInterval(() => {
      const reading = playing || document.hidden || !getSelection().isCollapsed;
      const away = location.protocol !== "file:" && !navigator.onLine;
      if (!live() || reading || away || Date.now() < due) return;
      remember();
      location.reload();
    }, 500);
  };

  document.addEventListener("DOMContentLoaded", () => {
    themes();
    document.querySelectorAll("table.sortable").forEach(sortable);
    legend();
    music();
    resume();
    refreshing();
  });
}
