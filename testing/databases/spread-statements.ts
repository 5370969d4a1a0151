import pg from 'pg'
import { inject } from 'vitest'
import type { Connection } from '#runtime/db/db'
import { type Clone, cloneOf } from './database-clone.ts'
import { isPartitions } from './partitions.ts'
import { sentKindOf } from './refused-statements.ts'
import type { SentStatement } from './statements.ts'

export type Planner = {
  /** The partitions that the plan of a statement reads for its values, such as `partition_2.wallets`. */
  partitionsOf(statement: SentStatement): Promise<string[]>
  close(): Promise<void>
}

/** Opens a session that plans statements on a database with partitions; it may be empty. */
export async function openPlanner(connection: Connection): Promise<Planner> {
  const client = new pg.Client('url' in connection ? { connectionString: connection.url } : connection)
  await client.connect()
  return {
    partitionsOf: async ({ text, values }) => {
      const { rows } = await client.query({ text: `explain (verbose, format json) ${text}`, values })
      const [{ Plan }] = rows[0]['QUERY PLAN'] as [{ Plan: PlanNode }]
      return [...new Set(partitionsIn(Plan))].sort()
    },
    close: () => client.end(),
  }
}

/** A node of a plan, with its inputs and subplans. */
type PlanNode = Readonly<Record<string, unknown>> & { Plans?: PlanNode[] }

function partitionsIn(node: PlanNode): string[] {
  const schema = String(node['Schema'])
  const isRead = isPartitions(schema) && !isChosenByRow(node)
  return [
    ...(isRead ? [`${schema}.${node['Relation Name']}`] : []),
    ...(node.Plans ?? []).flatMap(partitionsIn),
  ]
}

/** Whether a scan is for the tenant of another row of the statement, so that one partition is chosen while it runs. */
function isChosenByRow(node: PlanNode): boolean {
  const column = node['Relation Name'] === 'entities' ? 'id' : 'entity_id'
  const isEqual = new RegExp(`\\.${column} = (?:\\w+\\.)?\\w+\\)`)
  return conditions.some((name) => isEqual.test(String(node[name])))
}
const conditions = ['Index Cond', 'Recheck Cond', 'Filter']

/** The database of all files of a worker process: it goes with the run. */
let planned: Promise<Clone> | undefined
/** Opens a session for a run whose databases have partitions. */
export async function openRunPlanner(): Promise<Planner> {
  planned ??= cloneOf(inject('runServer'), 'empty')
  return openPlanner((await planned).connection)
}

const judged = new Map<string, string | undefined>()

/** The statements of one tenant that read partitions of several tenants, each with the partitions. */
export async function spreadStatements(
  sent: Iterable<SentStatement>,
  open: () => Promise<Planner>,
): Promise<string[]> {
  const ofTenants = [...sent].filter(({ text }) => sentKindOf(text) === 'tenant')
  const unknown = ofTenants.filter(({ text }) => !judged.has(text))
  if (unknown.length > 0) {
    const planner = await open()
    try {
      for (const statement of unknown) judged.set(statement.text, await faultOf(planner, statement))
    } finally {
      await planner.close()
    }
  }
  return ofTenants.flatMap(({ text }) => judged.get(text) ?? [])
}

/** Partitions of one number are on one server. */
async function faultOf(planner: Planner, statement: SentStatement): Promise<string | undefined> {
  const read = await planner.partitionsOf(statement)
  const servers = new Set(read.map((partition) => partition.split('.')[0]))
  return servers.size > 1 ? `reads ${read.join(', ')}: ${statement.text}` : undefined
}
