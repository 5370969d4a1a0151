import { join, resolve } from 'node:path'
import { isAddressRange } from '#lib/address-ranges'
import { isCountry } from '#lib/countries'
import { isUuid } from '#lib/ids'
import { newestCore, type ScaCore } from '#lib/sca-cores'
import { parseOrigin } from '#lib/web-origin'
import { type FailpointPlan, parseFailpointPlan } from '#runtime/scheduling/failpoints'
import { type AttesterSetting, parseAttesters, requireThreshold } from './attester-settings.ts'
import { type BankRailSetting, parseBankRail } from './bank-rail-setting.ts'
import { parseCoinPrices } from './coin-prices.ts'
import { databaseUrlsOf } from './database-url.ts'
import { type KeyServiceSecrets, type KeyServiceSetting, parseKeyService } from './key-service-setting.ts'
import { type NodeSetting, parseNodeSettings } from './node-settings.ts'
import type { Targets } from './outbound/target.ts'
import {
  renewableSecret,
  settingFilesIn,
  textOrFile,
  unknownSettingsIn,
  withSettingFiles,
} from './setting-files.ts'
import { booleanOf, integerOf, rootKeysIn, wholeCoins } from './setting-values.ts'
import type { Setting } from './settings.ts'
import { parseSignInProvider, parseSocialProviders } from './social/providers.ts'
import type { SignInProvider, SocialProvider } from './social/types.ts'
import { challengeUrlOf, publicUrlOf, smtpUrlOf, trustedUrlOf } from './url-settings.ts'

/** Nothing; a row for each request; the row with headers and bodies. */
const requestLogSettings = ['off', 'rows', 'bodies'] as const
export type RequestLogSetting = (typeof requestLogSettings)[number]

export type ServerTls = { key: string; cert: string }

/** The configuration of a process. Flags override the environment, which overrides the defaults. */
export type Config = {
  dataDir: string
  /** Directory of the workers' journals; unset: `journals` in the data directory. */
  journalDir: string | undefined
  /** Directory of the copies of counters of guesses; unset: `guesses` in the data directory. */
  guessDir?: string
  databaseUrl: string | undefined
  /** URLs of replicas of the database, from which the API reads. */
  readDatabaseUrls: string[]
  /** The database itself, where `databaseUrl` leads to a pooler in transaction mode; unset: there is none. */
  directDatabaseUrl: string | undefined
  databaseConnectionsMax: number
  host: string
  port: number
  /** Key and certificate (PEM) of the API and of the page of users, which answer https then: in sandboxes. */
  tls?: ServerTls
  /** Port on which a worker answers probes; unset: none. */
  workerPort: number | undefined
  /** Base URL for links and console pages; derived from host and port when unset. */
  publicUrl: string | undefined
  /** Port of the page of users; unset: the port after that of the API, or a free one after 0. */
  pagePort: number | undefined
  /** Public origin of the page of users; derived from host and port when unset. */
  challengeUrl: string | undefined
  /** Whether all pages of this machine may frame the page of users: in sandboxes. */
  loopbackPages: boolean
  /** The root key of 32 bytes for all keys at rest, two while it is rotated; unset: `root.key` in the data directory. */
  rootKeys: Buffer[] | undefined
  /** The service outside of the program that wraps the root key; unset: none. */
  keyService: KeyServiceSetting | undefined
  logLevel: string
  /** Retention of blocks and their steps below the final ones, in days. */
  blockRetentionDays: number
  bodyBytesMax: number
  /** Requests per second for one API key, or for one address without a valid key; 0 disables the limit. */
  requestsPerSecondMax: number
  /** Gas of one call or estimate that a node executes for a request. */
  callGasMax: number
  /** Milliseconds of nodes that pages may use in a second from one address; 0 for any. Unset: 0 in sandboxes, else 500. */
  pageNodeMs: number | undefined
  /** Contents of the request log. Unset: bodies in sandboxes, else rows. */
  requestLog: RequestLogSetting | undefined
  /** Addresses and networks of proxies that are trusted to report a request's source address. */
  proxies: string[]
  /** Whether to limit the pending transactions of one address to the network's `pendingMax`. */
  pendingLimits: boolean
  /** Whether to bump the fees of stuck transactions automatically, up to the fee cap. */
  autoBump: boolean
  /** Hold of a new payout recipient between its review and its first payout, in hours; 0 is none. */
  recipientHoldHours: number
  /** Home country of this installation's entities (ISO 3166-1 alpha-2), which decides their travel rule duties. */
  entityCountry: string
  /** Whether transfers under way show as `running`; some clients know only pending, complete and failed. */
  transferRunning: boolean
  /** Allowed targets of webhooks: `public` addresses only, or also this machine (`loopback`) or its network (`private`). */
  notificationTargets: Targets
  /** Origins of the pages that may use passkeys; `loopback` stands for those of this machine. */
  passkeyOrigins: string[]
  /** Version of new smart accounts: an earlier one in sandboxes alone, to test upgrades. */
  scaCore: ScaCore
  /** Gas that a treasury pays for on one chain within a day, before pages get no more for a wallet, or for any. */
  sponsoredGasPerWallet: number
  sponsoredGasPerEntity: number
  /** The same for developers. */
  developerGasPerWallet: number
  developerGasPerEntity: number
  /** Native coins that a treasury pays within a day as fees of one wallet, and of all wallets of its entity. */
  feeCoinsPerWallet: number
  feeCoinsPerEntity: number
  /** Networks whose cross-chain messages and unified balances this server answers for: a domain names a main and a test network. */
  crosschainEnvironment: 'TEST' | 'LIVE'
  /** The entity whose treasury pays the gas of burns and of forwarded messages; unset: none does. */
  crosschainEntity: string | undefined
  /** Prices of native coins that the operator set, in base units of USDC, by symbol. */
  coinPrices: ReadonlyMap<string, bigint>
  /** The value of burns that may be attested before they are final, at a time, in millionths of a coin. */
  fastAllowanceAtomic: bigint
  /** The attesters that sign cross-chain messages beside this server, and those that did. */
  attesters: AttesterSetting[]
  /** Number of attesters that have to sign a message, this server included. */
  attestationThreshold: number
  /** Base URL of the service that attests the messages of other domains, without a trailing slash; unset: none. */
  attestationServiceUrl: string | undefined
  /** The value that transfers of unified balances may take to one chain within an hour, in millionths of a coin. */
  unifiedHourlyMaxAtomic: bigint
  /** The longest that an accepted payment of a unified balance waits for others of its batch. */
  paymentBatchMs: number
  /** The SignatureVersion of notifications: 1 is SHA1 with RSA, 2 is SHA256 with RSA. */
  notificationSignature: 1 | 2
  /** Number of last characters by which addresses of test networks choose a rule of screening; 0 disables that. */
  testSuffixLength: 0 | 4 | 12
  /** Number of operators who have to approve a transaction under review. */
  reviewApprovers: 1 | 2
  /** The decision about transactions under review on test networks; `operator` leaves it to one. */
  testReview: 'operator' | 'approve' | 'deny'
  /** URL of an outside provider of screening; unset: none. */
  screeningUrl: string | undefined
  /** The secret that is sent to the provider as a bearer token. */
  screeningToken: string | undefined
  /** How long an answer of the provider counts. */
  screeningKeptMs: number
  /** URL of the SMTP server that sends mails to users; unset: none. */
  smtpUrl: string | undefined
  /** The sender of these mails. */
  mailFrom: string
  /** The social providers with which the users of entities log in. */
  socialProviders: SocialProvider[]
  /** The connection to a bank; unset: none. */
  bankRail: BankRailSetting | undefined
  /** The provider with which members sign in to the console; unset: passwords alone. */
  signInProvider: SignInProvider | undefined
  /** Whether to fetch the metadata of NFTs from the addresses that their contracts return. */
  nftMetadata: boolean
  /** Base URL of the gateway for metadata in IPFS, without a trailing slash; unset: none. */
  ipfsGateway: string | undefined
  /** Directory of verified sources of contracts; unset: none. */
  contractSourcesDir: string | undefined
  /** Base URL of a server of verified sources, without a trailing slash; unset: none. */
  contractSourcesUrl: string | undefined
  /** Whether an npm script started this process: a signal to npm ends the shell in between and is not forwarded. */
  underNpm: boolean
  /** Networks of a production start, as JSON: `[{"blockchain": "BASE", "rpcUrls": ["https://…"]}]`. */
  networks: NodeSetting[]
  /** For crash tests: the point at which this process kills or freezes itself. */
  failpoint: FailpointPlan | undefined
  /** An entity whose keys are refused here, because they are public. */
  refusedEntityId: string | undefined
  /** Names in the environment that look like settings but are not. */
  unknownSettings: string[]
}

/** Directory of the copies of the counters of guesses. */
export const guessDirectoryOf = ({ dataDir, guessDir }: Pick<Config, 'dataDir' | 'guessDir'>): string =>
  guessDir ?? join(dataDir, 'guesses')

/** The environment. The compiler checks that every name read from it is a setting. */
type EnvironmentVariables = { [name in Setting | OtherName]?: string | undefined }

/** Names that operators do not set, and the file of a setting that is read alone. */
type OtherName =
  | 'BEZANT_OWN_NETWORKS_FILE'
  | 'BEZANT_HSM_PIN_FILE'
  | 'BEZANT_VAULT_TOKEN_FILE'
  | 'BEZANT_FAILPOINT'
  | 'BEZANT_URL'
  | 'BEZANT_TEST_SERVER'
  | `${'BEZANT_API_KEY' | 'BEZANT_ENTITY_SECRET'}${'' | '_FILE'}`
  | 'npm_lifecycle_event'
  | 'NODE_OPTIONS'
  | 'NODE_TLS_REJECT_UNAUTHORIZED'
  | 'CREDENTIALS_DIRECTORY'

/** The address of the running sandbox that commands and examples control. */
export const sandboxUrlOf = (variables: EnvironmentVariables = process.env): string =>
  variables['BEZANT_URL'] || 'http://127.0.0.1:4020'

/** The API key with which commands ask a running server; unset: that of a sandbox. */
export const commandKeyOf = (
  { BEZANT_API_KEY: text, BEZANT_API_KEY_FILE: path }: EnvironmentVariables = process.env,
) => textOrFile('BEZANT_API_KEY', text, path)

/** The entity secret with which commands act on a running server; unset: that of a sandbox. */
export const commandSecretOf = (
  { BEZANT_ENTITY_SECRET: text, BEZANT_ENTITY_SECRET_FILE: path }: EnvironmentVariables = process.env,
) => textOrFile('BEZANT_ENTITY_SECRET', text, path)

/** The variables of Node.js that weaken a process, the files that settings are read from, and systemd's directory of credentials. */
export const readSurroundings = (variables: EnvironmentVariables = process.env) => ({
  credentialsDir: variables['CREDENTIALS_DIRECTORY'],
  nodeOptions: variables['NODE_OPTIONS'] ?? '',
  verifiesTls: variables['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0',
  settingFiles: settingFilesIn(variables),
})

/** The operator's list of networks, which is read when the program is loaded, and where it is from; unset: none. */
export function givenNetworks(
  variables: EnvironmentVariables = process.env,
): { source: string; text: string } | { problem: string } | undefined {
  const { BEZANT_OWN_NETWORKS, BEZANT_OWN_NETWORKS_FILE } = variables
  try {
    const { BEZANT_OWN_NETWORKS: text } = withSettingFiles({ BEZANT_OWN_NETWORKS, BEZANT_OWN_NETWORKS_FILE })
    return text ? { source: BEZANT_OWN_NETWORKS_FILE || 'BEZANT_OWN_NETWORKS', text } : undefined
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** Reads the environment; `overrides` are the command line's flags. This is the only reader of the environment. */
export function readConfig(
  overrides: Partial<Config> = {},
  variables: EnvironmentVariables = process.env,
): Config {
  const environment = withSettingFiles(variables)
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  return {
    dataDir: resolve(environment['BEZANT_DATA_DIR'] ?? '.bezant'),
    journalDir: environment['BEZANT_JOURNAL_DIR'] ? resolve(environment['BEZANT_JOURNAL_DIR']) : undefined,
    ...databaseOf(environment),
    databaseConnectionsMax: integerOf(environment, 'BEZANT_DATABASE_CONNECTIONS', 16),
    host: environment['BEZANT_HOST'] ?? '127.0.0.1',
    port: portOf(environment, 'BEZANT_PORT') ?? 4020,
    workerPort: portOf(environment, 'BEZANT_WORKER_PORT'),
    publicUrl: publicUrlOf(environment['BEZANT_PUBLIC_URL']),
    pagePort: portOf(environment, 'BEZANT_PAGE_PORT'),
    challengeUrl: challengeUrlOf(environment['BEZANT_CHALLENGE_URL']),
    loopbackPages: false,
    rootKeys: environment['BEZANT_ROOT_KEY']
      ? rootKeysIn(environment['BEZANT_ROOT_KEY'], 'BEZANT_ROOT_KEY')
      : undefined,
    logLevel: levelOf(environment['BEZANT_LOG_LEVEL'] ?? 'info', 'BEZANT_LOG_LEVEL'),
    blockRetentionDays: retentionOf(environment),
    bodyBytesMax: integerOf(environment, 'BEZANT_BODY_BYTES_MAX', 1_048_576),
    requestsPerSecondMax: integerOf(environment, 'BEZANT_REQUESTS_PER_SECOND', 0),
    callGasMax: callGasMaxOf(environment),
    pageNodeMs: pageNodeMsOf(environment),
    requestLog: requestLogOf(environment),
    proxies: proxiesOf(environment),
    pendingLimits: booleanOf(environment, 'BEZANT_PENDING_LIMITS'),
    autoBump: booleanOf(environment, 'BEZANT_AUTO_BUMP'),
    transferRunning: environment['BEZANT_TRANSFER_RUNNING'] !== '0',
    recipientHoldHours: integerOf(environment, 'BEZANT_RECIPIENT_HOLD_HOURS', 0),
    entityCountry: countryOf(environment),
    notificationTargets: targetsOf(
      environment['BEZANT_NOTIFICATION_TARGETS'] || 'public',
      'BEZANT_NOTIFICATION_TARGETS',
    ),
    passkeyOrigins: originsOf(environment),
    scaCore: newestCore,
    ...gasBudgetsOf(environment),
    crosschainEnvironment: crosschainEnvironmentOf(environment),
    crosschainEntity: crosschainEntityOf(environment),
    coinPrices: parseCoinPrices(environment['BEZANT_COIN_PRICES']),
    fastAllowanceAtomic: wholeCoins(environment, 'BEZANT_FAST_ALLOWANCE', '1000000'),
    ...attestersOf(environment),
    attestationServiceUrl: trustedUrlOf(environment, 'BEZANT_ATTESTATION_SERVICE'),
    ...unifiedBalanceOf(environment),
    notificationSignature: signatureOf(environment),
    testSuffixLength: suffixLengthOf(environment),
    reviewApprovers: approversOf(environment),
    testReview: testReviewOf(environment),
    ...screeningProviderOf(environment),
    smtpUrl: smtpUrlOf(environment['BEZANT_SMTP_URL']),
    mailFrom: environment['BEZANT_MAIL_FROM'] || 'Bezant <no-reply@localhost>',
    ...connectionsOf(environment),
    nftMetadata: booleanOf(environment, 'BEZANT_NFT_METADATA'),
    ipfsGateway: trustedUrlOf(environment, 'BEZANT_IPFS_GATEWAY'),
    contractSourcesDir: environment['BEZANT_CONTRACT_SOURCES_DIR']
      ? resolve(environment['BEZANT_CONTRACT_SOURCES_DIR'])
      : undefined,
    contractSourcesUrl: trustedUrlOf(environment, 'BEZANT_CONTRACT_SOURCES_URL'),
    underNpm: environment['npm_lifecycle_event'] !== undefined,
    networks: parseNodeSettings(environment['BEZANT_NETWORKS']),
    failpoint: failpointPlanOf(environment),
    refusedEntityId: undefined,
    unknownSettings: unknownSettingsIn(environment),
    ...given,
  }
}

const secretsOf = (environment: EnvironmentVariables): KeyServiceSecrets => ({
  pin: renewableSecret(environment, 'BEZANT_HSM_PIN'),
  token: renewableSecret(environment, 'BEZANT_VAULT_TOKEN'),
})

/** The key service that a flag names, with the secrets of the environment. */
export const givenKeyService = (text: string, flag: string, variables: EnvironmentVariables = process.env) =>
  parseKeyService(text, secretsOf(variables), flag)

const databaseOf = (environment: EnvironmentVariables) =>
  databaseUrlsOf({
    primary: environment['DATABASE_URL'],
    direct: environment['BEZANT_DIRECT_DATABASE_URL'],
    replicas: environment['BEZANT_READ_DATABASE_URL'],
  })

function requestLogOf(environment: EnvironmentVariables): RequestLogSetting | undefined {
  const text = environment['BEZANT_REQUEST_LOG']
  if (!text) return undefined
  const setting = requestLogSettings.find((each) => each === text)
  if (setting) return setting
  throw new Error(`BEZANT_REQUEST_LOG must be ${requestLogSettings.join(', ')}, not "${text}"`)
}

const pageNodeMsOf = (environment: EnvironmentVariables) =>
  environment['BEZANT_PAGE_NODE_MS'] ? integerOf(environment, 'BEZANT_PAGE_NODE_MS', 0) : undefined

const screeningProviderOf = (environment: EnvironmentVariables) => ({
  screeningUrl: trustedUrlOf(environment, 'BEZANT_SCREENING_URL'),
  screeningToken: environment['BEZANT_SCREENING_TOKEN'] || undefined,
  screeningKeptMs: Math.max(integerOf(environment, 'BEZANT_SCREENING_KEPT_HOURS', 24) * 3_600_000, 60_000),
})

/** Limits of what the treasury pays in a day: gas, given in millions, and fees, in native coins. */
const gasBudgetsOf = (environment: EnvironmentVariables) => ({
  sponsoredGasPerWallet: integerOf(environment, 'BEZANT_SPONSORED_MGAS_PER_WALLET', 50) * 1_000_000,
  sponsoredGasPerEntity: integerOf(environment, 'BEZANT_SPONSORED_MGAS_PER_ENTITY', 5_000) * 1_000_000,
  developerGasPerWallet: integerOf(environment, 'BEZANT_DEVELOPER_MGAS_PER_WALLET', 5_000) * 1_000_000,
  developerGasPerEntity: integerOf(environment, 'BEZANT_DEVELOPER_MGAS_PER_ENTITY', 50_000) * 1_000_000,
  feeCoinsPerWallet: integerOf(environment, 'BEZANT_FEE_COINS_PER_WALLET', 1),
  feeCoinsPerEntity: integerOf(environment, 'BEZANT_FEE_COINS_PER_ENTITY', 10),
})

const unifiedBalanceOf = (environment: EnvironmentVariables) => ({
  unifiedHourlyMaxAtomic: wholeCoins(environment, 'BEZANT_UNIFIED_BALANCE_HOURLY_MAX', '1000000'),
  paymentBatchMs: 1_000 * integerOf(environment, 'BEZANT_PAYMENT_BATCH_SECONDS', 10),
})

function callGasMaxOf(environment: EnvironmentVariables): number {
  const millions = integerOf(environment, 'BEZANT_CALL_MGAS', 30)
  if (millions >= 1 && millions <= 1_000) return millions * 1_000_000
  throw new Error(`BEZANT_CALL_MGAS must be from 1 to 1000, not "${millions}"`)
}

function suffixLengthOf(environment: EnvironmentVariables): Config['testSuffixLength'] {
  const length = integerOf(environment, 'BEZANT_SCREENING_TEST_SUFFIX', 12)
  if (length === 0 || length === 4 || length === 12) return length
  throw new Error(`BEZANT_SCREENING_TEST_SUFFIX must be 12, 4 or 0, not "${length}"`)
}

/** The providers with which users of entities, and members of the console, log in, the bank, and the key service. */
const connectionsOf = (
  environment: EnvironmentVariables,
): Pick<Config, 'socialProviders' | 'signInProvider' | 'bankRail' | 'keyService'> => ({
  keyService: parseKeyService(environment['BEZANT_ROOT_KEY_SERVICE'], secretsOf(environment)),
  bankRail: parseBankRail(environment['BEZANT_BANK_RAIL']),
  socialProviders: parseSocialProviders(environment['BEZANT_SOCIAL_PROVIDERS']),
  signInProvider: parseSignInProvider(environment['BEZANT_SIGN_IN_PROVIDER']),
})

function approversOf(environment: EnvironmentVariables): Config['reviewApprovers'] {
  const count = integerOf(environment, 'BEZANT_REVIEW_APPROVERS', 1)
  if (count === 1 || count === 2) return count
  throw new Error(`BEZANT_REVIEW_APPROVERS must be 1 or 2, not "${count}"`)
}

function testReviewOf(environment: EnvironmentVariables): Config['testReview'] {
  const decision = environment['BEZANT_REVIEW_ON_TEST_NETWORKS'] || 'operator'
  if (decision === 'operator' || decision === 'approve' || decision === 'deny') return decision
  throw new Error(`BEZANT_REVIEW_ON_TEST_NETWORKS must be operator, approve or deny, not "${decision}"`)
}

export const portMax = 65_535

function portOf(environment: EnvironmentVariables, name: Setting): number | undefined {
  if (!environment[name]) return undefined
  const port = integerOf(environment, name, 0)
  if (port <= portMax) return port
  throw new Error(`${name} must be a port from 0 to ${portMax}, not "${port}"`)
}

/** The pruning function in the database keeps at least as many days. */
const retentionDaysMin = 7

function retentionOf(environment: EnvironmentVariables): number {
  const days = integerOf(environment, 'BEZANT_BLOCK_RETENTION_DAYS', retentionDaysMin)
  if (days >= retentionDaysMin) return days
  throw new Error(
    `BEZANT_BLOCK_RETENTION_DAYS must be ${retentionDaysMin} or more, not "${days}": a deep reorg is undone from these blocks`,
  )
}

function countryOf(environment: EnvironmentVariables): string {
  const code = environment['BEZANT_ENTITY_COUNTRY'] || 'US'
  if (isCountry(code)) return code
  throw new Error(`BEZANT_ENTITY_COUNTRY must be an ISO 3166-1 alpha-2 code such as FR, not "${code}"`)
}

const levels = ['debug', 'info', 'warn', 'error']

/** Parses a log level; the error names the setting. */
export function levelOf(text: string, setting: string): string {
  if (levels.includes(text)) return text
  throw new Error(`${setting} must be one of ${levels.join(', ')}, not "${text}"`)
}

const targets = ['public', 'loopback', 'private']

/** Parses the allowed targets of webhooks; the error names the setting. */
export function targetsOf(text: string, setting: string): Targets {
  if (targets.includes(text)) return text as Targets
  throw new Error(`${setting} must be one of ${targets.join(', ')}, not "${text}"`)
}

function signatureOf(environment: EnvironmentVariables): 1 | 2 {
  const text = environment['BEZANT_NOTIFICATION_SIGNATURE'] || '1'
  if (text !== '1' && text !== '2')
    throw new Error(`BEZANT_NOTIFICATION_SIGNATURE must be 1 or 2, not "${text}"`)
  return text === '1' ? 1 : 2
}

function crosschainEnvironmentOf(environment: EnvironmentVariables): 'TEST' | 'LIVE' {
  const text = environment['BEZANT_CROSSCHAIN_ENVIRONMENT'] || 'LIVE'
  if (text !== 'TEST' && text !== 'LIVE')
    throw new Error(`BEZANT_CROSSCHAIN_ENVIRONMENT must be TEST or LIVE, not "${text}"`)
  return text
}

function crosschainEntityOf(environment: EnvironmentVariables): string | undefined {
  const id = environment['BEZANT_CROSSCHAIN_ENTITY'] || undefined
  if (id === undefined || isUuid(id)) return id
  throw new Error(`BEZANT_CROSSCHAIN_ENTITY must be the id of an entity, not "${id}"`)
}

function attestersOf(environment: EnvironmentVariables): Pick<Config, 'attesters' | 'attestationThreshold'> {
  const attesters = parseAttesters(environment['BEZANT_ATTESTERS'])
  const threshold = integerOf(environment, 'BEZANT_ATTESTATION_THRESHOLD', 1)
  return { attesters, attestationThreshold: requireThreshold(threshold, attesters) }
}

function originsOf(environment: EnvironmentVariables): string[] {
  const names = (environment['BEZANT_PASSKEY_ORIGINS'] ?? '').split(',').map((name) => name.trim())
  const given = names.filter((name) => name !== '')
  const wrong = given.find((name) => name !== 'loopback' && !isSecureOrigin(name))
  if (wrong === undefined) return given
  throw new Error(
    `BEZANT_PASSKEY_ORIGINS must be loopback, or origins of pages such as https://shop.example,https://app.example, not "${wrong}"`,
  )
}

const isSecureOrigin = (text: string) => parseOrigin(text)?.protocol === 'https:'

function proxiesOf(environment: EnvironmentVariables): string[] {
  const names = (environment['BEZANT_PROXIES'] ?? '').split(',').map((name) => name.trim())
  const given = names.filter((name) => name !== '')
  const wrong = given.find((name) => !isAddressRange(name))
  if (wrong === undefined) return given
  throw new Error(
    `BEZANT_PROXIES must be addresses and networks such as 10.0.0.7,10.1.0.0/16, not "${wrong}"`,
  )
}

function failpointPlanOf(environment: EnvironmentVariables): FailpointPlan | undefined {
  const text = environment['BEZANT_FAILPOINT']
  if (!text) return undefined
  const plan = parseFailpointPlan(text)
  if (plan) return plan
  throw new Error(
    `BEZANT_FAILPOINT must name a failpoint, a hit and an action, such as after-attempt-commit:3:stop, not "${text}"`,
  )
}
