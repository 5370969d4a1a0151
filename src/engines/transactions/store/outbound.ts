import type { UpgradeTarget } from '#lib/sca-cores'
import { formatInstant } from '#lib/time'
import { type Db, sql } from '#runtime/db/db'
import type { Level } from './transactions.ts'

/** The request as its owner sees it. */
export type DisplayedRequest =
  | {
      operation: 'TRANSFER'
      tokenId: string
      destinationAddress: string
      /** The amounts as the customer wrote them: several for several items. */
      amountTexts: readonly string[]
      /** Absent where several items have no common amount. */
      amountAtomic?: bigint | undefined
      nftTokenIds?: readonly string[] | undefined
    }
  | {
      operation: 'CONTRACT_EXECUTION'
      contractAddress: string
      abiFunctionSignature: string | undefined
      abiParameters: readonly unknown[] | undefined
      /** The native coins that the call carries, if any. */
      amountText: string | undefined
      /** The version that the call upgrades the smart account to. */
      newCore?: UpgradeTarget | undefined
    }
  | {
      operation: 'CONTRACT_DEPLOYMENT'
      /** The signature of the constructor. */
      abiFunctionSignature: string | undefined
      abiParameters: readonly unknown[] | undefined
    }

type NewOutbound = DisplayedRequest & {
  entityId: string
  id: string
  blockchain: string
  /** Null for a treasury. */
  walletId: string | null
  ofAccount: boolean
  address: string
  custodyType: string
  userId: string | null
  callTo: string | null
  callValue: bigint
  callData: Buffer
  feeLevel: Level | undefined
  gasLimit: bigint | undefined
  maxFeeAtomic: bigint | undefined
  priorityFeeAtomic: bigint | undefined
  feeMaxAtomic: bigint | undefined
  refId: string
  nowMs: number
}

export async function insertOutbound(tx: Db, row: NewOutbound): Promise<void> {
  const at = formatInstant(row.nowMs)
  const transfer = row.operation === 'TRANSFER' ? row : undefined
  const execution = row.operation === 'CONTRACT_EXECUTION' ? row : undefined
  const called = row.operation === 'TRANSFER' ? undefined : row
  const amountTexts =
    transfer?.amountTexts ?? (execution?.amountText === undefined ? null : [execution.amountText])
  await tx.run(sql`insert into transactions (entity_id, id, blockchain, wallet_id, address, transaction_type, custody_type, user_id,
      state, operation, token_id, source_address, destination_address, amounts, amount, contract_address,
      abi_function_signature, abi_parameters, call_to, call_value, call_data, fee_level, gas_limit, max_fee, priority_fee,
      fee_max, ref_id, nft_token_ids, smart_account, new_core, create_date, update_date)
    values (${row.entityId}, ${row.id}, ${row.blockchain}, ${row.walletId}, ${row.address}, 'OUTBOUND', ${row.custodyType}, ${row.userId},
      'INITIATED', ${row.operation}, ${transfer?.tokenId ?? null}, ${row.address}, ${transfer?.destinationAddress ?? null},
      ${amountTexts}, ${textOf(transfer?.amountAtomic)},
      ${execution?.contractAddress ?? null}, ${called?.abiFunctionSignature ?? null},
      ${called?.abiParameters === undefined ? null : JSON.stringify(called.abiParameters)},
      ${row.callTo}, ${row.callValue.toString()}, ${row.callData}, ${row.feeLevel ?? null},
      ${textOf(row.gasLimit)}, ${textOf(row.maxFeeAtomic)}, ${textOf(row.priorityFeeAtomic)}, ${textOf(row.feeMaxAtomic)}, ${row.refId}, ${transfer?.nftTokenIds ?? null},
      ${row.ofAccount}, ${execution?.newCore ?? null}, ${at}, ${at})`)
}

const textOf = (value: bigint | undefined) => value?.toString() ?? null

/** Number of pending transactions of an address. Concurrent counts wait for each other until the `tx` ends. */
export async function countPending(
  tx: Db,
  entityId: string,
  blockchain: string,
  address: string,
): Promise<number> {
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`pending:${blockchain}:${address}`}, 0))`)
  const row = await tx.one<{ count: number }>(sql`select count(*) as count from transactions
    where entity_id = ${entityId} and blockchain = ${blockchain} and address = ${address}
      and transaction_type = 'OUTBOUND' and state in ('INITIATED', 'CLEARED', 'QUEUED', 'SENT', 'STUCK')`)
  return row.count
}
