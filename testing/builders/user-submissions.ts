import { createCipheriv, randomBytes, randomUUID } from 'node:crypto'
import { createUser } from '#identity/index'
import type { Purpose, Submission } from '#identity/user-keys/index'
import type { TestEntity } from '#testing/platform/custody'

export type PlainField = readonly [kind: string, value: string | Buffer]

/** A user with a session, as the page knows them; `userId` is the internal id. */
export type PageUser = { userId: string; encryptionKey: Buffer }

export async function newPageUser(entity: TestEntity): Promise<PageUser> {
  const { id } = await entity.act((ctx) => createUser(ctx, randomUUID()))
  return { userId: id, encryptionKey: randomBytes(32) }
}

/** The submission of a page for a challenge, written from the description of the format. */
export function submissionOf(
  user: PageUser,
  purpose: Purpose,
  fields: readonly PlainField[],
  challengeId: string = randomUUID(),
): Submission {
  const plain = Buffer.concat(fields.flatMap(([kind, value]) => fieldOf(kind, Buffer.from(value))))
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', user.encryptionKey, nonce)
  cipher.setAAD(Buffer.from(`bezant submission 1\n${user.userId}\n${challengeId}\n${purpose}`))
  const sealed = Buffer.concat([
    Buffer.of(1),
    nonce,
    cipher.update(plain),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  return { ...user, challengeId, sealed: sealed.toString('base64') }
}

function fieldOf(kind: string, value: Buffer): Buffer[] {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(value.length)
  return [Buffer.from(kind), length, value]
}
