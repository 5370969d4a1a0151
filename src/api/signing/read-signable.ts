import { type TransactionFault, TransactionProblem } from '#chains/facets/signing'
import type { ErrorName } from '#lib/error-kinds'
import { invalid } from '#lib/errors'

/** Reads a transaction or a delegate action; throws the documented error of one that is not signed. */
export function readSignable<Signable>(read: () => Signable): Signable {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof TransactionProblem)) throw error
    const { location: at, reason, value, fault } = error
    throw invalid({ at, reason, value, kind: kinds[fault] })
  }
}

const kinds: Record<TransactionFault, ErrorName> = {
  invalid: 'transactionInvalid',
  unreadable: 'transactionUnreadable',
  signedBefore: 'transactionSigned',
  tooLarge: 'transactionTooLarge',
  withoutChainId: 'chainIdMissing',
  ofOtherChain: 'chainIdUnsupported',
  ofOtherSigner: 'notSignerOfTransaction',
}
