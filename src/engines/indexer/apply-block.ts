import type { Chain } from '#chains/chain'
import type { Block } from '#chains/facets/blocks'
import { stablecoinAt } from '#chains/network'
import { addressIn } from '#chains/screening-chains'
import { followIssuers, type IssuerEntry, issuerListOf } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { post } from '#engines/ledger/index'
import { tokensOf } from '#engines/ledger/tokens/index'
import type { Db } from '#runtime/db/db'
import { raiseAlarm } from '#runtime/log/alarms'
import { failpoint } from '#runtime/scheduling/failpoints'
import { confirmedHeights } from './confirmations.ts'
import { recordBlockLogs } from './events/record-logs.ts'
import { observe } from './observed/observe.ts'
import { claimedMax } from './observed/observe-tokens.ts'
import { deleteCrosschainEvents, insertCrosschainEvents } from './observed/store/crosschain.ts'
import { deleteOperations, insertObservedOperations } from './observed/store/operations.ts'
import { deleteOwners, insertOwners } from './observed/store/owners.ts'
import { insertTokenTransfers } from './observed/store/tokens.ts'
import { deleteObserved, insertTransactions, insertTransfers } from './observed/store/transfers.ts'
import {
  type CanonicalBlock,
  canonicalHead,
  hasOtherContents,
  insertBlock,
  lockChain,
} from './store/blocks.ts'
import { appendStep, haveAllProcessedSteps } from './store/steps.ts'

/**
 * Applies one block on top of `parent` (`undefined` for the first block) in one `tx`. False when another process moved the
 * head meanwhile; nothing is written then.
 */
export async function applyBlock(
  ctx: EngineCtx,
  chain: Chain,
  block: Block,
  parent: CanonicalBlock | undefined,
): Promise<boolean> {
  const { blockchain } = chain.network
  const tokens = await tokensOf(ctx.database, blockchain)
  const seen = await observe(ctx.database, chain, block, tokens)
  const tokenTransfers = withinBounds(ctx, chain, block, seen.tokenTransfers)
  const issuerEntries = issuerEntriesOf(chain, block)
  const crosschainEvents = chain.crosschain?.eventsIn(block.logs) ?? []
  const confirmed = await confirmedHeights(ctx, chain, block)
  failpoint('before-block-insert')
  const applied = await ctx.database.tx(async (tx) => {
    await lockChain(tx, blockchain)
    const head = await canonicalHead(tx, blockchain)
    if (head?.hash !== parent?.hash) return false
    if (!chain.local && (await hasOtherContents(tx, blockchain, block)))
      await deleteContents(tx, blockchain, block)
    const nowMs = ctx.clock.nowMs()
    await insertBlock(tx, blockchain, block)
    await followIssuers(tx, nowMs, { blockchain, blockHash: block.hash }, issuerEntries)
    await insertTransfers(tx, nowMs, seen.transfers)
    await insertTokenTransfers(tx, nowMs, tokenTransfers)
    await insertTransactions(tx, seen.transactions)
    await insertObservedOperations(tx, seen.operations)
    await insertOwners(tx, seen.owners)
    await insertCrosschainEvents(tx, blockchain, block, crosschainEvents)
    await post(tx, nowMs, seen.postings)
    await recordBlockLogs(tx, nowMs, blockchain, block)
    const { hash: blockHash, number: blockNumber } = block
    await appendStep(tx, { blockchain, kind: 'applied', blockHash, blockNumber, confirmed })
    failpoint('before-block-commit')
    return true
  })
  failpoint('after-block-commit')
  const omitted = seen.emptyOmitted + seen.tokenTransfers.length - tokenTransfers.length
  if (applied && omitted > 0) ctx.metrics.transfersOmitted.inc({ blockchain }, omitted)
  return applied
}

/** The changes of the blocklists of listed tokens. A token that blocks itself takes no coins, and can be called. */
const issuerEntriesOf = ({ network, tokens }: Chain, block: Block): IssuerEntry[] =>
  (tokens?.issuerChangesIn(block.logs) ?? []).flatMap(({ token: contract, address, blocked }) => {
    const token = stablecoinAt(network, contract)
    const entry = addressIn(network.family, address)
    return token && address !== contract
      ? [{ list: issuerListOf(token.symbol, network.blockchain), entry, blocked }]
      : []
  })

function withinBounds<Transfer>(
  ctx: EngineCtx,
  { network: { blockchain } }: Chain,
  { number: blockNumber }: Block,
  transfers: readonly Transfer[],
): readonly Transfer[] {
  const omitted = transfers.length - claimedMax
  if (omitted <= 0) return transfers
  raiseAlarm(
    ctx.log,
    'transfers-omitted',
    { blockchain, blockNumber, omitted },
    `a block claims more than ${claimedMax} transfers of unlisted tokens: the last ones are not recorded`,
  )
  return transfers.slice(0, claimedMax)
}

/** Deletes the earlier contents of a block. Throws until every engine has reverted its own changes from them. */
async function deleteContents(tx: Db, blockchain: string, { hash, number }: Block): Promise<void> {
  if (!(await haveAllProcessedSteps(tx, blockchain)))
    throw new Error(
      `${blockchain}: block ${number} is applied again when every engine has reverted its false contents`,
    )
  await deleteObserved(tx, blockchain, hash)
  await deleteOperations(tx, blockchain, hash)
  await deleteOwners(tx, blockchain, hash)
  await deleteCrosschainEvents(tx, blockchain, hash)
}
