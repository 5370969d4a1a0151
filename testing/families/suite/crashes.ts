import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Failpoint } from '#runtime/scheduling/failpoints'
import type { HttpAnswer } from '#testing/platform/tenant'
import { drawn } from '#testing/runner/drawn'
import { untilBooksAgree } from './payments.ts'
import type { FamilyPlatform, FamilyWallet } from './platform.ts'

/** The failpoints on the way of a payment, in its order. */
const ofPayment: readonly Failpoint[] = [
  'before-request-commit',
  'after-request-commit',
  'before-attempt-commit',
  'before-signature',
  'after-signature',
  'after-attempt-insert',
  'after-attempt-commit',
  'after-send-lease',
  'before-send',
  'before-send-answer',
  'before-send-record',
  'before-block-insert',
  'before-block-commit',
  'after-block-commit',
  'before-cursor-advance',
]

/** Those of other bytes under the nonce of the first ones. */
const ofReplacement: readonly Failpoint[] = [
  'before-signature',
  'before-replacement-send',
  'before-send',
  'before-replacement-record',
]

/** Makes the same request until it is answered, whichever process answers. Returns the id of what it made. */
export async function insist(ask: (idempotencyKey: string) => Promise<HttpAnswer>): Promise<string> {
  const key = randomUUID()
  for (;;) {
    const answer = await ask(key).catch(() => undefined)
    if (answer && answer.status < 500) {
      expect(answer.status, answer.text).toBeLessThan(300)
      return answer.body.data.id
    }
    await sleep(50)
  }
}

/** Kills the worker at the failpoint while it does the work, and starts the next one. */
export async function killedAt<Result>(
  run: FamilyPlatform,
  point: Failpoint,
  work: () => Promise<Result>,
): Promise<Result> {
  await run.worker().arm({ point, hit: 1, action: 'kill' })
  const successor = async () => {
    await run.worker().exited
    await run.begin()
  }
  const [result] = await Promise.all([work(), successor()])
  return result
}

/** The worker is killed at each failpoint of a payment; the next one finishes it. */
export function describeCrashes(run: () => FamilyPlatform, replaces: boolean): void {
  describe('property 225: a worker that is killed', () => {
    let wallet: FamilyWallet
    beforeAll(async () => {
      wallet = await run().fundedWallet()
    })

    async function diesOnTheWay(point: Failpoint): Promise<void> {
      const wish = { from: wallet, to: run().family.stranger(), amount: '1.5' }
      const id = await killedAt(run(), point, () => insist((key) => run().askTransfer(wish, key)))
      await run().reaches(id, 'COMPLETE')
      await run().expectPaid(id, wish)
      await untilBooksAgree(run(), wallet)
    }

    async function diesWhileItReplaces(point: Failpoint): Promise<void> {
      const { family, transfer, reaches, control, expectPaid } = run()
      const wish = { from: wallet, to: family.stranger(), amount: '1.5' }
      await family.blocks.hold()
      const id = await transfer(wish)
      await reaches(id, 'SENT')
      await killedAt(run(), point, () => control(id, 'accelerate').catch(() => undefined))
      await family.blocks.release()
      await reaches(id, 'COMPLETE')
      await expectPaid(id, wish)
    }

    const deaths = [
      ...ofPayment.map((point) => [point, diesOnTheWay] as const),
      ...(replaces ? ofReplacement : []).map(
        (point) => [`${point}, at a higher price`, () => diesWhileItReplaces(point)] as const,
      ),
    ]
    it.each(drawn(deaths, 1))('paid once though it died %s', (point, dies) => dies(point as Failpoint))
  })
}
