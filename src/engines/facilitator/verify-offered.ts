import type { Ctx } from '#engines/ctx'
import type { PaymentRefusal } from './reasons.ts'
import type { SignedPayment } from './store.ts'
import { type GasOfVerdict, type OfferedPayment, verifyPayment } from './verify.ts'
import { verifyPermit } from './verify-permit.ts'

/** Checks a payment in the way in which its payer signed it. Throws `unavailable` where no node answers. */
export function verifyOffered(
  ctx: Ctx,
  offered: OfferedPayment,
  gas: GasOfVerdict,
): Promise<PaymentRefusal | SignedPayment> {
  const { permit } = offered.signed
  return permit ? verifyPermit(ctx, offered, permit, gas) : verifyPayment(ctx, offered, gas)
}
