import {
  chainErrors,
  estimateErrors,
  feeErrors,
  secretErrors,
  sourceErrors,
} from '#api/interface/documented-errors'

export const tokenErrors = [
  'tokenNotFound',
  'tokenOnOtherChain',
  'tokenAddressInvalid',
  'tokenAddressUnsupported',
] as const
export const amountErrors = [
  'amountsInvalid',
  'amountsNotDecimal',
  'belowRent',
  'destinationAddressInvalid',
] as const

/** Errors of the amounts of NFTs. */
export const itemErrors = ['nftCountInvalid', 'nftAmountsMismatch'] as const

export const transferErrors = [
  'policyDenied',
  'chainHalted',
  'insufficientBalance',
  'pendingQueueFull',
  'sponsoredGasExceeded',
  'nftNotFound',
  ...itemErrors,
  ...secretErrors,
  ...feeErrors,
  ...tokenErrors,
  ...amountErrors,
  ...chainErrors,
  ...sourceErrors,
] as const

export const estimateTransferErrors = [
  ...estimateErrors,
  ...tokenErrors,
  ...amountErrors,
  ...itemErrors,
  ...chainErrors,
  ...sourceErrors,
] as const
