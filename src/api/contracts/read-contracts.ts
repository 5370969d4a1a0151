import type { Ctx } from '#engines/ctx'
import { notFound } from '#lib/errors'
import type { PageQuery } from '#runtime/collection/query'
import type { ListResult } from '#runtime/http/endpoint'
import { showContract } from './show-contract.ts'
import { type ContractFilters, type ContractRow, findContract, listContracts } from './store.ts'

export async function requireContract(ctx: Ctx, id: string): Promise<ContractRow> {
  const row = await findContract(ctx.db, ctx.entity.id, id)
  if (row) return row
  throw notFound('contract', id, 'contractNotFound')
}

export const getContract = async (ctx: Ctx, id: string) => ({
  contract: showContract(await requireContract(ctx, id)),
})

export async function getContracts(ctx: Ctx, filters: ContractFilters, page: PageQuery): Promise<ListResult> {
  const found = await listContracts(ctx.db, ctx.entity.id, filters, page)
  return { found, items: found.rows.map(showContract) }
}
