/** Errors of the PIN and the security questions that open a user's key, and of the challenges that they approve. */
export const userKeyErrorKinds = {
  userInitialized: {
    code: 155106,
    status: 409,
    text: 'The user is set up already: make a challenge for more wallets instead.',
  },
  pinSet: { code: 155107, status: 409, text: 'The user has a PIN already: change it instead.' },
  questionsSet: { code: 155108, status: 409, text: 'The security questions are set already, and stay.' },
  pinMissing: { code: 155110, status: 400, text: 'The user has no PIN yet: set one first.' },
  questionsMissing: { code: 155111, status: 400, text: 'The user has no security questions yet.' },
  pinWrong: { code: 155112, status: 400, text: 'The PIN is wrong.' },
  answersWrong: { code: 155115, status: 400, text: 'The answers to the security questions are wrong.' },
  challengeNotFound: { code: 155116, status: 404, text: 'Cannot find the challenge.' },
  challengeExpired: { code: 155121, status: 403, text: 'The challenge has expired: make another one.' },
  challengeInvalid: { code: 155122, status: 403, text: 'The challenge cannot be approved.' },
  userMetadataCountDiffers: {
    code: 155504,
    status: 400,
    text: 'metadata must have one item for each blockchain.',
  },
  smartAccountsOnSeveralChains: {
    code: 155508,
    status: 400,
    text: 'One request of a user makes a smart account on one blockchain.',
  },
  submissionUnfit: { code: 155117, status: 400, text: 'The submission is not as this challenge needs it.' },
  submissionRefused: {
    code: 155118,
    status: 400,
    text: 'The submission does not open: encrypt a fresh one for this challenge with the encryptionKey of this user token.',
  },
  pinLocked: { code: 155119, status: 400, text: 'The PIN is locked after too many wrong ones.' },
  answersLocked: {
    code: 155120,
    status: 400,
    text: 'The security questions are locked after too many wrong answers.',
  },
  secretUnfit: { code: 155124, status: 403, text: 'The PIN or an answer does not follow the rules.' },
  deviceUnknown: {
    code: 155113,
    status: 400,
    text: 'The device is unknown: it does not open the key of the user, or the session is of another one.',
  },
} as const
