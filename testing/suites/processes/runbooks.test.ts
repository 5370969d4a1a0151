/** Whether an operator can do what `docs/runbooks.md` says: commands, operations, metrics and statements that it names. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endpoints } from '#api/index'
import { openAsOwner, raw } from '#runtime/db/db'
import { openMetrics } from '#runtime/telemetry/metrics'
import { cloneDatabase } from '#testing/databases/database'
import { runCommand } from '#testing/processes/command'

const page = readFileSync('docs/runbooks.md', 'utf8')
/** The texts in code type, each on one line. */
const named = [...page.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, text]) =>
  text!.replaceAll(/\s+/g, ' '),
)

let clone: Awaited<ReturnType<typeof cloneDatabase>>
beforeAll(async () => {
  clone = await cloneDatabase('seeded')
})
afterAll(() => clone?.drop())

it('property 300: the commands of runbooks exist, with their actions and options', async () => {
  const lines = named.filter((text) => /^bezant [a-z]/.test(text))
  expect(lines.length).toBeGreaterThan(30)
  const commands = [...new Set(lines.map((line) => line.split(' ')[1]!))]
  const helps = new Map<string, string>()
  for (const command of commands)
    helps.set(command, (await runCommand({ command: 'help', args: [command] })).stdout)
  for (const line of lines) {
    const [, command, action] = line.split(' ')
    const help = helps.get(command!)!
    expect(help, line).toContain(`Usage: bezant ${command}`)
    if (action && !action.startsWith('-')) expect(help, line).toContain(`bezant ${command} ${action}`)
    for (const [option] of line.matchAll(/--[a-z-]+/g)) expect(help, line).toContain(`${option} `)
  }
})

it('property 300: the operations and the metrics of runbooks exist', () => {
  const paths = endpoints.map(({ method, path }) => `${method} ${path}`)
  const operations = named.flatMap((text) => /^(?:GET|POST|PUT|PATCH) \/[^?\s]+/.exec(text)?.[0] ?? [])
  expect(operations.length).toBeGreaterThan(5)
  expect(operations.filter((each) => !paths.includes(each) && each !== 'GET /operator/…')).toEqual([])
  const metrics = openMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
  const shown = [...page.matchAll(/\b(?:bezant|process|nodejs)_[a-z_]+/g)].map(([name]) => name)
  const known = (name: string) => metrics.includes(name) || metrics.includes(name.replace(/_count$/, ''))
  expect(shown.filter((name) => !known(name) && name !== 'bezant_url')).toEqual([])
})

it('property 300: the statements of runbooks run', async () => {
  const blocks = [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split(';'))
  const statements = [...blocks, ...named].map((text) => text.trim()).filter((text) => /^select /.test(text))
  expect(statements.length).toBeGreaterThan(5)
  const owner = openAsOwner(clone.connection)
  // The process of the example, which is none.
  for (const statement of statements)
    await owner.run(raw(statement.replace('(PID)', '(0)'))).catch((error: Error) => {
      throw new Error(`${statement}: ${error.message}`)
    })
  await owner.close()
})
