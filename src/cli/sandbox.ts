import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireOwnNetworks } from '#chains/networks/index'
import { newestCore, type ScaCore, scaCores } from '#lib/sca-cores'
import { parseOrigin } from '#lib/web-origin'
import { type Config, targetsOf } from '#runtime/config'
import { alarmWords } from '#runtime/log/alarms'
import { createLog } from '#runtime/log/log'
import type { Targets } from '#runtime/outbound/target'
import { startWatchdog } from '#sandbox/end-processes-after-kill'
import type { SandboxAnswer } from '#sandbox/endpoints'
import { checkPorts } from '#sandbox/own-ports'
import { sandboxSettings } from '#sandbox/sandbox-settings'
import type { SandboxOptions } from '#sandbox/start'
import { leftOut, requireTestNetwork, startedByDefault } from '#sandbox/test-networks'
import { type Command, numberFlag, type ParsedArgs, readFlag, textFlag, UsageError } from './command.ts'
import { configOf } from './connection.ts'
import { explainError } from './explain-error.ts'
import { waitForStopSignal } from './stop-signal.ts'
import { counted } from './table.ts'

export const sandboxCommand: Command = {
  usage: `bezant sandbox [options]
       bezant sandbox chain ACTION …    control the chains of a sandbox that runs
       bezant sandbox clock ACTION …    move the time of a sandbox that runs
       bezant sandbox faults ACTION …   meet requests, nodes and webhooks with faults
       bezant sandbox faucet ADDRESS …  pay test coins
       bezant sandbox snapshot ACTION … save and restore the state of a sandbox that runs
       bezant sandbox reset             return it to the state of its first start

Each of the latter has its own --help.

Chains of EVM are real nodes, and SOL-DEVNET runs on the virtual machine of its network, for which there
is a package on Linux and macOS. That of APTOS-TESTNET is simulated by this program, because no node of
it can be installed: transfers of coins follow the rules of the network, and other code does not run.`,
  options: {
    json: { type: 'boolean', about: 'Print one line of JSON when ready; logs go to standard error.' },
    ephemeral: {
      type: 'boolean',
      about: 'Keep no data: use a temporary directory, or empty that of --data-dir at the end.',
    },
    port: {
      type: 'string',
      value: 'PORT',
      about: 'Port of the API, before that of the page of users; 0 for free ones.',
      default: '4020',
    },
    'data-dir': { type: 'string', value: 'DIR', about: 'Directory of all data.', default: '.bezant' },
    chains: {
      type: 'string',
      value: 'A,B',
      about:
        'Chains to start, such as BASE-SEPOLIA,SONIC-TESTNET: any test network of docs/chains.md, or of BEZANT_OWN_NETWORKS.',
      default: 'those of the wallet clients, LINEA-SEPOLIA and ZKS-SEPOLIA',
    },
    'block-time': {
      type: 'string',
      value: 'SECONDS',
      about: 'Mine a block at this interval instead of one for each transaction.',
    },
    'gas-limit': { type: 'string', value: 'GAS', about: 'Gas limit of a block.', default: '30000000' },
    faults: {
      type: 'string',
      value: 'FILE',
      about: 'Plan of faults to begin with, in YAML or JSON.',
    },
    expose: {
      type: 'boolean',
      about:
        'Let the network reach it at BEZANT_HOST, with credentials of its own in place of the public ones.',
    },
    cors: {
      type: 'string',
      value: 'A,B',
      about: 'Origins whose pages may use the operations below /sandbox, such as http://localhost:5173.',
      default: 'none but its own',
    },
    tls: {
      type: 'boolean',
      about: 'Serve https with a certificate of its own, for clients that refuse http.',
    },
    'sca-core': {
      type: 'string',
      value: 'CORE',
      about: 'Version of new smart accounts; an earlier one is for tests of walletUpgrade.',
      default: newestCore,
    },
    notify: {
      type: 'string',
      value: 'WHERE',
      about:
        'Allowed receivers of notifications: public addresses, or also this machine (loopback) or its network (private).',
      default: 'loopback',
    },
    'log-level': {
      type: 'string',
      value: 'LEVEL',
      about: 'Log level: debug, info, warn or error.',
      default: 'warn',
    },
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const ephemeral = args.flags['ephemeral'] === true
  const port = numberFlag(args, 'port', 65_535)
  const notificationTargets = readFlag(args, 'notify', targetsOf) ?? sandboxSettings.notificationTargets
  requireOwnNetworks()
  const blockchains = readFlag(args, 'chains', parseChains) ?? startedByDefault()
  const scaCore = readFlag(args, 'sca-core', parseCore)
  const chosen = {
    blockchains,
    blockTimeMs: blockTimeMsOf(args),
    gasLimit: gasLimitOf(args),
    tls: args.flags['tls'] === true,
    allowedOrigins: readFlag(args, 'cors', parseOrigins),
    faults: readFlag(args, 'faults', textOfPlan),
  }
  const config = configOf(args, {
    ...sandboxSettings,
    logLevel: 'warn',
    notificationTargets,
    ...(scaCore !== undefined && { scaCore }),
    ...(port !== undefined && { port }),
  })
  if (config.passkeyOrigins.length === 0) config.passkeyOrigins = ['loopback']
  const isExposed = args.flags['expose'] === true
  requireLoopback(config.host, isExposed)
  await requireFreePorts(config)
  if (chosen.faults !== undefined) await requirePlan(chosen.faults, blockchains)
  // An ephemeral sandbox must not use the directory or the database of one that keeps its data.
  const ownDir = ephemeral && textFlag(args, 'data-dir') === undefined
  if (ephemeral) config.databaseUrl = undefined
  // Signals are handled before the first file is made: one that ended the process here would leave it behind.
  const interruption = new AbortController()
  const interrupted = waitForStopSignal(config).then(() => interruption.abort())
  if (ownDir) config.dataDir = await mkdtemp(join(tmpdir(), 'bezant-'))
  // A process that is killed cannot remove the directory itself, which has a root key.
  const watchdog = ownDir ? startWatchdog(config.dataDir) : undefined
  try {
    const { signal } = interruption
    const log = createLog(config.logLevel)
    const options = { ...chosen, config, log, ephemeral, isExposed, interruption: signal }
    return await runUntilStopped(args, options, interrupted)
  } finally {
    if (ownDir) await rm(config.dataDir, { recursive: true, force: true })
    watchdog?.dismiss()
  }
}

/** Refuses to open public credentials to the network without being asked. */
function requireLoopback(host: string, isExposed: boolean): void {
  if (isExposed || host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)) return
  throw new UsageError(
    `BEZANT_HOST is ${host}, where the network reaches this sandbox, and its credentials are public: unset it, or pass --expose, which makes credentials of its own`,
  )
}

/** Refuses a taken port before the parts of a sandbox are even loaded, which takes seconds. */
async function requireFreePorts(config: Config): Promise<void> {
  const url = await checkPorts(config)
  if (url !== undefined)
    throw new Error(
      `the sandbox of ${config.dataDir} runs already: use it at ${url}, stop it first, or start another one with --data-dir and --port`,
    )
}

/** Refuses a plan that the sandbox would refuse. */
async function requirePlan(text: string, blockchains: readonly string[]): Promise<void> {
  const { readPlan } = await import('#sandbox/faults/index')
  try {
    readPlan(text, blockchains)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function runUntilStopped(
  args: ParsedArgs,
  options: SandboxOptions,
  interrupted: Promise<void>,
): Promise<number> {
  const { config, blockchains, interruption } = options
  const isForPrograms = args.flags['json'] === true
  if (!isForPrograms)
    process.stderr.write(`Starting PostgreSQL and ${counted(blockchains.length, 'chain')}; Ctrl-C stops.\n`)
  const left = args.flags['chains'] === undefined ? leftOut() : []
  for (const { blockchain, reason } of left) process.stderr.write(`  ${blockchain}: left out. ${reason}\n`)
  const onReady = (part: string) => void process.stderr.write(`  ${part}: ready\n`)
  const { startSandbox } = await import('#sandbox/start')
  const sandbox = await startSandbox({ ...options, ...(!isForPrograms && { onReady }) }).catch((error) => {
    if (!interruption.aborted) throw error
  })
  if (!sandbox) return 0
  const { answer } = sandbox
  process.stdout.write(
    isForPrograms
      ? `${JSON.stringify(answer)}\n`
      : banner(answer, config.notificationTargets, options.isExposed),
  )
  const reason = await Promise.race([interrupted, sandbox.broken])
  if (reason) process.stderr.write(`${reason}\n`)
  await sandbox.stop()
  return reason ? 1 : 0
}

/** The lowest gas limit of a block that leaves room for an ordinary contract. */
const gasLimitMin = 5_000_000

function gasLimitOf(args: ParsedArgs): bigint | undefined {
  const text = textFlag(args, 'gas-limit')
  if (text === undefined) return undefined
  if (!/^\d{1,12}$/.test(text) || Number(text) < gasLimitMin)
    throw new UsageError(
      `--gas-limit must be a whole number from ${gasLimitMin} to 999999999999, not "${text}"`,
    )
  return BigInt(text)
}

function parseChains(text: string, flag: string): string[] {
  const names = [
    ...new Set(
      text
        .split(',')
        .map((name) => name.trim().toUpperCase())
        .filter(Boolean),
    ),
  ]
  if (names.length === 0) throw new Error(`${flag} must name at least one chain, such as BASE-SEPOLIA`)
  return names.map((name) => requireTestNetwork(name, '--chains').blockchain)
}

function parseOrigins(text: string, flag: string): string[] {
  const origins = text.split(',').map((origin) => origin.trim())
  const wrong = origins.find((origin) => !parseOrigin(origin))
  if (wrong === undefined) return origins
  throw new Error(`${flag} must name origins such as http://localhost:5173, with no path, not "${wrong}"`)
}

function parseCore(text: string, flag: string): ScaCore {
  const core = scaCores.find((each) => each === text)
  if (core) return core
  throw new Error(`${flag} must be one of ${scaCores.join(', ')}, not "${text}"`)
}

function textOfPlan(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`--faults: ${explainError(Object.assign(error as Error, { path: file }))}`)
  }
}

function blockTimeMsOf(args: ParsedArgs): number | undefined {
  const text = textFlag(args, 'block-time')
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (!(seconds >= 0.1 && seconds <= 3600))
    throw new UsageError('--block-time must be from 0.1 to 3600 seconds')
  return Math.round(seconds * 1000)
}

const notificationNotes = {
  public: 'to public https addresses only',
  loopback: 'to this machine too; --notify public forbids it',
  private: 'to this machine and its network too; --notify public forbids it',
} as const

function banner(answer: SandboxAnswer, targets: Targets, isExposed: boolean): string {
  const chains = answer.chains.map(
    ({ blockchain, chainId, rpcUrl, isSimulated }) =>
      `  ${blockchain.padEnd(13)} ${String(chainId).padEnd(9)} ${rpcUrl}${isSimulated ? ' (simulated)' : ''}`,
  )
  return `
Bezant sandbox is ready.

  API            ${answer.url}
  API key        ${answer.apiKey}
  Client key     ${answer.clientKey} (for pages)
  Entity secret  ${answer.entitySecret}
  Console        ${answer.console}
  Documents      ${answer.docs}
  Reference      ${answer.docs}/reference
  Page of users  ${answer.challengeUrl} (serviceUrl of the browser client)${trustLines(answer)}
  Notifications  ${notificationNotes[targets]}

Chains (each with USDC and EURC):
${chains.join('\n')}

${isExposed ? exposedNote : publicNote} Ctrl-C stops everything.
${alarmLines()}`
}

const publicNote = 'These credentials are public and work only in sandboxes.'
const exposedNote =
  'WARNING: the network reaches this sandbox. Its credentials are its own: keep them from strangers.'

const trustLines = ({ certificate }: SandboxAnswer) =>
  certificate === undefined ? '' : `\n  Certificate    NODE_EXTRA_CA_CERTS=${certificate} makes Node trust it`

/** Alarms raised during the start. */
function alarmLines(): string {
  const lines = [...alarmWords()].map(([name, words]) => `  ${name}: ${words}\n`)
  return lines.length === 0 ? '' : `\nALARMS\n${lines.join('')}`
}
