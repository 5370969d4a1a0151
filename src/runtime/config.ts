import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { isCountry } from '#lib/countries'
import { type CrashPlan, parseCrashPlan } from '#lib/crash-points'
import { type NodeSetting, parseNodeSettings } from './node-settings.ts'
import type { Targets } from './outbound/target.ts'
import { type Setting, settings } from './settings.ts'

/** Everything that a process can be told. Flags win over the environment, which wins over the defaults. */
export type Config = {
  dataDir: string
  /** Where workers keep their journals; unset: `journals` in the data directory. */
  journalDir: string | undefined
  databaseUrl: string | undefined
  databaseConnectionsMax: number
  host: string
  port: number
  /** Where a worker answers probes; unset: nowhere. */
  workerPort: number | undefined
  /** The address that links and console pages carry; derived from host and port when unset. */
  publicUrl: string | undefined
  /** 32 bytes as 64 hexadecimal digits: opens every key at rest. Unset: kept in `root.key` of the data directory. */
  rootKey: Buffer | undefined
  logLevel: string
  /** How long blocks and steps below final ones are kept. */
  blockRetentionDays: number
  bodyBytesMax: number
  /** Requests per second for one API key, or for one address without a good key; 0 switches the limit off. */
  requestsPerSecondMax: number
  /** Addresses and networks of proxies that tell the truth about where a request came from. */
  proxies: string[]
  /** Refuse more transactions of one address at once than the network's `pendingMax`. */
  pendingLimits: boolean
  /** Accelerate what is stuck without being asked, as far as the fee stays under its cap. */
  autoBump: boolean
  /** How long a new recipient of payouts waits after its review before it can be paid; 0 is not at all. */
  recipientHoldHours: number
  /** Where the entities of this installation are at home: what the travel rule asks of them. ISO 3166-1 alpha-2. */
  entityCountry: string
  /** Show transfers under way as `running`; some clients know no more than pending, complete and failed. */
  transferRunning: boolean
  /** Where notifications may go: `public` addresses only, or to this machine (`loopback`) or its network (`private`) too. */
  notificationTargets: Targets
  /** The SignatureVersion of notifications: 1 is SHA1 with RSA, 2 is SHA256 with RSA. */
  notificationSignature: 1 | 2
  /** An npm script runs us: a signal that npm gets ends the shell between us, and is not passed on. */
  underNpm: boolean
  /** Networks of a production start, as JSON: `[{"blockchain": "BASE", "rpcUrls": ["https://…"]}]`. */
  networks: NodeSetting[]
  /** For tests of crashes: where this process kills or freezes itself. */
  crashAt: CrashPlan | undefined
  /** An entity whose keys open nothing here, because they are public. */
  refusedEntityId: string | undefined
  /** Names in the environment that look like settings and are none. */
  unknownSettings: string[]
}

/** What is read of it has to be among the settings: the compiler looks. */
export type Environment = { [name in Setting | OwnName]?: string | undefined }

/** Names that no operator sets. */
type OwnName = 'BEZANT_CRASH_AT' | 'npm_lifecycle_event'

/** Reads the environment; `overrides` are what the command line said. This is the only reader of the environment. */
export function readConfig(overrides: Partial<Config> = {}, environment: Environment = process.env): Config {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  return {
    dataDir: resolve(environment['BEZANT_DATA_DIR'] ?? '.bezant'),
    journalDir: environment['BEZANT_JOURNAL_DIR'] ? resolve(environment['BEZANT_JOURNAL_DIR']) : undefined,
    databaseUrl: databaseUrlOf(environment),
    databaseConnectionsMax: integer(environment, 'BEZANT_DATABASE_CONNECTIONS', 16),
    host: environment['BEZANT_HOST'] ?? '127.0.0.1',
    port: portOf(environment, 'BEZANT_PORT') ?? 4020,
    workerPort: portOf(environment, 'BEZANT_WORKER_PORT'),
    publicUrl: publicUrlOf(environment),
    rootKey: environment['BEZANT_ROOT_KEY']
      ? rootKeyOf(environment['BEZANT_ROOT_KEY'], 'BEZANT_ROOT_KEY')
      : undefined,
    logLevel: levelOf(environment['BEZANT_LOG_LEVEL'] ?? 'info', 'BEZANT_LOG_LEVEL'),
    blockRetentionDays: retentionOf(environment),
    bodyBytesMax: integer(environment, 'BEZANT_BODY_BYTES_MAX', 1_048_576),
    requestsPerSecondMax: integer(environment, 'BEZANT_REQUESTS_PER_SECOND', 0),
    proxies: proxiesOf(environment),
    pendingLimits: booleanOf(environment, 'BEZANT_PENDING_LIMITS'),
    autoBump: booleanOf(environment, 'BEZANT_AUTO_BUMP'),
    transferRunning: environment['BEZANT_TRANSFER_RUNNING'] !== '0',
    recipientHoldHours: integer(environment, 'BEZANT_RECIPIENT_HOLD_HOURS', 0),
    entityCountry: countryOf(environment),
    notificationTargets: targetsOf(
      environment['BEZANT_NOTIFICATION_TARGETS'] || 'public',
      'BEZANT_NOTIFICATION_TARGETS',
    ),
    notificationSignature: signatureOf(environment),
    underNpm: environment['npm_lifecycle_event'] !== undefined,
    networks: parseNodeSettings(environment['BEZANT_NETWORKS']),
    crashAt: crashPlanOf(environment),
    refusedEntityId: undefined,
    unknownSettings: unknownIn(environment),
    ...given,
  }
}

/** A misspelled setting would have no effect and say nothing. */
function unknownIn(environment: Environment): string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith('BEZANT_') && !(name in settings) && name !== 'BEZANT_CRASH_AT',
  )
}

function integer(environment: Environment, name: Setting, fallback: number): number {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${name} must be a whole number, not "${text}"`)
  return Number(text)
}

const portMax = 65_535

function portOf(environment: Environment, name: Setting): number | undefined {
  if (!environment[name]) return undefined
  const port = integer(environment, name, 0)
  if (port <= portMax) return port
  throw new Error(`${name} must be a port from 0 to ${portMax}, not "${port}"`)
}

/** The function that removes blocks keeps as many in any case. */
const retentionDaysMin = 7

function retentionOf(environment: Environment): number {
  const days = integer(environment, 'BEZANT_BLOCK_RETENTION_DAYS', retentionDaysMin)
  if (days >= retentionDaysMin) return days
  throw new Error(
    `BEZANT_BLOCK_RETENTION_DAYS must be ${retentionDaysMin} or more, not "${days}": a deep reorg is undone from these blocks`,
  )
}

function booleanOf(environment: Environment, name: Setting): boolean {
  const text = environment[name] ?? ''
  if (!['', '0', '1'].includes(text)) throw new Error(`${name} must be 1 or 0, not "${text}"`)
  return text === '1'
}

function countryOf(environment: Environment): string {
  const code = environment['BEZANT_ENTITY_COUNTRY'] || 'US'
  if (isCountry(code)) return code
  throw new Error(`BEZANT_ENTITY_COUNTRY must be an ISO 3166-1 alpha-2 code such as FR, not "${code}"`)
}

/** A root key, or an error that names where it was read. */
export function rootKeyOf(text: string, source: string): Buffer {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex')
  throw new Error(`${source} must hold 64 hexadecimal digits (32 bytes)`)
}

const levels = ['debug', 'info', 'warn', 'error']

/** A level of the log, or an error that names the setting. */
export function levelOf(text: string, setting: string): string {
  if (levels.includes(text)) return text
  throw new Error(`${setting} must be one of ${levels.join(', ')}, not "${text}"`)
}

const targets = ['public', 'loopback', 'private']

/** Where notifications may go, or an error that names the setting. */
export function targetsOf(text: string, setting: string): Targets {
  if (targets.includes(text)) return text as Targets
  throw new Error(`${setting} must be one of ${targets.join(', ')}, not "${text}"`)
}

function signatureOf(environment: Environment): 1 | 2 {
  const text = environment['BEZANT_NOTIFICATION_SIGNATURE'] || '1'
  if (text !== '1' && text !== '2')
    throw new Error(`BEZANT_NOTIFICATION_SIGNATURE must be 1 or 2, not "${text}"`)
  return text === '1' ? 1 : 2
}

function publicUrlOf(environment: Environment): string | undefined {
  const url = environment['BEZANT_PUBLIC_URL']?.replace(/\/+$/, '') || undefined
  if (url === undefined || (/^https?:\/\//.test(url) && URL.canParse(url))) return url
  throw new Error('BEZANT_PUBLIC_URL must be an address such as https://payments.example')
}

function proxiesOf(environment: Environment): string[] {
  const names = (environment['BEZANT_PROXIES'] ?? '').split(',').map((name) => name.trim())
  const given = names.filter((name) => name !== '')
  for (const name of given) {
    const [address = '', bits, ...rest] = name.split('/')
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
    if (
      rest.length === 0 &&
      most > 0 &&
      (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
    )
      continue
    throw new Error(
      `BEZANT_PROXIES must be addresses and networks such as 10.0.0.7,10.1.0.0/16, not "${name}"`,
    )
  }
  return given
}

function databaseUrlOf(environment: Environment): string | undefined {
  const url = environment['DATABASE_URL'] || undefined
  if (url === undefined || /^postgres(ql)?:\/\//.test(url)) return url
  throw new Error(
    'DATABASE_URL must be the address of a PostgreSQL, such as postgresql://user:password@host:5432/name',
  )
}

function crashPlanOf(environment: Environment): CrashPlan | undefined {
  const text = environment['BEZANT_CRASH_AT']
  if (!text) return undefined
  const plan = parseCrashPlan(text)
  if (plan) return plan
  throw new Error(
    `BEZANT_CRASH_AT must name a crash point, a hit and an action, such as P8:3 or P8:3:stop, not "${text}"`,
  )
}
