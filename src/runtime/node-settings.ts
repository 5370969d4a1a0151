import { parseListSetting } from './list-setting.ts'

/** The nodes of one network, as the operator configures them. */
export type NodeSetting = {
  blockchain: string
  /** The first of `rpcUrls`. */
  rpcUrl: string
  rpcUrls: string[]
  /** Number of endpoints that must report the same block before it is final; more than half when left out. */
  agree?: number
  /** Maximum unmined transactions of one address, for nodes whose mempools hold more or fewer than usual. */
  inFlightMax?: number
  /** Maximum calls in one batch request to the endpoints; learnt when left out. */
  batchMax?: number
  /** Hashes of the code of contracts of smart accounts, by address. */
  accountCode?: Record<string, string>
  /** Addresses of the contracts of cross-chain messages and unified balances. */
  crosschain?: CrosschainSetting
}

type CrosschainSetting = {
  messageTransmitter: string
  tokenMessenger: string
  tokenMinter: string
  wallet?: string
  minter?: string
  tokenMessengerWithFees?: string
  genericExecutor?: string
  depositForHandler?: string
  crossChainTokenService?: string
}

const example = '[{"blockchain":"BASE","rpcUrls":["https://one.example","https://two.example"]}]'
const endpointsMax = 16

/** Reads `BEZANT_NETWORKS`. Messages contain no endpoint URL, since it may hold a key. */
export function parseNodeSettings(text: string | undefined): NodeSetting[] {
  const settings = parseListSetting(text, { name: 'BEZANT_NETWORKS', example }).map(settingOf)
  const twice = settings.find(({ blockchain }, index) =>
    settings.slice(0, index).some((other) => other.blockchain === blockchain),
  )
  if (twice)
    throw new Error(`BEZANT_NETWORKS names ${twice.blockchain} twice: list all its endpoints in one rpcUrls`)
  return settings
}

function settingOf(item: unknown): NodeSetting {
  const { blockchain, rpcUrl, rpcUrls, agree, inFlightMax, batchMax, accountCode, crosschain, ...rest } =
    (item ?? {}) as Record<string, unknown>
  if (typeof blockchain !== 'string') throw new Error(`BEZANT_NETWORKS must be a list such as ${example}`)
  const wrong = (what: string) => new Error(`BEZANT_NETWORKS, ${blockchain}: ${what}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw wrong(`there is no setting "${unknown}"`)
  if ((rpcUrl === undefined) === (rpcUrls === undefined)) throw wrong('needs either rpcUrl or rpcUrls')
  const urls = rpcUrls === undefined ? [rpcUrl] : rpcUrls
  if (!Array.isArray(urls) || urls.length === 0 || urls.length > endpointsMax || !urls.every(isAddress))
    throw wrong('rpcUrl and rpcUrls must be addresses such as https://node.example')
  if (new Set(urls).size < urls.length) throw wrong('rpcUrls names an endpoint twice')
  if (agree !== undefined && !isCount(agree, urls.length))
    throw wrong(`agree must be a whole number from 1 to ${urls.length}, the number of endpoints`)
  if (inFlightMax !== undefined && !isCount(inFlightMax, 100_000))
    throw wrong('inFlightMax must be a whole number from 1 to 100000')
  if (batchMax !== undefined && !isCount(batchMax, 1_000))
    throw wrong('batchMax must be a whole number from 1 to 1000')
  if (accountCode !== undefined && !isCode(accountCode))
    throw wrong(
      'accountCode must be an object of addresses and the hashes of their code, as bezant contracts list shows them',
    )
  if (crosschain !== undefined && !isCrosschain(crosschain))
    throw wrong(
      'crosschain must be an object with the addresses messageTransmitter, tokenMessenger and tokenMinter, with wallet and minter where it has unified balances, tokenMessengerWithFees, genericExecutor and depositForHandler where burns pay fees beforehand, and crossChainTokenService where EURC moves',
    )
  return {
    blockchain,
    rpcUrl: urls[0]!,
    rpcUrls: urls,
    ...(agree !== undefined && { agree }),
    ...(inFlightMax !== undefined && { inFlightMax }),
    ...(batchMax !== undefined && { batchMax }),
    ...(accountCode !== undefined && { accountCode }),
    ...(crosschain !== undefined && { crosschain }),
  }
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value)

const isCount = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most

const contractNames = ['messageTransmitter', 'tokenMessenger', 'tokenMinter'] as const
/** Of unified balances, of prepaid fees, and of further tokens: all contracts of one of these, or none of them. */
const furtherNames = [
  ['wallet', 'minter'],
  ['tokenMessengerWithFees', 'genericExecutor', 'depositForHandler'],
  ['crossChainTokenService'],
] as const

function isCrosschain(value: unknown): value is CrosschainSetting {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const names = Object.keys(value)
  const further = furtherNames.filter((group) => group.some((name) => names.includes(name)))
  const wanted = [...contractNames, ...further.flat()]
  return (
    names.length === wanted.length &&
    wanted.every((name) => /^0x[\da-fA-F]{40}$/.test(String((value as Record<string, unknown>)[name])))
  )
}

const codesMax = 32

const isCode = (value: unknown): value is Record<string, string> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length <= codesMax &&
  Object.entries(value).every(
    ([address, hash]) =>
      /^0x[\da-fA-F]{40}$/.test(address) && typeof hash === 'string' && /^0x[\da-fA-F]{64}$/.test(hash),
  )
