/** Refused payments, as servers of x402 read them. */

type Refused = { reason: string; message: string }

export const invalidVerdict = ({ reason, message }: Refused) => ({
  isValid: false,
  invalidReason: reason,
  invalidMessage: message,
})

export const failedSettlement = ({ reason, message }: Refused) => ({
  success: false,
  errorReason: reason,
  errorMessage: message,
  transaction: '',
})
