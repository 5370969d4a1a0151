import { randomUUID } from 'node:crypto'
import { nextCount, type World } from './world.ts'

/** A file of payouts: rows of texts below the names of their columns. */
export const fileOf = (columns: string, ...rows: readonly string[]): string =>
  [columns, ...rows].map((line) => `${line}\n`).join('')

/** Uploads a file; without one, a new payout of a cent to the world's recipient. */
export async function uploadBatch(world: World, csv?: string, fields: object = {}) {
  const usual = async () =>
    fileOf(
      'recipient,amount,currency,reference',
      `${(await world.payee()).id},0.01,USD,invoice ${nextCount()}`,
    )
  const body = {
    idempotencyKey: randomUUID(),
    name: 'payouts.csv',
    csv: csv ?? (await usual()),
    ...fields,
  }
  return world.call('POST', '/operator/payoutBatches', body)
}

export const approveBatch = (world: World, { id, contentHash }: { id: string; contentHash: string }) =>
  world.call('POST', `/operator/payoutBatches/${id}/approve`, { contentHash })

/** All rows of a batch, in the order of the file. */
export async function rowsOf(world: World, id: string) {
  // biome-ignore lint/suspicious/noExplicitAny: rows are examined member by member
  const rows: any[] = []
  for (let after = ''; ; after = `&pageAfter=${rows.at(-1).id}`) {
    const page = await world.call('GET', `/operator/payoutBatches/${id}/rows?order=ASC${after}`)
    rows.push(...page)
    if (page.length < 50) return rows
  }
}
