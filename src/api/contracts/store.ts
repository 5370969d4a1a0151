import { canonicalAddress } from '#chains/addresses/canonical'
import { formatInstant } from '#lib/time'
import { readPage } from '#runtime/collection/page'
import type { PageQuery } from '#runtime/collection/query'
import { type Db, listedWord, type Sql, sql } from '#runtime/db/db'
import type { DescribedAbi, SourceFile } from './describe-abi.ts'

export type InputType = 'IMPORT' | 'BYTECODE' | 'TEMPLATE'

/** The contract behind a proxy. */
export type Implementation = DescribedAbi & { contractAddress: string; blockchain: string }

type NewContract = DescribedAbi & {
  entityId: string
  id: string
  name: string
  description: string | undefined
  inputType: InputType
  blockchain: string
  /** The address of an imported contract. */
  address: string | undefined
  /** The transaction of a deployed one. */
  deploymentId: string | undefined
  /** The code that creates a deployed one. */
  bytecode: string | undefined
  metadataLink: string | undefined
  implementation: Implementation | undefined
}

export type ContractRow = {
  id: string
  name: string
  description: string | null
  inputType: InputType
  blockchain: string
  archived: boolean
  status: 'PENDING' | 'COMPLETE' | 'FAILED'
  verificationStatus: 'UNVERIFIED' | 'VERIFIED'
  contractAddress: string | null
  deploymentId: string | null
  deployerWalletId: string | null
  deployerAddress: string | null
  txHash: string | null
  errorReason: string | null
  errorDetails: string | null
  abiJson: string | null
  functions: object[]
  events: object[]
  sourceCode: SourceFile[]
  bytecode: string | null
  metadataLink: string | null
  implementation: Implementation | null
  createDate: string
  updateDate: string
}

const isConfirmed = sql`d.state in ('CONFIRMED', 'COMPLETE')`
const hasFailed = sql`d.state in ('FAILED', 'DENIED', 'CANCELLED')`
const isSent = sql`d.state not in ('INITIATED', 'CLEARED', 'QUEUED', 'DENIED')`
const status = sql`case when c.deployment_id is null or d.state = 'COMPLETE' then 'COMPLETE'
  when ${hasFailed} then 'FAILED' else 'PENDING' end`

const columnsWith = (
  sources: Sql,
  bytecode: Sql,
  implementation: Sql,
) => sql`c.id, c.name, c.description, c.input_type, c.blockchain, c.archived, ${status} as status, c.verification_status,
  coalesce(c.address, case when ${isConfirmed} then d.contract_address end) as contract_address, c.deployment_id,
  d.wallet_id as deployer_wallet_id, d.deployer_address, case when ${isSent} then d.tx_hash end as tx_hash,
  case when ${hasFailed} then coalesce(d.error_reason, d.state) end as error_reason,
  case when ${hasFailed} then d.error_details end as error_details, c.abi_json, c.functions, c.events,
  ${sources} as source_code, ${bytecode} as bytecode, c.metadata_link, ${implementation} as implementation, c.create_date,
  greatest(c.update_date, d.update_date) as update_date`

const columns = columnsWith(sql`c.source_code`, sql`c.bytecode`, sql`c.implementation`)
/** Without the source files and the bytecode, which are large, and only shown with the contract itself. */
const columnsWithoutSources = columnsWith(
  sql`'[]'::jsonb`,
  sql`null`,
  sql`jsonb_set(c.implementation, '{sourceCode}', '[]'::jsonb)`,
)

const from = sql`contracts c left join deployments d on d.entity_id = c.entity_id and d.id = c.deployment_id`

export const findContract = (db: Db, entityId: string, id: string) =>
  db.maybe<ContractRow>(sql`select ${columns} from ${from} where c.entity_id = ${entityId} and c.id = ${id}`)

export const findContractOfDeployment = (db: Db, entityId: string, deploymentId: string) =>
  db.maybe<ContractRow>(
    sql`select ${columnsWithoutSources} from ${from} where c.entity_id = ${entityId} and c.deployment_id = ${deploymentId}`,
  )

/** The contract at an address; one that is being deployed counts as soon as its address is known. */
export const findContractAt = (db: Db, entityId: string, blockchain: string, address: string) =>
  db.maybe<ContractRow>(sql`select ${columnsWithoutSources} from ${from} where c.entity_id = ${entityId} and c.id in (
      select i.id from contracts i
        where i.entity_id = ${entityId} and i.blockchain = ${blockchain} and i.address = ${address}
      union all
      select i.id from deployments d
        join contracts i on i.entity_id = d.entity_id and i.deployment_id = d.id
        where d.entity_id = ${entityId} and d.blockchain = ${blockchain} and d.contract_address = ${address}
          and not ${hasFailed})
    order by c.create_date, c.id limit 1`)

export type ContractFilters = {
  blockchain?: string
  contractInputType?: string
  deployerAddress?: string
  name?: string
  status?: string
}

export const listContracts = (db: Db, entityId: string, filters: ContractFilters, page: PageQuery) =>
  readPage<ContractRow>(
    db,
    {
      columns: columnsWithoutSources,
      from,
      alias: 'c',
      scope: sql`c.entity_id = ${entityId}`,
      filters: [
        filters.blockchain === undefined ? undefined : sql`c.blockchain = ${listedWord(filters.blockchain)}`,
        filters.contractInputType === undefined
          ? undefined
          : sql`c.input_type = ${listedWord(filters.contractInputType)}`,
        filters.deployerAddress === undefined
          ? undefined
          : sql`d.deployer_address = ${canonicalAddress(filters.deployerAddress)}`,
        filters.name === undefined ? undefined : sql`c.name = ${filters.name}`,
        filters.status === undefined ? undefined : sql`${status} = ${filters.status}`,
      ],
    },
    page,
  )

/** Inserts a contract. False when the address is imported already. */
export async function insertContract(tx: Db, nowMs: number, row: NewContract): Promise<boolean> {
  const at = formatInstant(nowMs)
  const inserted =
    await tx.run(sql`insert into contracts (entity_id, id, name, description, input_type, blockchain,
      verification_status, address, deployment_id, abi_json, functions, events, source_code, bytecode,
      metadata_link, implementation, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.name}, ${row.description ?? null}, ${row.inputType}, ${row.blockchain},
      ${row.verificationStatus}, ${row.address ?? null}, ${row.deploymentId ?? null}, ${row.abiJson ?? null},
      ${JSON.stringify(row.functions)}, ${JSON.stringify(row.events)}, ${JSON.stringify(row.sourceCode)},
      ${row.bytecode ?? null}, ${row.metadataLink ?? null}, ${jsonOrNull(row.implementation)}, ${at}, ${at})
    on conflict do nothing`)
  return inserted > 0
}

/**
 * Replaces the interface and the sources of an imported contract. An ABI that was given is kept where none is found, and an
 * implementation while it is unanswered whether more of it is known.
 */
export function replaceInterface(
  tx: Db,
  nowMs: number,
  entityId: string,
  id: string,
  found: DescribedAbi & {
    metadataLink: string | undefined
    implementation: Implementation | undefined
    isUnanswered: boolean
  },
) {
  const isFound = found.abiJson !== undefined
  const isKept = sql`${found.isUnanswered} and implementation->>'contractAddress' = ${found.implementation?.contractAddress ?? null}`
  return tx.run(sql`update contracts set verification_status = ${found.verificationStatus},
      abi_json = coalesce(${found.abiJson ?? null}, abi_json),
      functions = case when ${isFound} then ${JSON.stringify(found.functions)}::jsonb else functions end,
      events = case when ${isFound} then ${JSON.stringify(found.events)}::jsonb else events end,
      source_code = ${JSON.stringify(found.sourceCode)}, metadata_link = ${found.metadataLink ?? null},
      implementation = case when ${isKept} then implementation else ${jsonOrNull(found.implementation)}::jsonb end,
      update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id}`)
}

export type ContractChanges = { name?: string; description?: string; archived?: boolean }

export const updateContractRow = (
  tx: Db,
  nowMs: number,
  entityId: string,
  id: string,
  { name, description, archived }: ContractChanges,
) =>
  tx.run(sql`update contracts set name = coalesce(${name ?? null}, name),
      description = coalesce(${description ?? null}, description), archived = coalesce(${archived ?? null}, archived),
      update_date = ${formatInstant(nowMs)}
    where entity_id = ${entityId} and id = ${id}`)

const jsonOrNull = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value))
