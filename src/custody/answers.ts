import { sealedAnswer } from './contexts.ts'
import type { CustodyCtx } from './custody.ts'
import { seal, withUnsealed } from './sealing.ts'
import { findAnswer, insertAnswer } from './store/user-sessions.ts'

/** Keeps an answer that holds tokens, for requests that repeat it. */
export const keepAnswer = ({ db, entity, custody }: CustodyCtx, id: string, answer: object) =>
  insertAnswer(
    db,
    entity.id,
    id,
    seal(custody.vault.root, sealedAnswer(entity.id, id), Buffer.from(JSON.stringify(answer))),
  )

export async function keptAnswer({ db, entity, custody }: CustodyCtx, id: string): Promise<object> {
  const sealed = await findAnswer(db, entity.id, id)
  return withUnsealed(custody.vault.root, sealedAnswer(entity.id, id), sealed, (plain) =>
    JSON.parse(plain.toString('utf8')),
  )
}
