/** Errors of unified balances. */
export const unifiedBalanceErrorKinds = {
  unifiedBalanceInsufficient: {
    code: 178001,
    status: 400,
    text: 'The balance of a depositor does not suffice for the value and the fee.',
  },
  unifiedDomainUnknown: {
    code: 178002,
    status: 400,
    text: 'This server has no unified balance on that chain.',
  },
  unifiedSignerRefused: { code: 178003, status: 400, text: 'The signer may not spend the balance.' },
  unifiedContractSigner: {
    code: 178004,
    status: 400,
    text: 'The contract that signs does not authorize the transfer.',
  },
  unifiedSpecUsed: {
    code: 178005,
    status: 400,
    text: 'A transfer specification is part of another transfer already: sign it with a fresh salt.',
  },
  unifiedLimitReached: {
    code: 178006,
    status: 400,
    text: 'Transfers to this chain have reached their limit of this hour: try again in the next one.',
  },
  unifiedTransferDenied: {
    code: 178008,
    status: 403,
    text: 'Screening does not let the balance be spent: nothing was attested.',
  },
  unifiedTransferNotFound: { code: 178007, status: 404, text: 'Cannot find the transfer.' },
} as const
