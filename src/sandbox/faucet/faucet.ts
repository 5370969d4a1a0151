/**
 * Gives away coins on local chains: mints stablecoins and sends the native coin from a publicly known key. Concurrent drips
 * of one chain are sent in one batch. A nonce is allocated by inserting the row that uses it, under a lock across processes,
 * and the signed bytes are stored before they are sent. Unmined transactions are sent again, so that a reorg or a restarted
 * node leaves no nonce gap that blocks the transactions behind it.
 */
import type { Drip, Faucet } from '#api/sandbox-ctx'
import type { Address, TxId } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import { burnCall, mintCall } from '#chains/evm/contracts/mint-call'
import type { Call } from '#chains/facets/payments'
import { type NetworkToken, stablecoinsOf, type TokenSymbol, tokenAddress } from '#chains/network'
import { openKnownKey } from '#custody/index'
import type { EngineCtx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { type Loop, logTrouble, repeat } from '#runtime/scheduling/loop'
import type { LocalChain } from '../chains/index.ts'
import { faucetAccount } from '../constants.ts'
import {
  type CallQueue,
  drain,
  type FaucetCall,
  type FaucetSender,
  resendUnmined,
  unaccepted,
} from './batches.ts'

export type SandboxFaucet = Faucet & {
  /** Mints coins of the currency to the address; resolves with the hash once the node has accepted the transaction. */
  mint(blockchain: string, address: Address, currency: string, amountAtomic: bigint): Promise<TxId>
  /** Burns the coins of the currency that the account of the faucet holds: those that were redeemed. */
  burn(blockchain: string, currency: string): Promise<void>
  /** Pays this amount of a token, or of the native coin, to the address; the rest as with `mint`. */
  pay(
    blockchain: string,
    address: Address,
    token: TokenSymbol | 'NATIVE',
    amountAtomic: bigint,
  ): Promise<TxId>
  /** Stops resending unmined transactions, until `resume`. */
  pause(): Promise<void>
  resume(): void
  /** Stops resending unmined transactions. */
  stop(): Promise<void>
}

/** Amounts of one drip, in whole coins. */
const nativePerDrip = 1n
const tokensPerDrip = 20n

const waitingMax = 1_000

/**
 * Opens the faucet. Its account has native coins and minter rights in the genesis of every local chain, but for those whose node
 * pays new coins itself, of which `locals` has the controls.
 */
export function openFaucet(
  { database, chains, clock, custody, log }: EngineCtx,
  locals: readonly LocalChain[] = [],
): SandboxFaucet {
  const sender: FaucetSender = {
    database,
    chains,
    clock,
    key: openKnownKey(custody, 'evm', faucetAccount.privateKey),
  }
  const queues = new Map<string, CallQueue>()
  const resend = () => repeat(() => resendUnmined(sender), logTrouble(log, 'resending drips'))
  let resending: Loop | undefined = resend()
  let isStopped = false
  const pause = async () => {
    const last = resending
    resending = undefined
    await last?.stop()
  }
  const pay = async (blockchain: string, address: Address, coinsOf: (chain: Chain) => PaidCoin[]) => {
    const chain = chains.find(blockchain)
    if (!chain) throw new ApiError('chainNotStarted')
    const coins = coinsOf(chain)
    const node = locals.find((local) => local.blockchain === blockchain)
    if (node?.mint) return mintEach(node.mint, address, coins)
    return send(
      chain,
      coins.map((coin) => callOf(chain, address, coin)),
    )
  }
  const send = (chain: Chain, calls: readonly Call[]) => enqueue(sender, queues, chain, calls)
  return {
    pause,
    resume: () => {
      if (!isStopped) resending ??= resend()
    },
    stop: () => {
      isStopped = true
      return pause()
    },
    drip: (blockchain, address, what) => pay(blockchain, address, (chain) => coinsOfDrip(chain, what)),
    mint: async (blockchain, address, currency, amountAtomic) => {
      const isOf = (token: NetworkToken) => token.currency === currency
      const [hash] = await pay(blockchain, address, (chain) => [tokenOf(chain, isOf, amountAtomic)])
      return hash!
    },
    burn: async (blockchain, currency) => {
      const chain = chains.find(blockchain)
      if (!chain) throw new ApiError('chainNotStarted')
      const { token } = tokenOf(chain, (each) => each.currency === currency)
      const held = await chain.balances.of(sender.key.address, token)
      if (token !== undefined && held > 0n) await send(chain, [burnCall(token, held)])
    },
    pay: async (blockchain, address, token, amountAtomic) => {
      const [hash] = await pay(blockchain, address, (chain) =>
        token === 'NATIVE'
          ? [{ token: undefined, amountAtomic }]
          : [tokenOf(chain, ({ symbol }) => symbol === token, amountAtomic)],
      )
      return hash!
    },
  }
}

/** Sends calls from the faucet's account; resolves with the hashes once the node has accepted them. */
async function enqueue(
  sender: FaucetSender,
  queues: Map<string, CallQueue>,
  chain: Chain,
  calls: readonly Call[],
): Promise<TxId[]> {
  const { blockchain } = chain.network
  const measured = await Promise.all(calls.map((call) => measure(chain, sender.key.address, call)))
  const queue = queues.get(blockchain) ?? { waiting: [], running: false }
  queues.set(blockchain, queue)
  if (queue.waiting.length >= waitingMax)
    throw new ApiError('unavailable', 'Too many drips are waiting: try again in a moment.')
  const accepted = measured.map(
    (call) =>
      new Promise<TxId>((resolve, reject) => queue.waiting.push({ ...call, tries: 0, resolve, reject })),
  )
  if (!queue.running) void drain(sender, chain, queue)
  return Promise.all(accepted)
}

/** An amount of a token, or of the native coin when absent. */
type PaidCoin = { token: Address | undefined; amountAtomic: bigint }

async function mintEach(
  mint: NonNullable<LocalChain['mint']>,
  address: Address,
  coins: readonly PaidCoin[],
): Promise<TxId[]> {
  const hashes: TxId[] = []
  for (const { token, amountAtomic } of coins) hashes.push(await mint(address, amountAtomic, token))
  return hashes
}

const callOf = ({ payments }: Chain, address: Address, { token, amountAtomic }: PaidCoin): Call =>
  token === undefined ? payments.transferCall(address, amountAtomic) : mintCall(token, address, amountAtomic)

function tokenOf(
  { network }: Chain,
  isWanted: (token: NetworkToken) => boolean,
  amountAtomic?: bigint,
): PaidCoin {
  const token = stablecoinsOf(network).find(isWanted)
  if (!token) throw new ApiError('chainUnfitForCurrency', `${network.blockchain} has no such coin.`)
  const dripAtomic = tokensPerDrip * 10n ** BigInt(token.decimals)
  return { token: tokenAddress(token), amountAtomic: amountAtomic ?? dripAtomic }
}

function coinsOfDrip(chain: Chain, what: Drip): PaidCoin[] {
  const coins = what.tokens.map((symbol) => tokenOf(chain, (token) => token.symbol === symbol))
  const amountAtomic = nativePerDrip * 10n ** BigInt(chain.network.nativeToken.decimals)
  return what.native ? [...coins, { token: undefined, amountAtomic }] : coins
}

async function measure(chain: Chain, from: Address, call: Call): Promise<FaucetCall> {
  const estimate = await chain.offers.estimateGas(from, call)
  if (estimate.kind === 'estimated') return { call, gasLimit: (estimate.gas * 12n) / 10n + 10_000n }
  if (estimate.kind === 'unknown') throw unaccepted(chain, estimate.message)
  throw invalid({
    at: 'address',
    reason: `cannot receive this drip on ${chain.network.blockchain}: ${estimate.message}`,
  })
}
