import { accountsOn } from '#chains/facets/optional'
/**
 * Deploys the contracts of smart accounts ahead of the first operation, which creates them otherwise. The treasury of an entity
 * creates them by transactions like any other: recorded first, then signed and sent by a worker.
 */

import type { Chain } from '#chains/chain'
import type { AccountContract, ContractCreation } from '#chains/facets/accounts'
import type { EngineCtx } from '#engines/ctx'
import { feeAt, suggestedFees } from '#engines/transactions/index'
import { type TreasuryRow, treasuriesOf } from '../store/treasuries.ts'
import { requireTreasury } from '../treasuries.ts'
import { createContracts } from './create-contracts.ts'
import { type CallProgress, openCalls, progressOf } from './store.ts'

export type DeploymentPlan = {
  chain: Chain
  /** The contracts that accounts of developers need. */
  contracts: readonly AccountContract[]
  /** The creations, in this order. */
  missing: readonly ContractCreation[]
  /** The reason why nothing can be created here. */
  obstacle?: string
}

/** Reads which contracts of smart accounts a chain has, and plans the creation of the others. */
export async function planDeployment(chain: Chain): Promise<DeploymentPlan> {
  const contracts = (await accountsOn(chain).contracts()).filter(({ of }) => of !== 'modular')
  const missing = accountsOn(chain).creations.filter((creation) =>
    contracts.some(({ address, problem }) => address === creation.address && problem === 'missing'),
  )
  const obstacle = obstacleIn(chain, contracts, missing)
  return { chain, contracts, missing, ...(obstacle !== undefined && { obstacle }) }
}

function obstacleIn(
  { network: { blockchain } }: Chain,
  contracts: readonly AccountContract[],
  missing: readonly ContractCreation[],
): string | undefined {
  const created = new Set(missing.map(({ address }) => address))
  const wrong = contracts.find(
    ({ name, address, problem }) =>
      problem && !created.has(address) && (name !== 'deployer' || created.size > 0),
  )
  if (!wrong) return undefined
  const { name, address, problem, codeHash } = wrong
  const where = `${blockchain} has ${problem === 'missing' ? 'no' : 'other code as the'} ${name} at ${address}`
  if (problem !== 'missing') return `${where} (${codeHash}): look for the cause before you use this chain`
  return name === 'deployer'
    ? `${where}: send the signed transaction that its project publishes, which anybody may, and repeat the command`
    : `${where}, which nobody but its project deploys: smart accounts cannot be used on this chain`
}

/** The treasury that pays, opened on first use. */
export const openPayer = async (ctx: EngineCtx, entityId: string, chain: Chain): Promise<TreasuryRow> =>
  (await treasuryOf(ctx, entityId, chain)) ??
  ctx.database.tx((tx) => requireTreasury({ ...ctx, db: tx }, entityId, chain.network))

const treasuryOf = async ({ database }: EngineCtx, entityId: string, { network }: Chain) =>
  (await treasuriesOf(database, entityId)).find(({ blockchain }) => blockchain === network.blockchain)

/** The address of the treasury that would pay; `undefined` while there is none. */
export const payerOf = async (ctx: EngineCtx, entityId: string, chain: Chain): Promise<string | undefined> =>
  (await treasuryOf(ctx, entityId, chain))?.address

/** A margin for the price, which may rise until a block holds the transactions: a fifth. */
const marginShare = 5n

/** Returns the native coins that the treasury lacks for these creations now; none once they are under way. */
export async function shortOf(
  { database }: EngineCtx,
  { chain, missing }: DeploymentPlan,
  payer: TreasuryRow,
): Promise<bigint> {
  if ((await openCalls(database, { ...payer, purpose: 'contract' })).length > 0) return 0n
  const estimates = await Promise.all(
    missing.map(({ call }) => chain.offers.estimateGas(payer.address, call)),
  )
  const gas = estimates.reduce((sum, each) => sum + (each.kind === 'estimated' ? each.gas : 0n), 0n)
  const costAtomic = gas * feeAt(await suggestedFees(chain), 'MEDIUM').maxFeeAtomic
  const leftAtomic = await chain.balances.of(payer.address)
  const neededAtomic = costAtomic + costAtomic / marginShare
  return neededAtomic > leftAtomic ? neededAtomic - leftAtomic : 0n
}

/** Records the creations, unless some are under way; returns the ids of the transactions to wait for. */
export async function deployContracts(
  ctx: EngineCtx,
  { chain, missing }: DeploymentPlan,
  payer: TreasuryRow,
  by: string,
): Promise<string[]> {
  await createContracts(ctx, chain, payer, missing, by)
  return openCalls(ctx.database, { ...payer, purpose: 'contract' })
}

export const deploymentProgress = (
  { database }: EngineCtx,
  { entityId }: TreasuryRow,
  ids: readonly string[],
): Promise<readonly CallProgress[]> => progressOf(database, entityId, ids)
