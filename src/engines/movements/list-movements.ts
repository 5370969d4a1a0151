import { messageMovements } from '#engines/attestation/index'
import { modularMovements } from '#engines/modular/index'
import type { Movement, MovementKind, MovementPhase, MovementTable } from '#engines/movement'
import { transactionMovements } from '#engines/transactions/history/index'
import { treasuryMovements } from '#engines/treasury/index'
import { unifiedMovements } from '#engines/unified-balance/index'
import { type Page, readMergedPage, type Source } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, join, listedWord, raw, sql } from '#runtime/db/db'

/** All tables with movements. */
export const movementTables: readonly MovementTable[] = [
  transactionMovements,
  ...treasuryMovements,
  ...modularMovements,
  messageMovements,
  unifiedMovements,
]

type MovementFilters = {
  kind?: MovementKind | undefined
  phase?: MovementPhase | undefined
  blockchain?: string | undefined
  walletId?: string | undefined
  /** Canonical; the sender or the recipient. */
  address?: string | undefined
  txHash?: string | undefined
}

/** The movements of an entity, newest first. */
export const movementsPage = (
  db: Db,
  entityId: string,
  filters: MovementFilters,
  page: PageQuery,
): Promise<Page<Movement>> =>
  readMergedPage<Movement>(
    db,
    movementTables.flatMap((table) => sourcesOf(table, entityId, filters)),
    page,
  )

/** The movement of this id. */
export async function findMovement(db: Db, entityId: string, id: string): Promise<Movement | undefined> {
  const branches = movementTables.map((table) => {
    const { columns, from, scope, alias } = table.source(entityId)
    return sql`select ${columns} from ${from} where ${scope} and ${raw(`${alias}.id`)} = ${id}`
  })
  return db.maybe<Movement>(sql`${join(branches, ' union all ')} limit 1`)
}

/** The movements in these tables that have one of these transactions. */
export async function movementsSentAs(
  db: Db,
  entityId: string,
  tables: readonly MovementTable[],
  txHashes: readonly string[],
): Promise<{ kind: MovementKind; id: string; txHash: string }[]> {
  if (txHashes.length === 0) return []
  const branches = tables.flatMap((table) =>
    txHashes.map((txHash) => {
      const { columns, from, scope } = table.source(entityId)
      const found = sql`select ${columns} from ${from} where ${scope} and ${table.sentAs(txHash, entityId)} limit ${sentMax}`
      return sql`(select f.kind, f.id, ${txHash}::text as tx_hash, f.create_date from (${found}) f)`
    }),
  )
  return db.all(
    sql`select kind, id, tx_hash from (${join(branches, ' union all ')}) f order by f.create_date, f.id limit ${sentMax}`,
  )
}

/** Most movements that one transaction is read to have: a batch pays many. */
const sentMax = 20

const tableOf = ({ kind }: Movement) => movementTables.find(({ kinds }) => kind in kinds)!

/** The names of all states that a movement of this kind can have. */
export const statesOf = (movement: Movement): string[] => Object.values(tableOf(movement).states).flat()

/** The phase of a movement by its state. */
export const phaseOf = (movement: Movement): MovementPhase => {
  const { states } = tableOf(movement)
  const { state } = movement
  return (Object.keys(states) as MovementPhase[]).find((phase) => states[phase]!.includes(state)) ?? 'open'
}

/**
 * Lists the sources of a table. Each state of a phase and each role of an address is a source of its own, in the order of its own
 * index: a condition on several at once would have to sort what it finds. A table that the filters exclude has a source that
 * nothing passes.
 */
function sourcesOf(table: MovementTable, entityId: string, filters: MovementFilters): Source[] {
  const { kind, phase, blockchain, walletId, address, txHash } = filters
  const states = phase ? (table.states[phase] ?? []) : undefined
  const roles = address ? table.addressed(address) : undefined
  const isExcluded =
    (kind && !(kind in table.kinds)) ||
    (walletId && !table.ofWallet) ||
    states?.length === 0 ||
    roles?.length === 0
  if (isExcluded) return [{ ...table.source(entityId), filters: [sql`false`] }]
  const ofStates = states?.map((state) => sql`${table.state} = ${listedWord(state)}`) ?? [undefined]
  const ofRoles = roles ?? [undefined]
  const shared = [
    kind && table.kinds[kind],
    blockchain === undefined ? undefined : sql`${table.blockchain} = ${listedWord(blockchain)}`,
    walletId === undefined ? undefined : table.ofWallet!(walletId),
    txHash === undefined ? undefined : table.sentAs(txHash, entityId),
  ]
  return ofStates.flatMap((ofState) =>
    ofRoles.map((ofRole) => ({ ...table.source(entityId), filters: [...shared, ofState, ofRole] })),
  )
}
