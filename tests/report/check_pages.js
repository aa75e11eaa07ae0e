// Opens each page at several widths, light and dark, and says what is wrong with it.
//
//   node check_pages.js PLAYWRIGHT BROWSER FOLDER [SCREENSHOTS] < lines of "name<TAB>lives"
"use strict";

const fs = require("fs");
const path = require("path");
const url = require("url");
const inside = require("./page_probe.js");

const [playwright, browserPath, folder, screenshots] = process.argv.slice(2);
const { chromium } = require(playwright);

const WIDTHS = [360, 768, 1440];
const SCHEMES = ["light", "dark"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

async function checkAt(page, name, lives, look) {
  await page.emulateMedia({ media: look.media, colorScheme: look.scheme });
  await page.setViewportSize({ width: look.width, height: 900 });
  const wrong = await page.evaluate(inside.probe, lives);
  if (screenshots) {
    const file = `${name}-${look.media}-${look.scheme}-${look.width}.png`;
    await page.screenshot({ path: path.join(screenshots, file), fullPage: true });
  }
  return wrong.map((text) => `${name}, ${look.media} ${look.scheme} ${look.width}: ${text}`);
}

async function checkPage(browser, name, lives) {
  const wrong = [];
  const address = url.pathToFileURL(path.join(folder, `${name}.html`)).href;
  const context = await browser.newContext();
  const page = await context.newPage();
  page.on("console", (said) => wrong.push(`${name}: console ${said.type()}: ${said.text()}`));
  page.on("pageerror", (error) => wrong.push(`${name}: error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong.push(`${name}: a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== address) wrong.push(`${name}: a request for ${request.url()}`);
  });
  await page.goto(address, { waitUntil: "load" });
  for (const width of WIDTHS) {
    for (const scheme of SCHEMES) {
      wrong.push(...(await checkAt(page, name, lives, { media: "screen", scheme, width })));
    }
  }
  // A sheet of paper is 700 pixels wide or so.
  for (const scheme of SCHEMES) {
    wrong.push(...(await checkAt(page, name, lives, { media: "print", scheme, width: 700 })));
  }
  await context.close();
  return wrong;
}

async function main() {
  const pages = fs
    .readFileSync(0, "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("\t"));
  const browser = await chromium.launch({ executablePath: browserPath, args: FLAGS });
  const wrong = [];
  try {
    for (const [name, lives] of pages) {
      wrong.push(...(await checkPage(browser, name, Number(lives))));
    }
  } finally {
    await browser.close();
  }
  for (const text of wrong) console.log(text);
  console.log(`${pages.length} pages, ${wrong.length} faults`);
  return wrong.length === 0 && pages.length > 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
