#include "report/page_style.h"

#include <string_view>

namespace outlast::report {
namespace {

constexpr std::string_view kStyle = R"(
:root {
  color-scheme: light dark; --text: 15px; --small: 13px;
  --page: #fcfcfb; --panel: #f3f4f4; --line: #e0e3e5; --ink: #1b2025; --soft: #59636d;
  --good: #17734a; --mixed: #8a5300; --bad: #b3261e; --link: #1f5fbf;
  --starting: #c4cbd2; --training: #7fa6dd; --idle: #e2e5e8; --notice: #e9a23b; --spare: #f8e5c3;
  --commit: #12365f; --grid: #eceeef;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --panel: #1d2125; --line: #2e343a; --ink: #e4e8eb; --soft: #9ba6b0;
    --good: #5fcf97; --mixed: #f0b45a; --bad: #ff8d83; --link: #8ab4f8;
    --starting: #555f69; --training: #4170b0; --idle: #2b3137; --notice: #d0902f; --spare: #4b3b1f;
    --commit: #dbe8f8; --grid: #22272c;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: var(--text)/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans",
    sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
main { max-width: 1180px; margin: 0 auto; padding: 32px 32px 64px; }
section { margin-top: 36px; }
h1, h2, h3, p, ul, dl, dd { margin: 0; padding: 0; }
ul { list-style: none; }
h2 { font-size: 17px; font-weight: 600; line-height: 1.3; margin-bottom: 12px; }
h3 { font-size: var(--text); font-weight: 600; }
a { color: var(--link); }
code {
  font: var(--small)/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono",
    monospace;
  white-space: pre-wrap; unicode-bidi: isolate;
}
b, h1, h3, dd, td { unicode-bidi: isolate; }
.note { color: var(--soft); font-size: var(--small); }

header { --tone: var(--bad); }
header.good { --tone: var(--good); }
header.mixed { --tone: var(--mixed); }
.eyebrow { color: var(--soft); font-size: var(--small); }
.eyebrow b { font-weight: 600; color: var(--ink); }
h1 { display: flex; gap: 14px; align-items: flex-start; margin: 8px 0 6px; }
h1 { font-size: 27px; font-weight: 600; line-height: 1.25; letter-spacing: -0.01em; }
.seal {
  flex: none; width: 34px; height: 34px; border-radius: 50%; background: var(--tone);
  color: var(--page); font-size: 20px; line-height: 34px; text-align: center;
}
.sentence { min-width: 0; }
.summary { color: var(--soft); padding-left: 48px; }
.expectations {
  display: flex; flex-wrap: wrap; gap: 6px 28px; margin-top: 14px; padding-left: 48px;
}
.expectations code { margin-right: 4px; }
.sign { display: inline-block; width: 18px; font-weight: 700; }
.met .sign { color: var(--good); }
.unmet .sign { color: var(--bad); }

.figures {
  display: grid; grid-template-columns: repeat(5, minmax(0, 1fr));
  border-block: 1px solid var(--line);
}
/* Names, values and notes in rows of their own, also where one of them takes two lines. */
.figures > div { display: grid; grid-row: span 3; grid-template-rows: subgrid; }
.figures > div { padding: 14px 12px 14px 16px; border-left: 1px solid var(--line); }
.figures > div:first-child { padding-left: 0; border-left: 0; }
.figures dt { color: var(--soft); font-size: var(--small); }
.figures .value { font-size: 22px; font-weight: 600; line-height: 1.3; margin: 2px 0; }
.figures small { color: var(--soft); font-size: var(--small); font-weight: 400; }
.figures .note { line-height: 1.35; }

.legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-bottom: 14px; }
.legend li { display: flex; align-items: center; gap: 7px; }
.legend li { color: var(--soft); font-size: var(--small); }
.swatch { width: 18px; height: 10px; background: var(--training); }
.swatch.starting { background: var(--starting); }
.swatch.notice { background: var(--notice); }
.swatch.spare { background: var(--spare); }
.swatch.withdrawn { background: none; border: 1.5px dashed var(--notice); }
.timeline { display: block; padding: 0 22px 0 30px; overflow: visible; }
.timeline text { font-size: 11px; fill: var(--soft); dominant-baseline: central; }
.timeline .run { font-size: var(--small); dominant-baseline: auto; }
.timeline .run .name { font-weight: 600; fill: var(--ink); }
.timeline .number { text-anchor: end; }
.timeline .step { text-anchor: middle; dominant-baseline: auto; font-size: 10px; }
.timeline .story { fill: var(--ink); }
.timeline .step, .timeline .story, .timeline .run {
  paint-order: stroke; stroke: var(--page); stroke-width: 4px; stroke-linejoin: round;
}
.tick line { stroke: var(--grid); }
.tick text { text-anchor: middle; dominant-baseline: auto; }
.bar.starting rect { fill: var(--starting); }
.bar.training rect { fill: var(--training); }
.bar.idle rect { fill: var(--idle); }
.bar.spare rect { fill: var(--spare); }
.bar.notice rect { fill: var(--notice); }
.bar.withdrawn rect { fill: none; stroke: var(--notice); }
.bar.withdrawn rect { stroke-width: 1.5; stroke-dasharray: 3 2; }
.bar:hover rect, .mark:hover { filter: brightness(1.12); }
.moment line { stroke: var(--ink); stroke-opacity: .55; }
.mark.notice { fill: var(--mixed); }
.mark.commit { fill: var(--commit); stroke: var(--page); stroke-width: 1; }
.mark.killed, .mark.done { fill: none; stroke: var(--bad); stroke-width: 2.2; }
.mark.done { stroke: var(--good); stroke-linecap: round; stroke-linejoin: round; }

.lives { width: 100%; border-collapse: collapse; font-size: calc(var(--text) - 1px); }
.lives { line-height: 1.4; }
.lives .note { font-size: calc(var(--small) - 1px); }
caption { text-align: left; color: var(--soft); font-size: var(--small); margin-bottom: 8px; }
.lives th, .lives td {
  padding: 7px 14px 7px 0; text-align: left; vertical-align: top; font-weight: 400;
  border-bottom: 1px solid var(--line); overflow-wrap: normal;
}
.lives .foreign { overflow-wrap: anywhere; }
.lives thead th { color: var(--soft); font-size: var(--small); vertical-align: bottom; }
.lives tbody th { font-weight: 600; }

.lines { max-width: 860px; margin: 8px 0; padding: 8px 12px; }
.lines { background: var(--panel); border-radius: 4px; }
.finding { padding: 14px 0; border-top: 1px solid var(--line); max-width: 860px; }
.finding:first-of-type { padding-top: 0; border-top: 0; }
.finding .id { color: var(--soft); font-size: var(--small); }
.facts { max-width: 960px; }
.facts > div { display: grid; grid-template-columns: 120px minmax(0, 1fr); padding: 3px 0; }
.facts dt { color: var(--soft); }

@media print, screen and (min-width: 720px) and (max-width: 1020px) {
  .figures > div { padding-inline: 12px 8px; }
  .figures .value { font-size: 19px; }
  .lives { font-size: var(--small); }
  .lives th, .lives td { padding-right: 10px; }
}
@media screen and (max-width: 719px) {
  .figures { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 0 16px; }
  .figures > div, .figures > div:first-child { padding: 10px 0; border-left: 0; }
  main { padding: 20px 16px 40px; }
  section { margin-top: 32px; }
  h1 { font-size: 21px; gap: 10px; }
  .seal { width: 28px; height: 28px; font-size: 16px; line-height: 28px; }
  .summary, .expectations { padding-left: 0; }
  .expectations { flex-direction: column; }
  .timeline .wide { display: none; }
  .lives thead { position: absolute; width: 1px; height: 1px; overflow: hidden; }
  .lives thead { clip-path: inset(50%); }
  .lives, .lives caption, .lives tbody, .lives tr { display: block; }
  .lives tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .lives tbody th, .lives td {
    display: grid; grid-template-columns: 132px minmax(0, 1fr); padding: 1px 0; border: 0;
  }
  .lives tbody th::before, .lives td::before {
    content: attr(data-heading); color: var(--soft); font-size: var(--small); font-weight: 400;
  }
  .lives td.unknown { display: none; }
  .facts > div { grid-template-columns: 1fr; padding: 5px 0; }
}
@media print {
  :root { --page: #fff; --ink: #000; --link: #000; --text: 12px; --small: 11px; }
  h1 { font-size: 20px; align-items: center; }
  h2 { font-size: 14px; }
  main { max-width: none; padding: 0; }
  .figures .value { font-size: 16px; }
  section { margin-top: 22px; }
  tr, .finding, .figures, header { break-inside: avoid; }
  h2 { break-after: avoid; }
  .seal, .swatch, .timeline, .lines {
    print-color-adjust: exact; -webkit-print-color-adjust: exact;
  }
}
)";

}  // namespace

std::string_view page_style() {
  return kStyle;
}

}  // namespace outlast::report
