import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Frame } from 'playwright-core'
import { expect } from 'vitest'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Lists the parts of a page that hinder people who use screen readers, keyboards or other eyes; `rules` adds rules that are off. */
export async function hindrances(frame: Frame, rules: readonly string[] = []): Promise<string[]> {
  await frame.evaluate(`globalThis.axe ?? (() => { ${axe} })()`)
  const options = { rules: Object.fromEntries(rules.map((rule) => [rule, { enabled: true }])) }
  const run = `axe.run(document, ${JSON.stringify(options)})`
  // biome-ignore lint/suspicious/noExplicitAny: the result of axe in the page
  const { violations, passes } = (await frame.evaluate(run)) as any
  expect(passes.length).toBeGreaterThan(10)
  return violations
    .filter(({ impact }: { impact: string }) => ['serious', 'critical'].includes(impact))
    .flatMap(({ id, nodes }: { id: string; nodes: { html: string }[] }) =>
      nodes.map(({ html }) => `${id}: ${html}`),
    )
}
