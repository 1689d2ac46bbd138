// Drives a browser over a page of the report; scripts/browser starts it.
// node drive.mjs BROWSER PAGE [made-up|''] [PICTURES]

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(join(process.env.BROWSER_MODULES, 'package.json'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const [executablePath, file, madeUp, pictures] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const MARKUP = "<img src=x onerror=document.title='broken'>";
const DESKTOP = { width: 1280, height: 1000 }, PHONE = { width: 390, height: 844 };
// A4, upright, at 96 dots an inch.
const PAPER = { width: 794, height: 1123 };

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
let passed = 0, failed = 0;

/** Opens the page anew, has that done with it, and sees to it that it asked for nothing and broke nowhere. */
async function holds(statement, options, act) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const wrong = [];
  page.on('request', request => request.url().split('#')[0] == url || wrong.push(`asked for ${request.url()}`));
  page.on('pageerror', error => wrong.push(`broke: ${error}`));
  page.on('console', line => line.type() == 'error' && wrong.push(`complained: ${line.text()}`));
  try {
    await page.goto(url + (options.hash ?? ''));
    await act(page, context);
    assert.deepEqual(wrong, []);
    assert.equal(await page.title(), 'Flowmeter report');
    passed += 1;
    console.log(`ok      ${statement}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${statement}\n${String(error.message ?? error).replace(/^/gm, '        ')}`);
  } finally {
    await context.close();
  }
}

const shown = (page, selector) => page.locator(selector).evaluateAll(all => all.filter(e => e.offsetParent || e.getClientRects().length).length);
const ranked = page => page.locator('.rank tbody tr[data-o]');

/** What axe-core finds serious, in sentences. */
async function serious(page) {
  // The page lets no script in but its own; a test is let in by the protocol.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run({ resultTypes: ['violations'] }));
  return violations.filter(it => ['serious', 'critical'].includes(it.impact))
    .map(it => `${it.id}: ${it.help}: ${it.nodes.length}, such as ${it.nodes[0].html.slice(0, 200)} ${it.nodes[0].failureSummary}`);
}

await holds('a filter keeps what matches and puts the rest away', {}, async page => {
  const name = await page.locator('.heat thead th[data-o]').first().evaluate(th => th.querySelector('span').nextSibling.textContent);
  const before = await shown(page, '.rank tbody tr[data-o]');
  await page.fill('#filter', name);
  const after = await page.locator('.rank tbody tr[data-o]').evaluateAll(rows =>
    rows.filter(row => row.getClientRects().length).map(row => row.textContent));
  assert.ok(after.length > 0 && after.length < before, `${after.length} of ${before}`);
  assert.ok(after.every(text => text.includes(name)), after.join('\n'));
  await page.fill('#filter', '');
  assert.equal(await shown(page, '.rank tbody tr[data-o]'), before);
  await page.fill('#filter', 'nobody has such a name');
  assert.equal(await shown(page, '.rank tbody tr[data-o],figure,.heat tbody tr'), 0);
});

await holds('a scenario\'s name keeps every implementation in the ranking, the matrix and its table of costs', {}, async page => {
  const name = await page.locator('#cost details[data-f] summary').first().textContent();
  const people = '.rank tbody tr[data-o], .matrix tbody tr[data-o], .across tbody tr[data-o]';
  const before = await shown(page, people);
  await page.fill('#filter', name);
  assert.equal(await shown(page, people), before);
  const left = await page.locator('#cost details[data-f]').evaluateAll(all => all.filter(e => e.getClientRects().length)
    .map(e => ({ name: e.querySelector('summary').textContent, away: e.querySelectorAll('tbody tr[hidden]').length })));
  assert.ok(left.length > 0 && left.every(it => it.name.includes(name) && it.away == 0), JSON.stringify(left));
  assert.ok(await shown(page, '.heat tbody tr') > 0);
  await page.fill('#filter', 'nobody has such a name');
  assert.equal(await shown(page, '#cost details[data-f]'), 0);
  await page.fill('#filter', '');
  assert.equal(await shown(page, people), before);
});

await holds('what has no value stands last, up and down', {}, async page => {
  let asked = 0;
  for (const table of await page.locator('.heat').all()) {
    const columns = await table.locator('thead th').count();
    for (let column = 1; column < columns; column += 1) {
      const present = () => table.locator('tbody tr').evaluateAll((rows, column) =>
        rows.map(row => /^\d/.test(row.cells[column].textContent)), column);
      const all = await present();
      if (all.every(Boolean) || !all.some(Boolean)) continue;
      asked += 1;
      for (const way of ['descending', 'ascending']) {
        await table.locator('thead th').nth(column).click();
        assert.equal(await table.locator('thead th').nth(column).getAttribute('aria-sort'), way);
        assert.deepEqual(await present(), all.toSorted((a, b) => b - a), `column ${column}, ${way}`);
      }
    }
  }
  if (madeUp) assert.ok(asked > 0, 'a column with and without values');
});

await holds('a column is sorted by a click and by a key, once up and once down', {}, async page => {
  const table = page.locator('.rank:visible').first();
  const ratios = () => table.locator('tbody tr[data-o] td:nth-child(4)').allTextContents()
    .then(all => all.map(parseFloat).filter(n => !isNaN(n)));
  const head = table.locator('thead th').nth(3);
  await head.click();
  assert.deepEqual(await ratios(), (await ratios()).toSorted((a, b) => b - a));
  assert.equal(await head.getAttribute('aria-sort'), 'descending');
  await head.focus();
  await page.keyboard.press('Enter');
  assert.deepEqual(await ratios(), (await ratios()).toSorted((a, b) => a - b));
  assert.equal(await head.getAttribute('aria-sort'), 'ascending');
});

await holds('origins and forms are put away and come back', {}, async page => {
  for (const box of await page.locator('[data-origin]').all()) {
    const origin = await box.getAttribute('data-origin');
    const rows = `.rank tbody tr[data-o=${origin}], .matrix tbody tr[data-o=${origin}], .heat thead th[data-o=${origin}]`;
    const before = await shown(page, rows);
    await box.uncheck();
    assert.equal(await shown(page, rows), 0, origin);
    await box.check();
    assert.equal(await shown(page, rows), before, origin);
  }
  for (const box of await page.locator('[data-form]').all()) {
    const form = await box.getAttribute('data-form');
    const those = `.heat tbody tr[data-f="${form}"], figure[data-f="${form}"]`;
    const before = await shown(page, those);
    assert.ok(before > 0, form);
    await box.uncheck();
    assert.equal(await shown(page, those), 0, form);
    await box.check();
    assert.equal(await shown(page, those), before, form);
  }
  if (madeUp) {
    await page.locator('[data-origin=peer]').uncheck();
    assert.ok(await page.locator('.chart path.away').count() > 0, 'lines of peers stay in the pictures');
    assert.ok(await page.locator('.chart path:not(.away)').count() > 0);
  }
});

await holds('one form alone shows the rankings over it', {}, async page => {
  const forms = await page.locator('[data-form]').evaluateAll(all => all.map(box => box.dataset.form));
  if (!forms.includes('async') || await page.locator('.tabs label', { hasText: /^async$/ }).count() == 0) return;
  for (const form of forms.filter(form => form != 'async')) await page.locator(`[data-form="${form}"]`).uncheck();
  const tabs = page.locator('.tabs', { has: page.locator('label', { hasText: /^async$/ }) }).first();
  assert.equal(await tabs.locator('input:checked + label').textContent(), 'async');
});

await holds('scenarios that are chosen, and a baseline, make the ranking anew, and a link has the choice', {}, async page => {
  const tabs = page.locator('.tabs', { has: page.locator('.rank') }).first();
  const rows = () => tabs.locator('.tab:visible .rank tbody tr[data-o]').allTextContents();
  const before = await rows();
  await tabs.locator('.choice summary').click();
  const boxes = await tabs.locator('.choice input').all();
  for (const box of boxes.slice(1)) await box.uncheck();
  const name = await boxes[0].inputValue();
  const alone = await rows();
  assert.equal(alone.length, before.length);
  // One scenario is left: its own ratios, as the heat map has them.
  const [head, cells] = await page.locator('.heat tbody tr').evaluateAll((all, name) => {
    const row = all.find(row => row.cells[0].title.startsWith(name + ': '));
    return [[...row.closest('table').tHead.rows[0].cells].map(th => th.querySelector('span')?.nextSibling.textContent),
      [...row.cells].map(td => /h\d/.test(td.className) ? td.querySelector('b').textContent : '')];
  }, name);
  const first = await tabs.locator('.tab:visible .rank tbody tr[data-o]').first();
  const its = await first.evaluate(row => row.querySelector('i').nextSibling.textContent.trim());
  assert.equal(await first.locator('td').nth(3).textContent(), cells[head.indexOf(its)]);
  assert.equal(await first.locator('td').nth(0).textContent(), '–', 'no tier');
  assert.ok(await tabs.locator('.chosen').first().isVisible());
  await page.selectOption('#baseline', its);
  assert.match(await first.locator('td').last().textContent(), /^1\.00/);
  assert.ok(await page.locator('#heat .chosen').isVisible());
  const chosen = await rows(), link = page.url();
  await page.click('nav a[href="#heat"]');
  await page.waitForFunction(() => location.hash.startsWith('#heat?'));
  await page.goto('about:blank');
  await page.goto(link);
  assert.equal(page.url(), link);
  assert.deepEqual(await rows(), chosen);
  await page.selectOption('#baseline', '');
  await tabs.locator('.choice summary').click();
  for (const box of await tabs.locator('.choice input').all()) await box.check();
  assert.deepEqual(await rows(), before);
  assert.equal(await page.evaluate(() => location.hash), '');
});

await holds('hovering tells the numbers below', {}, async page => {
  const charts = await page.locator('.chart').all();
  for (const chart of charts.slice(0, 12)) {
    await chart.scrollIntoViewIfNeeded();
    await chart.hover();
    const told = await page.locator('#tip').innerText();
    const data = await chart.evaluate(svg => svg.closest('figure').querySelector('.data').textContent);
    const last = told.trim().split('\n').at(-1).trim();
    assert.ok(last && data.includes(last), `${told}: not in ${data}`);
  }
  await page.mouse.move(1, 1);
  assert.ok(await page.locator('#tip').isHidden());
});

await holds('it is dark where the system is, and where the button says so', { colorScheme: 'dark' }, async page => {
  const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor).then(colour =>
    colour.match(/\d+/g).slice(0, 3).every(part => part < 60));
  assert.ok(await dark());
  await page.click('#theme');
  assert.ok(!await dark());
  await page.click('#theme');
  assert.ok(await dark());
});

await holds('a command is copied, or at least selected', {}, async (page, context) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => {});
  const cmd = page.locator('figure .cmd').first();
  const command = await cmd.locator('code').textContent();
  await cmd.locator('.copy').click();
  await page.waitForFunction(() => ['Copied', 'Selected'].includes(document.querySelector('figure .copy').textContent));
  const copied = await cmd.locator('.copy').textContent() == 'Copied';
  const got = await page.evaluate(copied => copied ? navigator.clipboard.readText() : getSelection().toString(), copied);
  assert.equal(got, command);
});

await holds('a link leads to its chart, also where a filter has put it away', {}, async page => {
  const last = page.locator('#charts figure').last();
  const id = await last.getAttribute('id');
  await page.fill('#filter', 'nobody has such a name');
  assert.ok(await last.isHidden());
  await page.evaluate(id => location.hash = id, id);
  await page.waitForFunction(id => document.getElementById(id).getClientRects().length > 0, id);
  assert.equal(await page.inputValue('#filter'), '');
  const box = await last.boundingBox();
  assert.ok(box.y > -5 && box.y < DESKTOP.height, `it stands at ${box.y}`);
  assert.equal(await last.locator('.link').getAttribute('href'), '#' + id);
});

await holds('a page is opened at a link', { hash: '#machine' }, async page => {
  assert.ok((await page.locator('#machine').boundingBox()).y < DESKTOP.height);
});

await holds('a link that is broken breaks nothing', { hash: '#%' }, async page => {
  assert.ok(await page.locator('.sort.on').count() > 0, 'tables are sorted');
  await page.locator('figure .copy').first().click();
  await page.waitForFunction(() => document.querySelector('figure .copy').textContent != 'Copy');
  await page.evaluate(() => location.hash = '%E0%A4%A');
  await page.locator('.chart').first().hover();
  assert.ok(await page.locator('#tip').isVisible());
});

if (madeUp) await holds('a failure leads to what was seen', {}, async page => {
  await page.locator('.matrix td.fail a').first().click();
  const box = await page.locator('.counterexample:target').boundingBox();
  assert.ok(box.y >= 0 && box.y < DESKTOP.height);
});

if (madeUp) await holds('names with markup in them are text', {}, async page => {
  assert.equal(await page.locator('img').count(), 0);
  assert.ok(await page.locator('.rank .name', { hasText: MARKUP }).count() > 0);
  assert.ok(await page.locator('.chart text', { hasText: '<img' }).count() > 0);
  await page.locator('.chart').first().hover();
  assert.equal(await page.locator('#tip img').count(), 0);
});

for (const [scheme, viewport, name] of [['light', DESKTOP, 'desktop'], ['dark', DESKTOP, 'desktop'], ['light', PHONE, 'phone'], ['dark', PHONE, 'phone']]) {
  await holds(`axe-core finds nothing serious: ${name}, ${scheme}`, { colorScheme: scheme, viewport }, async page => {
    await page.evaluate(() => document.querySelectorAll('details').forEach(details => details.open = true));
    assert.deepEqual(await serious(page), []);
  });
  if (pictures) await holds(`a picture: ${name}, ${scheme}`, { colorScheme: scheme, viewport }, page =>
    page.screenshot({ path: join(pictures, `${name}-${scheme}.png`), fullPage: true }));
}

await holds('a phone shows it without scrolling sideways', { viewport: PHONE }, async page => {
  const wide = await page.evaluate(() => [...document.querySelectorAll('body *')]
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll,svg,.defs'))
    .map(e => e.outerHTML.slice(0, 120)));
  assert.deepEqual(wide.slice(0, 3), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
});

await holds('it reads without scripts, and shows no tool that would do nothing', { javaScriptEnabled: false }, async page => {
  assert.ok(await page.locator('.tools').isHidden());
  assert.equal(await page.locator('.copy').count(), 0);
  assert.ok(await page.locator('#verdict tbody tr').first().isVisible());
  assert.ok(await page.locator('.rank').first().isVisible());
  const summary = page.locator('figure summary').first();
  await summary.click();
  assert.ok(await page.locator('figure .data').first().isVisible());
});

await holds('on paper stands no tool, and no table is cut off', { viewport: PAPER }, async page => {
  await page.emulateMedia({ media: 'print' });
  assert.ok(await page.locator('.tools').isHidden());
  assert.ok(await page.locator('nav').isHidden());
  const scrolled = await page.locator('.scroll').evaluateAll(all => all.filter(e => getComputedStyle(e).overflowX == 'auto').length);
  assert.equal(scrolled, 0);
  const wide = await page.locator('table').evaluateAll(all => all
    .filter(table => table.getBoundingClientRect().right > innerWidth + 1)
    .map(table => `${table.className}: ${table.getBoundingClientRect().right}`));
  assert.deepEqual(wide, []);
  if (pictures) await page.pdf({ path: join(pictures, 'print.pdf'), format: 'A4' });
});

await holds('what is folded on a screen is open on paper, in light colours', { viewport: PAPER, colorScheme: 'dark' }, async page => {
  await page.click('#theme');
  await page.click('#theme');
  const tables = page.locator('details table');
  const open = () => tables.evaluateAll(all => all.filter(table => table.checkVisibility() && table.offsetHeight > 10).length);
  assert.equal(await open(), 0);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  assert.ok(await tables.count() > 0);
  assert.equal(await open(), await tables.count());
  assert.equal(await shown(page, '#cost summary'), await page.locator('#cost summary').count());
  const colour = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.ok(colour.match(/\d+/g).slice(0, 3).every(part => part > 200), colour);
});

await holds('it opens and filters at once', {}, async page => {
  const took = await page.evaluate(() => {
    const { domContentLoadedEventEnd, startTime } = performance.getEntriesByType('navigation')[0];
    const filter = document.getElementById('filter'), began = performance.now();
    filter.value = 'mutex';
    filter.dispatchEvent(new Event('input'));
    document.body.offsetHeight;
    return { opened: domContentLoadedEventEnd - startTime, filtered: performance.now() - began };
  });
  console.log(`        opened in ${took.opened.toFixed(0)} ms, filtered in ${took.filtered.toFixed(0)} ms`);
  assert.ok(took.opened < 3000 && took.filtered < 1000);
});

await browser.close();
console.log(`browser: ${passed} statements hold, ${failed} do not`);
process.exit(failed ? 1 : 0);
