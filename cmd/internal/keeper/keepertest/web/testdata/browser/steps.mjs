// Somebody who sits at the page. Each line of standard input is a step, as JSON: [name, argument]; each is answered with one
// line, {"ok": …} or {"error": …}.

import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { cable } from "./cable.mjs";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const patience = 120000; // milliseconds, where much else is going on
const wrong = []; // what no page of ours does: requests to elsewhere, errors, broken rules of what it may load
let browser, page, origin, line;

const row = (text) => page.locator("ol.rows > li > .row", { hasText: text });
const printed = (text, box = ".tty") =>
  page.waitForFunction(
    ([box, text]) => (document.querySelector(`${box} .xterm-rows`)?.textContent.replaceAll("\u00a0", " ") ?? "").includes(text),
    [box, text],
  );
const unprinted = (text) => page.waitForFunction((text) => !document.querySelector(".xterm-rows").textContent.includes(text), text);
/** focused says that the focus is on something: from the body there is no way on. */
const focused = () => page.waitForFunction(() => document.activeElement && document.activeElement !== document.body);
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

/** nothing says that a page that is over shows nothing of what it knew, whatever is pressed. */
async function nothing() {
  for (const key of ["3", "1", "?", "Escape"]) await page.keyboard.press(key);
  await page.goBack();
  await page.waitForFunction(() => document.querySelector(".over") && !document.querySelector(".rows, .must, .tty"));
  assert.equal(await page.title(), "Fairlead");
  assert.equal(await page.locator("dialog").count(), 0);
  assert.deepEqual(await page.evaluate(() => sessionStorage.getItem("fairlead-token")), null);
}

const steps = {
  async start({ program }) {
    browser = await chromium.launch({ executablePath: program, args: flags });
    return browser.version();
  },

  async enter(url, through = {}) {
    origin = new URL(url).origin;
    await page?.context().close();
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "dark", ...through });
    context.setDefaultTimeout(patience);
    page = await context.newPage();
    context.on("request", (r) => new URL(r.url()).origin === origin || r.url().startsWith("data:") || wrong.push(`a request to ${r.url()}`));
    page.on("websocket", (s) => new URL(s.url()).host === new URL(origin).host || wrong.push(`a socket to ${s.url()}`));
    page.on("console", (m) => ["error", "warning"].includes(m.type()) && !m.text().includes("429") && wrong.push(`${m.type()}: ${m.text()} ${m.location().url}`));
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

  /** wired enters by a cable that can be held. */
  async wired(url) {
    line?.cut();
    line = await cable();
    await steps.enter(url, { proxy: { server: line.address } });
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

  /** must says what nobody approves without having seen it. */
  async must(texts) {
    const all = await page.locator(".must").textContent();
    for (const text of texts) assert.ok(all.includes(text), `${text} is not in ${all}`);
  },

  /** unarmed says that approving needs more than the beginning, and goes through it all. */
  async unarmed() {
    assert.ok(await page.locator(".bar .yes").isDisabled());
    await page.keyboard.press("a");
    assert.equal(await page.locator("dialog").count(), 0);
    await note("Scroll through all of it");
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
    await page.locator(".told", { hasText: "Approved: touch" }).waitFor();
    assert.match(await page.locator("#said").textContent(), /^Approved: touch/);
    await focused();
    await page.waitForFunction(() => document.title === "Fairlead");
  },

  /** lasting approves a command for its session: the exact one, or those that begin with some words. */
  async lasting({ row: first, prefix, begins }) {
    await row(first).click();
    await page.locator(".bar .yes:enabled").waitFor();
    await page.keyboard.press("a");
    const digest = page.locator("dialog .digest");
    await digest.waitFor();
    const plain = await digest.textContent();
    await page.locator("dialog select[name=scope]").selectOption(prefix ? "prefix" : "exact");
    if (prefix) {
      await page.locator("dialog input[name=prefix]").fill("$(x) y");
      await page.locator("dialog button.yes").click();
      await page.locator("dialog .problem", { hasText: "shell syntax" }).waitFor();
      await page.locator("dialog input[name=prefix]").fill(prefix);
      await page.locator("dialog select[name=for]").selectOption("1800");
    }
    await page.waitForFunction((was) => /^sha256:/.test(document.querySelector("dialog .digest").textContent) && document.querySelector("dialog .digest").textContent !== was, plain);
    await shoot("for-session");
    await page.locator("dialog button.yes").click();
    await page.locator(".told", { hasText: `Approved: ${begins}` }).waitFor();
  },

  /** revoke revokes a session approval. */
  async revoke(text) {
    await page.locator(".granted li", { hasText: text }).getByRole("button", { name: "Revoke" }).click();
    await page.locator(".granted li", { hasText: text }).waitFor({ state: "detached" });
  },

  /** typing approves a command with what is typed at it, or what is to be typed at one that runs. */
  async typing({ row: first, title, begins, input }) {
    await row(first).click();
    await page.locator(".must h2", { hasText: title }).waitFor();
    await page.locator(".bar .yes:enabled").waitFor();
    await page.keyboard.press("a");
    const [digest, box] = [page.locator("dialog .digest"), page.locator("dialog input[type=checkbox]")];
    await digest.waitFor();
    assert.equal(await box.count(), input ? 1 : 0);
    if (input) {
      const plain = await digest.textContent();
      await box.check();
      const more = await digest.textContent();
      assert.notEqual(more, plain);
      assert.ok((await page.locator("dialog pre").textContent()).includes(more), "that is signed");
      await shoot("with-input");
    }
    await page.locator("dialog button.yes").click();
    await page.locator(".told", { hasText: `Approved: ${begins}` }).waitFor();
  },

  /** strayed goes back while it is asked whether to approve: what is shown no more is not approved. */
  async strayed(first) {
    await row(first).click();
    await page.locator(".bar .yes:enabled").waitFor();
    await page.keyboard.press("a");
    await page.locator("dialog .facts", { hasText: first }).waitFor();
    await page.goBack();
    await row(first).waitFor();
    assert.equal(await page.locator("dialog").count(), 0);
    await focused();
    await page.keyboard.press("Enter"); // which opens it again
    await page.locator(".bar .yes:enabled").waitFor();
    await page.keyboard.press("a");
    await page.locator("dialog").waitFor();
  },

  /** taken says that what does not wait any more is not approved, either. */
  async taken() {
    await page.locator("dialog .problem", { hasText: "does not wait any more" }).waitFor();
    assert.ok(await page.locator("dialog .yes").isDisabled());
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("dialog").count(), 1);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.locator(".empty:visible").waitFor();
  },

  /** reject does so from the list, without opening it. */
  async reject({ first, why }) {
    await row(first).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await page.locator("dialog").waitFor();
    await page.keyboard.type(why);
    await page.keyboard.press("Enter");
    await page.locator(".told", { hasText: `Rejected: ${first}` }).waitFor();
    await page.waitForFunction(() => document.title === "Fairlead");
    await focused();
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

  /** scroll goes through what was printed by keyboard, and has it told to a screen reader. */
  async scroll({ first, last }) {
    await focused();
    await printed(last);
    await page.keyboard.press("Home");
    await printed(first);
    await page.keyboard.press("PageDown");
    await unprinted(first);
    await page.keyboard.press("PageUp");
    await printed(first);
    await page.keyboard.press("End");
    await printed(last);
    await page.keyboard.press("s");
    await page.locator(".xterm-accessibility-tree", { hasText: last }).waitFor();
    await page.keyboard.press("s");
    await page.locator(".xterm-accessibility-tree").waitFor({ state: "detached" });
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
    await page.keyboard.press("Control+Shift+F6");
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator(".opener").waitFor();
    assert.equal(await page.locator(".own button").count(), 0);
    await page.goBack();
    await page.locator(".problem", { hasText: "This terminal has ended" }).waitFor();
    await page.keyboard.press("Escape");
  },

  async replay({ item, sees }) {
    await page.keyboard.press("3");
    await row(item).first().click();
    await page.locator(".player").waitFor();
    await page.keyboard.press("End");
    await printed(sees);
    await page.keyboard.press("Home");
    await unprinted(sees);
    await page.keyboard.press("End");
    await printed(sees);
    await page.locator(".player button", { hasText: "Again" }).waitFor();
    await page.locator(".player [type=range]").focus();
    await page.keyboard.press("Space");
    await page.locator(".player button", { hasText: "Pause" }).waitFor();
    await page.keyboard.press("Space");
    await page.locator(".player button", { hasText: "Play" }).waitFor();
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
    await page.locator("#said", { hasText: "found" }).waitFor({ state: "attached" });

    // The answer to what is not looked for any more is not shown, and who comes back before there is one gets one.
    let go;
    const held = new Promise((done) => (go = done));
    await page.route("**/v1/audit/search?*", async (r) => (await held, r.continue().catch(() => {})), { times: 1 });
    await page.locator(".search [name=text]").fill("");
    await page.keyboard.press("Enter");
    await page.locator(".search [name=text]").fill(text);
    await page.keyboard.press("Enter");
    await page.waitForFunction((text) => [...document.querySelectorAll(".rows .what")].every((e) => e.textContent.includes(text)), item);
    go();
    await page.route("**/v1/audit/search?*", (r) => r.fulfill({ status: 429, headers: { "Retry-After": "1" }, body: "{}" }), { times: 1 });
    await page.locator(".search [name=text]").fill("nothing has this in it");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    await page.keyboard.press("1");
    await page.locator("h1", { hasText: "Approvals" }).waitFor({ state: "attached" });
    await page.keyboard.press("4");
    await page.locator(".empty", { hasText: "Nothing was found" }).waitFor();
    assert.equal(await page.locator(".problem:visible").count(), 0);
    await page.reload();
    await page.locator(".search").waitFor();
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
    await nothing();
  },

  /** stays says that a terminal goes on when the page's time is over, and that nothing else is left. */
  async stays(host) {
    await page.waitForFunction(() => document.title.startsWith("(1)"));
    await opened(host);
    await note("open; recorded");
    await page.keyboard.press("Control+Shift+F6");
    await page.locator(".own button").waitFor();
    await page.context().clearCookies();
    await page.keyboard.press("3");
    await page.locator(".last", { hasText: "time is over" }).waitFor();
    await page.keyboard.type("echo still-$((40+2))");
    await page.keyboard.press("Enter");
    await printed("still-42");
    await shoot("stays");
    await page.keyboard.press("Control+Shift+F6");
    assert.equal(await page.evaluate(() => document.activeElement.className), "bar above last");
    await page.locator(".tty").click();
    await page.keyboard.type("exit");
    await page.keyboard.press("Enter");
    await note("ended: exit 0");
    await page.locator(".bar button", { hasText: "Back" }).click();
    await page.locator(".over", { hasText: "time is over" }).waitFor();
    await nothing();
  },

  /** silent says that a connection is noticed that is dead without having been closed, and that a tab nobody sees has none. */
  async silent() {
    const stream = (what) => page.waitForEvent(what, (r) => r.url().endsWith("/v1/events"));
    const shown = (is) =>
      page.evaluate((is) => {
        Object.defineProperty(document, "visibilityState", { configurable: true, get: () => is });
        document.dispatchEvent(new Event("visibilitychange"));
      }, is);
    await Promise.all([stream("requestfailed"), shown("hidden")]);
    await Promise.all([stream("response"), shown("visible")]);
    assert.ok(await page.locator("#lost").isHidden());
    await page.keyboard.press("1");
    line.hold(true);
    await page.keyboard.press("3");
    await page.locator(".problem", { hasText: "has not answered" }).waitFor();
    await page.locator("#lost", { hasText: "Connection lost" }).waitFor();
    await shoot("silent");
    line.hold(false);
    await page.locator("#lost").waitFor({ state: "hidden" });
    await page.locator("main .problem").waitFor({ state: "hidden" });
  },

  /** dropped says that a session that is watched is taken up again. */
  async dropped() {
    line.drop();
    await printed("connected again");
    await note("idle");
  },

  /** leave leaves nothing behind. */
  async leave(host) {
    await page.keyboard.press("1");
    await row("touch").first().click();
    await page.locator(".must").waitFor();
    await page.keyboard.press("Escape");
    await opened(host);
    await note("open; recorded");
    await page.keyboard.press("Control+Shift+F6");
    const stream = page.waitForEvent("requestfailed", (r) => r.url().endsWith("/v1/events"));
    await page.locator("#leave").click();
    await page.locator(".over", { hasText: "The terminal was hung up" }).waitFor();
    await stream;
    await shoot("left");
    await nothing();
  },

  /** lost tells that the keeper is gone, and gives up. */
  async lost() {
    await page.locator("#lost", { hasText: "Connection lost" }).waitFor();
    await page.locator(".over", { hasText: "The keeper has ended" }).waitFor();
    await nothing();
  },

  /** hasty has the page wait for shorter times. */
  async hasty(times) {
    const text = `export const patience = ${JSON.stringify(times)};`;
    await page.route("**/patience.js", (r) => r.fulfill({ contentType: "text/javascript", body: text }));
    await page.reload();
    await tab("Approvals").waitFor();
    await page.keyboard.press("2");
    await page.locator(".opener").waitFor();
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
line?.cut();
