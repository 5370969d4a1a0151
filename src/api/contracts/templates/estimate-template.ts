import type { Blockchain } from '#chains/blockchains'
import type { Ctx } from '#engines/ctx'
import { requireContractChain } from '../contract-request.ts'
import { estimateDeployment } from '../estimate-deployment.ts'
import { readTemplateParameters, type TemplateValues } from './read-parameters.ts'
import { requireTemplate } from './templates.ts'

type EstimateTemplateRequest = {
  params: { id: string }
  body: {
    blockchain: Blockchain
    walletId?: string
    sourceAddress?: string
    templateParameters?: TemplateValues
  }
}

/** Estimates the cost of deploying a template at each fee level, for any sender. */
export async function estimateTemplate(ctx: Ctx, { params, body }: EstimateTemplateRequest) {
  const { parameters, abiJson, bytecode } = requireTemplate(params.id)
  const { templateParameters = {}, ...source } = body
  requireContractChain(ctx, source.blockchain)
  const constructorParameters = readTemplateParameters(parameters, source.blockchain, templateParameters)
  return estimateDeployment(ctx, { body: { ...source, abiJson, bytecode, constructorParameters } })
}
