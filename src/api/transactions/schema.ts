import Type from 'typebox'
import { ciphertextField } from '#api/fields'
import { walletBlockchains } from '#chains/blockchains'
import { type SignedFee, states, type TransactionRow } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'

const uuid = Type.String({ format: 'uuid' })
const optionalText = (description: string, maxLength = 200) =>
  Type.Optional(Type.String({ description, maxLength }))
const level = Type.Enum(['LOW', 'MEDIUM', 'HIGH'])
const date = Type.String({ format: 'date-time' })

export const transactionParams = Type.Object({ id: uuid })
export const transactionQuery = Type.Object({ txType: optionalText('INBOUND or OUTBOUND.') })

const tokenFields = {
  tokenId: Type.Optional(Type.String({ format: 'uuid', description: 'The token; excludes tokenAddress.' })),
  tokenAddress: optionalText('The contract of the token; empty or absent is the native coin.'),
}
const amounts = Type.Array(Type.String({ maxLength: 160 }), {
  maxItems: 100,
  description: 'One decimal string, in whole tokens.',
})

const sourceFields = {
  walletId: Type.Optional(uuid),
  walletAddress: optionalText('The paying wallet by address, with blockchain.'),
  blockchain: Type.Optional(Type.Enum([...walletBlockchains])),
}
const estimateSourceFields = {
  walletId: Type.Optional(uuid),
  sourceAddress: optionalText('The sender by address, with blockchain; it need not be a wallet of yours.'),
  blockchain: Type.Optional(Type.Enum([...walletBlockchains])),
}
const feeFields = {
  feeLevel: Type.Optional(level),
  gasLimit: optionalText('Whole number as a string.'),
  gasPrice: optionalText('In gwei, on chains without EIP-1559.'),
  maxFee: optionalText('In gwei.'),
  priorityFee: optionalText('In gwei.'),
  refId: optionalText('A reference of your own.'),
}

export const transferBody = Type.Object({
  entitySecretCiphertext: ciphertextField,
  ...sourceFields,
  destinationAddress: Type.String({ maxLength: 200 }),
  amounts: Type.Optional(amounts),
  nftTokenIds: Type.Optional(Type.Array(Type.String(), { maxItems: 100 })),
  ...tokenFields,
  ...feeFields,
})

/** The body of accelerate and cancel: the secret alone. */
export const controlBody = Type.Object({ entitySecretCiphertext: ciphertextField })
export const acceleratedAnswer = Type.Object({ id: uuid })

export const transferAnswer = Type.Object({ id: uuid, state: Type.Enum([...states]) })

const executionFields = {
  contractAddress: Type.String({ maxLength: 200 }),
  abiFunctionSignature: optionalText(
    'The function, as "transfer(address,uint256)"; excludes callData.',
    2000,
  ),
  abiParameters: Type.Optional(
    Type.Array(Type.Unknown(), {
      maxItems: 100,
      description:
        'One value for each type of the function: text, numbers, booleans, lists for arrays and tuples.',
    }),
  ),
  callData: Type.Optional(
    Type.String({ description: 'The encoded call as 0x and hexadecimal digits; excludes the two above.' }),
  ),
  amount: optionalText('Native coins that go along, as a decimal string.'),
}

export const executionBody = Type.Object({
  entitySecretCiphertext: ciphertextField,
  ...sourceFields,
  ...executionFields,
  ...feeFields,
})

export const estimateExecutionBody = Type.Object({ ...estimateSourceFields, ...executionFields })

export const estimateBody = Type.Object({
  ...estimateSourceFields,
  destinationAddress: Type.String({ maxLength: 200 }),
  amounts,
  ...tokenFields,
})

const feeTier = Type.Object({
  gasLimit: Type.Optional(Type.String()),
  gasPrice: Type.Optional(Type.String()),
  baseFee: Type.Optional(Type.String()),
  priorityFee: Type.Optional(Type.String()),
  maxFee: Type.Optional(Type.String()),
  networkFee: Type.Optional(Type.String()),
  networkFeeRaw: Type.Optional(Type.String()),
})
export const feeTableAnswer = Type.Object({ low: feeTier, medium: feeTier, high: feeTier })
export const feeParametersAnswer = Type.Object({
  blockchain: Type.String({ description: 'Whose fees these are.' }),
  ...feeTableAnswer.properties,
})
export const feeParametersQuery = Type.Object({
  blockchain: Type.Optional(
    Type.Enum([...walletBlockchains], {
      description: 'Without it, the first one that the server is connected to and the key reaches.',
    }),
  ),
  accountType: Type.Optional(Type.Enum(['EOA', 'SCA'], { default: 'EOA' })),
})

export const lowestNonceQuery = Type.Object({
  walletId: Type.Optional(uuid),
  address: optionalText('The wallet by address, with blockchain.'),
  blockchain: Type.Optional(Type.Enum([...walletBlockchains])),
})

export const validateAddressBody = Type.Object({
  address: Type.String({ maxLength: 500 }),
  blockchain: Type.Enum([...walletBlockchains]),
})
export const validateAddressAnswer = Type.Object({ isValid: Type.Boolean() })

export const transactionsQuery = Type.Object({
  blockchain: Type.Optional(Type.Enum([...walletBlockchains])),
  custodyType: Type.Optional(Type.Enum(['DEVELOPER', 'ENDUSER'])),
  destinationAddress: optionalText('In any case.'),
  includeAll: Type.Optional(
    Type.Boolean({ description: 'Also what came in of tokens that are not monitored.' }),
  ),
  operation: Type.Optional(Type.Enum(['TRANSFER', 'CONTRACT_EXECUTION', 'CONTRACT_DEPLOYMENT'])),
  state: Type.Optional(Type.Enum([...states])),
  txHash: optionalText('In any case.'),
  txType: optionalText('INBOUND or OUTBOUND.'),
  walletIds: Type.Optional(Type.String({ description: 'Wallet ids, separated by commas.', maxLength: 3000 })),
})

export const transactionShape = Type.Object({
  id: uuid,
  blockchain: Type.String(),
  tokenId: Type.Optional(uuid),
  walletId: Type.Optional(uuid),
  sourceAddress: Type.Optional(Type.String()),
  destinationAddress: Type.Optional(Type.String()),
  transactionType: Type.Enum(['INBOUND', 'OUTBOUND']),
  custodyType: Type.Enum(['DEVELOPER', 'ENDUSER']),
  state: Type.Enum([...states]),
  amounts: Type.Optional(Type.Array(Type.String())),
  nfts: Type.Null(),
  txHash: Type.Optional(Type.String()),
  blockHash: Type.Optional(Type.String()),
  blockHeight: Type.Optional(Type.Integer()),
  networkFee: Type.String({ description: 'In native coins; empty before it is known.' }),
  firstConfirmDate: Type.Optional(date),
  operation: Type.String(),
  feeLevel: Type.Optional(level),
  estimatedFee: Type.Optional(feeTier),
  refId: Type.String(),
  contractAddress: Type.Optional(Type.String()),
  abiFunctionSignature: Type.Optional(Type.String()),
  abiParameters: Type.Union([Type.Array(Type.Unknown()), Type.Null()]),
  errorReason: Type.Optional(Type.String()),
  errorDetails: Type.Optional(
    Type.String({ description: 'More about errorReason. Without one, why the transaction still waits.' }),
  ),
  createDate: date,
  updateDate: date,
})
export const transactionAnswer = Type.Object({ transaction: transactionShape })
export const lowestNonceAnswer = Type.Object({
  transaction: transactionShape,
  feeInfo: Type.Object({
    newHighEstimatedFee: feeTier,
    feeDifferenceAmount: Type.String({
      description: 'What HIGH would come to above what is offered now, in native coins.',
    }),
  }),
})
export const transactionsAnswer = Type.Object({ transactions: Type.Array(transactionShape) })

const nativeDecimals = 18
const gweiDecimals = 9

/** States without a hash: it is shown from SENT on, since nothing is broadcast before. */
const hashless = new Set(['INITIATED', 'CLEARED', 'QUEUED', 'DENIED'])

export function showTransaction(row: TransactionRow) {
  return {
    id: row.id,
    blockchain: row.blockchain,
    ...given('tokenId', row.tokenId),
    ...given('walletId', row.walletId),
    ...given('sourceAddress', row.sourceAddress),
    ...given('destinationAddress', row.destinationAddress),
    transactionType: row.transactionType,
    custodyType: row.custodyType,
    state: row.state,
    ...given('amounts', row.amounts),
    nfts: null,
    ...(hashless.has(row.state) ? {} : given('txHash', row.txHash)),
    ...given('blockHash', row.blockHash),
    ...given('blockHeight', row.blockHeight),
    networkFee: row.networkFee === null ? '' : formatAmount(row.networkFee, nativeDecimals),
    ...given('firstConfirmDate', row.firstConfirmDate),
    operation: row.operation,
    ...given('feeLevel', row.feeLevel),
    ...(row.estimatedFee && { estimatedFee: showFee(row.estimatedFee) }),
    refId: row.refId,
    ...given('contractAddress', row.contractAddress),
    ...given('abiFunctionSignature', row.abiFunctionSignature),
    abiParameters: row.abiParameters,
    // A transaction that is about to fail already has its reason, which is shown only once it is FAILED.
    ...(row.state === 'FAILED' && given('errorReason', row.errorReason)),
    // Details without a reason name the condition that it waits for.
    ...((row.state === 'FAILED' || row.errorReason === null) && given('errorDetails', row.errorDetails)),
    createDate: row.createDate,
    updateDate: row.updateDate,
  }
}

/** A member that is omitted rather than sent as null. */
const given = (name: string, value: unknown) => (value === null ? {} : { [name]: value })

function showFee({ gasLimit, baseFee, priorityFee, maxFee }: SignedFee) {
  const gwei = (wei: string) => formatAmount(BigInt(wei), gweiDecimals)
  const gas = BigInt(gasLimit)
  return {
    gasLimit,
    baseFee: gwei(baseFee),
    priorityFee: gwei(priorityFee),
    maxFee: gwei(maxFee),
    networkFee: formatAmount(gas * BigInt(maxFee), nativeDecimals),
    networkFeeRaw: formatAmount(gas * (BigInt(baseFee) + BigInt(priorityFee)), nativeDecimals),
  }
}
