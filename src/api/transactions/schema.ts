import Type from 'typebox'
import { decisionSchema, showDecision } from '#api/business/screening-decision'
import { feeFields, feeTier, feeTiers, levelField, refIdField } from '#api/fees/fee-schema'
import { showFee } from '#api/fees/show-fee'
import {
  blockchainField,
  ciphertextField,
  createDateField,
  custodyField,
  dateField,
  idField,
  updateDateField,
  userField,
} from '#api/fields'
import { type Network, networkOf } from '#chains/networks/index'
import { type SignedFee, states, type TransactionRow } from '#engines/transactions/index'
import { formatAmount } from '#lib/amounts'
import { upgradeTargets } from '#lib/sca-cores'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

const optionalText = (description: string, maxLength = 200) =>
  Type.Optional(Type.String({ description, maxLength }))
const stateField = Type.Enum([...states], {
  title: 'TransactionState',
  description:
    'INITIATED until screening clears or denies it, then CLEARED, QUEUED and SENT until a block contains it; CONFIRMED, then COMPLETE. STUCK: sent with too low a fee. FAILED, DENIED and CANCELLED are final, as is COMPLETE.',
})

export const transactionParams = idParams('TransactionId', 'the transaction')
export const transactionQuery = Type.Object({ txType: optionalText('INBOUND or OUTBOUND.') })

const tokenFields = {
  tokenId: Type.Optional(idField('The token; excludes tokenAddress.')),
  tokenAddress: optionalText('The contract of the token; empty or absent is the native coin.'),
}
const amounts = Type.Array(logged('amount', Type.String({ maxLength: 160 })), {
  maxItems: 100,
  description: 'One decimal string, in whole tokens; for NFTs one for each of nftTokenIds.',
})
const nftTokenIds = Type.Optional(
  Type.Array(logged('amount', Type.String({ maxLength: 100 })), {
    maxItems: 100,
    description:
      'The NFTs by their ids in the contract: one of an ERC721 token, any number of an ERC1155 token.',
  }),
)

export const sourceFields = {
  walletId: Type.Optional(idField('The paying wallet; excludes walletAddress.')),
  walletAddress: logged('address', optionalText('The address of the paying wallet, with blockchain.')),
  blockchain: Type.Optional(described(blockchainField, 'The blockchain of walletAddress.')),
}
const estimateSourceFields = {
  walletId: Type.Optional(idField('The paying wallet; excludes sourceAddress.')),
  sourceAddress: logged(
    'address',
    optionalText('The address of the sender, with blockchain; it need not be a wallet of yours.'),
  ),
  blockchain: Type.Optional(described(blockchainField, 'The blockchain of sourceAddress.')),
}
const destinationAddress = logged(
  'address',
  Type.String({ maxLength: 200, description: 'The address to pay.' }),
)

/** The fields of a transfer beside its source. */
export const transferFields = {
  destinationAddress,
  amounts: Type.Optional(amounts),
  nftTokenIds,
  ...tokenFields,
  ...feeFields,
  refId: refIdField,
}

export const transferBody = Type.Object(
  { entitySecretCiphertext: ciphertextField, ...sourceFields, ...transferFields },
  { title: 'CreateTransferRequest', description: 'A transfer to create.' },
)

/** The body of accelerate and cancel: the secret alone. */
export const controlBody = Type.Object(
  { entitySecretCiphertext: ciphertextField },
  { title: 'ControlTransactionRequest', description: 'The secret that opens the key of the wallet.' },
)
export const acceleratedAnswer = Type.Object(
  { id: idField('The id of the transaction, which stays the same.') },
  { title: 'AcceleratedTransaction', description: 'The accelerated transaction.' },
)

export const transferAnswer = Type.Object(
  { id: idField('The id of the transaction.'), state: stateField },
  { title: 'CreatedTransaction', description: 'The id and the state of the transaction.' },
)

export const executionFields = {
  contractAddress: logged('address', Type.String({ maxLength: 200, description: 'The contract to call.' })),
  abiFunctionSignature: optionalText(
    'The function, such as "transfer(address,uint256)"; excludes callData.',
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
    Type.String({
      description:
        'The encoded call as 0x and hexadecimal digits; excludes abiFunctionSignature and abiParameters.',
    }),
  ),
  amount: logged('amount', optionalText('The native coins to send with the call, as a decimal string.')),
}

export const executionBody = Type.Object(
  {
    entitySecretCiphertext: ciphertextField,
    ...sourceFields,
    ...executionFields,
    ...feeFields,
    refId: refIdField,
  },
  { title: 'CreateContractExecutionRequest', description: 'A contract call to create.' },
)

export const upgradeFields = {
  ...sourceFields,
  newScaCore: Type.Enum([...upgradeTargets], { description: 'The version to upgrade to.' }),
  ...feeFields,
  refId: refIdField,
}

export const upgradeBody = Type.Object(
  { entitySecretCiphertext: ciphertextField, ...upgradeFields },
  { title: 'CreateWalletUpgradeRequest', description: 'An upgrade to make.' },
)

export const estimateExecutionBody = Type.Object(
  { ...estimateSourceFields, ...executionFields },
  { title: 'EstimateContractExecutionFeeRequest', description: 'The contract call to estimate.' },
)

export const estimateBody = Type.Object(
  { ...estimateSourceFields, destinationAddress, amounts, nftTokenIds, ...tokenFields },
  { title: 'EstimateTransferFeeRequest', description: 'The transfer to estimate.' },
)

export const feeParametersAnswer = Type.Object(
  { blockchain: logged('word', Type.String({ description: 'The blockchain of the fees.' })), ...feeTiers },
  { title: 'FeeParameters', description: 'The current fees of a blockchain at each level.' },
)
export const feeParametersQuery = Type.Object({
  blockchain: Type.Optional(
    described(
      blockchainField,
      'The blockchain. Default: the first one that the server is connected to and the key reaches.',
    ),
  ),
  accountType: Type.Optional(
    Type.Enum(['EOA', 'SCA'], { default: 'EOA', description: 'The type of account; the fees are the same.' }),
  ),
})

export const lowestNonceQuery = Type.Object({
  walletId: Type.Optional(idField('The wallet; excludes address.')),
  address: logged('address', optionalText('The address of the wallet, with blockchain.')),
  blockchain: Type.Optional(described(blockchainField, 'The blockchain of address.')),
})

export const validateAddressBody = Type.Object(
  {
    address: logged('address', Type.String({ maxLength: 500, description: 'The text to check.' })),
    blockchain: described(blockchainField, 'The blockchain, which need not be started on this server.'),
  },
  { title: 'ValidateAddressRequest', description: 'The address to check.' },
)
export const validateAddressAnswer = Type.Object(
  { isValid: Type.Boolean({ description: 'Whether the text is an address on the blockchain.' }) },
  { title: 'ValidatedAddress', description: 'The outcome of the check.' },
)

export const transactionsQuery = Type.Object({
  blockchain: Type.Optional(described(blockchainField, 'The blockchain of the transactions.')),
  custodyType: Type.Optional(custodyField),
  destinationAddress: logged('address', optionalText('The destination address, in any case.')),
  includeAll: Type.Optional(
    Type.Boolean({
      description:
        'Also show incoming transfers of tokens that are not monitored or are named like a listed token, and those that move nothing or that no balance proves.',
    }),
  ),
  operation: Type.Optional(
    Type.Enum(['TRANSFER', 'CONTRACT_EXECUTION', 'CONTRACT_DEPLOYMENT'], {
      description: 'The kind of transaction.',
    }),
  ),
  state: Type.Optional(stateField),
  txHash: logged('hash', optionalText('The hash of the on-chain transaction, in any case.')),
  txType: optionalText('INBOUND or OUTBOUND.'),
  userId: optionalText('The user whose transactions are listed.'),
  walletIds: Type.Optional(Type.String({ description: 'Wallet ids, separated by commas.', maxLength: 3000 })),
})

const optionalString = (description: string) => Type.Optional(Type.String({ description }))

const transactionShape = Type.Object(
  {
    id: idField('The id of the transaction.'),
    blockchain: logged('word', Type.String({ description: 'The blockchain.' })),
    tokenId: Type.Optional(idField('The token of a transfer.')),
    walletId: Type.Optional(idField('The wallet that pays or, for INBOUND, receives.')),
    sourceAddress: logged('address', optionalString('The paying address.')),
    destinationAddress: logged('address', optionalString('The paid address of a transfer.')),
    transactionType: Type.Enum(['INBOUND', 'OUTBOUND'], {
      description: 'Whether the wallet receives or pays.',
    }),
    custodyType: custodyField,
    userId: Type.Optional(userField),
    state: stateField,
    amounts: Type.Optional(
      Type.Array(logged('amount', Type.String()), {
        description:
          'The amount in whole tokens, as one decimal string; for NFTs one for each. Absent while no node tells the decimals of a received token.',
      }),
    ),
    amountInUSD: logged(
      'amount',
      optionalString('The amount in US dollars; present for USDC alone, whose unit is one dollar.'),
    ),
    nfts: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'One JSON text for each NFT, with nftTokenId and amount; null for fungible tokens.',
    }),
    txHash: logged(
      'hash',
      optionalString(
        'The hash of the on-chain transaction, from SENT on; of a smart account, from CONFIRMED on.',
      ),
    ),
    userOpHash: logged(
      'hash',
      optionalString('The hash of the user operation of a smart account, from QUEUED on.'),
    ),
    blockHash: logged('hash', optionalString('The hash of the block that contains it.')),
    blockHeight: Type.Optional(Type.Integer({ description: 'The number of that block.' })),
    networkFee: logged(
      'amount',
      Type.String({ description: 'The paid fee in native coins; empty before it is known.' }),
    ),
    networkFeeInUSD: logged(
      'amount',
      optionalString('The paid fee in US dollars; present on networks alone whose native coin is a dollar.'),
    ),
    firstConfirmDate: Type.Optional(dateField('The time of that block.')),
    operation: logged(
      'word',
      Type.String({ description: 'TRANSFER, CONTRACT_EXECUTION or CONTRACT_DEPLOYMENT.' }),
    ),
    feeLevel: Type.Optional(described(levelField, 'The fee level of the request.')),
    estimatedFee: Type.Optional(described(feeTier, 'The fees that the signed transaction offers.')),
    refId: Type.String({ description: 'Your reference; empty without one.' }),
    contractAddress: logged(
      'address',
      optionalString('The called contract, or the one that a CONFIRMED deployment created.'),
    ),
    abiFunctionSignature: optionalString('The called function.'),
    abiParameters: Type.Union([Type.Array(Type.Unknown()), Type.Null()], {
      description: 'The parameters of the called function; null for transfers and for callData.',
    }),
    transactionScreeningEvaluation: Type.Optional(
      described(decisionSchema, 'The decision of screening; absent before it.'),
    ),
    errorReason: logged('word', optionalString('The reason of the failure; present when state is FAILED.')),
    errorDetails: optionalString(
      'More about errorReason or, without one, the reason why the transaction still waits.',
    ),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'Transaction', description: 'An on-chain transaction and the request for it.' },
)
export const transactionAnswer = Type.Object(
  { transaction: transactionShape },
  { description: 'The transaction.' },
)
export const lowestNonceAnswer = Type.Object(
  {
    transaction: transactionShape,
    feeInfo: Type.Object(
      {
        newHighEstimatedFee: described(feeTier, 'The current fees at the level HIGH.'),
        feeDifferenceAmount: Type.String({
          description: 'The additional cost of the level HIGH over the current offer, in native coins.',
        }),
      },
      { description: 'The cost of accelerating the transaction.' },
    ),
  },
  { title: 'LowestNonceTransaction', description: 'The transaction and the cost of accelerating it.' },
)
export const transactionsAnswer = Type.Object(
  { transactions: Type.Array(transactionShape, { description: 'The transactions, newest first.' }) },
  { description: 'One page of transactions.' },
)

/** States without a hash: it is shown from SENT on, since nothing is broadcast before. */
const hashless = new Set(['INITIATED', 'CLEARED', 'QUEUED', 'DENIED'])

/** The address of a deployment is known from its nonce before the contract is there. */
const hasContract = ({ operation, state }: TransactionRow) =>
  operation !== 'CONTRACT_DEPLOYMENT' || state === 'CONFIRMED' || state === 'COMPLETE'

export function showTransaction(row: TransactionRow) {
  const network = networkOf(row.blockchain)!
  const networkFee = row.networkFee === null ? '' : formatAmount(row.networkFee, network.nativeToken.decimals)
  return {
    id: row.id,
    blockchain: row.blockchain,
    ...given('tokenId', row.tokenId),
    ...given('walletId', row.walletId),
    ...given('sourceAddress', row.sourceAddress),
    ...given('destinationAddress', row.destinationAddress),
    transactionType: row.transactionType,
    custodyType: row.custodyType,
    ...given('userId', row.userId),
    state: row.state,
    ...given('amounts', row.amounts),
    ...given('amountInUSD', row.inDollars ? (row.amounts?.[0] ?? null) : null),
    nfts: showNfts(row),
    ...(hashless.has(row.state) ? {} : given('txHash', row.txHash)),
    ...given('userOpHash', row.userOpHash),
    ...given('blockHash', row.blockHash),
    ...given('blockHeight', row.blockHeight),
    networkFee,
    // A coin that is a dollar needs no price; another one has none here that was true at the time of the block.
    ...(networkFee !== '' &&
      network.nativeToken.contract?.currency === 'USD' && { networkFeeInUSD: networkFee }),
    ...given('firstConfirmDate', row.firstConfirmDate),
    operation: row.operation,
    ...given('feeLevel', row.feeLevel),
    ...(row.estimatedFee && { estimatedFee: showSignedFee(network, row.estimatedFee) }),
    refId: row.refId,
    ...(hasContract(row) && given('contractAddress', row.contractAddress)),
    ...given('abiFunctionSignature', row.abiFunctionSignature),
    abiParameters: row.abiParameters,
    ...(row.screening && { transactionScreeningEvaluation: showDecision(row.screening) }),
    // A transaction that is about to fail already has its reason, which is shown only once it is FAILED.
    ...(row.state === 'FAILED' && given('errorReason', row.errorReason)),
    // Details without a reason name the condition that it waits for.
    ...((row.state === 'FAILED' || row.errorReason === null) && given('errorDetails', row.errorDetails)),
    createDate: row.createDate,
    updateDate: row.updateDate,
  }
}

const showNfts = ({ nftTokenIds, amounts }: TransactionRow) =>
  nftTokenIds?.map((nftTokenId, index) => JSON.stringify({ nftTokenId, amount: amounts?.[index] })) ?? null

/** A member that is omitted rather than sent as null. */
const given = (name: string, value: unknown) => (value === null ? {} : { [name]: value })

const showSignedFee = (network: Network, { gasLimit, baseFee, priorityFee, maxFee, deposit }: SignedFee) =>
  showFee(
    network,
    {
      baseFeeAtomic: BigInt(baseFee),
      priorityFeeAtomic: BigInt(priorityFee),
      maxFeeAtomic: BigInt(maxFee),
    },
    { gas: BigInt(gasLimit), depositAtomic: BigInt(deposit ?? 0) },
  )
