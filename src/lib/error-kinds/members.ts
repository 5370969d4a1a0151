/** Errors of sign-ins to the console. */
export const memberErrorKinds = {
  signInRefused: { code: 281001, status: 401, text: 'The name or the password is wrong.' },
  signInCodeMissing: {
    code: 281002,
    status: 401,
    text: 'A one-time code is needed: send the six digits that your authenticator shows as code.',
  },
  signInCodeWrong: {
    code: 281003,
    status: 401,
    text: 'The one-time code is wrong or was used: send the next one that your authenticator shows.',
  },
  signInPaused: {
    code: 281004,
    status: 429,
    text: 'Too many wrong sign-ins: wait up to 16 minutes, or ask an operator to run bezant members set-password.',
  },
  memberWithoutRole: {
    code: 281005,
    status: 403,
    text: 'You have no role in such an entity: ask an operator to run bezant members grant.',
  },
} as const
