import { type Blockchain, environmentOf, walletBlockchains } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { type Network, networkOf } from '#chains/networks/index'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { suggest } from '#lib/suggest'

/** The networks of the key's environment that this server is connected to. */
const networksOf = (ctx: Ctx) =>
  ctx.chains
    .list()
    .map(({ network }) => network)
    .filter(({ environment }) => environment === ctx.entity.environment)

/** Lists the blockchains that the key can use instead. */
const usableWith = (ctx: Ctx): string[] => networksOf(ctx).map(({ blockchain }) => blockchain)

/** The blockchain of a request that may omit it. */
export const firstUsable = (ctx: Ctx): string | undefined => usableWith(ctx)[0]

type UnusableReason =
  | 'chainNotStarted'
  | 'blockchainUnavailable'
  | 'chainUnsupported'
  | 'contractChainUnsupported'

/**
 * Refuses a listed blockchain that cannot be used here, with the reason and the usable ones: those that wallets may be on,
 * unless the operation takes `any`, or those with `contracts`.
 */
export function unusableChain(
  ctx: Ctx,
  field: string,
  blockchain: Blockchain,
  kind: UnusableReason,
  among: keyof typeof serves = 'wallets',
) {
  const usable = networksOf(ctx).flatMap((each) => (serves[among](each.blockchain) ? [each.blockchain] : []))
  const named = networkOf(blockchain)?.blockchain
  const lacks = among === 'contracts' && named !== undefined && !serves.contracts(named)
  const reason = lacks ? 'runs no contracts' : `names ${reasonOf(named)}`
  return invalid({ at: field, reason: `${reason}${instead(blockchain, usable)}`, value: blockchain, kind })
}

/** Whether a blockchain that is connected serves an operation. */
const serves = {
  wallets: (blockchain: Blockchain) => (walletBlockchains as readonly string[]).includes(blockchain),
  contracts: (blockchain: Blockchain) => capabilitiesOf(blockchain).contracts,
  businessAccount: (blockchain: Blockchain) => capabilitiesOf(blockchain).businessAccount,
  any: () => true,
}

/** The same for a code of the business account, which names no network, or one that it does not use or that is not connected. */
export function unusableCode(ctx: Ctx, field: string, code: string, named?: Network) {
  const usable = networksOf(ctx)
    .filter(({ blockchain }) => serves.businessAccount(blockchain))
    .map(({ businessChain }) => businessChain)
  const isSupported = named !== undefined && serves.businessAccount(named.blockchain)
  return invalid({
    at: field,
    reason: `${codeReason(code, named, isSupported)}${instead(code, usable)}`,
    value: code,
    kind: isSupported ? 'chainNotStarted' : 'chainUnsupported',
  })
}

function codeReason(code: string, named: Network | undefined, isSupported: boolean): string {
  if (!named) return `names ${reasonOf(undefined)}`
  if (isSupported) return `${code} names ${reasonOf(named.blockchain)}`
  return `names ${named.blockchain}, on which the business account receives and pays nothing`
}

/** Refuses a test network to a LIVE key and a main network to a TEST key, and names the counterpart where it can be used. */
export function onOtherEnvironment(ctx: Ctx, field: string, blockchain: Blockchain) {
  const [network, key] = environmentOf(blockchain) === 'TEST' ? ['test', 'TEST'] : ['main', 'LIVE']
  const usable = usableWith(ctx)
  const reason = `is a ${network} network, which needs a ${key} key`
  return invalid({
    at: field,
    reason: `${reason}${instead(blockchain, usable)}`,
    value: blockchain,
    kind: 'keyOnOtherEnvironment',
  })
}

/** The chain that was named, and the reason why it cannot be used. */
const reasonOf = (network: string | undefined) =>
  network
    ? `${network}, to which this server is not connected (--chains of a sandbox and BEZANT_NETWORKS connect it)`
    : 'a chain that this version does not support'

/** Names the values that would be accepted and, when there are several, the nearest one. */
function instead(asked: string, usable: readonly string[]): string {
  if (usable.length === 0) return ', and no blockchain is available to this key'
  return `: use ${usable.join(', ')}${usable.length > 1 ? suggest(asked, usable) : ''}`
}
