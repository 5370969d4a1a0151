import type { ScreeningChain } from '#chains/screening-chains'
import { formatInstant } from '#lib/time'
import { type Page, readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, raw, sql } from '#runtime/db/db'
import type { MatchedEntry } from '../rules.ts'
import type { RiskAction, RiskReason } from '../types.ts'

export type ScreeningResult = 'APPROVED' | 'DENIED'

export type Screening = {
  entityId: string
  id: string
  chain: ScreeningChain
  address: string
  canonicalAddress: string
  result: ScreeningResult
  ruleName: string | null
  actions: readonly RiskAction[]
  reasons: readonly RiskReason[]
  evidence: Evidence
  createDate: string
}

/** The versions of the lists that were consulted, and the rules that applied with their entries. */
type Evidence = {
  lists: Record<string, number>
  matched: readonly ({ ruleName: string } & Partial<MatchedEntry>)[]
}

const columns = sql`s.entity_id, s.id, s.chain, s.address, s.canonical_address, s.result, s.rule_name, s.actions, s.reasons,
  s.evidence, s.create_date`

export const insertScreening = (tx: Db, nowMs: number, screening: Omit<Screening, 'createDate'>) =>
  tx.one<Screening>(sql`insert into screenings as s
      (entity_id, id, chain, address, canonical_address, result, rule_name, actions, reasons, evidence, create_date)
    values (${screening.entityId}, ${screening.id}, ${screening.chain}, ${screening.address},
      ${screening.canonicalAddress}, ${screening.result}, ${screening.ruleName}, ${screening.actions},
      ${JSON.stringify(screening.reasons)}, ${JSON.stringify(screening.evidence)}, ${formatInstant(nowMs)})
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
        result === 'DENIED' ? sql`s.result = 'DENIED'` : result && sql`s.result = ${result}`,
        chain === undefined ? undefined : sql`s.chain = ${chain}`,
        address === undefined ? undefined : sql`s.canonical_address = ${address}`,
      ],
    },
    page,
  )
