import { type EstimateSource, estimateSource, estimateTable } from '#api/fees/estimate'
import type { Blockchain } from '#chains/blockchains'
import type { AbiError, AbiParameter } from '#chains/facets/contracts'
import type { ContractChain } from '#chains/facets/optional'
import type { Ctx } from '#engines/ctx'
import { invalid } from '#lib/errors'
import { readOrRefuse, requireAbi, requireContractChain } from './contract-request.ts'
import { constructorOf, requireCreation } from './deploy-contract.ts'

type EstimateDeploymentBody = EstimateSource & {
  bytecode: string
  abiJson?: string
  constructorSignature?: string
  constructorParameters?: unknown[]
}

/** Estimates the cost of a deployment at each fee level, for any sender. */
export async function estimateDeployment(ctx: Ctx, { body }: { body: EstimateDeploymentBody }) {
  const source = await estimateSource(ctx, body)
  const chain = requireContractChain(ctx, source.blockchain as Blockchain)
  const values = body.constructorParameters ?? []
  const { parameters, errors } = constructorIn(chain, body, values)
  const data = requireCreation(chain, body.bytecode, parameters, values)
  return estimateTable(ctx, chain, source, { to: undefined, valueAtomic: 0n, data }, errors)
}

type Constructor = { parameters: readonly AbiParameter[]; errors: readonly AbiError[] }

function constructorIn(
  chain: ContractChain,
  { abiJson, constructorSignature }: EstimateDeploymentBody,
  values: readonly unknown[],
): Constructor {
  const abi = abiJson === undefined ? undefined : requireAbi(chain, abiJson)
  const errors = abi?.errors ?? []
  if (constructorSignature !== undefined) {
    const read = () => chain.contracts.readConstructor(constructorSignature)
    return { parameters: readOrRefuse(read, 'contractAbiMismatch'), errors }
  }
  if (abi || values.length === 0) return { parameters: abi ? constructorOf(abi) : [], errors }
  const reason = 'is missing: send it, or constructorSignature, with constructorParameters'
  throw invalid({ at: 'abiJson', reason, kind: 'abiMissing', error: 'required' })
}
