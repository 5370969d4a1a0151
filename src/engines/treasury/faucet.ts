/**
 * Gives away coins on local chains: mints stablecoins and sends the native coin from a publicly known key. Concurrent drips
 * of one chain are sent in one batch. A nonce is allocated by inserting the row that uses it, under a lock across processes,
 * and the signed bytes are stored before they are sent. Unmined transactions are sent again, so that a reorg or a restarted
 * node leaves no nonce gap that blocks the transactions behind it.
 */
import type { Address, Call, Chain, Chains, UnsignedTransaction } from '#chains/chain'
import { mintCall } from '#chains/evm/mint-call'
import { type NetworkToken, type TokenSymbol, tokenAddress } from '#chains/network'
import type { KnownKey } from '#custody/index'
import { ApiError, invalid } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { type Clock, formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import type { Log } from '#runtime/log/log'
import { logTrouble, repeat } from '#runtime/loop'
import {
  blockchainsOfFaucet,
  deleteFaucetTransactions,
  type FaucetTransaction,
  freeNonces,
  insertFaucetTransactions,
  lockFaucet,
  unminedFaucetTransactions,
} from './store/faucet-transactions.ts'

export type Faucet = {
  /** Sends the drip to the address; resolves with the hashes once the node has accepted every transaction. */
  drip(blockchain: string, address: Address, what: Drip): Promise<Hex[]>
  /** Mints coins of the currency to the address; resolves with the hash once the node has accepted the transaction. */
  mint(blockchain: string, address: Address, currency: string, amountAtomic: bigint): Promise<Hex>
  /** Stops resending unmined transactions. */
  stop(): Promise<void>
}

export type Drip = { native: boolean; tokens: readonly TokenSymbol[] }

export type FaucetInput = { database: Database; chains: Chains; clock: Clock; log: Log; key: KnownKey }

/** Amounts of one drip, in whole coins. */
const nativePerDrip = 1n
const tokensPerDrip = 20n

const batchMax = 100
const waitingMax = 1_000
const triesMax = 3
/** Resends a transaction that is unmined for longer: the node may have restarted meanwhile. */
const resendAfterMs = 3_000

type DripPayment = { call: Call; gasLimit: bigint }
type QueuedDripPayment = DripPayment & {
  tries: number
  resolve: (hash: Hex) => void
  reject: (error: unknown) => void
}
type DripQueue = { waiting: QueuedDripPayment[]; running: boolean }

export function createFaucet(input: FaucetInput): Faucet {
  const lanes = new Map<string, DripQueue>()
  const resending = repeat(() => resendUnmined(input), logTrouble(input.log, 'sending drips again'))
  const pay = async (blockchain: string, callsOn: (chain: Chain) => Call[]) => {
    const chain = input.chains.find(blockchain)
    if (!chain) throw new ApiError('chainNotStarted')
    const payouts = await Promise.all(callsOn(chain).map((call) => measure(chain, input.key.address, call)))
    const lane = lanes.get(blockchain) ?? { waiting: [], running: false }
    lanes.set(blockchain, lane)
    if (lane.waiting.length >= waitingMax)
      throw new ApiError('unavailable', 'Too many drips are waiting: try again in a moment.')
    const accepted = payouts.map(
      (payout) =>
        new Promise<Hex>((resolve, reject) => lane.waiting.push({ ...payout, tries: 0, resolve, reject })),
    )
    if (!lane.running) void drain(input, chain, lane)
    return Promise.all(accepted)
  }
  return {
    stop: resending.stop,
    drip: (blockchain, address, what) => pay(blockchain, (chain) => callsOf(chain, address, what)),
    mint: async (blockchain, address, currency, amountAtomic) => {
      const isOf = (token: NetworkToken) => token.currency === currency
      const [hash] = await pay(blockchain, (chain) => [mintOn(chain, address, isOf, amountAtomic)])
      return hash!
    },
  }
}

function mintOn(
  { network }: Chain,
  address: Address,
  isWanted: (token: NetworkToken) => boolean,
  amountAtomic?: bigint,
): Call {
  const token = network.tokens.find(isWanted)
  if (!token) throw new ApiError('chainUnfitForCurrency', `${network.blockchain} has no such coin.`)
  const dripAtomic = tokensPerDrip * 10n ** BigInt(token.decimals)
  return mintCall(tokenAddress(token), address, amountAtomic ?? dripAtomic)
}

function callsOf(chain: Chain, address: Address, what: Drip): Call[] {
  const { network, transferCall } = chain
  const calls = what.tokens.map((symbol) => mintOn(chain, address, (token) => token.symbol === symbol))
  const nativeAtomic = nativePerDrip * 10n ** BigInt(network.nativeToken.decimals)
  return what.native ? [...calls, transferCall(address, nativeAtomic)] : calls
}

async function measure(chain: Chain, from: Address, call: Call): Promise<DripPayment> {
  const estimate = await chain.estimateGas(from, call)
  if (estimate.kind === 'estimated') return { call, gasLimit: (estimate.gas * 12n) / 10n + 10_000n }
  if (estimate.kind === 'unknown') throw unaccepted(chain, estimate.message)
  throw invalid('address', `cannot receive this drip on ${chain.network.blockchain}: ${estimate.message}`)
}

/** Sends the waiting payouts, one batch after another, until none is left. */
async function drain(input: FaucetInput, chain: Chain, lane: DripQueue): Promise<void> {
  lane.running = true
  while (lane.waiting.length > 0) {
    const batch = lane.waiting.splice(0, batchMax)
    try {
      const again = await sendBatch(input, chain, batch)
      lane.waiting.unshift(...again)
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    }
  }
  lane.running = false
}

/** Signs, stores and sends a batch. Returns the payouts that the node definitely refused and that have tries left. */
async function sendBatch(
  input: FaucetInput,
  chain: Chain,
  batch: readonly QueuedDripPayment[],
): Promise<QueuedDripPayment[]> {
  const [fees, minedCount] = await Promise.all([chain.fees(), chain.nonceOf(input.key.address)]).catch(
    nodeAway(chain),
  )
  const { blockchain } = chain.network
  const nowMs = input.clock.nowMs()
  // Tenfold: the base fee may rise before the block that includes it, and these coins cost nothing.
  const maxFeeAtomic = fees.baseFeeAtomic * 10n + fees.priorityFeeAtomic.HIGH
  const signed = await input.database.tx(async (tx) => {
    await lockFaucet(tx, blockchain)
    const nonces = await freeNonces(tx, blockchain, minedCount, batch.length)
    const signed = batch.map(({ call, gasLimit }, index) =>
      sign(input.key, chain, {
        ...call,
        gasLimit,
        nonce: nonces[index]!,
        maxFeeAtomic,
        priorityFeeAtomic: fees.priorityFeeAtomic.HIGH,
      }),
    )
    await insertFaucetTransactions(tx, blockchain, signed, formatInstant(nowMs))
    return signed
  })
  const outcomes = await chain.broadcast(signed.map(({ raw }) => raw as Hex)).catch(nodeAway(chain))
  const refused = signed.filter((_, index) => outcomes[index]?.kind === 'refused')
  if (refused.length > 0) {
    const hashes = refused.map(({ txHash }) => txHash)
    await deleteFaucetTransactions(input.database, blockchain, hashes)
  }
  return batch.filter((waiting, index) => {
    const outcome = outcomes[index]
    if (outcome?.kind === 'accepted') waiting.resolve(signed[index]!.txHash as Hex)
    else if (outcome?.kind === 'refused' && ++waiting.tries < triesMax) return true
    else waiting.reject(unaccepted(chain, outcome?.message))
    return false
  })
}

/** Resends the stored bytes of unmined transactions older than `resendAfterMs`. Returns false, so that the loop pauses. */
async function resendUnmined({ database, chains, clock, key }: FaucetInput): Promise<boolean> {
  const before = formatInstant(clock.nowMs() - resendAfterMs)
  for (const blockchain of await blockchainsOfFaucet(database)) {
    const chain = chains.find(blockchain)
    if (!chain) continue
    const minedCount = await chain.nonceOf(key.address)
    const unmined = await unminedFaucetTransactions(database, blockchain, minedCount, before)
    if (unmined.length > 0) await chain.broadcast(unmined.map(({ raw }) => raw as Hex))
  }
  return false
}

function sign(key: KnownKey, chain: Chain, transaction: UnsignedTransaction): FaucetTransaction {
  const { raw, hash } = chain.attachSignature(transaction, key.sign(chain.digestOf(transaction)))
  return { nonce: transaction.nonce, txHash: hash, raw }
}

const unaccepted = (chain: Chain, message = 'no answer') =>
  new ApiError(
    'unavailable',
    `The node of ${chain.network.blockchain} did not accept the drip (${message}): try again in a moment.`,
  )

const nodeAway = (chain: Chain) => (error: unknown) => {
  throw unaccepted(chain, error instanceof Error ? error.message.split('\n')[0] : undefined)
}
