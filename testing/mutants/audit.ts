import { edit, type Mutant, proof } from './mutant.ts'

const verifier = 'src/engines/audit/verify.ts'
const tampering = proof('src/engines/audit/audit.test.ts', 'property 59: names the row of every tampering')

/** The audit trail: bugs here leave a change of it unseen. */
export const auditMutants: readonly Mutant[] = [
  {
    name: 'audit-event-unbound',
    about: 'the data of an event can be changed unseen',
    edits: [edit('src/engines/audit/encoding.ts', 'entry.data,', "'',")],
    test: tampering,
  },
  {
    name: 'audit-head-unchecked',
    about: 'a head with a false signature counts',
    edits: [
      edit(
        verifier,
        "if (head && !signer) yield found('the head is altered",
        "if (head && !head) yield found('the head is altered",
      ),
    ],
    test: tampering,
  },
  {
    name: 'audit-truncation-unseen',
    about: 'the end of a trail can be cut off although it was exported',
    edits: [
      edit(
        verifier,
        'if (head && head.position > position) reportTruncated(head, position)',
        'void reportTruncated',
      ),
    ],
    test: tampering,
  },
]
