/**
 * Reads the networks of the operator, which are rows of the same form as those of `further-evm.ts`. What is wrong with them is
 * returned, not thrown: they are read when the program is loaded, and its commands say it.
 */
import { businessCodes } from '../business-codes.ts'
import type { Environment, NetworkOf, TokenSymbol } from '../network.ts'
import { screenedOnly } from '../screened-only.ts'
import { type EvmRow, evmNetwork } from './evm-network.ts'
import { fieldProblem } from './row-fields.ts'

/** The text of the list and where it is from, or why it cannot be read. */
type GivenNetworks = { source: string; text: string } | { problem: string }

/** A blockchain that has a name already, with the numbers and codes that none but it may have. */
type TakenNetwork = {
  blockchain: string
  environment: Environment
  family: string
  chainId?: number
  domain?: number
  businessChain?: string
}

type OwnNetworks = { networks: readonly NetworkOf<string>[]; problem?: string }

/** A number such as those of other networks: each is a node on local chains, and a link in each contract of messages. */
const networksMax = 100

export function readOwnNetworks(
  given: GivenNetworks | undefined,
  taken: readonly TakenNetwork[],
): OwnNetworks {
  if (!given) return { networks: [] }
  if ('problem' in given) return { networks: [], problem: given.problem }
  const { source, text } = given
  const rows = rowsOf(text)
  if (!rows)
    return {
      networks: [],
      problem: `${source} must be a list of at most ${networksMax} networks, as JSON: ${remedy}`,
    }
  const networks: NetworkOf<string>[] = []
  for (const [index, row] of rows.entries()) {
    const problem = fieldProblem(row) ?? clash(row as GivenRow, [...taken, ...networks])
    if (problem !== undefined) {
      const { blockchain } = (row ?? {}) as { blockchain?: unknown }
      const name = typeof blockchain === 'string' ? blockchain : `network ${index + 1}`
      return { networks: [], problem: `${source}, ${name}: ${problem}` }
    }
    networks.push(evmNetwork(rowOf(row as GivenRow)))
  }
  return { networks }
}

const remedy = 'docs/further-networks.md has an example'

function rowsOf(text: string): unknown[] | undefined {
  try {
    const rows = JSON.parse(text)
    return Array.isArray(rows) && rows.length <= networksMax ? rows : undefined
  } catch {
    return undefined
  }
}

/** A row as JSON has it, without numbers that only `bigint` holds. */
type GivenRow = Omit<EvmRow, 'fastFeeBasisPoints' | 'priorityFloorAtomic'> & {
  fastFeeBasisPoints?: number
  priorityFloorWei?: number
}

const rowOf = ({ fastFeeBasisPoints, priorityFloorWei, ...row }: GivenRow): EvmRow => ({
  ...row,
  ...(fastFeeBasisPoints !== undefined && { fastFeeBasisPoints: BigInt(fastFeeBasisPoints) }),
  ...(priorityFloorWei !== undefined && { priorityFloorAtomic: BigInt(priorityFloorWei) }),
})

/** Formats of addresses that take those of EVM. */
const ofEvm: ReadonlySet<string> = new Set(['evm', 'xdc'])

/** The field by which a network cannot be told from another one, or that lacks another field. */
function clash(row: GivenRow, taken: readonly TakenNetwork[]): string | undefined {
  const { blockchain, environment, chainId, domain, businessChain } = row
  const inEnvironment = taken.filter((other) => other.environment === environment)
  const find = (among: readonly TakenNetwork[], is: (other: TakenNetwork) => boolean) =>
    among.find(is)?.blockchain
  const named = find(taken, (other) => other.blockchain === blockchain)
  if (named || Object.hasOwn(screenedOnly, blockchain))
    return `blockchain is the code of another chain already: choose another code, or leave this network out`
  const sameId = find(taken, (other) => other.family === 'evm' && other.chainId === chainId)
  if (sameId) return `chainId ${chainId} is that of ${sameId}: correct it, or use ${sameId}`
  const sameDomain = domain !== undefined && find(inEnvironment, (other) => other.domain === domain)
  if (sameDomain)
    return `domain ${domain} is that of ${sameDomain} in ${environment}: correct it, or leave it out for a network without cross-chain messages`
  const sameCode = find(inEnvironment, (other) => other.businessChain === businessChain)
  if (sameCode)
    return `businessChain ${businessChain} names ${sameCode} in ${environment}: choose another code`
  const { addresses = 'evm' } =
    (businessCodes as Partial<Record<string, { addresses: string }>>)[businessChain] ?? {}
  if (!ofEvm.has(addresses))
    return `businessChain ${businessChain} names a chain whose addresses are not of EVM: choose another code`
  return lacking(row)
}

/** Symbols of a network that its native coin cannot have: a coin is known by its symbol. */
const stablecoins: ReadonlySet<string> = new Set<TokenSymbol>(['USDC', 'EURC'])

/** The digits of a native coin that a contract moves in millionths. */
const nativeDecimals = 18

function lacking({
  nativeCoin: { symbol, decimals },
  usdcIsNative,
  domain,
  fastConfirmations,
  unifiedBalance,
  contracts,
  usdc,
  eurc,
}: GivenRow): string | undefined {
  if (usdcIsNative && (symbol !== 'USDC' || decimals !== nativeDecimals))
    return `nativeCoin must have the symbol USDC and ${nativeDecimals} decimals with usdcIsNative: correct it, or leave usdcIsNative out`
  if (!usdcIsNative && stablecoins.has(symbol))
    return `nativeCoin.symbol ${symbol} is that of a stablecoin, by which the two could not be told apart: choose another one, such as ${symbol}-GAS, or set usdcIsNative where USDC pays for gas`
  if (domain === undefined && unifiedBalance)
    return 'unifiedBalance needs a domain: give it, or leave both out'
  if (domain === undefined && contracts) return 'contracts needs a domain: give it, or leave both out'
  if (domain !== undefined && fastConfirmations === undefined)
    return 'fastConfirmations is missing: a network with a domain needs it'
  if (eurc !== undefined && eurc.toLowerCase() === usdc.toLowerCase())
    return 'eurc is the address of usdc: correct one of them'
  return undefined
}
