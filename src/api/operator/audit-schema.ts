import Type from 'typebox'
import { createDateField, idField } from '#api/fields'
import { described } from '#runtime/http/openapi/annotate'

const optional = Type.Optional

const actorField = Type.String({
  maxLength: 200,
  description: 'Who did it: key:<id> for a key, member:<id> for a member, or the name of an engine.',
})
const actionField = Type.String({ maxLength: 200, description: 'What was done, such as apiKey.created.' })
const positionField = Type.Integer({ minimum: 0, description: 'A position of the trail, from 1.' })
const hashField = Type.String({ description: 'The hash of the link, hexadecimal.' })

export const auditFilters = Type.Object({
  actor: optional(actorField),
  action: optional(actionField),
  resourceId: optional(Type.String({ maxLength: 200, description: 'The id of the resource.' })),
})

export const auditEntrySchema = Type.Object(
  {
    id: idField('The id of the entry, which is that of its event.'),
    position: optional(
      described(positionField, 'The position in the trail; absent for about a second, until it is linked.'),
    ),
    hash: optional(hashField),
    actor: actorField,
    action: actionField,
    resourceId: Type.String({ description: 'The id of the resource.' }),
    requestId: optional(Type.String({ description: 'The X-Request-Id of the request that did it.' })),
    createDate: createDateField,
  },
  { title: 'AuditEntry', description: 'An entry of the audit trail.' },
)

const afterEntryField = idField('The id of the entry up to which entries are verified.')

export const verificationQuery = Type.Object({
  afterPosition: optional(
    described(positionField, 'The position up to which the trail is verified. Default: 0, its beginning.'),
  ),
  afterEntryId: optional(afterEntryField),
})

export const verificationSchema = Type.Object(
  {
    entries: Type.Integer({ description: 'The number of linked entries that this page verified.' }),
    position: described(positionField, 'The last position that is verified.'),
    findingCount: Type.Integer({ description: 'The number of findings of this page.' }),
    findings: Type.Array(
      Type.Object(
        {
          position: optional(described(positionField, 'The position where it was found.')),
          entryId: optional(idField('The entry that is wrong.')),
          problem: Type.String({ description: 'What is wrong.' }),
        },
        { title: 'AuditFinding', description: 'A row that was altered, removed, inserted or moved.' },
      ),
      { description: 'The first 100 findings of this page; none where nothing was altered.' },
    ),
    head: optional(
      Type.Object(
        {
          position: described(positionField, 'The position of its link.'),
          hash: hashField,
          createDate: createDateField,
          signed: Type.Boolean({ description: 'Whether it is signed with the key of this server.' }),
        },
        { title: 'AuditTrailHead', description: 'The newest head; absent of an empty trail.' },
      ),
    ),
    unlinked: Type.Integer({ description: 'The number of entries that wait for their link.' }),
    publicKey: Type.String({
      description:
        'The public key that signatures were compared with, hexadecimal. It is derived from the root key.',
    }),
    next: optional(
      Type.Object(
        { afterPosition: positionField, afterEntryId: afterEntryField },
        { description: 'The parameters of the next page; absent of the last one.' },
      ),
    ),
  },
  { title: 'AuditVerification', description: 'What the verification of one page of a trail found.' },
)
