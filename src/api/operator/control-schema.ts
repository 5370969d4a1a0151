import Type from 'typebox'
import { blockchainField, createDateField, idField } from '#api/fields'
import { described } from '#runtime/http/openapi/annotate'
import { policyNumberField, policyScopeField, policySubjectField } from './policy-schema.ts'

const optional = Type.Optional

export const policyFilters = Type.Object({
  subjectId: optional(policySubjectField),
  inForce: optional(
    Type.Boolean({ description: 'true: those that decide now. false: those that were replaced.' }),
  ),
})

export const decisionFilters = Type.Object({
  walletId: optional(idField('The wallet that signs.')),
  intentId: optional(idField('The transaction, or what else was signed.')),
})

export const policyDecisionSchema = Type.Object(
  {
    id: idField('The id of the decision.'),
    intentId: idField('The transaction; an id of its own for what was signed at once.'),
    walletId: idField('The wallet that signs.'),
    operation: Type.String({ description: 'What was let be signed, such as transfer.' }),
    versions: Type.Array(
      Type.Object(
        { scope: policyScopeField, subjectId: policySubjectField, version: policyNumberField },
        { description: 'A version.' },
      ),
      { description: 'The versions that allowed it, the widest policy first.' },
    ),
    createDate: createDateField,
  },
  {
    title: 'PolicyDecision',
    description: 'A decision that let something be signed. Refusals are answers to their requests.',
  },
)

const reconciliationStateField = Type.Enum(['open', 'changed', 'ended'], {
  title: 'ReconciliationState',
  description:
    'open: the balance differs. changed: it differed, and a later record has what became of it. ended: it equals the chain again.',
})

export const reconciliationFilters = Type.Object({
  blockchain: optional(described(blockchainField, 'The blockchain.')),
  open: optional(Type.Boolean({ description: 'true: the gaps that are open. false: all other records.' })),
})

export const reconciliationSchema = Type.Object(
  {
    id: idField('The id of the record.'),
    state: reconciliationStateField,
    blockchain: Type.String({ description: 'The blockchain.' }),
    address: Type.String({ description: 'The address.' }),
    tokenId: idField('The token.'),
    symbol: optional(Type.String({ description: 'The symbol of the token.' })),
    booked: Type.String({ description: 'The balance by the books, in whole tokens.' }),
    onChain: Type.String({ description: 'The balance on the chain.' }),
    gap: Type.String({ description: 'The balance on the chain less that of the books.' }),
    blockNumber: Type.Integer({ description: 'The block at which they were compared.' }),
    blockHash: Type.String({ description: 'The hash of that block.' }),
    createDate: createDateField,
  },
  { title: 'Reconciliation', description: 'A balance that differed from the chain, or equals it again.' },
)
