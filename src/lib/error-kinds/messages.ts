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
  messageTokenUnknown: {
    code: 178140,
    status: 404,
    text: 'No token that this server moves between chains has this id.',
  },
  messageTokenElsewhere: {
    code: 178141,
    status: 400,
    text: 'UNSUPPORTED_ROUTE: the token does not move between these chains.',
  },
  nativeFeeUnsupported: {
    code: 178142,
    status: 400,
    text: 'UNSUPPORTED_FEE_TOKEN: fees are paid in the native coin, where it has a price, or in USDC of the chain that burns.',
  },
  feeQuotesUnavailable: {
    code: 178302,
    status: 422,
    text: 'SERVICE_NOT_ENABLED: this server signs no quotes of fees for this chain.',
  },
  feeTokenUnsupported: {
    code: 178303,
    status: 422,
    text: 'UNSUPPORTED_FEE_TOKEN: fees are paid in USDC of the chain that burns.',
  },
  fastQuoteUnavailable: {
    code: 178304,
    status: 422,
    text: 'PRE_FINALITY_UNAVAILABLE: a burn of this amount is not attested before it is final.',
  },
  fastAllowanceShort: {
    code: 178305,
    status: 422,
    text: 'PRE_FINALITY_INSUFFICIENT_ALLOWANCE: the allowance for attestations before finality has no room for this burn now.',
  },
} as const
