// What is wrong with the page that it runs in, as sentences. Playwright sends the function's text
// into the browser, so it must not use anything from outside itself.
"use strict";

function probe(lives) {
  const CONTRAST_MIN = 4.5;
  const wrong = [];
  const root = document.documentElement;
  const svg = document.querySelector("svg.timeline");
  const shown = (element) => element.getClientRects().length > 0;
  const overlap = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;

  function channels(colour) {
    const found = colour.match(/[\d.]+/g).map(Number);
    return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
  }

  function luminance(rgb) {
    const [r, g, b] = rgb.map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  function contrast(a, b) {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  }

  function background(element) {
    for (let at = element; at; at = at.parentElement) {
      const { rgb, alpha } = channels(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return rgb;
    }
    return [255, 255, 255];
  }

  function ownText(element) {
    const parts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    return parts.map((node) => node.data).join("").trim();
  }

  function checkContrast() {
    const seen = new Set();
    for (const element of document.body.querySelectorAll("*")) {
      const text = ownText(element);
      if (!text || !shown(element) || element.matches("title, desc")) continue;
      const style = getComputedStyle(element);
      const ink = channels(element.closest("svg") ? style.fill : style.color).rgb;
      const ratio = contrast(ink, background(element));
      const where = `${element.tagName}.${element.getAttribute("class")}`;
      if (ratio >= CONTRAST_MIN || seen.has(where)) continue;
      seen.add(where);
      wrong.push(`'${text.slice(0, 40)}' (${where}) has a contrast of ${ratio.toFixed(2)}`);
    }
  }

  function checkTimeline() {
    if (!svg && lives === 0) return;
    const lanes = svg.querySelectorAll(".lane").length;
    if (lanes !== lives) wrong.push(`${lanes} lanes for ${lives} lives`);
    if (!svg.querySelector(":scope > title") || !svg.querySelector(":scope > desc")) {
      wrong.push("the timeline has no title or no description");
    }
    for (const drawn of svg.querySelectorAll(".bar, .mark, .moment")) {
      const title = drawn.querySelector("title");
      if (!title || !title.textContent.trim()) wrong.push(`no title: ${drawn.outerHTML}`);
    }
    const box = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter(shown);
    const boxes = texts.map((text) => text.getBoundingClientRect());
    boxes.forEach((own, i) => {
      const isInside =
        own.left >= box.left - 1 &&
        own.right <= box.right + 1 &&
        own.top >= box.top - 1 &&
        own.bottom <= box.bottom + 1;
      if (!isInside) wrong.push(`'${texts[i].textContent}' leaves the timeline`);
      boxes.slice(i + 1).forEach((other, k) => {
        if (!overlap(own, other)) return;
        wrong.push(`'${texts[i].textContent}' covers '${texts[i + 1 + k].textContent}'`);
      });
    });
  }

  function checkWords() {
    const verdict = document.querySelector("h1");
    const box = verdict.getBoundingClientRect();
    if (!verdict.innerText.trim() || box.top < 0 || box.bottom > innerHeight) {
      wrong.push("the verdict is not seen at once");
    }
    if (document.querySelectorAll("table.lives tbody tr").length !== lives) {
      wrong.push("the table has not a row for each life");
    }
    for (const cell of document.querySelectorAll("td, th, dd, dt, li, p, h1, h3")) {
      if (cell.scrollWidth <= cell.clientWidth + 1 || !shown(cell)) continue;
      if (getComputedStyle(cell).display === "inline") continue;
      wrong.push(`'${cell.textContent.slice(0, 40)}' is wider than its place`);
    }
  }

  // Not those of the page before the style, or without it.
  if (getComputedStyle(document.body).marginTop !== "0px") wrong.push("the style does not apply");
  if (root.scrollWidth > root.clientWidth) {
    wrong.push(`${root.scrollWidth} pixels wide, and the screen has ${root.clientWidth}`);
  }
  const foreign = document.querySelectorAll("script, img, iframe, object, embed, link, form");
  if (foreign.length > 0) wrong.push(`there is a ${foreign[0].outerHTML}`);
  if (document.title === "owned") wrong.push("a script from outside ran");
  checkContrast();
  checkTimeline();
  checkWords();
  return wrong;
}

module.exports = { probe };
