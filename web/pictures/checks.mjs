// What every page has to stand up to, whoever looks at it: axe-core, and no page wider than its window.

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What axe-core finds on a page, in words. */
export async function axeFindings(page, axe) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const found = await page.evaluate(
    (rules) => window.axe.run(document, { runOnly: rules, resultTypes: ["violations"] }),
    RULES,
  );
  return found.violations.map((one) => {
    const nodes = one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160));
    return `${one.id}: ${one.help}: ${nodes.join(" | ")}`;
  });
}

/** How far a page reaches beyond the window's right edge, and with what; what scrolls by itself may. */
export async function overflowing(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const wide = [...document.querySelectorAll("body *")].filter(
      (element) => element.getBoundingClientRect().right > root.clientWidth + 1 && !element.closest(".scroll, pre, .tabs"),
    );
    const names = wide.slice(-3).map((element) => `${element.tagName.toLowerCase()}.${element.className}`);
    return [`${root.scrollWidth - root.clientWidth} px wider than the window (${names.join(", ")})`];
  });
}

/** Notes what goes wrong on a page from now on. */
export function watched(page) {
  page.faults = [];
  page.on("console", (message) => {
    // The browser itself notes each answer that is an error; whether it should be one, others say.
    const status = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !status) page.faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => page.faults.push(`script: ${error.message}`));
  page.on("dialog", (dialog) => {
    page.faults.push(`a dialog opened: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  return page;
}
