import type { Address } from '#chains/addresses/types'
import type { Chain, Chains } from '#chains/chain'
import type { Call, UnsignedTransaction } from '#chains/facets/payments'
import type { KnownKey } from '#custody/index'
import { ApiError } from '#lib/errors'
import type { Hex } from '#lib/hex'
import { type Clock, formatInstant } from '#lib/time'
import type { Database } from '#runtime/db/db'
import {
  blockchainsOfFaucet,
  deleteFaucetTransactions,
  type FaucetTransaction,
  freeNonces,
  insertFaucetTransactions,
  lockFaucet,
  unminedFaucetTransactions,
} from './store.ts'

const batchMax = 100
const triesMax = 3
/** Resends a transaction that is unmined for longer: the node may have restarted meanwhile. */
const resendAfterMs = 3_000

/** The dependencies of sending, and the key of the faucet's account. */
export type FaucetSender = { database: Database; chains: Chains; clock: Clock; key: KnownKey }

export type FaucetCall = { call: Call; gasLimit: bigint }
type QueuedCall = FaucetCall & {
  tries: number
  resolve: (hash: Hex) => void
  reject: (error: unknown) => void
}
export type CallQueue = { waiting: QueuedCall[]; running: boolean }

/** Sends the waiting calls, one batch after another, until none is left. */
export async function drain(sender: FaucetSender, chain: Chain, queue: CallQueue): Promise<void> {
  queue.running = true
  while (queue.waiting.length > 0) {
    const batch = queue.waiting.splice(0, batchMax)
    try {
      const again = await sendBatch(sender, chain, batch)
      queue.waiting.unshift(...again)
    } catch (error) {
      for (const waiting of batch) waiting.reject(error)
    }
  }
  queue.running = false
}

/** Signs, stores and sends a batch. Returns the calls that the node definitely refused and that have tries left. */
async function sendBatch(
  sender: FaucetSender,
  chain: Chain,
  batch: readonly QueuedCall[],
): Promise<QueuedCall[]> {
  const [fees, minedCount] = await Promise.all([
    chain.offers.fees(),
    usedNoncesOf(chain, sender.key.address),
  ]).catch(nodeAway(chain))
  const { blockchain } = chain.network
  const nowMs = sender.clock.nowMs()
  // Tenfold: the base fee may rise before the block that includes it, and these coins cost nothing.
  const maxFeeAtomic = fees.baseFeeAtomic * 10n + fees.priorityFeeAtomic.HIGH
  const signed = await sender.database.tx(async (tx) => {
    await lockFaucet(tx, blockchain)
    const nonces = await freeNonces(tx, blockchain, minedCount, batch.length)
    const signed = batch.map(({ call, gasLimit }, index) =>
      sign(sender.key, chain, {
        from: sender.key.address,
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
  const outcomes = await chain.payments.broadcast(signed.map(({ raw }) => raw as Hex)).catch(nodeAway(chain))
  const refused = signed.filter((_, index) => outcomes[index]?.kind === 'refused')
  if (refused.length > 0) {
    const hashes = refused.map(({ txHash }) => txHash)
    await deleteFaucetTransactions(sender.database, blockchain, hashes)
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
export async function resendUnmined({ database, chains, clock, key }: FaucetSender): Promise<boolean> {
  const before = formatInstant(clock.nowMs() - resendAfterMs)
  for (const blockchain of await blockchainsOfFaucet(database)) {
    const chain = chains.find(blockchain)
    if (!chain) continue
    const minedCount = await usedNoncesOf(chain, key.address)
    const unmined = await unminedFaucetTransactions(database, blockchain, minedCount, before)
    if (unmined.length > 0) await chain.payments.broadcast(unmined.map(({ raw }) => raw as Hex))
  }
  return false
}

function usedNoncesOf({ lane, network }: Chain, address: Address): Promise<number> {
  if (lane.nonceOf) return lane.nonceOf(address)
  throw new Error(`${network.blockchain} counts no nonces: its node pays for the faucet`)
}

function sign(key: KnownKey, chain: Chain, transaction: UnsignedTransaction): FaucetTransaction {
  const { raw, hash } = chain.payments.attachSignature(
    transaction,
    key.sign(chain.payments.payloadOf(transaction)),
  )
  return { nonce: transaction.nonce, txHash: hash, raw }
}

export const unaccepted = (chain: Chain, message = 'no answer') =>
  new ApiError(
    'unavailable',
    `The node of ${chain.network.blockchain} did not accept the drip (${message}): try again in a moment.`,
  )

const nodeAway = (chain: Chain) => (error: unknown) => {
  throw unaccepted(chain, error instanceof Error ? error.message.split('\n')[0] : undefined)
}
