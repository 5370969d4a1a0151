/** A Prometheus that scrapes processes of a test, by the configuration and the rules of `deploy/prometheus`. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse, stringify } from 'yaml'
import { until } from '#testing/platform/until'
import { quietPort } from '#testing/processes/quiet-port'

/** Whether this machine has Prometheus and its promtool: `apt-get install prometheus`. */
export const hasPrometheus = existsSync('/usr/bin/prometheus') && existsSync('/usr/bin/promtool')

/** Runs a command of promtool; throws with its output when it finds a fault. */
export const promtool = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('/usr/bin/promtool', args)).stdout

const home = 'deploy/prometheus'
export const rulesFile = `${home}/bezant.rules.yaml`
export const configFile = `${home}/prometheus.yml`

type PrometheusConfig = {
  global: Record<string, unknown>
  alerting?: unknown
  scrape_configs: { authorization: { credentials_file: string }; static_configs: unknown[] }[]
}

type PrometheusInput = {
  apiKey: string
  /** The processes, by the label `role`. */
  targets: Record<string, string>
}

export type Prometheus = {
  configFile: string
  /** The answer of its API at a path below /api/v1. */
  ask<Data>(path: string, query?: Record<string, string>): Promise<Data>
  close(): Promise<void>
}

export async function openPrometheus({ apiKey, targets }: PrometheusInput): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'bezant-prometheus-'))
  const [ownFile, keyFile] = [join(folder, 'prometheus.yml'), join(folder, 'bezant-key')]
  const config: PrometheusConfig = parse(await readFile(configFile, 'utf8'))
  Object.assign(config.global, { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' })
  delete config.alerting
  const [job] = config.scrape_configs
  job!.authorization.credentials_file = keyFile
  job!.static_configs = Object.entries(targets).map(([role, url]) => ({
    targets: [new URL(url).host],
    labels: { role },
  }))
  await writeFile(ownFile, stringify(config))
  await writeFile(keyFile, `${apiKey}\n`)
  await copyFile(rulesFile, join(folder, 'bezant.rules.yaml'))
  const port = await quietPort()
  const child = spawn(
    '/usr/bin/prometheus',
    [
      `--config.file=${ownFile}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const exited = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(async () => child.exitCode !== null || (await isReady()), 'Prometheus is ready')
  if (child.exitCode !== null) throw new Error(`Prometheus ended: ${said}`)
  return {
    configFile: ownFile,
    ask: async (path, query = {}) => {
      const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`)
      const { status, data, error } = (await answer.json()) as { status: string; data: never; error?: string }
      if (status !== 'success') throw new Error(`${path} ${JSON.stringify(query)}: ${error}`)
      return data
    },
    close: async () => {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
