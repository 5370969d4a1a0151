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

const hasWallets = (blockchain: string) => (walletBlockchains as readonly string[]).includes(blockchain)

/** The blockchain of a request that may omit it. */
export const firstUsable = (ctx: Ctx): string | undefined => usableWith(ctx)[0]

type UnusableReason =
  | 'chainNotStarted'
  | 'blockchainUnavailable'
  | 'chainUnsupported'
  | 'contractChainUnsupported'

/**
 * Refuses a listed blockchain that cannot be used here, with the reason and the usable ones: those that wallets may be on,
 * unless the operation takes `any`.
 */
export function unusableChain(
  ctx: Ctx,
  field: string,
  blockchain: Blockchain,
  kind: UnusableReason,
  among: 'wallets' | 'any' = 'wallets',
) {
  const connected = usableWith(ctx)
  const usable = among === 'any' ? connected : connected.filter(hasWallets)
  return invalid({
    at: field,
    reason: `names ${reasonOf(networkOf(blockchain)?.blockchain)}${instead(blockchain, usable)}`,
    value: blockchain,
    kind,
  })
}

/** The same for a code of the business account, which names no network, or one that it does not use or that is not connected. */
export function unusableCode(ctx: Ctx, field: string, code: string, named?: Network) {
  const usable = networksOf(ctx)
    .filter(({ blockchain }) => isForBusiness(blockchain))
    .map(({ businessChain }) => businessChain)
  const isSupported = named !== undefined && isForBusiness(named.blockchain)
  return invalid({
    at: field,
    reason: `${codeReason(code, named, isSupported)}${instead(code, usable)}`,
    value: code,
    kind: isSupported ? 'chainNotStarted' : 'chainUnsupported',
  })
}

const isForBusiness = (blockchain: Blockchain) => capabilitiesOf(blockchain).businessAccount

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
