import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { onTestFinished } from 'vitest'
import { networkOf } from '#chains/networks/index'
import {
  type LocalChain,
  type LocalChains,
  type LocalChainsOptions,
  startLocalChains,
} from '#sandbox/chains/index'
import { call } from '#sandbox/chains/rpc'
import { devAccounts } from '#sandbox/constants'
import { testLog } from '#testing/platform/log'
import { processesUnder } from '#testing/processes/program'
import { programFile } from '#testing/processes/programs'

export const dev = devAccounts.map(({ privateKey }) => privateKeyToAccount(privateKey))
export const bob = '0x00000000000000000000000000000000000000bb'
const log = testLog(process.env['LOG_LEVEL'])

export type Block = {
  number: string
  hash: string
  timestamp: string
  gasLimit: string
  transactions: string[]
}

/** A directory that is removed at the end of the test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'bezant-test-chains-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Starts BASE-SEPOLIA alone; the test's end stops it, if the test has not. */
export async function startBase(
  options: Partial<LocalChainsOptions>,
): Promise<{ local: LocalChains; chain: LocalChain }> {
  const networks = [networkOf('BASE-SEPOLIA')!]
  const local = await startLocalChains({ networks, dataDir: '', ephemeral: false, log, ...options })
  onTestFinished(() => local.stop())
  return { local, chain: local.chains[0]! }
}

export type Victim = Awaited<ReturnType<typeof startVictim>>
export type VictimOptions = {
  dataDir: string
  ephemeral?: boolean
  blockTimeMs?: number
  blockchains?: readonly string[]
}

/** Starts chains, BASE-SEPOLIA by default, in a separate process, which `kill` ends with its nodes without warning. */
export async function startVictim(options: VictimOptions) {
  const asked = JSON.stringify({ ephemeral: false, blockchains: ['BASE-SEPOLIA'], ...options })
  const child = spawn(process.execPath, [await programFile('chains'), asked], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  child.stderr.on('data', (text: Buffer) => console.error(text.toString()))
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (!Buffer.isBuffer(line)) throw new Error('The process did not start its chains')
  const chains = JSON.parse(line.toString()) as LocalChain[]
  onTestFinished(() => {
    for (const { pid } of [{ pid: child.pid! }, ...chains]) signal(pid, 'SIGKILL')
  })
  const kill = async (everything: boolean) => {
    await ended(child, 'SIGKILL')
    if (everything) for (const { pid } of chains) signal(pid, 'SIGKILL')
  }
  /** Kills the process and the watchdog that would end its nodes. */
  const leaveNodes = async () => {
    const watchdogs = processesUnder(child.pid!).filter((pid) => isWatchdog(pid))
    if (watchdogs.length === 0) throw new Error('The process has no watchdog')
    for (const pid of watchdogs) signal(pid, 'SIGKILL')
    await ended(child, 'SIGKILL')
  }
  /** Interrupts the whole process group, as Ctrl-C does. */
  const interrupt = async () => {
    const exit = once(child, 'exit')
    process.kill(-child.pid!, 'SIGINT')
    await exit
  }
  return { chain: chains[0]!, chains, kill, leaveNodes, stop: () => ended(child, 'SIGTERM'), interrupt }
}

const isWatchdog = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('bezant-watchdog')

async function ended(child: ChildProcess, name: NodeJS.Signals): Promise<void> {
  const exit = once(child, 'exit')
  child.kill(name)
  await exit
}

export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** A transfer of one base unit of the native coin to `bob`, signed by a development account. */
export function transfer(sender: number, nonce: number, chainId = 84532): Promise<string> {
  return dev[sender]!.signTransaction({
    chainId,
    type: 'eip1559',
    nonce,
    to: bob,
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1n,
  })
}

export async function send(url: string, sender: number, nonce: number): Promise<string> {
  return call<string>(url, 'eth_sendRawTransaction', [await transfer(sender, nonce)])
}

export const blockAt = (url: string, number: number | 'latest') =>
  call<Block>(url, 'eth_getBlockByNumber', [number === 'latest' ? number : `0x${number.toString(16)}`, false])

export async function allBlocks(url: string): Promise<Block[]> {
  const height = Number(await call(url, 'eth_blockNumber'))
  return Promise.all(Array.from({ length: height + 1 }, (_, number) => blockAt(url, number)))
}

export const receipt = (url: string, hash: string) =>
  call<{ blockHash: string; status: string; logs: unknown[] } | null>(url, 'eth_getTransactionReceipt', [
    hash,
  ])
