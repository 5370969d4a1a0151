/**
 * An independent reader of one chain: it walks every block from genesis over raw JSON-RPC and shares no code with the
 * program under test, so that a comparison of both is meaningful. A reorged chain is read again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { quantity, rpc, rpcBatch } from './json-rpc.ts'

export type OracleTransfer = {
  /** The token's address, lower case; absent for the native coin. */
  token?: string
  from: string
  to: string
  amountAtomic: bigint
  txHash: string
  blockNumber: number
  /** -1 for the value that the transaction itself carries. */
  logIndex: number
}

export type OracleTransaction = {
  hash: string
  from: string
  nonce: number
  success: boolean
  feeAtomic: bigint
  blockNumber: number
}

export type TransferFilter = { from?: string; to?: string; token?: string | 'native' }

export type Oracle = {
  /** Reads up to the head; the other functions call it themselves. */
  read(): Promise<void>
  /** Token and coin movements in chain order. Failed transactions move nothing. */
  transfers(filter?: TransferFilter): Promise<OracleTransfer[]>
  transactions(from?: string): Promise<OracleTransaction[]>
  /** Replays the balance from genesis and compares it with the node's; throws when they differ. */
  balanceOf(address: string, token?: string): Promise<bigint>
  /** Throws unless the nonces that `address` used are 0, 1, 2 … in chain order and the node's count is the same. */
  checkNonces(address: string): Promise<void>
  /** Throws, naming each, unless every expected movement is on the chain exactly once. */
  checkMovedOnce(expected: readonly Movement[]): Promise<void>
}

export type Movement = { from?: string; to: string; token?: string; amountAtomic: bigint }

/** A figure as the blocks that were read make it, and as the node reports it. */
type Compared = { replayed: bigint; told: bigint }

type Seen = { hashes: string[]; transfers: OracleTransfer[]; transactions: OracleTransaction[] }
type RpcBlock = { number: string; hash: string; parentHash: string; transactions: RpcTransaction[] }
type RpcTransaction = { hash: string; from: string; to: string | null; value: string; nonce: string }
type RpcReceipt = { transactionHash: string; status: string; gasUsed: string; effectiveGasPrice: string }
type RpcLog = { address: string; topics: string[]; data: string; transactionHash: string; logIndex: string }

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const balanceOfSelector = '0x70a08231'
const blocksPerRequest = 100
/** Number of reads: a node in the middle of a block may answer with the next one's state, or not have it yet. */
const triesMax = 5

export function openOracle(rpcUrl: string): Oracle {
  let seen: Seen = { hashes: [], transfers: [], transactions: [] }
  let reading: Promise<void> | undefined

  const read = () => {
    reading ??= readOn(rpcUrl, seen)
      .then((next) => {
        seen = next
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }
  const agreeing = async (compare: () => Promise<Compared>) => {
    for (let tries = 1; ; tries++) {
      await read()
      const compared = await compare()
      if (compared.replayed === compared.told || tries === triesMax) return compared
      await sleep(50 * tries)
    }
  }
  const transfers = async (filter: TransferFilter = {}) => {
    await read()
    return seen.transfers.filter((transfer) => matches(transfer, filter))
  }
  const transactions = async (from?: string) => {
    await read()
    return seen.transactions.filter((sent) => from === undefined || sent.from === from.toLowerCase())
  }
  return {
    read,
    transfers,
    transactions,
    balanceOf: async (address, token) => {
      const { replayed, told } = await agreeing(() =>
        token === undefined
          ? nativeBalance(rpcUrl, seen, address.toLowerCase())
          : tokenBalance(rpcUrl, seen, address.toLowerCase(), token.toLowerCase()),
      )
      if (replayed === told) return told
      throw new Error(
        `${address} should own ${replayed} of ${token ?? 'native'} by its transfers, the node says ${told}`,
      )
    },
    checkNonces: async (address) => {
      const { replayed, told } = await agreeing(() => nonceCount(rpcUrl, seen, address.toLowerCase()))
      if (replayed !== told)
        throw new Error(`${address} sent ${replayed} transactions, the node counts ${told}`)
    },
    checkMovedOnce: async (expected) => checkMovedOnce(await transfers(), expected),
  }
}

/** Reads the new blocks; starts over when a block that was read is no longer on the chain. */
async function readOn(rpcUrl: string, before: Seen): Promise<Seen> {
  const head = Number(await rpc(rpcUrl, 'eth_blockNumber'))
  const seen = (await isStillThere(rpcUrl, before, head))
    ? { ...before }
    : { hashes: [], transfers: [], transactions: [] }
  for (let start = seen.hashes.length; start <= head; start += blocksPerRequest) {
    const numbers = Array.from({ length: Math.min(blocksPerRequest, head - start + 1) }, (_, i) => start + i)
    const part = await readBlocks(rpcUrl, numbers)
    if (part[0] && seen.hashes.at(-1) && part[0].block.parentHash !== seen.hashes.at(-1))
      return readOn(rpcUrl, { hashes: [], transfers: [], transactions: [] })
    seen.hashes = [...seen.hashes, ...part.map(({ block }) => block.hash)]
    seen.transfers = [...seen.transfers, ...part.flatMap(transfersIn)]
    seen.transactions = [...seen.transactions, ...part.flatMap(transactionsIn)]
  }
  return seen
}

async function isStillThere(rpcUrl: string, { hashes }: Seen, head: number): Promise<boolean> {
  if (hashes.length === 0) return true
  if (head < hashes.length - 1) return false
  const params = [quantity(hashes.length - 1), false]
  return (await rpc<RpcBlock | null>(rpcUrl, 'eth_getBlockByNumber', params))?.hash === hashes.at(-1)
}

type WholeBlock = { block: RpcBlock; receipts: RpcReceipt[]; logs: RpcLog[] }

async function readBlocks(rpcUrl: string, numbers: number[]): Promise<WholeBlock[]> {
  const blocks = await rpcBatch<RpcBlock>(
    rpcUrl,
    numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [quantity(number), true] })),
  )
  const answers = await rpcBatch(
    rpcUrl,
    blocks.flatMap(({ hash, number, transactions }) =>
      transactions.length === 0
        ? []
        : [
            { method: 'eth_getBlockReceipts', params: [number] },
            { method: 'eth_getLogs', params: [{ blockHash: hash, topics: [transferTopic] }] },
          ],
    ),
  )
  return blocks.map((block) => {
    if (block.transactions.length === 0) return { block, receipts: [], logs: [] }
    const [receipts, logs] = answers.splice(0, 2) as [RpcReceipt[], RpcLog[]]
    return { block, receipts, logs }
  })
}

function transactionsIn({ block, receipts }: WholeBlock): OracleTransaction[] {
  const receiptOf = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]))
  return block.transactions.map((sent) => {
    const receipt = receiptOf.get(sent.hash)
    if (!receipt) throw new Error(`the node has no receipt of ${sent.hash} in block ${block.number}`)
    return {
      hash: sent.hash,
      from: sent.from.toLowerCase(),
      nonce: Number(sent.nonce),
      success: receipt.status === '0x1',
      feeAtomic: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice),
      blockNumber: Number(block.number),
    }
  })
}

function transfersIn(whole: WholeBlock): OracleTransfer[] {
  const { block, receipts, logs } = whole
  const succeeded = new Set(receipts.filter(({ status }) => status === '0x1').map((r) => r.transactionHash))
  const blockNumber = Number(block.number)
  const native = block.transactions
    .filter(({ hash, to, value }) => to !== null && BigInt(value) > 0n && succeeded.has(hash))
    .map(({ hash, from, to, value }) => ({
      from: from.toLowerCase(),
      to: to!.toLowerCase(),
      amountAtomic: BigInt(value),
      txHash: hash,
      blockNumber,
      logIndex: -1,
    }))
  const tokens = logs
    .filter(({ topics, data }) => topics.length === 3 && data.length === 66)
    .map(({ address, topics, data, transactionHash, logIndex }) => ({
      token: address.toLowerCase(),
      from: `0x${topics[1]!.slice(26)}`.toLowerCase(),
      to: `0x${topics[2]!.slice(26)}`.toLowerCase(),
      amountAtomic: BigInt(data),
      txHash: transactionHash,
      blockNumber,
      logIndex: Number(logIndex),
    }))
  return [...native, ...tokens]
}

const matches = (transfer: OracleTransfer, { from, to, token }: TransferFilter): boolean =>
  (from === undefined || transfer.from === from.toLowerCase()) &&
  (to === undefined || transfer.to === to.toLowerCase()) &&
  (token === undefined || (transfer.token ?? 'native') === token.toLowerCase())

async function tokenBalance(rpcUrl: string, seen: Seen, address: string, token: string): Promise<Compared> {
  const replayed = sumOf(seen, address, token)
  const call = { to: token, data: `${balanceOfSelector}${address.slice(2).padStart(64, '0')}` }
  const told = BigInt(await rpc<string>(rpcUrl, 'eth_call', [call, quantity(seen.hashes.length - 1)]))
  return { replayed, told }
}

/** The genesis balance comes from the node; all later changes are replayed, fees included. */
async function nativeBalance(rpcUrl: string, seen: Seen, address: string): Promise<Compared> {
  const head = seen.hashes.length - 1
  const [first, last] = await rpcBatch<string>(rpcUrl, [
    { method: 'eth_getBalance', params: [address, '0x0'] },
    { method: 'eth_getBalance', params: [address, quantity(head)] },
  ])
  const fees = seen.transactions
    .filter(({ from }) => from === address)
    .reduce((sum, { feeAtomic }) => sum + feeAtomic, 0n)
  return { replayed: BigInt(first!) + sumOf(seen, address, undefined) - fees, told: BigInt(last!) }
}

/** Throws when a nonce was left out or used twice. */
async function nonceCount(rpcUrl: string, seen: Seen, address: string): Promise<Compared> {
  const used = seen.transactions.filter(({ from }) => from === address).map(({ nonce }) => nonce)
  const gap = used.findIndex((nonce, index) => nonce !== index)
  if (gap >= 0) throw new Error(`${address} used nonce ${used[gap]} where ${gap} was due: ${used.join(' ')}`)
  // Blocks that were mined since are not among those that were read.
  const params = [address, quantity(seen.hashes.length - 1)]
  return {
    replayed: BigInt(used.length),
    told: BigInt(await rpc<string>(rpcUrl, 'eth_getTransactionCount', params)),
  }
}

function sumOf(seen: Seen, address: string, token: string | undefined): bigint {
  let sum = 0n
  for (const transfer of seen.transfers) {
    if (transfer.token !== token) continue
    if (transfer.to === address) sum += transfer.amountAtomic
    if (transfer.from === address) sum -= transfer.amountAtomic
  }
  return sum
}

function checkMovedOnce(transfers: readonly OracleTransfer[], expected: readonly Movement[]): void {
  const counts = new Map<string, number>()
  const keyOf = (movement: Movement, from: string | undefined) =>
    [
      from?.toLowerCase() ?? '*',
      movement.to.toLowerCase(),
      movement.token?.toLowerCase() ?? 'native',
      movement.amountAtomic,
    ].join(' ')
  for (const transfer of transfers) {
    for (const key of [keyOf(transfer, transfer.from), keyOf(transfer, undefined)])
      counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const due = new Map<string, number>()
  for (const movement of expected) {
    const key = keyOf(movement, movement.from)
    due.set(key, (due.get(key) ?? 0) + 1)
  }
  const wrong = [...due].filter(([key, count]) => (counts.get(key) ?? 0) !== count)
  if (wrong.length === 0) return
  const lines = wrong.map(
    ([key, count]) => `  ${key}: due ${count} times, moved ${counts.get(key) ?? 0} times`,
  )
  throw new Error(
    `${wrong.length} of ${due.size} movements are not as due:\n${lines.slice(0, 20).join('\n')}`,
  )
}
