import Type from 'typebox'

const name = (pattern: string, description: string) =>
  Type.String({ pattern, maxLength: 40, description, '~remedy': 'use up to 40 of a-z, 0-9 and hyphens' })

/** The shape of a name that a user gives. */
const givenName = '^[a-z0-9-]{1,40}$'

export const snapshotParams = Type.Object({
  name: name('^(@?[a-z0-9-]{1,39}|[a-z0-9-]{40})$', 'The name of the snapshot.'),
})

const newName = name(givenName, 'The name: up to 40 of `a-z`, `0-9` and hyphens.')

export const newSnapshotParams = Type.Object({ name: newName })
export const newSnapshotBody = Type.Object({ name: newName }, { description: 'The snapshot.' })

const headSchema = Type.Object(
  {
    blockchain: Type.String({ description: 'The blockchain.' }),
    number: Type.Integer({ description: 'The number of its newest block.' }),
    hash: Type.String({ description: 'The hash of its newest block.' }),
  },
  { title: 'SnapshotChain', description: 'A chain, as it was saved.' },
)

const snapshotSchema = Type.Object(
  {
    name: Type.String({
      description:
        'The name: one of yours, `@fresh` for the state of a first start, or `@auto-1` to `@auto-3` for what a restore replaced, the newest first.',
    }),
    savedDate: Type.String({ format: 'date-time', description: 'Business time when it was saved.' }),
    version: Type.String({ description: 'The version of the program that saved it.' }),
    chains: Type.Array(headSchema, { description: 'The chains.' }),
    bytes: Type.Integer({ description: 'The size of its files and its database.' }),
  },
  { title: 'SandboxSnapshot', description: 'A saved state of the sandbox.' },
)

export const snapshotsSchema = Type.Array(snapshotSchema, { description: 'The snapshots, oldest first.' })

export const restoredSchema = Type.Object(
  {
    ...snapshotSchema.properties,
    tookMs: Type.Integer({ description: 'The time that it took, in milliseconds.' }),
  },
  { title: 'SandboxRestore', description: 'A snapshot that was saved or restored, and the time that took.' },
)
