import { answered } from '#api/fees/estimate'
import type { Address } from '#chains/addresses/types'
import type { Blockchain } from '#chains/blockchains'
import type { AbiFunction, ContractAbi } from '#chains/facets/contracts'
import type { ContractChain } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import { ApiError, invalid } from '#lib/errors'
import { type Hex, isHex } from '#lib/hex'
import { abiOfContract } from './contract-abi.ts'
import { readOrRefuse, requireAbi, requireAddress, requireContractChain } from './contract-request.ts'
import { findContractAt } from './store.ts'

type QueryBody = {
  address: string
  blockchain: Blockchain
  abiFunctionSignature?: string
  abiParameters?: unknown[]
  callData?: string
  abiJson?: string
  fromAddress?: string
  blockNumber?: number
}

type Question = { data: Hex; called: AbiFunction | undefined }

/** Reads from a contract without a transaction. Outputs are decoded where the ABI is known. */
export async function queryContract(ctx: Ctx, { body }: { body: QueryBody }) {
  const chain = requireContractChain(ctx, body.blockchain)
  const address = requireAddress(body.blockchain, 'address', body.address)
  const from = body.fromAddress && requireAddress(body.blockchain, 'fromAddress', body.fromAddress)
  const { abi, isKept } = await abiOf(ctx, chain, address, body)
  const { data, called } = questionIn(chain, abi, body)
  if (isKept && !abi && body.callData === undefined) throw abiMissing()
  const query = { address, data, from: from || undefined, blockNumber: body.blockNumber }
  const outcome = await answered(ctx, chain, chain.contracts.query(query, abi?.errors ?? []))
  if (outcome.kind === 'reverted')
    throw new ApiError('contractQueryFailed', `The contract refused the query: ${outcome.message}.`)
  if (outcome.kind === 'refused')
    throw new ApiError('queryImpossible', `The node cannot execute the query: ${outcome.message}`)
  const outputData = outcome.data
  if (!called) {
    if (outputData === '0x' && body.callData === undefined)
      await requireCode(ctx, chain, address, body.address)
    return { outputValues: [], outputData }
  }
  const outputValues = chain.contracts.decodeOutputs(called, outputData)
  if (outputValues) return { outputValues, outputData }
  await requireCode(ctx, chain, address, body.address)
  throw new ApiError('contractQueryFailed', 'The contract returned data that does not fit the ABI.')
}

/** The ABI of the request, or else that of the contract here, with that of its implementation. */
async function abiOf(
  ctx: Ctx,
  chain: ContractChain,
  address: Address,
  { address: asked, abiJson }: QueryBody,
): Promise<{ abi: ContractAbi | undefined; isKept: boolean }> {
  const row = await findContractAt(ctx.db, ctx.entity.id, chain.network.blockchain, address)
  if (row?.archived)
    throw invalid({
      at: 'address',
      reason: 'has an archived contract',
      value: asked,
      kind: 'contractArchived',
    })
  if (row && row.contractAddress === null)
    throw invalid({
      at: 'address',
      reason: 'is that of a deployment under way',
      value: asked,
      kind: 'deploymentPending',
    })
  const abi = abiJson === undefined ? row && abiOfContract(chain, row) : requireAbi(chain, abiJson)
  return { abi, isKept: row !== undefined }
}

function questionIn(chain: ContractChain, abi: ContractAbi | undefined, body: QueryBody): Question {
  const { abiFunctionSignature: signature, abiParameters: values, callData } = body
  if (callData !== undefined && (signature !== undefined || values !== undefined)) {
    const reason = 'cannot be combined with abiFunctionSignature or abiParameters'
    throw invalid({ at: 'callData', reason, value: callData, error: 'not_required' })
  }
  if (callData !== undefined) return callIn(chain, abi, callData)
  if (signature === undefined) {
    const reason = 'is missing: send it with abiParameters, or callData instead'
    throw invalid({ at: 'abiFunctionSignature', reason, error: 'required' })
  }
  const called = abi && functionOf(chain, abi, signature)
  const data = readOrRefuse(() => chain.contracts.encodeCall(signature, values ?? []), 'contractAbiMismatch')
  return { data, called }
}

function functionOf(chain: ContractChain, abi: ContractAbi, signature: string): AbiFunction {
  const called = readOrRefuse(
    () => chain.contracts.functionBySignature(abi, signature),
    'contractAbiMismatch',
  )
  if (!called)
    throw invalid({
      at: 'abiFunctionSignature',
      reason: 'is not in the ABI',
      value: signature,
      kind: 'functionNotInAbi',
    })
  requireReadable(called, 'abiFunctionSignature', signature)
  return called
}

function abiMissing(): ApiError {
  const reason = 'is missing: send it, or import the contract with its ABI'
  return invalid({ at: 'abiJson', reason, kind: 'abiMissing', error: 'required' })
}

function callIn(chain: ContractChain, abi: ContractAbi | undefined, callData: string): Question {
  const refuse = (reason: string) =>
    invalid({ at: 'callData', reason, value: callData, error: 'pattern_mismatch' })
  if (!isHex(callData)) throw refuse('must be 0x and an even number of hexadecimal digits')
  if (callData.length / 2 - 1 > chain.contracts.callDataBytesMax)
    throw refuse(`exceeds ${chain.contracts.callDataBytesMax} bytes, the maximum of nodes`)
  return { data: callData, called: abi && chain.contracts.functionByData(abi, callData) }
}

/** A query of callData may try any function, as `eth_call` does; by its signature, only one that reads is asked. */
function requireReadable({ stateMutability }: AbiFunction, field: string, value: string): void {
  if (stateMutability === 'view' || stateMutability === 'pure') return
  const reason = `is ${stateMutability}: call it with a transaction`
  throw invalid({ at: field, reason, value, kind: 'functionNotReadable' })
}

async function requireCode(ctx: Ctx, chain: ContractChain, address: Address, text: string): Promise<void> {
  if (await answered(ctx, chain, chain.contracts.hasCode(address))) return
  throw invalid({
    at: 'address',
    reason: 'has no code on the blockchain',
    value: text,
    kind: 'contractMissingAtAddress',
  })
}
