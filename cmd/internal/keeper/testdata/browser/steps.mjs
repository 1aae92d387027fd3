// Somebody who sits at the page. Each line of standard input is a step, as JSON: [name, argument]; each is answered with one
// line, {"ok": …} or {"error": …}.

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const patience = 60000; // milliseconds, where much else is going on
const wrong = []; // what no page of ours does: requests to elsewhere, errors, broken rules of what it may load
let browser, page, origin;

const row = (text) => page.locator("ol.rows > li > .row", { hasText: text });
const printed = (text, box = ".tty") =>
  page.waitForFunction(
    ([box, text]) => (document.querySelector(`${box} .xterm-rows`)?.textContent.replaceAll("\u00a0", " ") ?? "").includes(text),
    [box, text],
  );
const tab = (name) => page.locator("#tabs button", { hasText: name });
const note = (text) => page.locator(".note", { hasText: text }).waitFor();

/** opened asks for a terminal on a host. */
async function opened(host) {
  await page.keyboard.press("2");
  await page.locator(".opener option", { hasText: host }).first().waitFor({ state: "attached" });
  await page.locator(".opener select").selectOption(host);
  await page.locator(".opener button").click();
}

/** shoot keeps a picture where FAIRLEAD_SHOTS names a directory for them. */
const shoot = (name) => process.env.FAIRLEAD_SHOTS && page?.screenshot({ path: `${process.env.FAIRLEAD_SHOTS}/${name}.png` });

const steps = {
  async start({ program }) {
    browser = await chromium.launch({ executablePath: program, args: flags });
    return browser.version();
  },

  async enter(url) {
    origin = new URL(url).origin;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
    context.setDefaultTimeout(patience);
    page = await context.newPage();
    context.on("request", (r) => new URL(r.url()).origin === origin || r.url().startsWith("data:") || wrong.push(`a request to ${r.url()}`));
    page.on("websocket", (s) => new URL(s.url()).host === new URL(origin).host || wrong.push(`a socket to ${s.url()}`));
    page.on("console", (m) => ["error", "warning"].includes(m.type()) && wrong.push(`${m.type()}: ${m.text()} ${m.location().url}`));
    page.on("pageerror", (e) => wrong.push(`thrown: ${e.stack}`));
    await page.addInitScript(() =>
      addEventListener("securitypolicyviolation", (e) => console.error(`forbidden: ${e.violatedDirective} ${e.blockedURI}`)),
    );
    await page.goto(url);
    await tab("Approvals").waitFor();
    assert.equal(await page.evaluate(() => location.href), `${origin}/`, "the code is gone from the address");
    await page.reload();
    await tab("Approvals").waitFor();
  },

  /** asked looks at an ask: what of it is in the list, and what is exact. */
  async asked({ first, exact, marks, alike }) {
    await row(first).waitFor();
    await page.waitForFunction(() => document.title.startsWith("(1)"));
    assert.equal(await page.locator("img").count(), 0, "text is no markup");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator(".script.command").waitFor();
    assert.equal(await page.locator(".script.command .line").evaluateAll((all) => all.map((l) => l.textContent).join("\n")), exact);
    assert.deepEqual(await page.locator(".script.command .hidden").allTextContents(), marks);
    assert.deepEqual(await page.locator(".script.command .alike").evaluateAll((all) => all.map((e) => e.firstChild.data)), alike);
    assert.equal(await page.locator("img").count(), 0, "text is no markup");
  },

  async shoot(name) {
    await shoot(name);
  },

  async text(selector) {
    return page.locator(selector).first().textContent();
  },

  /** unarmed says that approving needs more than the beginning, and goes through it all. */
  async unarmed() {
    assert.ok(await page.locator(".bar .yes").isDisabled());
    await page.keyboard.press("a");
    assert.equal(await page.locator("dialog").count(), 0);
    await note("was in view");
    await page.locator(".scroll").evaluate((s) => (s.scrollTop = s.scrollHeight));
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    assert.ok(await page.locator(".bar .yes").isDisabled(), "the end alone is not all");
    for (let i = 0; i < 60 && (await page.locator(".bar .yes").isDisabled()); i++) await page.keyboard.press("n");
  },

  async approve() {
    await page.locator(".bar .yes:enabled").waitFor();
    await page.keyboard.press("a");
    await page.locator("dialog").waitFor();
    await shoot("dialog");
    await page.keyboard.press("Enter");
    await page.locator(".rows").waitFor({ state: "attached" });
    await page.waitForFunction(() => document.title === "Fairlead");
  },

  async reject({ first, why }) {
    await row(first).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator(".bar .no:enabled").waitFor();
    await page.keyboard.press("r");
    await page.locator("dialog").waitFor();
    await page.keyboard.type(why);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.title === "Fairlead");
  },

  async open({ view, item }) {
    await page.keyboard.press(view);
    await row(item).waitFor();
    await row(item).focus();
    await page.keyboard.press("Enter");
  },

  async printed(text) {
    await printed(text);
  },

  async note(text) {
    await note(text);
  },

  async back() {
    await page.keyboard.press("Escape");
    await page.locator(".view:not(.page)").waitFor();
  },

  /** terminal opens one on a host and types in it, then leaves it with all keys being its own. */
  async terminal({ host, line, sees, again, seesAgain }) {
    await opened(host);
    await note("open; recorded");
    await page.keyboard.type(line);
    await page.keyboard.press("Enter");
    await printed(sees, ".tty.typed");
    await page.keyboard.press("Control+Shift+Escape");
    await page.locator(".own button").click();
    await page.setViewportSize({ width: 900, height: 600 });
    await page.waitForFunction(() => document.querySelectorAll(".tty.typed .xterm-rows > *").length < 36);
    await page.keyboard.type(again);
    await page.keyboard.press("Enter");
    await printed(seesAgain, ".tty.typed");
    await shoot("terminal");
    await page.keyboard.type("exit");
    await page.keyboard.press("Enter");
    await note("ended: exit 0");
    await page.keyboard.press("Control+Shift+Escape");
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator(".opener").waitFor();
    assert.equal(await page.locator(".own button").count(), 0);
  },

  async replay({ item, sees }) {
    await page.keyboard.press("3");
    await row(item).first().click();
    await page.locator(".player").waitFor();
    await page.keyboard.press("End");
    await printed(sees);
    await page.keyboard.press("Home");
    await page.waitForFunction((text) => !document.querySelector(".xterm-rows").textContent.includes(text), sees);
    await page.keyboard.press("End");
    await printed(sees);
    await page.locator(".player button", { hasText: "Again" }).waitFor();
    await shoot("player");
    await page.keyboard.press("Escape");
  },

  async search({ text, item, sees }) {
    await page.keyboard.press("4");
    await page.locator(".search").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(text);
    await page.keyboard.press("Enter");
    await shoot("audit");
    await row(item).first().click();
    await page.locator(".record", { hasText: sees }).first().waitFor();
    await shoot("record");
    await page.keyboard.press("Escape");
    await page.locator(".search").waitFor();
    assert.equal(await page.locator(".search [name=text]").inputValue(), text, "what was searched stays");
    await page.locator(".search button", { hasText: "Verify" }).click();
    await page.locator(".good", { hasText: "The record is whole" }).waitFor();
  },

  /** phone looks at all views in a narrow window. */
  async phone() {
    await page.setViewportSize({ width: 360, height: 740 });
    const tight = async (what) => {
      const wide = await page.evaluate(() =>
        Math.max(document.documentElement.scrollWidth, document.body.scrollWidth, document.querySelector("main").scrollWidth),
      );
      assert.ok(wide <= 360, `${what} is ${wide} pixels wide`);
    };
    for (const view of ["1", "2", "3", "4"]) {
      await page.keyboard.press(view);
      await page.waitForTimeout(50);
      await tight(`view ${view}`);
      await shoot(`phone-${view}`);
      if (await page.locator("ol.rows > li > .row").count()) {
        await page.locator("ol.rows > li > .row").first().click();
        await page.locator(".view.page .bar").first().waitFor();
        await tight(`an item of view ${view}`);
        await shoot(`phone-${view}-item`);
        await page.locator(".bar button", { hasText: "Back" }).click();
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  },

  async schemes() {
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await back();
    await page.emulateMedia({ colorScheme: "light" });
    const light = await back();
    assert.notEqual(light, dark);
    await shoot("light");
    await page.keyboard.press("t");
    assert.equal(await back(), dark, "the other one was chosen");
    await page.reload();
    await tab("Approvals").waitFor();
    assert.equal(await back(), dark, "and stays chosen");
    await page.keyboard.press("t");
    assert.equal(await back(), light);
    await page.emulateMedia({ colorScheme: "dark" });
    assert.equal(await back(), dark, "the system's is the one again");
  },

  async help() {
    await page.keyboard.press("?");
    await page.locator("dialog", { hasText: "Ctrl+Shift+Esc" }).waitFor();
    await shoot("help");
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
  },

  async key(name) {
    await page.keyboard.press(name);
  },

  /** clean says that nothing went wrong so far. What comes after makes errors. */
  async clean() {
    assert.deepEqual(wrong, []);
  },

  /** refused tells why there is no terminal. */
  async refused(host) {
    await opened(host);
    await note("recorded, so nothing was sent");
    const why = await page.locator(".own-terminal .note").textContent();
    await page.locator(".bar button", { hasText: "Back" }).click();
    return why;
  },

  /** flood prints more than can be drawn, and still hears what is typed. */
  async flood(host) {
    await opened(host);
    await note("open; recorded");
    await page.keyboard.type("yes");
    await page.keyboard.press("Enter");
    await printed("y".repeat(20));
    await page.keyboard.press("Control+c");
    await page.keyboard.type("echo so-$((40+2)); exit");
    await page.keyboard.press("Enter");
    await note("ended");
    await printed("so-42");
    await page.locator(".bar button", { hasText: "Back" }).click();
  },

  /** over says how to come back, to whoever has a link that is no good, or no cookie any more. */
  async over(link) {
    const other = await browser.newPage();
    await other.goto(link);
    await other.locator(".over", { hasText: "fairlead web" }).waitFor();
    await other.close();
    await page.context().clearCookies();
    await page.keyboard.press("3");
    await page.locator(".over", { hasText: "fairlead web" }).waitFor();
    assert.equal(await page.locator(".rows").count(), 0);
  },

  /** lost tells that the keeper is gone. */
  async lost() {
    await page.locator("#lost", { hasText: "Connection lost" }).waitFor();
  },

  async end() {
    await browser?.close();
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name, argument] = JSON.parse(line);
  let answer;
  try {
    answer = { ok: (await steps[name](argument)) ?? null };
  } catch (e) {
    await shoot("failed");
    answer = { error: `${name}: ${e.stack}`, wrong };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser?.close();
