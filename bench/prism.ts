import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Figure } from './figures.ts'
import { installPeer } from './install-peer.ts'
import { type Request, requestsPerSecond } from './load.ts'
import { measureBusyCores } from './machine.ts'
import { startPlatform } from './platform.ts'
import { root } from './processes.ts'
import { insertPayments, insertWallets } from './rows.ts'
import type { Bench, Run } from './run.ts'
import { alternateRounds, median, ratioOf } from './statistics.ts'

/** The newest version that runs on the supported Node versions. */
const prismVersion = '5.14.2'
const connections = 16
const rowCount = 500

const operations = [
  { name: 'wallets', path: '/v1/w3s/wallets' },
  { name: 'payments', path: '/v1/payments' },
]

export const prismBench: Bench = {
  name: 'prism',
  about: 'lists with real rows against the Prism mock server',
  measure: async (run) => {
    const prismUrl = await startPrism(run)
    const platform = await startPlatform(run, async (database, entityId) => {
      await insertWallets(database, entityId, rowCount)
      await insertPayments(database, entityId, rowCount)
    })
    const figures: Figure[] = []
    for (const { name, path } of operations) {
      const ours = { url: platform.url, path, headers: platform.headers }
      figures.push(await compare(run, name, ours, { ...ours, url: prismUrl }))
    }
    return figures
  },
}

async function compare(run: Run, name: string, ours: Request, prism: Request): Promise<Figure> {
  const durationMs = run.amount(2_000, 500, 50)
  const things = {
    ours: () => requestsPerSecond(ours, connections, durationMs),
    prism: () => requestsPerSecond(prism, connections, durationMs),
  }
  await alternateRounds(1, things)
  const busy = measureBusyCores()
  const values = await alternateRounds(run.amount(7, 3, 1), things, (round, value) =>
    run.report(
      `${name}, round ${round + 1}: ${value.ours.toFixed(0)} and ${value.prism.toFixed(0)} requests/s`,
    ),
  )
  return {
    name: `GET ${ours.path}`,
    measured: { value: median(values.ours), unit: 'requests/s' },
    reference: { value: median(values.prism), unit: 'requests/s', what: 'Prism' },
    ratio: ratioOf(values.ours, values.prism),
    promise: { ratioMin: 4 },
    coresBusy: busy(),
  }
}

/** Prism in one process, answering from the generated description; its log is off, in its favour. */
async function startPrism(run: Run): Promise<string> {
  const installed = await installPeer(run, `prism-${prismVersion}`, [`@stoplight/prism-cli@${prismVersion}`])
  const program = join(installed, 'node_modules/@stoplight/prism-cli/dist/index.js')
  const port = await freePort()
  const where = ['--host', '127.0.0.1', '--port', String(port)]
  const child = spawn(
    process.execPath,
    [program, 'mock', join(root, 'openapi.json'), ...where, '--verboseLevel', 'silent'],
    { stdio: 'ignore' },
  )
  run.atEnd(async () => void child.kill('SIGKILL'))
  for (let attempt = 0; attempt < 300; attempt++) {
    if (child.exitCode !== null) throw new Error(`Prism ended with ${child.exitCode}`)
    if (await answers(port)) return `http://127.0.0.1:${port}`
    await sleep(100)
  }
  throw new Error('Prism did not listen within 30 s')
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
    probe.once('error', reject)
  })
