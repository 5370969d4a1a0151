/** Errors of cross-chain messages. */
export const messageErrorKinds = {
  messageNotFound: { code: 404, status: 404, text: 'Not found.' },
  domainUnknown: { code: 178101, status: 404, text: 'No network of this server has this domain.' },
  messageNotAttested: {
    code: 178102,
    status: 400,
    text: 'The message cannot be attested again: it has no attestation yet, or was delivered.',
  },
  messageNotDue: {
    code: 178103,
    status: 409,
    text: 'This attester does not sign the message yet: ask again in a moment.',
  },
  signatureRefused: {
    code: 178104,
    status: 403,
    text: 'This attester does not sign the message as it was proposed.',
  },
  attestationServiceAway: {
    code: 178105,
    status: 424,
    text: 'The attestation service that this server asks about the domain gives no usable answer: try again later.',
  },
  domainWithoutMessages: {
    code: 178106,
    status: 404,
    text: 'This version does not attest messages of this network.',
  },
} as const
