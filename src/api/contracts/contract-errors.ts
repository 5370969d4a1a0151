import type { ErrorName } from '#lib/error-kinds'

/** Errors that operations of contracts share with those of wallets, under the codes of the contracts line. */
export const contractErrorsAs: Partial<Record<ErrorName, ErrorName>> = {
  idNotUuid: 'contractIdNotUuid',
  cursorNotFound: 'contractCursorNotFound',
  blockchainUnsupportedForOperation: 'contractChainUnsupported',
  keyOnOtherEnvironment: 'contractOnOtherEnvironment',
  chainNotStarted: 'contractChainUnavailable',
  sourceAddressInvalid: 'contractAddressInvalid',
  estimateExceedsBalance: 'deploymentExceedsBalance',
  estimateReverted: 'deploymentReverts',
  estimateFailed: 'deploymentEstimateFailed',
  feeOverMaximum: 'deploymentFeeOverMaximum',
  feeMissing: 'deploymentFeeMissing',
  maxFeeMissing: 'deploymentMaxFeeMissing',
  priorityFeeOverMaxFee: 'deploymentPriorityFeeOverMaxFee',
  walletIdWithSourceAddress: 'deployerAmbiguous',
  walletOnOtherChain: 'deployerOnOtherChain',
  pendingQueueFull: 'deployerQueueFull',
  walletFrozen: 'deployerFrozen',
  walletNotFound: 'deployerNotFound',
  ciphertextReused: 'deployerCiphertextReused',
  entitySecretWrong: 'deployerSecretWrong',
  entitySecretMissing: 'deployerSecretMissing',
}
