/** Errors that several operations of this folder share. */
export const secretErrors = ['entitySecretWrong', 'ciphertextReused', 'entitySecretMissing'] as const
export const chainErrors = [
  'keyOnOtherEnvironment',
  'chainNotStarted',
  'blockchainUnsupportedForOperation',
] as const
export const sourceErrors = [
  'walletNotFound',
  'walletOnOtherChain',
  'walletIdWithSourceAddress',
  'walletFrozen',
] as const
export const feeErrors = [
  'feeMissing',
  'gasLimitTooLow',
  'feeLevelWithExplicitFee',
  'maxFeeMissing',
  'feeInvalid',
  'priorityFeeOverMaxFee',
  'gasPriceMissing',
  'feeModelUnsupported',
  'feeOverMaximum',
  'smartAccountFeeLevel',
] as const
export const estimateErrors = [
  'sourceAddressInvalid',
  'estimateReverted',
  'estimateExceedsBalance',
  'estimateFailed',
] as const
export const executionErrors = [
  'abiMismatch',
  'abiSignatureMissing',
  'callDataWithAbi',
  'executionAmountInvalid',
] as const
