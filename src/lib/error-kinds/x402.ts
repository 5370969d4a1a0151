/** Errors of payments by x402. */
export const x402ErrorKinds = {
  signedPaymentNotFound: {
    code: 178301,
    status: 404,
    text: 'Cannot find the payment: name the paymentId that the settlement answered.',
  },
} as const
