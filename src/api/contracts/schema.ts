import Type from 'typebox'
import { feeFields, refIdField } from '#api/fees/fee-schema'
import {
  blockchainField,
  ciphertextField,
  createDateField,
  filterText,
  freeText,
  idField,
  updateDateField,
} from '#api/fields'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const chainOfContract = described(blockchainField, 'The blockchain of the contract.')
const nameField = Type.String({ minLength: 1, maxLength: 256, description: 'A name of your choice.' })
const descriptionField = Type.Optional(freeText('A description of your choice.'))
const addressField = (description: string) => logged('address', Type.String({ maxLength: 200, description }))
const parametersField = (description: string) =>
  Type.Optional(Type.Array(Type.Unknown(), { maxItems: 100, description }))
const inputTypeField = Type.Enum(['IMPORT', 'BYTECODE', 'TEMPLATE', 'AUTO_IMPORT'], {
  title: 'ContractInputType',
  description: 'How the contract came here.',
})
const statusField = Type.Enum(['PENDING', 'COMPLETE', 'FAILED'], {
  title: 'ContractStatus',
  description:
    'PENDING while the deployment is under way; COMPLETE once it has its confirmations, and for imported contracts; FAILED.',
})

export const contractParams = idParams('ContractId', 'the contract')

export const contractsQuery = Type.Object({
  blockchain: Type.Optional(chainOfContract),
  contractInputType: Type.Optional(inputTypeField),
  deployerAddress: Type.Optional(filterText('The address of the deploying wallet, in any case.')),
  name: Type.Optional(filterText('The exact name.')),
  status: Type.Optional(statusField),
})

const bytecodeField = Type.String({
  description:
    'The compiled code that creates the contract, as 0x and hexadecimal digits; at most 49,152 bytes with the parameters.',
})
/** Bounds the size of a list of contracts as well. */
const abiField = (description: string) => Type.String({ maxLength: 262_144, description })
const constructorField = parametersField(
  'One value for each parameter of the constructor: text, numbers, booleans, lists for arrays and tuples.',
)

/** The fields that deployments of bytecode and of templates share. */
export const deploymentFields = {
  name: nameField,
  description: descriptionField,
  walletId: idField('The wallet that deploys and pays the fee.'),
  blockchain: described(blockchainField, 'The blockchain of the wallet.'),
  entitySecretCiphertext: ciphertextField,
  ...feeFields,
  refId: refIdField,
}

export const deployBody = Type.Object(
  {
    ...deploymentFields,
    abiJson: abiField('The ABI as JSON text.'),
    bytecode: bytecodeField,
    constructorParameters: constructorField,
  },
  { title: 'DeployContractRequest', description: 'A contract to deploy.' },
)
export const deployAnswer = Type.Object(
  {
    contractId: idField('The id of the contract.'),
    transactionId: idField('The id of the transaction that deploys it.'),
  },
  { title: 'DeployedContract', description: 'The contract and its transaction.' },
)

export const estimateDeploymentBody = Type.Object(
  {
    bytecode: bytecodeField,
    abiJson: Type.Optional(abiField('The ABI as JSON text. It also explains reverts.')),
    constructorSignature: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'The constructor, such as "constructor(uint256)", in place of abiJson.',
      }),
    ),
    constructorParameters: constructorField,
    walletId: Type.Optional(idField('The deploying wallet; excludes sourceAddress.')),
    sourceAddress: Type.Optional(
      addressField('The address of the sender, with blockchain; it need not be a wallet of yours.'),
    ),
    blockchain: Type.Optional(described(blockchainField, 'The blockchain of sourceAddress.')),
  },
  { title: 'EstimateDeploymentFeeRequest', description: 'The deployment to estimate.' },
)

export const importBody = Type.Object(
  {
    name: nameField,
    description: descriptionField,
    address: addressField('The address of the contract.'),
    blockchain: chainOfContract,
    refreshVerification: Type.Optional(
      Type.Boolean({
        description:
          'Read ABI and sources again for a contract that is imported already, in place of an error.',
      }),
    ),
    abiJson: Type.Optional(
      abiField('An addition of this server: the ABI as JSON text, where the server does not know it.'),
    ),
  },
  { title: 'ImportContractRequest', description: 'A contract to import.' },
)

export const updateContractBody = Type.Object(
  {
    name: Type.Optional(nameField),
    description: descriptionField,
    archived: Type.Optional(
      Type.Boolean({ description: 'Archived contracts stay listed and refuse queries and other work.' }),
    ),
  },
  { title: 'UpdateContractRequest', description: 'The fields to change.' },
)

export const queryBody = Type.Object(
  {
    address: addressField('The address of the contract.'),
    blockchain: chainOfContract,
    abiFunctionSignature: Type.Optional(
      Type.String({
        maxLength: 2000,
        description: 'The view or pure function, such as "balanceOf(address)"; excludes callData.',
      }),
    ),
    abiParameters: parametersField(
      'One value for each type of the function: text, numbers, booleans, lists for arrays and tuples.',
    ),
    callData: Type.Optional(
      Type.String({ description: 'The encoded call; excludes abiFunctionSignature and abiParameters.' }),
    ),
    abiJson: Type.Optional(
      abiField(
        'The ABI as JSON text, to decode the outputs of a contract that is not imported with its ABI.',
      ),
    ),
    fromAddress: Type.Optional(addressField('The sender that the contract sees.')),
    blockNumber: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 48,
        description: 'An addition of this server: the block to read at. Default: the latest one.',
      }),
    ),
  },
  { title: 'QueryContractRequest', description: 'The question to a contract.' },
)
export const queryAnswer = Type.Object(
  {
    outputValues: Type.Array(Type.Unknown(), {
      description:
        'The decoded values in the order of the ABI, integers as text; empty where the ABI is not known.',
    }),
    outputData: Type.String({ description: 'The returned bytes as hexadecimal digits.' }),
  },
  { title: 'QueriedContract', description: 'The answer of the contract.' },
)

const text = (description: string) => Type.Optional(Type.String({ description }))
const parameterShape = Type.Object(
  {
    name: text('The name; empty without one.'),
    type: text('The type, such as uint256 or tuple[].'),
    flattenedType: text('The type with a tuple written as its types in brackets.'),
    indexed: Type.Optional(Type.Boolean({ description: 'Whether a topic of the event holds it.' })),
    components: Type.Optional(
      Type.Array(Type.Unknown(), { description: 'The parameters in a tuple, of this same shape.' }),
    ),
  },
  { title: 'AbiParameter', description: 'A parameter.' },
)
const parameters = (description: string) => Type.Optional(Type.Array(parameterShape, { description }))
const functionShape = Type.Object(
  {
    name: text('The name; absent for constructors, receive and fallback.'),
    type: Type.String({ description: 'function, constructor, receive or fallback.' }),
    stateMutability: text('pure, view, nonpayable or payable.'),
    inputs: parameters('The parameters.'),
    outputs: parameters('The returned values.'),
  },
  { title: 'ContractFunction', description: 'A function of the contract.' },
)
const eventShape = Type.Object(
  {
    name: text('The name.'),
    type: Type.String({ description: 'Always event.' }),
    anonymous: Type.Optional(Type.Boolean({ description: 'Whether no topic names the event.' })),
    inputs: parameters('The parameters.'),
  },
  { title: 'ContractEvent', description: 'An event of the contract.' },
)
const verificationField = Type.Enum(['UNVERIFIED', 'VERIFIED'], {
  title: 'VerificationStatus',
  description: 'VERIFIED where the operator of the server provides its verified sources.',
})
const interfaceFields = {
  verificationStatus: verificationField,
  abiJson: text('The ABI as JSON text; absent where it is not known.'),
  functions: Type.Array(functionShape, { description: 'The functions; empty without an ABI.' }),
  events: Type.Array(eventShape, { description: 'The events; empty without an ABI.' }),
  sourceCode: Type.Array(
    Type.Object(
      {
        fileName: text('The path of the file.'),
        fileContent: Type.String({ description: 'The text of the file.' }),
      },
      { description: 'A source file.' },
    ),
    { description: 'The verified sources; empty where they are not known, and in lists.' },
  ),
}

const contractShape = Type.Object(
  {
    id: idField('The id of the contract.'),
    name: Type.String({ description: 'Its name.' }),
    description: text('Its description.'),
    contractInputType: inputTypeField,
    blockchain: logged('word', Type.String({ description: 'The blockchain.' })),
    archived: Type.Boolean({ description: 'Whether it is archived.' }),
    status: statusField,
    ...interfaceFields,
    bytecode: text(
      'The code that created it, without parameters; absent for imported contracts, and in lists.',
    ),
    metadataLink: text('The ipfs address of its metadata, as the compiler wrote it into the code.'),
    contractAddress: logged('address', text('The address, once a block contains the deployment.')),
    deployerWalletID: Type.Optional(idField('The wallet that deployed it.')),
    deployerAddress: logged('address', text('The address of that wallet.')),
    deploymentTransactionId: Type.Optional(idField('The transaction that deploys it.')),
    txHash: logged('hash', text('The hash of the on-chain transaction, from SENT on.')),
    deploymentErrorReason: text('The reason of the failure; present when status is FAILED.'),
    deploymentErrorDetails: text('More about the reason.'),
    implementationContract: Type.Optional(
      Type.Object(
        {
          contractAddress: logged(
            'address',
            Type.String({ description: 'The address of the implementation.' }),
          ),
          blockchain: logged('word', Type.String({ description: 'The blockchain.' })),
          ...interfaceFields,
        },
        { description: 'The contract behind a proxy, as it was when the proxy was imported.' },
      ),
    ),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'Contract', description: 'A deployed or imported contract.' },
)
export const contractAnswer = Type.Object({ contract: contractShape }, { description: 'The contract.' })
export const contractsAnswer = Type.Object(
  { contracts: Type.Array(contractShape, { description: 'The contracts, newest first.' }) },
  { description: 'One page of contracts.' },
)
