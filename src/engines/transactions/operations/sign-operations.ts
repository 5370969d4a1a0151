import { accountsOn, contractsOn } from '#chains/facets/optional'
/**
 * Signs the user operations of smart accounts. An operation is priced, sponsored by the entity's treasury and signed by the
 * key of its account in one `tx` with the row that holds it; the treasury bundles it afterwards. Its nonce is made from the
 * id of its transaction, so that operations of one account need not wait for each other; only the first one, which creates
 * the account, goes alone.
 */

import type { Chain } from '#chains/chain'
import type { AddressedCall, UnsignedOperation } from '#chains/facets/accounts'
import { operationToJson } from '#chains/operation-json'
import { frozenAmong, WalletFrozen } from '#custody/freezes/index'
import { signOperations, signWithPlatformKey } from '#custody/index'
import { ownerOfAccount } from '#custody/wallets/index'
import { shareLists } from '#engines/compliance/lists/index'
import type { EngineCtx } from '#engines/ctx'
import { formatInstant } from '#lib/time'
import type { Db } from '#runtime/db/db'
import { failpoint } from '#runtime/scheduling/failpoints'
import type { Turn } from '#runtime/turns/store'
import { type Failure, failUnsentTransactions } from '../fail-unsent.ts'
import { priceNow } from '../fees.ts'
import { callOf, intentBytes } from '../intent.ts'
import { type Plan, planWaiting, type Ready } from '../plan.ts'
import { readIssuers } from '../read-issuers.ts'
import { screenUnsigned } from '../screen.ts'
import { recordQueued, shownFee, sortPlans } from '../sign.ts'
import { type SignBatch, type SigningOutcome, signRound, throwRefusal } from '../signing-round.ts'
import { lockNonces } from '../store/attempts.ts'
import { insertSignedOperations, oldestOperation } from '../store/operations.ts'
import { findSponsor, type Sponsor } from '../store/sponsors.ts'
import { insertSponsorships, lockSponsorships, promisedAmong } from '../store/sponsorships.ts'
import { type Sender, waitingOf } from '../store/transactions.ts'
import { excessOf, type GasLimit, gasLimitsOf, lessBy, operationGasMax } from './limit-gas.ts'
import { nonceOf } from './nonce.ts'

/** Operations of one account that are signed at once: as many as one bundle takes. */
const batchMax = 40

/** Signs one round of operations; entities and their accounts take turns. */
export const signWaitingOperations = (ctx: EngineCtx, chain: Chain, turn: Turn, onSigned: () => void) =>
  signRound(ctx, chain, turn, { ofAccounts: true, togetherMax: 1, signBatch }, onSigned)

const signBatch: SignBatch = async (ctx, chain, { entityId, addresses: [address] }, limit, unsignable) => {
  const outcome = await signOperationsOf(ctx, chain, { entityId, address: address! }, limit, unsignable)
  return new Map([[address!, outcome]])
}

async function signOperationsOf(
  ctx: EngineCtx,
  chain: Chain,
  sender: Sender,
  limit: number,
  unsignable: ReadonlySet<string>,
): Promise<SigningOutcome> {
  const { blockchain } = chain.network
  const { entityId, address } = sender
  if ((await frozenAmong(ctx.database, { entityId, blockchain, addresses: [address] })).has(address))
    return 'blocked'
  const [isDeployed, owner, sponsor] = await Promise.all([
    contractsOn(chain).hasCode(address),
    ownerOfAccount(ctx.database, entityId, blockchain, address),
    findSponsor(ctx.database, entityId, blockchain),
  ])
  if (!owner || !sponsor) throw new Error(`the smart account ${address} has no owner or no sponsor`)
  const creating = async (db: Db) => !isDeployed && (await oldestOperation(db, blockchain, sender))
  if (await creating(ctx.database)) return 'blocked'
  const count = isDeployed ? Math.min(limit, batchMax) : 1
  const rows = (lock: boolean, db: Db) =>
    waitingOf(db, blockchain, entityId, [{ address, room: count }], { lock, ofAccounts: true })
  const planned = await planWaiting(ctx, chain, await rows(false, ctx.database))
  if (planned.length === 0) return 'blocked'
  await readIssuers(ctx, chain, planned)
  const dataGas = await dataGasOf(chain, isDeployed, planned)
  const plans = new Map(planned.map((plan) => [plan.row.id, plan]))
  const outcome = await ctx.database.tx(async (tx): Promise<SigningOutcome> => {
    if (!(await lockNonces(tx, blockchain, address)) || (await creating(tx))) return 'busy'
    // From here on no list changes: what is cleared now stays so until the signatures are durable.
    await shareLists(tx)
    const claimed = await rows(true, tx)
    if (!(await screenUnsigned(tx, ctx, chain, claimed))) return 'advanced'
    const { ready, failed } = sortPlans(claimed, plans, unsignable)
    const account = { owner, sponsor, isDeployed, dataGas }
    const { covered, exceeding } = await coverGas({ ...ctx, db: tx }, chain, account, ready)
    await failUnsentTransactions(tx, ctx, [...failed, ...exceeding])
    await signAll(tx, ctx, chain, account, covered)
    failpoint('before-attempt-commit')
    return ready.length + failed.length > 0 ? 'advanced' : 'blocked'
  })
  if (outcome === 'advanced') failpoint('after-attempt-commit')
  return outcome
}

/** `dataGas`: that of each transaction, by its id. */
type SigningAccount = {
  owner: AccountOwner
  sponsor: Sponsor
  isDeployed: boolean
  dataGas: ReadonlyMap<string, bigint>
}

type AccountOwner = NonNullable<Awaited<ReturnType<typeof ownerOfAccount>>>

/** Asks the chain what the data of the planned operations costs, before the `tx`. */
async function dataGasOf(
  chain: Chain,
  isDeployed: boolean,
  plans: readonly Plan[],
): Promise<Map<string, bigint>> {
  const asked = plans.map(async (plan): Promise<[string, bigint][]> => {
    if (!('fee' in plan)) return []
    const { row, fee, gasLimit: gas } = plan
    const request = { account: row.address, isDeployed, call: calledBy(row), gas }
    return [[row.id, await accountsOn(chain).dataGasOf(request, priceNow(fee, fee))]]
  })
  return new Map((await Promise.all(asked)).flat())
}

function calledBy(row: Plan['row']): AddressedCall {
  const { to, valueAtomic, data } = callOf(row)
  if (to === undefined) throw new Error(`transaction ${row.id} of a smart account creates a contract`)
  return { to, valueAtomic, data }
}

/** Separates the operations whose gas exceeds the limits. The gas of one that is signed again is promised already. */
async function coverGas(
  ctx: EngineCtx,
  chain: Chain,
  account: SigningAccount,
  plans: readonly Ready[],
): Promise<{ covered: Ready[]; exceeding: Failure[] }> {
  const [first] = plans
  if (!first) return { covered: [], exceeding: [] }
  const { blockchain } = chain.network
  const { entityId } = first.row
  const owner = { entityId, blockchain, walletId: first.row.walletId! }
  await lockSponsorships(ctx.db, entityId, blockchain)
  const promised = new Set(
    (
      await promisedAmong(
        ctx.db,
        plans.map(({ row }) => row),
      )
    ).map(({ id }) => id),
  )
  let limits = await gasLimitsOf(ctx, owner, 'developer')
  const covered: Ready[] = []
  const exceeding: Failure[] = []
  for (const plan of plans) {
    const gas = accountsOn(chain).gasPaidFor(unsponsored(chain, account, plan).operation)
    const isPromised = promised.has(plan.row.id)
    const excess = isPromised ? undefined : (tooLarge(plan) ?? beyondLimits(limits, gas, blockchain))
    if (excess) exceeding.push({ entityId, id: plan.row.id, ...excess })
    else covered.push(plan)
    if (!isPromised && !excess) limits = lessBy(limits, gas)
  }
  return { covered, exceeding }
}

type GasExcess = Pick<Failure, 'reason' | 'details'>

function beyondLimits(limits: readonly GasLimit[], gas: bigint, blockchain: string): GasExcess | undefined {
  const details = excessOf(limits, gas, blockchain)
  return details === undefined
    ? undefined
    : { reason: 'PAYMASTER_POLICY_EXCEED_MAX_NATIVE_TOKEN_DAILY', details }
}

/** A bundle that no block takes would be made again and again. */
function tooLarge({ gasLimit }: Ready): GasExcess | undefined {
  if (gasLimit <= operationGasMax) return undefined
  const details = `the call needs ${gasLimit} gas, and that of a smart account may use ${operationGasMax}`
  return { reason: 'ESTIMATION_ERROR', details }
}

async function signAll(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  account: SigningAccount,
  plans: readonly Ready[],
): Promise<void> {
  const [first] = plans
  if (!first) return
  const { blockchain } = chain.network
  const nowMs = ctx.clock.nowMs()
  const operations: UnsignedOperation[] = []
  for (const plan of plans) operations.push(await sponsored(tx, ctx, chain, account, plan))
  const hashes = operations.map(accountsOn(chain).hashesOf)
  const requests = plans.map(({ row }, index) => ({
    entityId: row.entityId,
    intentId: row.id,
    intent: intentBytes({ blockchain, ...row }),
    payload: hashes[index]!.digest,
    blockchain,
  }))
  const signatures = await signOperations(ctx.custody, tx, requests, nowMs).catch(async (error) => {
    if (error instanceof WalletFrozen) throw error
    const ids = plans.map(({ row }) => row.id)
    return throwRefusal(tx, error, ids)
  })
  failpoint('after-signature')
  await insertSignedOperations(
    tx,
    nowMs,
    blockchain,
    first.row.address,
    plans.map((plan, index) => {
      const operation = operations[index]!
      const { callGas, verificationGas, preVerificationGas } = operation
      return {
        entityId: plan.row.entityId,
        id: plan.row.id,
        userOpHash: hashes[index]!.hash,
        operation: operationToJson(accountsOn(chain).attachOwner(operation, signatures[index]!)),
        requiredDepositAtomic: accountsOn(chain).requiredDeposit(operation),
        fee: shownFee({ fee: plan.fee, gasLimit: callGas + verificationGas + preVerificationGas }),
      }
    }),
  )
  await insertSponsorships(
    tx,
    plans.map(({ row: { entityId, id, walletId } }, index) => ({
      entityId,
      blockchain,
      walletId: walletId!,
      transactionId: id,
      expireDate: undefined,
      userOpHash: hashes[index]!.hash,
      gas: accountsOn(chain).gasPaidFor(operations[index]!),
      createDate: formatInstant(nowMs),
    })),
  )
  await recordQueued(tx, nowMs, plans)
}

/** Builds the operation of a transaction, and what the treasury signs to pay its gas. */
function unsponsored(
  chain: Chain,
  { owner, sponsor, isDeployed, dataGas }: SigningAccount,
  { row, fee, gasLimit }: Ready,
) {
  const request = {
    account: row.address,
    owner: owner.address,
    core: owner.core,
    isDeployed,
    fee,
    gas: gasLimit,
    dataGas: dataGas.get(row.id)!,
    nonce: nonceOf(row.id),
    call: calledBy(row),
  }
  return accountsOn(chain).build(request, sponsor.address)
}

/** Builds the operation of a transaction, with the signature of the treasury that pays its gas. */
async function sponsored(
  tx: Db,
  ctx: EngineCtx,
  chain: Chain,
  account: SigningAccount,
  plan: Ready,
): Promise<UnsignedOperation> {
  const { operation, sponsorDigest } = unsponsored(chain, account, plan)
  const { entityId, keyId } = account.sponsor
  const signature = await signWithPlatformKey(ctx.custody, tx, { entityId, keyId, payload: sponsorDigest })
  return accountsOn(chain).attachSponsor(operation, signature)
}
