import Type from 'typebox'
import {
  blockchainField,
  createDateField,
  dateField,
  filterText,
  idField,
  updateDateField,
} from '#api/fields'
import { canonicalAddress } from '#chains/addresses/canonical'
import { entryPoint } from '#chains/entry-point'
import type { UserOperation } from '#chains/facets/accounts'
import { operationFromJson } from '#chains/operation-json'
import type { Token } from '#engines/ledger/tokens/index'
import type { ModularTransfer, UserOperationRow } from '#engines/modular/index'
import { formatAmount } from '#lib/amounts'
import { described, idParams, logged } from '#runtime/http/openapi/annotate'

export const modularTransferParams = idParams('ModularTransferId', 'the transfer')
export const userOperationParams = idParams('UserOperationId', 'the user operation')

const txHashFilter = Type.Optional(filterText('The hash of a transaction.'))
const userOpHashFilter = Type.Optional(filterText('The hash of a user operation.'))
const addressList = (description: string) => Type.String({ minLength: 1, maxLength: 4_096, description })

const transferState = Type.Enum(['CONFIRMED', 'COMPLETE', 'FAILED'], {
  title: 'ModularTransferState',
  description: 'CONFIRMED in a block, COMPLETE with the confirmations of its network, FAILED after a reorg.',
})
const transferType = Type.Enum(['INBOUND_TRANSFER', 'OUTBOUND_TRANSFER'], {
  title: 'ModularTransferType',
  description: 'Whether the wallet received or sent.',
})
export const transfersQuery = Type.Object({
  walletAddresses: addressList('The addresses of wallets, separated by commas.'),
  blockchain: Type.Optional(blockchainField),
  state: Type.Optional(transferState),
  transferType: Type.Optional(transferType),
  txHash: txHashFilter,
  userOpHash: userOpHashFilter,
})

const userOperationState = Type.Enum(['SENT', 'CONFIRMED', 'COMPLETE', 'FAILED'], {
  title: 'UserOperationState',
  description: 'SENT until a block holds it, CONFIRMED then, COMPLETE with the confirmations of its network.',
})
export const userOperationsQuery = Type.Object({
  blockchain: Type.Optional(blockchainField),
  senders: Type.Optional(addressList('The addresses of accounts, separated by commas.')),
  state: Type.Optional(userOperationState),
  refId: Type.Optional(filterText('A reference. Operations over JSON-RPC carry none, so that none matches.')),
  txHash: txHashFilter,
  userOpHash: userOpHashFilter,
})

const hashField = (description: string) => Type.String({ description })
const transferShape = Type.Object(
  {
    id: idField('The id of the transfer on this server.'),
    walletId: idField('The id of the modular wallet.'),
    walletAddress: hashField('The address of the wallet.'),
    blockchain: described(blockchainField, 'The blockchain.'),
    state: described(transferState, 'The state.'),
    transferType: described(transferType, 'The direction.'),
    tokenId: idField('The id of the token.'),
    tokenAddress: Type.Optional(hashField('The contract of the token; absent for the native coin.')),
    amount: logged(
      'amount',
      Type.String({ description: 'The amount in whole tokens, as a decimal string.' }),
    ),
    from: hashField('The sender.'),
    to: hashField('The recipient.'),
    txHash: hashField('The hash of the transaction.'),
    userOpHash: Type.Optional(hashField('The hash of the operation of the sender that made it.')),
    blockHash: hashField('The hash of the block.'),
    blockHeight: Type.Integer({ description: 'The height of the block.' }),
    blockDate: dateField('The time of the block.'),
    errorReason: Type.Optional(Type.Enum(['FAILED_REORG'], { description: 'Why it failed.' })),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'ModularTransfer', description: 'A transfer of a modular wallet.' },
)
export const modularTransferAnswer = Type.Object(
  { transfer: described(transferShape, 'The transfer.') },
  { description: 'The transfer.' },
)
export const transfersAnswer = Type.Object(
  { transfers: Type.Array(transferShape, { description: 'The transfers, newest first.' }) },
  { description: 'One page of transfers.' },
)

const number = (description: string) => Type.String({ description: `${description}, as a decimal string.` })
const operationShape = Type.Object(
  {
    sender: hashField('The account.'),
    nonce: number('The nonce'),
    factory: Type.Optional(hashField('The contract that creates the account.')),
    factoryData: Type.Optional(hashField('The call that creates it.')),
    callData: hashField('The call of the account.'),
    callGasLimit: number('The gas for the call'),
    verificationGasLimit: number('The gas for its verification'),
    preVerificationGas: number('The gas for its data'),
    maxFeePerGas: number('The price of gas at most, in wei'),
    maxPriorityFeePerGas: number('The priority fee at most, in wei'),
    paymaster: Type.Optional(hashField('The paymaster.')),
    paymasterVerificationGasLimit: Type.Optional(number('The gas for its verification')),
    paymasterPostOpGasLimit: Type.Optional(number('The gas for its work afterwards')),
    paymasterData: Type.Optional(hashField('The data that the paymaster checks.')),
    signature: hashField('The signature of the owners.'),
  },
  { title: 'SignedUserOperation', description: 'A user operation of EntryPoint 0.7.' },
)
const userOperationShape = Type.Object(
  {
    id: idField('The id of the user operation on this server.'),
    blockchain: described(blockchainField, 'The blockchain.'),
    state: described(userOperationState, 'The state.'),
    userOpHash: hashField('Its hash.'),
    userOperation: described(operationShape, 'The operation.'),
    to: hashField('The EntryPoint.'),
    txHash: Type.Optional(hashField('The hash of the transaction that executed it.')),
    blockHash: Type.Optional(hashField('The hash of the block.')),
    blockHeight: Type.Optional(Type.Integer({ description: 'The height of the block.' })),
    blockDate: Type.Optional(dateField('The time of the block.')),
    actualGasCost: Type.Optional(number('What it cost, in wei')),
    actualGasUsed: Type.Optional(number('The gas that it used')),
    errorReason: Type.Optional(
      Type.Enum(['FAILED_ON_CHAIN', 'FAILED_REPLACED'], {
        title: 'UserOperationErrorReason',
        description: 'Why it failed; absent where no bundle could carry it.',
      }),
    ),
    revertReason: Type.Optional(Type.String({ description: 'The reason in the words of the EntryPoint.' })),
    createDate: createDateField,
    updateDate: updateDateField,
  },
  { title: 'ModularUserOperation', description: 'A user operation of a modular wallet.' },
)
export const userOperationAnswer = Type.Object(
  { userOperation: described(userOperationShape, 'The user operation.') },
  { description: 'The user operation.' },
)
export const userOperationsAnswer = Type.Object(
  {
    userOperations: Type.Array(userOperationShape, { description: 'The user operations, newest first.' }),
  },
  { description: 'One page of user operations.' },
)

export function showModularTransfer(row: ModularTransfer, token: Pick<Token, 'address' | 'decimals'>) {
  const { id, walletId, walletAddress, blockchain, state, transferType, tokenId, txHash, userOpHash } = row
  return {
    id,
    walletId,
    walletAddress,
    blockchain,
    state,
    transferType,
    tokenId,
    ...(token.address !== null && { tokenAddress: token.address }),
    amount: formatAmount(row.amount, token.decimals),
    from: row.fromAddress,
    to: row.toAddress,
    txHash,
    ...(userOpHash !== null && { userOpHash }),
    blockHash: row.blockHash,
    blockHeight: row.blockNumber,
    blockDate: row.blockTime,
    ...(state === 'FAILED' && { errorReason: 'FAILED_REORG' as const }),
    createDate: row.createDate,
    updateDate: row.updateDate,
  }
}

export function showUserOperation(row: UserOperationRow) {
  const { id, blockchain, state, userOpHash, txHash, blockHash, blockNumber, blockTime } = row
  return {
    id,
    blockchain,
    state,
    userOpHash,
    userOperation: showOperation(operationFromJson(row.operation)),
    to: canonicalAddress(entryPoint),
    ...(txHash !== null && {
      txHash,
      blockHash: blockHash!,
      blockHeight: blockNumber!,
      blockDate: blockTime!,
    }),
    ...(row.fee !== null && { actualGasCost: row.fee.toString(), actualGasUsed: row.gasUsed!.toString() }),
    ...(row.errorReason !== null && { errorReason: row.errorReason }),
    ...(row.errorDetails !== null && { revertReason: row.errorDetails }),
    createDate: row.createDate,
    updateDate: row.updateDate,
  }
}

const showOperation = ({ creation, sponsorship, ...operation }: UserOperation) => ({
  sender: operation.account,
  nonce: operation.nonce.toString(),
  ...(creation && { factory: creation.factory, factoryData: creation.data }),
  callData: operation.callData,
  callGasLimit: operation.callGas.toString(),
  verificationGasLimit: operation.verificationGas.toString(),
  preVerificationGas: operation.preVerificationGas.toString(),
  maxFeePerGas: operation.maxFeeAtomic.toString(),
  maxPriorityFeePerGas: operation.priorityFeeAtomic.toString(),
  ...(sponsorship && {
    paymaster: sponsorship.address,
    paymasterVerificationGasLimit: sponsorship.verificationGas.toString(),
    paymasterPostOpGasLimit: sponsorship.postOpGas.toString(),
    paymasterData: sponsorship.data,
  }),
  signature: operation.signature,
})
