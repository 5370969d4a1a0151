import type { EntitySecret } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { requireContractChain } from '../contract-request.ts'
import { type Creation, type DeploymentFields, deploy, reloadDeployment } from '../deploy-contract.ts'
import { readTemplateParameters, type TemplateValues } from './read-parameters.ts'
import { requireTemplate } from './templates.ts'

type DeployTemplateRequest = {
  params: { id: string }
  body: DeploymentFields & { templateParameters?: TemplateValues }
}

export type DeployedTemplate = { contractIds: string[]; transactionId: string }

/** Accepts the deployment of a template: that of its bytecode, with the named parameters in the constructor's order. */
export async function deployTemplate(
  ctx: Ctx,
  { params, body }: DeployTemplateRequest,
  secret: EntitySecret,
) {
  return inList(await deploy(ctx, secret, body, creationOf(ctx, { params, body })))
}

/** The response to a repeated request. */
export const reloadTemplate = async (ctx: Ctx, transactionId: string, request: DeployTemplateRequest) =>
  inList(await reloadDeployment(ctx, transactionId, request.body, creationOf(ctx, request)))

function creationOf(ctx: Ctx, { params, body }: DeployTemplateRequest): Creation {
  const { parameters, abiJson, bytecode } = requireTemplate(params.id)
  requireContractChain(ctx, body.blockchain)
  const values = body.templateParameters ?? {}
  const constructorParameters = readTemplateParameters(parameters, body.blockchain, values)
  return { inputType: 'TEMPLATE', abiJson, bytecode, constructorParameters }
}

/** The contract as a list of one: the interface allows for templates that deploy several. */
const inList = ({ contractId, transactionId }: { contractId: string; transactionId: string }) => ({
  contractIds: [contractId],
  transactionId,
})
