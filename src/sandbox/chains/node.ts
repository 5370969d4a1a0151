import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { nativeContract } from '#chains/network'
import type { Network } from '#chains/networks/index'
import { freePort } from '../free-port.ts'
import { anvilBinary } from './binary.ts'
import { call } from './rpc.ts'

/** A running node. */
export type LocalNode = {
  pid: number
  url: string
  /** Resolves with the known reason when the process has ended. */
  exited: Promise<string>
  /** Ends the process: SIGTERM, then SIGKILL after `graceMs`. Resolves when it is gone. */
  end(graceMs: number): Promise<void>
}

type NodeOptions = {
  network: Network
  gasLimit: bigint
  /** The node's directory for old states. It contains the chain's name, so it also identifies our nodes. */
  cacheDir: string
  source: { init: string } | { state: string }
  /** The preferred port, used if free, so that known addresses stay valid. */
  port?: number | undefined
  /** Called right after the spawn, so that cleanup knows the process even if it never becomes ready. */
  onSpawn: (spawned: { pid: number; port: number }) => void
}

const startTimeoutMs = 60_000
const startAttempts = 3

/** Starts a node that does not mine yet. Retries when another process takes the chosen port first. */
export async function startNode(options: NodeOptions): Promise<LocalNode> {
  const binary = anvilBinary()
  for (let attempt = 1; ; attempt++) {
    const port = await freePort(attempt === 1 ? options.port : undefined)
    try {
      return await spawnNode(binary, port, options)
    } catch (error) {
      if (attempt === startAttempts || !/in use|AddrInUse/i.test(String(error))) throw error
    }
  }
}

async function spawnNode(binary: string, port: number, options: NodeOptions): Promise<LocalNode> {
  // The node gets its own process group: Ctrl-C reaches only this process, so that the state is written before the node ends.
  const errorPath = join(options.cacheDir, 'errors.log')
  // A file, not a pipe: a node that outlives this process must not fail on writing to a closed pipe.
  const errorFile = openSync(errorPath, 'w')
  const child = spawn(binary, nodeArguments(port, options), {
    detached: true,
    stdio: ['ignore', 'ignore', errorFile],
  })
  closeSync(errorFile)
  if (child.pid !== undefined) options.onSpawn({ pid: child.pid, port })
  const node = ownedNode(child, `http://127.0.0.1:${port}`, () => lastErrors(errorPath))
  const ended = node.exited.then((reason) => {
    throw new Error(`The local node for chain ${options.network.chainId} did not start: ${reason}`)
  })
  const aborted = new AbortController()
  try {
    await Promise.race([ended, answering(node.url, options.network.chainId, aborted.signal)])
  } catch (error) {
    await node.end(0)
    throw error
  } finally {
    aborted.abort()
  }
  return node
}

function nodeArguments(port: number, { network, gasLimit, cacheDir, source }: NodeOptions): string[] {
  const state = 'init' in source ? ['--init', source.init] : ['--load-state', source.state]
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(network.chainId)],
    ...['--gas-limit', String(gasLimit), '--slots-in-an-epoch', '1', '--no-request-size-limit'],
    ...['--no-mining', '--quiet', '--cache-path', cacheDir, ...state],
    // The precompiled contract of that network moves native coins for the contract of such a coin.
    ...(nativeContract(network) === undefined ? [] : ['--celo']),
  ]
}

function ownedNode(child: ChildProcess, url: string, errors: () => string): LocalNode {
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(`${errors()} (exit code ${code}, signal ${signal})`.trim()))
  })
  const end = async (graceMs: number) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill(graceMs > 0 ? 'SIGTERM' : 'SIGKILL')
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    await exited
    clearTimeout(timer)
  }
  return { pid: child.pid ?? 0, url, exited, end }
}

function lastErrors(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(-2000).trim()
  } catch {
    return ''
  }
}

/** Resolves when the node answers with the right chain id. */
async function answering(url: string, chainId: number, signal?: AbortSignal): Promise<void> {
  const deadline = performance.now() + startTimeoutMs
  while (!signal?.aborted) {
    const answer = await call<string>(url, 'eth_chainId').catch(() => undefined)
    if (answer !== undefined && Number(answer) === chainId) return
    if (performance.now() > deadline) throw new Error(`No local node answers at ${url} for chain ${chainId}`)
    await delay(10)
  }
}
