/** Errors of payouts from a file. */
export const payoutBatchErrorKinds = {
  payoutBatchNotFound: { code: 178110, status: 404, text: 'There is no batch of payouts of this id.' },
  payoutFileInvalid: { code: 178111, status: 400, text: 'The file of payouts cannot be used.' },
  payoutBatchChanged: {
    code: 178112,
    status: 409,
    text: 'The approval names other contents than the batch has.',
  },
  payoutBatchEnded: { code: 178113, status: 409, text: 'The batch of payouts has ended.' },
  payoutBatchNeedsAnother: {
    code: 178114,
    status: 409,
    text: 'You uploaded these payouts: another operator has to approve them, with a key or a sign-in of their own.',
  },
} as const
