import { answered } from '#api/fees/estimate'
import type { Blockchain } from '#chains/blockchains'
import type { AbiParameter, EventSignature } from '#chains/facets/contracts'
import type { ContractChain } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import {
  findEventMonitor,
  findMonitorOfEvent,
  insertEventMonitor,
  insertHistories,
  type NewEventMonitor,
} from '#engines/indexer/events/index'
import { ApiError, invalid } from '#lib/errors'
import { newId } from '#lib/ids'
import { answer } from '#runtime/http/endpoint'
import { recordChanges } from '#runtime/record/store'
import { abiOfContract } from '../contract-abi.ts'
import { readOrRefuse, requireAddress, requireContractChain } from '../contract-request.ts'
import { type ContractRow, findContractAt } from '../store.ts'
import { type Heads, headsOfChain } from './monitor-progress.ts'
import { showEventMonitor } from './show-event-monitor.ts'

type NewEventMonitorBody = {
  blockchain: Blockchain
  contractAddress: string
  eventSignature: string
  fromBlock?: number
}

type PreparedMonitor = { monitor: NewEventMonitor; heads: Heads }

/** Checks contract, event and first block. Asks a node where the database does not know, so it runs outside a `tx`. */
export async function prepareEventMonitor(
  ctx: Ctx,
  { body }: { body: NewEventMonitorBody },
): Promise<PreparedMonitor> {
  const { blockchain, fromBlock } = body
  const chain = requireContractChain(ctx, blockchain)
  const contractAddress = requireAddress(blockchain, 'contractAddress', body.contractAddress)
  const event = readOrRefuse(
    () => chain.contracts.readEventSignature(body.eventSignature),
    'eventSignatureUnknown',
  )
  const contract = await findContractAt(ctx.db, ctx.entity.id, blockchain, contractAddress)
  if (!contract) throw await unknownContract(ctx, chain, body)
  requireUsable(contract, body.contractAddress)
  if (fromBlock !== undefined) await requireReached(ctx, chain, fromBlock)
  const monitor = {
    entityId: ctx.entity.id,
    id: newId(ctx.receivedMs),
    blockchain,
    contractAddress,
    eventSignature: body.eventSignature,
    eventSignatureHash: event.hash,
    eventName: event.name,
    parameters: parametersOf(chain, contract, event, body.eventSignature),
    fromBlock: fromBlock ?? null,
  }
  return { monitor, heads: await headsOfChain(ctx, blockchain) }
}

async function unknownContract(
  ctx: Ctx,
  chain: ContractChain,
  { blockchain, contractAddress }: NewEventMonitorBody,
): Promise<ApiError> {
  const address = requireAddress(blockchain, 'contractAddress', contractAddress)
  if (!(await answered(ctx, chain, chain.contracts.hasCode(address)))) {
    const reason = 'has no code on the blockchain'
    return invalid({
      at: 'contractAddress',
      reason,
      value: contractAddress,
      kind: 'contractMissingAtAddress',
    })
  }
  const reason = 'is the address of no contract of this entity: import it first'
  return invalid({ at: 'contractAddress', reason, value: contractAddress, kind: 'contractNotFound' })
}

export function requireUsable({ archived, contractAddress }: ContractRow, asked: string): void {
  if (archived)
    throw invalid({
      at: 'contractAddress',
      reason: 'has an archived contract',
      value: asked,
      kind: 'contractArchived',
    })
  if (contractAddress === null)
    throw invalid({
      at: 'contractAddress',
      reason: 'is that of a deployment under way',
      value: asked,
      kind: 'deploymentPending',
    })
}

async function requireReached(ctx: Ctx, chain: ContractChain, fromBlock: number): Promise<void> {
  const { number } = await answered(ctx, chain, chain.blocks.head())
  if (fromBlock > number)
    throw invalid({
      at: 'fromBlock',
      reason: `is above the newest block, ${number}`,
      value: fromBlock,
      error: 'max_value',
    })
}

/** The parameters as the ABI declares them, or the signature where there is no ABI. */
function parametersOf(
  chain: ContractChain,
  contract: ContractRow,
  event: EventSignature,
  asked: string,
): AbiParameter[] | undefined {
  const abi = abiOfContract(chain, contract)
  if (!abi) return event.inputs
  const named = abi.events.map((each) => ({
    ...each,
    canonical: chain.contracts.canonicalEvent(each),
  }))
  const declared = named.filter(({ canonical }) => canonical === event.canonical)
  const found = declared.find(({ anonymous }) => !anonymous)
  if (found) return found.inputs
  const others = [...new Set(named.map(({ canonical }) => canonical))].slice(0, 20).join(', ')
  const reason =
    declared.length > 0
      ? 'is anonymous: no topic of its logs names it'
      : `is not in the ABI, which has ${others || 'no events'}: correct it, or import the contract again with refreshVerification`
  throw invalid({ at: 'eventSignature', reason, value: asked, kind: 'eventSignatureUnknown' })
}

/** 201 with a new monitor, 200 with the one that the event has. */
export async function createEventMonitor(
  ctx: Ctx,
  { body }: { body: NewEventMonitorBody },
  { monitor, heads }: PreparedMonitor,
) {
  const { db, entity, actor, requestId, receivedMs } = ctx
  const { id, blockchain, fromBlock } = monitor
  if (await insertEventMonitor(db, receivedMs, monitor)) {
    if (fromBlock !== null) {
      const range = { entityId: entity.id, monitorId: id, fromBlock, toBlock: undefined }
      await insertHistories(db, receivedMs, blockchain, [range])
    }
    const change = { entityId: entity.id, actor, requestId, type: 'eventMonitor.created', resourceId: id }
    await recordChanges(db, receivedMs, [change])
    return answer(201, {
      eventMonitor: showEventMonitor((await findEventMonitor(db, entity.id, id))!, heads),
    })
  }
  const known = await findMonitorOfEvent(db, entity.id, monitor)
  if (!known) throw new ApiError('unavailable', 'The monitor of this event was just deleted: try again.')
  if (fromBlock !== null && known.fromBlock !== fromBlock) {
    const reason = 'differs from that of the monitor of this event: omit it, or delete the monitor first'
    throw invalid({ at: 'fromBlock', reason, value: body.fromBlock, kind: 'eventMonitorExists' })
  }
  return answer(200, { eventMonitor: showEventMonitor(known, heads) })
}
