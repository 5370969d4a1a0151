/** Errors of the pages on which payment intents are paid. */
export const paymentPageErrorKinds = {
  paymentPageNotFound: {
    code: 178107,
    status: 404,
    text: 'Cannot find the payment page: set one with PUT /v1/paymentIntents/{id}/page, and use the whole link.',
  },
  paymentIntentEnded: {
    code: 178108,
    status: 400,
    text: 'This payment intent takes no more payments, so it gets no further chains: create a new one.',
  },
} as const
