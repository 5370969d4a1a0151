/** The Alto bundler, in a process of its own on the node that our sandbox uses. */
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { devAccounts } from '#sandbox/constants'
import type { Node } from '../chain.ts'
import { installPeer } from '../install-peer.ts'
import { startProgram } from '../processes.ts'
import type { Run } from '../run.ts'
import { until } from '../until.ts'

export const altoVersion = '0.0.20'
const patience = { everyMs: 100, patienceMs: 60_000 }
const executorsMax = 4

/** Starts Alto with executors that the node funds; returns the URL of its JSON-RPC endpoint. */
export async function startAlto(run: Run, node: Node, entryPoint: string): Promise<string> {
  const installed = await installPeer(run, `alto-${altoVersion}`, [`@pimlico/alto@${altoVersion}`])
  const port = await freePort()
  const keys = devAccounts.slice(0, executorsMax + 1).map(({ privateKey }) => privateKey)
  await startProgram(run, {
    args: [
      join(installed, 'node_modules/@pimlico/alto/esm/cli/alto.js'),
      '--entrypoints',
      entryPoint,
      '--rpc-url',
      node.url,
      '--port',
      String(port),
      '--executor-private-keys',
      keys.slice(1).join(),
      '--utility-private-key',
      keys[0]!,
      '--safe-mode',
      'false',
      '--log-level',
      'info',
      // As often as it can: by default it waits up to a second for more operations.
      '--min-bundle-interval',
      '50',
      '--max-bundle-interval',
      '200',
      '--block-time',
      '100',
      '--enforce-unique-senders-per-bundle',
      'false',
    ],
    readyOn: 'stdout',
    isReady: (line) => /server listening/i.test(line),
  })
  const url = `http://127.0.0.1:${port}`
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_supportedEntryPoints', params: [] })
  const headers = { 'content-type': 'application/json' }
  const answers = () =>
    fetch(url, { method: 'POST', headers, body }).then(
      ({ ok }) => ok,
      () => false,
    )
  await until(answers, 'Alto answers', patience)
  return url
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
