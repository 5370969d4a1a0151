import { answered } from '#api/fees/estimate'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { ContractChain } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { newId } from '#lib/ids'
import { recordChanges } from '#runtime/record/store'
import { requireAbi, requireAddress, requireContractChain } from './contract-request.ts'
import { type DescribedAbi, describeAbi } from './describe-abi.ts'
import { getContract } from './read-contracts.ts'
import { servedSources } from './served-sources.ts'
import { findContractAt, type Implementation, insertContract, replaceInterface } from './store.ts'
import { type VerifiedSources, verifiedSources } from './verified-sources.ts'

type ImportBody = {
  name: string
  address: string
  blockchain: Blockchain
  description?: string
  refreshVerification?: boolean
  abiJson?: string
}

type ContractOnChain = DescribedAbi & {
  address: Address
  metadataLink: string | undefined
  implementation: Implementation | undefined
  /** Whether the server of verified sources may know more of the implementation. */
  isUnanswered: boolean
}

/** Reads the contract at the address and, behind a proxy, its implementation. Asks a node, so it runs outside a `tx`. */
export async function readContractAt(ctx: Ctx, { body }: { body: ImportBody }): Promise<ContractOnChain> {
  const chain = requireContractChain(ctx, body.blockchain)
  const address = requireAddress(body.blockchain, 'address', body.address)
  const abi = body.abiJson === undefined ? undefined : requireAbi(chain, body.abiJson)
  const found = await answered(ctx, chain, chain.contracts.contractAt(address))
  if (!found)
    throw invalid({
      at: 'address',
      reason: 'has no code on the blockchain',
      value: body.address,
      kind: 'contractMissingAtAddress',
    })
  const own = abi ? { described: describeAbi(body.abiJson, abi) } : await knownInterface(ctx, chain, address)
  const behind = await implementationAt(ctx, chain, found.implementation)
  requireAnswer(body, [own, ...(behind ? [behind] : [])])
  const implementation = behind && {
    ...behind.described,
    contractAddress: behind.address,
    blockchain: body.blockchain,
  }
  const metadataLink = chain.contracts.metadataLinkOf(found.code)
  return {
    ...own.described,
    address,
    metadataLink,
    implementation,
    isUnanswered: behind?.unanswered === true,
  }
}

/** An interface as far as it is known. `unanswered`: the server of verified sources may know more. */
type KnownInterface = { described: DescribedAbi; unanswered?: true }

async function implementationAt(
  ctx: Ctx,
  chain: ContractChain,
  address: Address | undefined,
): Promise<(KnownInterface & { address: Address }) | undefined> {
  const found = address && (await answered(ctx, chain, chain.contracts.contractAt(address)))
  if (!found) return undefined
  if (found.implementation)
    throw invalid({
      at: 'address',
      reason: `has the implementation ${address}, a proxy itself`,
      kind: 'proxyNested',
    })
  return { ...(await knownInterface(ctx, chain, address)), address }
}

/** The interface that the operator has, that this program itself deployed, or that the operator's server has. */
async function knownInterface(ctx: Ctx, chain: ContractChain, address: Address): Promise<KnownInterface> {
  const verified = await verifiedSources(ctx, chain, address)
  if (verified) return { described: describeSources(verified) }
  const abiJson = chain.contracts.ownAbi(address)
  if (abiJson !== undefined) return { described: describeAbi(abiJson, chain.contracts.readAbi(abiJson)) }
  try {
    const served = await servedSources(ctx, chain, address)
    return { described: served ? describeSources(served) : describeAbi(undefined, undefined) }
  } catch (error) {
    const { requestId } = ctx
    ctx.log.warn({ err: error, address, requestId }, 'the server of verified sources gives no usable answer')
    return { described: describeAbi(undefined, undefined), unanswered: true }
  }
}

const describeSources = ({ abiJson, abi, sourceCode }: VerifiedSources) =>
  describeAbi(abiJson, abi, sourceCode)

/** Throws when only the server of verified sources might know a contract, or more of it than it said before a refresh. */
function requireAnswer({ refreshVerification, abiJson }: ImportBody, known: readonly KnownInterface[]): void {
  const isKnown = known.some(({ described }) => described.abiJson !== undefined)
  const isNeeded = abiJson === undefined && (!isKnown || refreshVerification)
  if (isNeeded && known.some(({ unanswered }) => unanswered)) throw new ApiError('contractSourcesUnavailable')
}

export async function importContract(ctx: Ctx, { body }: { body: ImportBody }, found: ContractOnChain) {
  const { db, entity, receivedMs } = ctx
  const known = await findContractAt(db, entity.id, body.blockchain, found.address)
  if (known) return getContract(ctx, await refresh(ctx, known, body, found))
  const id = newId(receivedMs)
  const inserted = await insertContract(db, receivedMs, {
    ...found,
    entityId: entity.id,
    id,
    name: body.name,
    description: body.description,
    inputType: 'IMPORT',
    bytecode: undefined,
    blockchain: body.blockchain,
    deploymentId: undefined,
  })
  if (!inserted) throw exists(body.address)
  await record(ctx, 'contract.imported', id)
  return getContract(ctx, id)
}

const exists = (address: string) =>
  invalid({
    at: 'address',
    reason: 'is the address of a contract of this entity',
    value: address,
    kind: 'contractExists',
  })

async function refresh(
  ctx: Ctx,
  known: { id: string; archived: boolean; inputType: string },
  body: ImportBody,
  found: ContractOnChain,
): Promise<string> {
  if (!body.refreshVerification || known.inputType !== 'IMPORT') throw exists(body.address)
  if (known.archived)
    throw invalid({
      at: 'address',
      reason: 'has an archived contract',
      value: body.address,
      kind: 'contractArchived',
    })
  await replaceInterface(ctx.db, ctx.receivedMs, ctx.entity.id, known.id, found)
  await record(ctx, 'contract.refreshed', known.id)
  return known.id
}

const record = ({ db, entity, actor, requestId, receivedMs }: Ctx, type: string, resourceId: string) =>
  recordChanges(db, receivedMs, [{ entityId: entity.id, actor, requestId, type, resourceId }])
