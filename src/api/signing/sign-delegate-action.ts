import { type EntitySecret, spendCiphertext } from '#custody/index'
import type { Ctx } from '#engines/ctx'
import { readSignable } from './read-signable.ts'
import { requireSigner, type SignerFields, sign } from './signer.ts'

type DelegateActionBody = SignerFields & { unsignedDelegateAction: string }

/** Signs actions on behalf of the wallet, which another account sends and pays the gas of. */
export async function signDelegateAction(
  ctx: Ctx,
  { body }: { body: DelegateActionBody },
  secret: EntitySecret,
) {
  await spendCiphertext(ctx, secret)
  const { wallet, account, read } = await requireSigner(ctx, body, 'delegateAction')
  const { payload, effects, answerOf } = readSignable(() => read(body.unsignedDelegateAction, account))
  const operation = { kind: 'signDelegateAction', ...effects } as const
  return answerOf(await sign(ctx, secret, wallet, { payload, operation, memo: body.memo }))
}
