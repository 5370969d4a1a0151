/** Errors of the tools that only a sandbox has. */
export const sandboxErrorKinds = {
  caughtMessageNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: the catcher keeps no message of this id. It was cleared, or dropped as one of the oldest: list those that are kept.',
  },
  inboxLimitReached: {
    code: 429,
    status: 429,
    text: 'The limit of inboxes is reached: delete one with DELETE /sandbox/catcher/{inbox}.',
  },
} as const
