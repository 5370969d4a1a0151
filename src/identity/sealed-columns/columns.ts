import { custodyColumns, type RootKeyColumn } from '#custody/root-key/index'
import {
  deviceEncryptionKey,
  memberCodeKey,
  sealedAnswer,
  userEncryptionKey,
  userKeyOuter,
  userSecret,
  userTokenKey,
} from '../contexts.ts'

const byEntity = [
  ['entity_id', 'uuid'],
  ['id', 'uuid'],
] as const

const ofUser = [
  ['entity_id', 'uuid'],
  ['user_id', 'uuid'],
] as const

/** The columns of users and members. */
const identityColumns: readonly RootKeyColumn[] = [
  {
    table: 'user_tokens',
    column: 'sealed_encryption_key',
    key: byEntity,
    contextOf: ({ entity_id, id }) => ({ context: userEncryptionKey(entity_id!, id!) }),
  },
  {
    table: 'device_tokens',
    column: 'sealed_encryption_key',
    key: [
      ['entity_id', 'uuid'],
      ['device_id', 'text'],
    ],
    fields: { id: 't.id' },
    contextOf: ({ entity_id, id }) => ({ context: deviceEncryptionKey(entity_id!, id!) }),
  },
  {
    table: 'user_token_keys',
    column: 'sealed_private_key',
    key: [['id', 'uuid']],
    contextOf: ({ id }) => ({ context: userTokenKey(id!) }),
  },
  {
    table: 'user_keys',
    column: 'sealed_secret',
    key: ofUser,
    contextOf: ({ entity_id, user_id }) => ({
      context: userSecret({ entityId: entity_id!, userId: user_id! }),
    }),
  },
  {
    table: 'user_key_wraps',
    column: 'sealed_key',
    key: [...ofUser, ['kind', 'text'], ['slot', 'text']],
    contextOf: ({ entity_id, user_id, kind, slot }) => ({
      context: userKeyOuter({ entityId: entity_id!, userId: user_id! }, kind!, slot!),
    }),
  },
  {
    table: 'sealed_answers',
    column: 'sealed',
    key: byEntity,
    contextOf: ({ entity_id, id }) => ({ context: sealedAnswer(entity_id!, id!) }),
  },
  {
    table: 'members',
    column: 'code_key',
    key: [['id', 'uuid']],
    contextOf: ({ id }) => ({ context: memberCodeKey(id!) }),
  },
]

/** Every column of the database whose values are sealed under the root key. */
export const sealedColumns: readonly RootKeyColumn[] = [...custodyColumns, ...identityColumns]
