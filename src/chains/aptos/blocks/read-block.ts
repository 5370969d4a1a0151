import { createHash } from 'node:crypto'
import type { Hex } from '#lib/hex'
import type { Address, BlockHash } from '../../addresses/types.ts'
import type { Block, TransferLog } from '../../facets/blocks.ts'
import type { Receipt } from '../../facets/effects.ts'
import { tokenAddress } from '../../network.ts'
import type { Network } from '../../networks/index.ts'
import { NodeUnreachable } from '../../nodes/errors.ts'
import type { BlockWithOutcomes } from '../../nodes/kept-blocks.ts'
import { listOfFields, type NodeFields, nodeFields } from '../../nodes/values.ts'
import { nativeAsset } from '../encoding/addresses.ts'
import { type RestNode, unlessMissing } from '../rest/node.ts'
import { movementsIn, nowhere } from './movements.ts'
import { type BlockHeader, headerOf, parentHashOf } from './read-ref.ts'
import { type ExecutedTransaction, userTransactionOf, versionOf } from './transactions.ts'

/** A block with the outcomes of its transactions, and the version of the ledger after it. */
type AptosBlock = BlockWithOutcomes & { lastVersion: bigint }

/** The assets whose movements a network counts. */
const assetsOf = ({ tokens }: Network): ReadonlySet<Address> =>
  new Set([nativeAsset, ...tokens.map(tokenAddress)])

/** The whole block at a height; `undefined` when the node does not have it. */
export async function readBlockAt(
  node: RestNode,
  network: Network,
  height: number,
): Promise<AptosBlock | undefined> {
  const reading = unlessMissing(
    node.get(`/blocks/by_height/${height}?with_transactions=true`),
    'block_not_found',
  ).then((raw) => {
    if (raw === undefined) return undefined
    const fields = nodeFields(raw, 'block')
    return { fields, header: headerOf(node, fields, height) }
  })
  const named = reading.then((read) => {
    if (read) return read.header.hash
    throw new NodeUnreachable(`the node has no block ${height}`)
  })
  // The block after it, read at the same time, needs no request of its own for this hash.
  named.catch(() => node.named.delete(height))
  node.named.set(height, named)
  const read = await reading
  if (!read) return undefined
  const [transactions, parentHash] = await Promise.all([
    transactionsOf(node, read.header, read.fields['transactions']),
    parentHashOf(node, height),
  ])
  return wholeOf(network, { ...read.header, parentHash }, transactions)
}

const pageMax = 100

/** All transactions of a block: nodes cut the list of a large one. */
async function transactionsOf(node: RestNode, header: BlockHeader, given: unknown): Promise<NodeFields[]> {
  const { number, firstVersion, lastVersion } = header
  const transactions: NodeFields[] = []
  const take = (some: readonly NodeFields[]) => {
    for (const each of some) {
      const version = firstVersion + BigInt(transactions.length)
      if (version > lastVersion || versionOf(each) !== version)
        throw new NodeUnreachable(`the node's transactions of block ${number} are not those of its versions`)
      transactions.push(each)
    }
  }
  take(given == null ? [] : listOfFields(given, 'transactions'))
  for (;;) {
    const start = firstVersion + BigInt(transactions.length)
    if (start > lastVersion) return transactions
    const left = lastVersion - start + 1n
    const limit = left < BigInt(pageMax) ? left : pageMax
    const page = listOfFields(await node.get(`/transactions?start=${start}&limit=${limit}`), 'transactions')
    if (page.length === 0) throw new NodeUnreachable(`the node leaves out transactions of block ${number}`)
    take(page)
  }
}

function wholeOf(
  network: Network,
  header: BlockHeader & { parentHash: BlockHash },
  raws: readonly NodeFields[],
): AptosBlock {
  const { number, hash, parentHash, timeMs, lastVersion } = header
  const assets = assetsOf(network)
  const users = raws.flatMap((raw) => userTransactionOf(raw) ?? [])
  const transfers: TransferLog[] = []
  let position = 0
  for (const user of users) {
    transfers.push(...transfersOf(user, assets, position))
    // One more for a refund.
    position += user.events.length + 1
  }
  const transactions = users.map(({ hash, sender: from, payer: feePayer, nonce }) => ({
    hash,
    from,
    to: undefined,
    valueAtomic: 0n,
    nonce,
    ...(feePayer !== from && { feePayer }),
  }))
  const receipts = new Map(users.map((user) => [user.hash, receiptOf(user, { number, hash })]))
  const block = { number, hash, parentHash, timeMs, transactions, logs: [], transfers }
  const failures = new Map(users.flatMap(({ hash, success, status }) => (success ? [] : [[hash, status]])))
  return { block: { ...block, contentHash: contentHashOf(block, receipts) }, receipts, failures, lastVersion }
}

/** The movements of a transaction. Freed storage may give back more than the fee was. */
function transfersOf(user: ExecutedTransaction, assets: ReadonlySet<Address>, first: number): TransferLog[] {
  const { hash: txHash, payer: to, chargeAtomic, refundAtomic, events } = user
  const moved = movementsIn(user, assets).map(({ place, asset, ...movement }) => ({
    txHash,
    logIndex: first + place,
    ...movement,
    ...(asset === nativeAsset ? {} : { token: asset }),
  }))
  const amountAtomic = refundAtomic - chargeAtomic
  if (amountAtomic <= 0n) return moved
  return [...moved, { txHash, logIndex: first + events.length, from: nowhere, to, amountAtomic }]
}

/** There is no fee where freed storage gave back more. */
function receiptOf(
  { hash: txHash, success, gasUsed, chargeAtomic, refundAtomic }: ExecutedTransaction,
  { number: blockNumber, hash: blockHash }: { number: number; hash: BlockHash },
): Receipt {
  const feeAtomic = chargeAtomic > refundAtomic ? chargeAtomic - refundAtomic : 0n
  return { txHash, success, gasUsed, feeAtomic, blockHash, blockNumber }
}

/** Hashes the contents of a block that the program relies on: endpoints that name the same block must give the same hash. */
function contentHashOf(block: Block, receipts: AptosBlock['receipts']): Hex {
  const { number, hash, parentHash, timeMs, transactions, transfers } = block
  const lines = [
    [number, hash, parentHash, timeMs],
    ...transactions.map(({ hash, from, feePayer, nonce }) => {
      const { success, gasUsed, feeAtomic } = receipts.get(hash)!
      return [hash, from, feePayer, nonce, success, gasUsed, feeAtomic]
    }),
    ...transfers.map(({ txHash, logIndex, token, from, to, amountAtomic }) => [
      txHash,
      logIndex,
      token,
      from,
      to,
      amountAtomic,
    ]),
  ]
  const text = lines.map((line) => line.join()).join('\n')
  return `0x${createHash('sha256').update(text).digest('hex')}`
}
