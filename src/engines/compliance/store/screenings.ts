import type { ScreeningChain } from '#chains/screening-chains'
import { formatInstant } from '#lib/time'
import { type Page, readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, raw, sql } from '#runtime/db/db'
import {
  jsonb,
  nullable,
  type RowOf,
  table,
  text,
  textOf,
  textsOf,
  timestamptz,
  uuid,
} from '#runtime/db/table'
import type { MatchedEntry } from '../rules.ts'
import type { RiskAction, RiskReason } from '../types.ts'

export type ScreeningResult = 'APPROVED' | 'DENIED'

export type Screening = RowOf<typeof screenings>

/** The versions of the lists that were consulted, and the rules that applied with their entries. */
type Evidence = {
  lists: Record<string, number>
  matched: readonly ({ ruleName: string } & Partial<MatchedEntry>)[]
}

const screenings = table('screenings', {
  entityId: uuid,
  id: uuid,
  chain: textOf<ScreeningChain>(),
  address: text,
  canonicalAddress: text,
  result: textOf<ScreeningResult>(),
  ruleName: nullable(text),
  actions: textsOf<RiskAction>(),
  reasons: jsonb<readonly RiskReason[]>(),
  evidence: jsonb<Evidence>(),
  createDate: timestamptz,
})

const columns = screenings.columns('s')

export const insertScreening = (tx: Db, nowMs: number, screening: Omit<Screening, 'createDate'>) =>
  tx.one<Screening>(sql`${screenings.insert([{ ...screening, createDate: formatInstant(nowMs) }], 's')}
    returning ${columns}`)

export const findScreening = (db: Db, entityId: string, id: string) =>
  db.maybe<Screening>(
    sql`select ${columns} from screenings s where s.entity_id = ${entityId} and s.id = ${id}`,
  )

type ScreeningFilters = {
  result?: ScreeningResult
  chain?: string
  /** In canonical form. */
  address?: string
}

export const screeningsPage = (
  db: Db,
  entityId: string,
  { result, chain, address }: ScreeningFilters,
  page: PageQuery,
): Promise<Page<Screening>> =>
  readPage<Screening>(
    db,
    {
      columns,
      from: raw('screenings s'),
      alias: 's',
      scope: sql`s.entity_id = ${entityId}`,
      filters: [
        result && sql`s.result = ${listedWord(result)}`,
        chain === undefined ? undefined : sql`s.chain = ${listedWord(chain)}`,
        address === undefined ? undefined : sql`s.canonical_address = ${address}`,
      ],
    },
    page,
  )
