/** Errors of payments by x402. */
export const x402ErrorKinds = {
  paymentOfAnother: {
    code: 178301,
    status: 409,
    text: 'Another account of this server settles this authorization: ask its payer for one of your own.',
  },
  signedPaymentNotFound: {
    code: 178302,
    status: 404,
    text: 'Cannot find the payment: name the paymentId that the settlement answered.',
  },
} as const
