import type { Chain } from '#chains/chain'
import type { BlockOperations, OwnersAdded } from '#chains/facets/accounts'
import type { Block } from '#chains/facets/blocks'
import type { Receipt } from '#chains/facets/effects'
import type { ClaimedTransfer } from '#chains/facets/tokens'
import { type ManagedAddress, managedAmong } from '#custody/wallets/index'
import type { Posting } from '#engines/ledger/index'
import type { Token } from '#engines/ledger/tokens/index'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { claimedCoins, withoutRepeated } from './native-logs.ts'
import {
  addressesOf,
  gasPostings,
  type Managed,
  managedOperations,
  managedOwners,
  movesOfPaymasters,
  ownersOfCoins,
} from './observe-operations.ts'
import { claimedTransfersOf, toAccountOf, walletSides } from './observe-tokens.ts'
import { provenCoins } from './proven-coins.ts'
import { spentOnGas } from './spent-on-gas.ts'
import type { ObservedOperation } from './store/operations.ts'
import type { ObservedOwners } from './store/owners.ts'
import type { ObservedTokenTransfer } from './store/tokens.ts'
import type { ObservedTransaction, ObservedTransfer } from './store/transfers.ts'

/** The effects of one block on managed addresses: rows to store and facts to book. */
type Observation = {
  transfers: Omit<ObservedTransfer, 'id'>[]
  tokenTransfers: Omit<ObservedTokenTransfer, 'id'>[]
  /** Number of transfers of amount zero that are not recorded. */
  emptyOmitted: number
  transactions: ObservedTransaction[]
  operations: ObservedOperation[]
  owners: ObservedOwners[]
  postings: Posting[]
}

/** A transfer with its place in the block, not yet split into the sides of sender and recipient. */
type MovedAmount = {
  txHash: string
  kind: ObservedTransfer['kind']
  position: number
  token: Token
  from: string
  to: string
  amountAtomic: bigint
  /** Native coins that entered or left the deposit of a paymaster. */
  isOfDeposit?: boolean
  /** Native coins that an operation claims to have moved, and of which nothing shows that they arrived. */
  isUnproven?: boolean
}

const noOperations: BlockOperations = { operations: [], compensations: [], depositMoves: [] }

/** Reads the effects of a block on managed addresses; `tokens` are the listed ones, the native coin included. */
export async function observe(
  db: Db,
  chain: Chain,
  block: Block,
  tokens: readonly Token[],
): Promise<Observation> {
  const { blockchain } = chain.network
  const claims = claimedTransfersOf(chain, block, new Set(tokens.map(({ address }) => address)))
  const executed = chain.accounts?.executedIn(block) ?? noOperations
  const added = chain.accounts?.ownersAddedIn(block.logs) ?? []
  const managed = await managedIn(db, blockchain, block, { claims, executed, added })
  if (managed.size === 0)
    return {
      transfers: [],
      tokenTransfers: [],
      emptyOmitted: 0,
      transactions: [],
      operations: [],
      owners: [],
      postings: [],
    }
  const receipts = await receiptsOf(chain, block, managed)
  const movements = await movementsOf(chain, block, receipts, tokens, { executed, managed })
  const transfers = movements.flatMap((movement) => sidesOf(movement, managed, blockchain, block))
  const transactions = sentBy(managed, receipts, blockchain, block)
  const native = tokens.find((token) => token.isNative)!
  const tokenTransfers = walletSides(
    blockchain,
    block,
    claims.map((claim) => toAccountOf(chain, claim, managed)),
    managed,
  )
  return {
    transfers,
    tokenTransfers: tokenTransfers.rows,
    emptyOmitted: tokenTransfers.omitted,
    transactions,
    operations: managedOperations(executed, managed, blockchain, block),
    owners: managedOwners(added, managed, blockchain, block),
    postings: [
      ...transfers.map((transfer) => postingOf(transfer, native)),
      ...feePostings(block, receipts, managed, native),
      ...gasPostings(executed, managed, block, native),
    ],
  }
}

async function managedIn(
  db: Db,
  blockchain: string,
  block: Block,
  {
    claims,
    executed,
    added,
  }: { claims: readonly ClaimedTransfer[]; executed: BlockOperations; added: readonly OwnersAdded[] },
): Promise<Managed> {
  const addresses = new Set<string>([...addressesOf(executed), ...added.map(({ account }) => account)])
  for (const { from, to, feePayer } of block.transactions)
    for (const address of [from, to, feePayer]) if (address !== undefined) addresses.add(address)
  for (const { from, to } of [...block.transfers, ...claims]) addresses.add(from).add(to)
  const managed = new Map<string, ManagedAddress[]>()
  if (addresses.size === 0) return managed
  for (const row of await managedAmong(db, blockchain, [...addresses])) {
    managed.set(row.address, [...(managed.get(row.address) ?? []), row])
  }
  return managed
}

/** Receipts of the transactions that a managed address sent or paid for, or that carry native coins to one. */
async function receiptsOf(chain: Chain, block: Block, managed: Managed): Promise<Map<string, Receipt>> {
  const concerned = block.transactions.filter(
    ({ from, to, feePayer, valueAtomic }) =>
      managed.has(from) ||
      (feePayer !== undefined && managed.has(feePayer)) ||
      (to !== undefined && valueAtomic > 0n && managed.has(to)),
  )
  const receipts = await chain.effects.receiptsOf(
    block,
    concerned.map(({ hash }) => hash),
  )
  return new Map(receipts.map((receipt) => [receipt.txHash, receipt]))
}

async function movementsOf(
  chain: Chain,
  block: Block,
  receipts: ReadonlyMap<string, Receipt>,
  tokens: readonly Token[],
  { executed, managed }: { executed: BlockOperations; managed: Managed },
): Promise<MovedAmount[]> {
  const native = tokens.find((token) => token.isNative)!
  const byAddress = new Map(tokens.map((token) => [token.address, token]))
  const ofDeposits = movesOfPaymasters(executed, managed).map((move) => {
    return { ...move, token: native, isOfDeposit: true }
  })
  const additions = new Set(ofDeposits.flatMap(({ txHash, kind }) => (kind === 'value' ? [txHash] : [])))
  const values = block.transactions.flatMap(({ hash, from, to, valueAtomic }): MovedAmount[] =>
    to !== undefined && valueAtomic > 0n && receipts.get(hash)?.success && !additions.has(hash)
      ? [{ txHash: hash, kind: 'value', position: 0, token: native, from, to, amountAtomic: valueAtomic }]
      : [],
  )
  const told = withoutRepeated(block, executed, managed)
  const logs = told.flatMap(({ token: address, logIndex: position, ...log }): MovedAmount[] => {
    const token = byAddress.get(address ?? null)
    // Zero transfers move nothing; they are used to plant look-alike addresses in histories.
    return token && log.amountAtomic > 0n ? [{ ...log, kind: 'log', position, token }] : []
  })
  const claims = claimedCoins(executed, told)
  const recipients = new Set(claims.map(({ to }) => to).filter((to) => ownersOfCoins(managed, to).length > 0))
  const known = [...values, ...ofDeposits, ...logs.filter(({ token }) => token.isNative)]
  const proven = await provenCoins(chain, block, claims, {
    recipients: [...recipients],
    known: (address) => knownChange(address, block, receipts, { known, executed }),
  })
  const ofOperations = claims.map((claim) => {
    return { ...claim, token: native, isUnproven: !proven.has(claim) }
  })
  return [...values, ...ofDeposits, ...ofOperations, ...logs]
}

/** The change of a balance of native coins by all that does not rest on the claim of an operation. */
function knownChange(
  address: string,
  { transactions }: Block,
  receipts: ReadonlyMap<string, Receipt>,
  { known, executed }: { known: readonly MovedAmount[]; executed: BlockOperations },
): bigint {
  let change = 0n
  for (const { from, to, amountAtomic } of known) {
    if (to === address) change += amountAtomic
    if (from === address) change -= amountAtomic
  }
  for (const { hash, from, feePayer = from } of transactions)
    if (feePayer === address) change -= receipts.get(hash)?.feeAtomic ?? 0n
  for (const { beneficiary, amountAtomic } of executed.compensations)
    if (beneficiary === address) change += amountAtomic
  return change
}

function sidesOf(
  movement: MovedAmount,
  managed: Managed,
  blockchain: string,
  block: Block,
): Omit<ObservedTransfer, 'id'>[] {
  const { txHash, kind, position, token, from, to, amountAtomic: amount, isOfDeposit, isUnproven } = movement
  const seen = (direction: 'in' | 'out') => (side: ManagedAddress) => ({
    entityId: side.entityId,
    blockchain,
    blockHash: block.hash,
    blockNumber: block.number,
    txHash,
    kind,
    position,
    direction,
    tokenId: token.id,
    fromAddress: from,
    toAddress: to,
    amount,
    address: side.address,
    purpose: side.purpose,
    ownerId: side.ownerId,
    blockTime: formatInstant(block.timeMs),
  })
  const owners = (party: string) =>
    token.isNative && !isOfDeposit ? ownersOfCoins(managed, party) : (managed.get(party) ?? [])
  return [...owners(from).map(seen('out')), ...(isUnproven ? [] : owners(to).map(seen('in')))]
}

function sentBy(
  managed: Managed,
  receipts: ReadonlyMap<string, Receipt>,
  blockchain: string,
  block: Block,
): ObservedTransaction[] {
  return block.transactions.flatMap(({ hash, from, nonce }) => {
    const receipt = receipts.get(hash)
    if (!receipt) return []
    return (managed.get(from) ?? []).map(({ entityId }) => ({
      entityId,
      blockchain,
      blockHash: block.hash,
      blockNumber: block.number,
      txHash: hash,
      address: from,
      nonce: nonce ?? null,
      success: receipt.success,
      gasUsed: receipt.gasUsed,
      fee: receipt.feeAtomic,
      blockTime: formatInstant(block.timeMs),
    }))
  })
}

function postingOf(transfer: Omit<ObservedTransfer, 'id'>, native: Token): Posting {
  const { entityId, blockchain, blockHash, txHash, kind, position, direction, tokenId, address, purpose } =
    transfer
  const isForGas = kind === 'value' && direction === 'out' && tokenId === native.id
  const amountAtomic = direction === 'in' ? transfer.amount : -transfer.amount
  return {
    entityId,
    blockchain,
    blockHash,
    fact: `${kind}:${position}:${direction}:${txHash}`,
    entries: [
      { kind: 'address', tokenId, address, amountAtomic },
      { kind: 'outside', tokenId, amountAtomic: -amountAtomic },
      // Payments of the business account are calls of the contract: a treasury sends values for gas alone.
      ...(isForGas ? spentOnGas(native, { address, purpose }, amountAtomic) : []),
    ],
  }
}

/** Books each fee to the account that paid it. */
const feePostings = (
  block: Block,
  receipts: ReadonlyMap<string, Receipt>,
  managed: Managed,
  native: Token,
): Posting[] => {
  const { blockchain, id: tokenId } = native
  return block.transactions.flatMap(({ hash: txHash, from, feePayer: address = from }) => {
    const receipt = receipts.get(txHash)
    if (!receipt) return []
    const { feeAtomic: amountAtomic } = receipt
    return (managed.get(address) ?? []).map(
      ({ entityId, purpose }): Posting => ({
        entityId,
        blockchain,
        blockHash: block.hash,
        fact: `fee:${txHash}`,
        entries: [
          { kind: 'address', tokenId, address, amountAtomic: -amountAtomic },
          { kind: 'fees', tokenId, amountAtomic },
          ...spentOnGas(native, { address, purpose }, -amountAtomic),
        ],
      }),
    )
  })
}
