/** The alert rules and the dashboard of `deploy/`: against the metrics of this program, and in a Prometheus that scrapes it. */

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { openAsOwner, sql } from '#runtime/db/db'
import { alarmNames, runbookOf } from '#runtime/log/alarms'
import { openMetrics } from '#runtime/telemetry/metrics'
import { urlOf } from '#testing/databases/database-clone'
import { openReplicatedPlatform } from '#testing/databases/replicated-platform'
import { systemPostgres } from '#testing/databases/system-postgres'
import { testRootKey } from '#testing/databases/template'
import { openLyingNode } from '#testing/nodes/lying-node'
import { httpAs } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { spawnProgram } from '#testing/processes/program'
import {
  configFile,
  hasPrometheus,
  openPrometheus,
  type Prometheus,
  promtool,
  rulesFile,
} from '#testing/servers/prometheus'

type RuleGroups = { groups: { rules: { record?: string; alert?: string; expr: string }[] }[] }
type Dashboard = {
  templating: { list: { definition?: string }[] }
  panels: {
    id: number
    title: string
    gridPos: { x: number; w: number }
    targets?: { expr: string }[]
  }[]
}

const unitTests = 'testing/suites/processes/prometheus-rules.yaml'
const rulesText = readFileSync(rulesFile, 'utf8')
const rules = (parse(rulesText) as RuleGroups).groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(readFileSync('deploy/grafana/bezant.json', 'utf8')) as Dashboard
const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr })),
)
/** The expressions of panels, as Grafana sends them. */
const asSent = (expr: string) =>
  expr
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '5m')
    .replaceAll('$job', 'bezant')
    .replaceAll('$instance', '.*')

/** Selectors of series in an expression. Without those of statuses: no request of a sound test fails. */
const selectorsOf = (expr: string) =>
  [...expr.matchAll(/\b((?:bezant|process|nodejs)_\w+|up\b|bezant:[\w:]+)\s*(\{[^}]*\})?/g)].map(
    ([, name, labels = '']) =>
      `${name}${labels.replaceAll(/(?<=[{,])\s*status=~"[^"]*"/g, '').replace(/,\s*\}/, '}')}`,
  )

const undo: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const step of undo.reverse()) await step()
})

it('property 300: rules and dashboard name only metrics and alarms that the program has', () => {
  const registered = openMetrics()
    .registry.getMetricsAsArray()
    .map(({ name }) => name)
  const recorded = rules.flatMap(({ record }) => record ?? [])
  const expressions = [
    ...rules.map(({ expr }) => expr),
    ...panels.map(({ expr }) => asSent(expr)),
    ...dashboard.templating.list.flatMap(({ definition }) => definition ?? []),
  ]
  const named = expressions.flatMap(selectorsOf).map((selector) => selector.replace(/\{.*/s, ''))
  const known = new Set([...registered, ...recorded, 'up'])
  const unknown = named.filter(
    (name) => !known.has(name) && !known.has(name.replace(/_(bucket|count|sum)$/, '')),
  )
  expect(unknown).toEqual([])
  // Each metric of the program is on the dashboard.
  expect(registered.filter((name) => !named.some((each) => each.startsWith(name)))).toEqual([])
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  const critical = [...rulesText.matchAll(/\(match "\^\(([a-z|-]+)\)\$" \$labels\.alarm\)/g)]
  const names = critical.flatMap(([, list]) => list!.split('|'))
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => !(alarmNames as readonly string[]).includes(name))).toEqual([])
})

it.runIf(hasPrometheus)(
  'property 300: each alert fires at its fault, and none in a sound installation',
  async () => {
    await promtool('check', 'rules', rulesFile)
    await promtool('check', 'config', '--syntax-only', configFile)
    await promtool('test', 'rules', unitTests)
    const tried = readFileSync(unitTests, 'utf8')
    for (const { alert } of rules) if (alert) expect(tried).toContain(alert)
  },
)

type Selected = { alert: string } | { title: string }

/** Series that rules and panels select, and Prometheus has not. */
async function missingIn(prometheus: Prometheus): Promise<(Selected & { selector: string })[]> {
  const selected = [
    ...rules.map(({ record, alert, expr }) => ({ alert: alert ?? record ?? '', expr })),
    ...panels.map(({ title, expr }) => ({ title, expr: asSent(expr) })),
  ].flatMap(({ expr, ...of }) => selectorsOf(expr).map((selector) => ({ ...of, selector })))
  const found = await Promise.all(
    selected.map(({ selector }) => prometheus.ask<unknown[]>('series', { 'match[]': selector })),
  )
  return selected.filter((_, index) => found[index]!.length === 0)
}

/** A `serve` with a replica and a `worker`, of an installation that reads a chain from two endpoints. */
async function openInstallation() {
  const platform = await openReplicatedPlatform(systemPostgres()!)
  undo.push(platform.close)
  const { harness } = platform
  const replica = await platform.openReplica()
  const operator = await harness.newEntity()
  const { blockchain, rpcUrl } = harness.chain()
  const node = await openLyingNode(rpcUrl)
  undo.push(node.close)
  const dataDir = await mkdtemp(join(tmpdir(), 'bezant-scraped-'))
  undo.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  const env = {
    DATABASE_URL: urlOf(harness.connection),
    BEZANT_READ_DATABASE_URL: replica.url,
    BEZANT_ROOT_KEY: testRootKey.toString('hex'),
    BEZANT_NETWORKS: JSON.stringify([{ blockchain, rpcUrls: [rpcUrl, node.url] }]),
    BEZANT_PAGE_PORT: '0',
  }
  const start = async (command: 'serve' | 'worker') => {
    const program = await spawnProgram({ dataDir, command, args: ['--port', '0'], env })
    undo.push(async () => {
      program.child.kill('SIGTERM')
      await program.exited
    })
    const url = () => /^\{.*"url":"([^"]+)".*"msg":"ready"\}$/m.exec(program.stderr())?.[1]
    await until(() => url() !== undefined || program.child.exitCode !== null, `${command} is ready`)
    return { ...program, url: url() ?? expect.fail(program.stderr()) }
  }
  return { harness, operator, serve: await start('serve'), worker: await start('worker') }
}

it.runIf(hasPrometheus && systemPostgres())(
  'property 300: a Prometheus has the series of every rule and panel, and an alarm fires there with its runbook',
  async () => {
    const { harness, operator, serve, worker } = await openInstallation()
    const targets = { serve: serve.url, worker: worker.url }
    const prometheus = await openPrometheus({ apiKey: operator.apiKey, targets })
    undo.push(prometheus.close)
    await promtool('check', 'config', prometheus.configFile)
    await until(async () => {
      // A request that a replica may serve.
      await httpAs(serve.url, operator.apiKey)('GET', '/v1/w3s/wallets')
      return (await missingIn(prometheus)).length === 0
    }, 'all series are there').catch(async (error) => {
      expect(await missingIn(prometheus)).toEqual([])
      throw error
    })
    for (const { expr } of panels) await prometheus.ask('query', { query: asSent(expr) })
    const { groups } = await prometheus.ask<{ groups: { rules: { name: string; lastError?: string }[] }[] }>(
      'rules',
    )
    const failed = groups.flatMap((group) => group.rules).filter(({ lastError }) => lastError)
    expect(failed).toEqual([])

    type Alert = { labels: Record<string, string>; annotations: Record<string, string>; state: string }
    const firing = async (alarm: string) =>
      (await prometheus.ask<{ alerts: Alert[] }>('alerts')).alerts.filter(
        ({ labels, state }) => labels['alarm'] === alarm && state === 'firing',
      )
    // The database is that of a sandbox, of which the server says so at its start, before the first scrape.
    await until(async () => (await firing('sandbox-credentials')).length > 0, 'an early alarm fires')
    const owner = openAsOwner(harness.connection)
    undo.push(owner.close)
    expect(await firing('schema-newer')).toEqual([])
    await owner.run(
      sql`insert into schema_migrations (name, sha256) values ('9999_newer.sql', 'unknown here')`,
    )
    await until(async () => (await firing('schema-newer')).length === 2, 'the alarm of both processes fires')
    const [alert] = await firing('schema-newer')
    expect(alert!.labels).toMatchObject({ alertname: 'BezantAlarm', severity: 'warning', job: 'bezant' })
    const runbook = runbookOf('schema-newer')
    expect(alert!.annotations['runbook_url']).toBe(`https://bezant.example.com${runbook}`)
    // The log names the same section, and the open cause ends with the cause.
    expect(worker.stderr()).toMatch(new RegExp(`"alarm":"schema-newer",.*"runbook":"${runbook}"`))
    await owner.run(sql`delete from schema_migrations where name = '9999_newer.sql'`)
    const open = { query: 'max(bezant_alarms_open{alarm="schema-newer"})' }
    await until(async () => {
      const { result } = await prometheus.ask<{ result: { value: [number, string] }[] }>('query', open)
      return result[0]?.value[1] === '0'
    }, 'the cause is over')
  },
)
