/** Errors of the operations of operators. */
export const operatorErrorKinds = {
  movementNotFound: { code: 404, status: 404, text: 'Not found: the movement id is unknown.' },
  accountNotFound: { code: 404, status: 404, text: 'Not found: the account id is unknown.' },
  policyVersionNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: the id of the version of a policy is unknown.',
  },
  policySubjectNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: the id is neither that of the entity nor of one of its wallet sets, wallets or API keys.',
  },
  policyChanged: {
    code: 409,
    status: 409,
    text: 'Another version of the policy is in force meanwhile: read it, and set yours again if it still applies.',
  },
  apiKeyNotFound: { code: 404, status: 404, text: 'Not found: the id of the API key is unknown.' },
  apiKeyScopeMissing: {
    code: 3,
    status: 403,
    text: 'Forbidden: a key cannot be made with more scopes than the key of the request has.',
  },
  apiKeyLimitsExceeded: {
    code: 3,
    status: 403,
    text: 'Forbidden: a key cannot outlive the key of the request, or be used where that may not be used.',
  },
  apiKeyInUse: {
    code: 409,
    status: 409,
    text: 'The key of the request cannot revoke itself: create another one, and revoke this one with it.',
  },
  auditVerificationInProgress: {
    code: 409,
    status: 409,
    text: 'The audit trail of the entity is being verified: try again in a moment.',
  },
  reviewNotFound: { code: 280003, status: 404, text: 'There is no review of this id.' },
  reviewEnded: { code: 280004, status: 409, text: 'The review has ended.' },
  reviewNeedsAnother: {
    code: 280005,
    status: 409,
    text: 'You approved already: another operator has to approve, with a key or a sign-in of their own.',
  },
  requestNotFound: {
    code: 404,
    status: 404,
    text: 'Not found: the request log has no request with this id.',
  },
  replayNotFound: { code: 404, status: 404, text: 'Not found: the replay id is unknown.' },
  replayTooLarge: {
    code: 2,
    status: 400,
    text: 'The replay has too many notifications: choose a shorter range, or wait until more of the backlog is delivered.',
  },
  subscriptionReceivesNothing: {
    code: 2,
    status: 400,
    text: 'The subscription is disabled or unconfirmed, and receives nothing.',
  },
} as const
