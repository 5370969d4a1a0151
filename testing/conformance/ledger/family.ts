import type { Chain } from '#chains/chain'
import type { Block, BlockRef } from '#chains/facets/blocks'
import type {
  BroadcastOutcome,
  Call,
  Payments,
  RefusalReason,
  UnsignedTransaction,
} from '#chains/facets/payments'
import type { ChainInput, FamilyDeclaration } from '#chains/family'
import type { Network } from '#chains/networks/index'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import {
  type LedgerBlock,
  type LedgerOrder,
  type LedgerRefusal,
  readLedgerOrder,
  workOfOrder,
} from './ledger.ts'

/** Asks the node; throws when it does not answer. */
type Ask = <Answer>(method: string, ...parameters: unknown[]) => Promise<Answer | undefined>

const asking =
  (url: string): Ask =>
  async (method, ...parameters) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ method, parameters }) })
    return ((await response.json()) as { answer: never }).answer ?? undefined
  }

type Reads = {
  ask: Ask
  block(key: number | string): Promise<Block | undefined>
  coins(address: string, token?: string, atBlock?: Hex): Promise<bigint>
}

const refusals: Record<LedgerRefusal, RefusalReason> = {
  used: 'nonce-too-low',
  poor: 'insufficient-funds',
  outbid: 'replacement-underpriced',
  invalid: 'invalid',
}

/** What a call pays. That of a token names its recipient in its data. */
const paidBy = ({ to, valueAtomic, data }: Call): Pick<LedgerOrder, 'to' | 'amount' | 'token'> =>
  data === '0x'
    ? { to: to!, amount: String(valueAtomic) }
    : { ...(JSON.parse(bytesOf(data).toString('utf8')) as { to: string; amount: string }), token: to! }

const transferCall = (to: string, amountAtomic: bigint, token?: string): Call =>
  token === undefined
    ? { to, valueAtomic: amountAtomic, data: '0x' }
    : {
        to: token,
        valueAtomic: 0n,
        data: hexOf(Buffer.from(JSON.stringify({ to, amount: String(amountAtomic) }))),
      }

function messageOf(transaction: UnsignedTransaction): Buffer {
  const { from, nonce: place, maxFeeAtomic, priorityFeeAtomic, gasLimit } = transaction
  const terms = { price: String(maxFeeAtomic), tip: String(priorityFeeAtomic), limit: String(gasLimit) }
  return Buffer.from(JSON.stringify({ from, ...paidBy(transaction), place, ...terms } satisfies LedgerOrder))
}

function readTransaction(raw: Hex): UnsignedTransaction | undefined {
  const read = readLedgerOrder(raw)
  if (!read) return undefined
  const { from, to, token, amount, place, price, tip, limit } = read.order
  const fees = { gasLimit: BigInt(limit), maxFeeAtomic: BigInt(price), priorityFeeAtomic: BigInt(tip) }
  return { from, ...transferCall(to, BigInt(amount), token), nonce: place, ...fees }
}

const refOf = ({ number, hash, parentHash, timeMs }: LedgerBlock): BlockRef => ({
  number,
  hash,
  parentHash,
  timeMs,
})

/** Payments of the native coin are transactions with a value; those of tokens are transfers, by their place in the block. */
const blockOf = (block: LedgerBlock): Block => ({
  ...refOf(block),
  transactions: block.orders.map(({ id, from, to, token, amount, place }) => ({
    hash: id,
    from,
    to,
    valueAtomic: token === undefined ? BigInt(amount) : 0n,
    nonce: place,
  })),
  logs: [],
  transfers: block.orders.flatMap(({ id, from, to, token, amount, success }, logIndex) =>
    token !== undefined && success
      ? [{ txHash: id, logIndex, token, from, to, amountAtomic: BigInt(amount) }]
      : [],
  ),
  contentHash: block.hash,
})

const blocksOf = ({ ask, block }: Reads, finalityDepth: number): Pick<Chain, 'blocks' | 'effects'> => ({
  blocks: {
    head: async () => refOf((await ask<LedgerBlock>('head'))!),
    hashAt: async (number) => (await block(number))?.hash,
    byNumber: block,
    byHash: block,
    watchHeads: (onHead) => {
      const timer = setInterval(onHead, 100)
      return () => clearInterval(timer)
    },
    finalityDepth,
    finalized: async () => 'no tag',
    agreeing: 1,
    agreedUpTo: async (number) => ({ upTo: number }),
    agreedContent: async () => ({ verdict: 'agreed', said: [] }),
  },
  effects: {
    receiptsOf: async ({ hash }, txHashes) => {
      const blockHash = hash as Hex
      const { number: blockNumber, orders } = (await ask<LedgerBlock>('block', blockHash))!
      const asked = orders.filter(({ id }) => txHashes.includes(id))
      return asked.map(({ id: txHash, success, fee }) => ({
        txHash,
        success,
        blockHash,
        blockNumber,
        gasUsed: workOfOrder,
        feeAtomic: BigInt(fee),
      }))
    },
    explainRevert: async () => undefined,
  },
})

const offersOf = ({ coins }: Reads): Chain['offers'] => ({
  fees: async () => ({ baseFeeAtomic: 100n, priorityFeeAtomic: { LOW: 1n, MEDIUM: 2n, HIGH: 3n } }),
  estimateGas: async (from, call) => {
    const { amount, token } = paidBy(call)
    return coins(from, token).then(
      (balance) =>
        balance >= BigInt(amount)
          ? { kind: 'estimated', gas: workOfOrder }
          : { kind: 'insufficient-funds', message: 'the account has less than the order pays' },
      (error: Error) => ({ kind: 'unknown', message: error.message }),
    )
  },
  parentFee: async () => undefined,
  intrinsicGas: () => workOfOrder,
  limitOf: (estimated) => estimated,
  quotedGas: () => workOfOrder,
  gasLimitMax: 1_000_000_000n,
})

const paymentsOf = ({ ask }: Reads, { blockchain }: Network): Payments => ({
  transferCall,
  decodeCall: (call) => {
    const { to: destination, amount, token = 'native' } = paidBy(call)
    const transfer = {
      kind: 'transfer',
      blockchain,
      token,
      destination,
      amountAtomic: BigInt(amount),
    } as const
    return { effects: [transfer], dangers: [], parties: [] }
  },
  payloadOf: messageOf,
  attachSignature: (transaction, signature) => {
    const raw = hexOf(Buffer.concat([messageOf(transaction), signature]))
    return { raw, hash: readLedgerOrder(raw)!.id }
  },
  dearer: (transaction, { maxFeeAtomic, priorityFeeAtomic }) => ({
    ...transaction,
    maxFeeAtomic,
    priorityFeeAtomic,
  }),
  readSigned: async (raw) => readTransaction(raw),
  broadcast: (raws) => Promise.all(raws.map((raw) => submitted(ask, raw))),
})

async function submitted(ask: Ask, raw: Hex): Promise<BroadcastOutcome> {
  const told = await ask<{ id: string } | { refused: LedgerRefusal }>('submit', raw).catch(
    (error: Error) => error,
  )
  if (told instanceof Error) return { kind: 'unknown', message: told.message }
  if (told && 'refused' in told)
    return { kind: 'refused', reason: refusals[told.refused], message: told.refused }
  return { kind: 'accepted' }
}

/** A chain of the ledger family: every facet that all chains have, and none of the others. */
export function connectLedger(input: ChainInput): Chain {
  const { network, rpcUrl, confirmations, finalityDepth, local, inFlightMax } = input
  const ask = asking(rpcUrl)
  const reads: Reads = {
    ask,
    block: async (key) => {
      const found = await ask<LedgerBlock>('block', key)
      return found && blockOf(found)
    },
    coins: async (...asked) => BigInt((await ask<string>('balance', ...asked))!),
  }
  const hosts = [new URL(rpcUrl).host]
  const chain: Chain = {
    network,
    local,
    confirmations,
    endpoints: { hosts, health: () => [], inspect: async () => [], close: async () => undefined },
    ...blocksOf(reads, finalityDepth),
    lane: {
      nonceOf: async (address) => (await ask<number>('place', address)) ?? 0,
      inFlightMaxOf: async () => inFlightMax ?? network.inFlightMax,
    },
    offers: offersOf(reads),
    payments: paymentsOf(reads, network),
    balances: {
      of: (address, token, at) => reads.coins(address, token, at?.hash as Hex | undefined),
      totalSupplyOf: async () => 0n,
    },
    get shared() {
      return chain
    },
    onBehalfOf: () => chain,
  }
  return chain
}

export const ledgerFamily: FamilyDeclaration = {
  // The types of the program know its own families alone.
  keys: 'ledger' as 'evm',
  facets: [],
  priceUnit: { name: 'units', decimals: 0 },
  feePayers: false,
  derives: false,
  userWallets: true,
  hasLocalChains: false,
  connect: connectLedger,
}
