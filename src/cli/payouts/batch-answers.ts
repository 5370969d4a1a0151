import type { Static } from 'typebox'
import type { batchRowSchema, batchSchema, wholeBatchSchema } from '#api/payout-batches/schema'
import type { ParsedArgs } from '../command.ts'
import { askAsOperator } from '../operator-client.ts'

/** The answers of the API, as this command reads them. */
export type PayoutFile = Static<typeof batchSchema>
export type WholeFile = Static<typeof wholeBatchSchema>
export type BatchRow = Static<typeof batchRowSchema>

export const batchesPath = '/operator/payoutBatches'
export const batchPath = (id: string) => `${batchesPath}/${id}`

/** The rows of a file in their order, page by page. */
export async function* rowsOf(args: ParsedArgs, id: string, filter = ''): AsyncGenerator<BatchRow> {
  let path: string | undefined = `${batchPath(id)}/rows?order=ASC&pageSize=50${filter}`
  while (path !== undefined) {
    const { data, next }: { data: BatchRow[]; next: string | undefined } = await askAsOperator<BatchRow[]>(
      args,
      { path },
    )
    yield* data
    path = next
  }
}
