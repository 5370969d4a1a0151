import Type from 'typebox'
import { blockchainField, idField } from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'
import { deploymentFields } from '../schema.ts'

export const templateParams = idParams('TemplateId', 'the template')

const templateParametersField = Type.Optional(
  Type.Record(Type.String(), Type.Unknown(), {
    description:
      'The parameters of the template by name, such as name, symbol, defaultAdmin and primarySaleRecipient; docs/contract-templates.md lists those of each.',
  }),
)

export const deployTemplateBody = Type.Object(
  {
    ...deploymentFields,
    name: Type.String({ minLength: 1, maxLength: 100, description: 'A name of your choice.' }),
    templateParameters: templateParametersField,
  },
  { title: 'DeployTemplateRequest', description: 'A contract to deploy from a template.' },
)
export const deployTemplateAnswer = Type.Object(
  {
    contractIds: Type.Array(idField('The id of a contract.'), {
      description: 'The contracts; one for each of the present templates.',
    }),
    transactionId: idField('The id of the transaction that deploys them.'),
  },
  { title: 'DeployedTemplate', description: 'The contracts and their transaction.' },
)

export const estimateTemplateBody = Type.Object(
  {
    blockchain: described(blockchainField, 'The blockchain of the deployment.'),
    walletId: Type.Optional(idField('The deploying wallet; excludes sourceAddress.')),
    sourceAddress: logged(
      'address',
      Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'The address of the sender; it need not be a wallet of yours.',
        }),
      ),
    ),
    templateParameters: templateParametersField,
  },
  { title: 'EstimateTemplateFeeRequest', description: 'The deployment of a template to estimate.' },
)
