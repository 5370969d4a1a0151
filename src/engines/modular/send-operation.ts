import type { Address } from '#chains/addresses/types'
import type { Chain } from '#chains/chain'
import type { AccountOwners, UserOperation } from '#chains/facets/accounts'
import { accountsOn } from '#chains/facets/optional'
import { operationToJson } from '#chains/operation-json'
import type { Ctx } from '#engines/ctx'
import { announceWork, requireNotHalted } from '#engines/transactions/index'
import { findSponsor, insertExternalOperation } from '#engines/transactions/operations/index'
import { ApiError } from '#lib/errors'
import { newId } from '#lib/ids'
import { formatInstant } from '#lib/time'
import { noteUserOperations } from './note-changes.ts'
import { requireGas } from './operation-gas.ts'
import { isPaidInUsdc, requirePaying } from './pay-in-usdc.ts'
import { rejection } from './rejection.ts'
import { requireAllowed, requireScreenedOperation } from './screen-operation.ts'
import { requireWithinLimits, reserveGas, sponsorOf } from './sponsor-operation.ts'
import { findByHash, insertUserOperation } from './store/user-operations.ts'
import type { ModularWallet } from './store/wallets.ts'
import { openModularWallet, requireAccount } from './wallets.ts'

/**
 * Accepts a signed operation, which the treasury then bundles; returns its hash. One that is sent again has its effect once,
 * and the same answer.
 */
export async function sendOperation(ctx: Ctx, chain: Chain, operation: UserOperation): Promise<string> {
  const { blockchain } = chain.network
  const entityId = ctx.entity.id
  const { hash: userOpHash } = accountsOn(chain).hashesOf(operation)
  if (await findByHash(ctx.database, entityId, blockchain, userOpHash)) return userOpHash
  await requireGas(chain, operation)
  const paidByAccount = await isPaidInUsdc(ctx, chain, operation)
  const sponsor = paidByAccount ? undefined : await requireOwnSponsor(ctx, chain, operation)
  if (paidByAccount) await requirePaying(chain, operation)
  const owners = await requireAccount(chain, operation)
  await requireAllowed(ctx, chain, operation)
  await requirePassing(chain, operation, sponsor)
  await requireScreenedOperation(ctx, chain, operation)
  // Last, so that each wallet is one whose owner signed and whose gas is within the limits.
  const known = await requireWithinLimits(ctx, chain, operation)
  const wallet = known ?? (await makeWallet(ctx, chain, operation, { owners, sponsor }))
  // The treasury bundles what others pay for, too.
  if (paidByAccount) await sponsorOf(ctx, chain)
  const nowMs = ctx.clock.nowMs()
  const row = { entityId, id: newId(nowMs), blockchain, userOpHash, operation: operationToJson(operation) }
  const isNew = await ctx.database.tx(async (tx) => {
    await requireNotHalted(tx, blockchain)
    const { account, nonce } = operation
    const createDate = formatInstant(nowMs)
    const shown = { ...row, walletId: wallet.id, sender: account, nonce, createDate }
    if (!(await insertUserOperation(tx, shown))) return false
    await reserveGas({ ...ctx, db: tx }, chain, wallet, operation, { paidByAccount })
    // None of it is of the deposit of the treasury's own paymaster.
    const requiredDepositAtomic = paidByAccount ? 0n : accountsOn(chain).requiredDeposit(operation)
    await insertExternalOperation(tx, nowMs, { ...row, account, requiredDepositAtomic })
    await noteUserOperations(ctx, tx, [row], 'SENT')
    return true
  })
  if (isNew) await announceWork(ctx.database, blockchain)
  else if (!(await findByHash(ctx.database, entityId, blockchain, userOpHash)))
    throw new ApiError(
      'rpcParamsInvalid',
      'Invalid params: params[0].nonce is that of an operation that waits: take the next nonce, or another key.',
    )
  return userOpHash
}

/**
 * Makes the wallet of a passing operation. A block that used the nonce before the wallet was watched is not observed: such an
 * operation would wait until its promise ends, so the EntryPoint is asked again.
 */
async function makeWallet(
  ctx: Ctx,
  chain: Chain,
  operation: UserOperation,
  { owners, sponsor }: { owners: AccountOwners | undefined; sponsor: string | undefined },
): Promise<ModularWallet> {
  const made = await openModularWallet(ctx, chain, { address: operation.account, owners })
  await requirePassing(chain, operation, sponsor)
  return made
}

/** Returns the treasury whose paymaster the operation names. */
async function requireOwnSponsor(ctx: Ctx, chain: Chain, { sponsorship }: UserOperation): Promise<string> {
  const sponsor = await findSponsor(ctx.database, ctx.entity.id, chain.network.blockchain)
  const paymaster = sponsor && accountsOn(chain).paymasterOf(sponsor.address as Address).address
  if (!sponsor || sponsorship?.address !== paymaster) throw new ApiError('rpcNotSponsored')
  return sponsor.address
}

async function requirePassing(
  chain: Chain,
  operation: UserOperation,
  sponsor: string | undefined,
): Promise<void> {
  const outcome = await accountsOn(chain).modular.simulate(operation, sponsor)
  if (outcome.kind === 'passes') return
  if (outcome.kind !== 'failed') throw new ApiError('rpcNodeUnavailable')
  throw rejection(operation, outcome.reason)
}
