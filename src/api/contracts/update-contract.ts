import type { Ctx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { recordChanges } from '#runtime/record/store'
import { getContract, requireContract } from './read-contracts.ts'
import { type ContractChanges, updateContractRow as update } from './store.ts'

/** Renames, describes, archives or restores a contract. Absent fields keep their values. */
export async function updateContract(ctx: Ctx, id: string, changes: ContractChanges) {
  const { name, description, archived } = changes
  if (name === undefined && description === undefined && archived === undefined)
    throw new ApiError('contractUpdateEmpty')
  await requireContract(ctx, id)
  const { db, entity, actor, requestId, receivedMs } = ctx
  await update(db, receivedMs, entity.id, id, changes)
  await recordChanges(db, receivedMs, [
    {
      entityId: entity.id,
      actor,
      requestId,
      type: 'contract.updated',
      resourceId: id,
      data: { name, description, archived },
    },
  ])
  return getContract(ctx, id)
}
