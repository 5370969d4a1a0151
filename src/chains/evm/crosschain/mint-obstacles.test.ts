import { expect, it } from 'vitest'
import type { Address } from '../../addresses/types.ts'
import { openMintObstacles } from './mint-obstacles.ts'

const minter = `0x${'11'.repeat(20)}` as Address
const [allowed, denied, other] = ['22', '33', '44'].map((byte) => `0x${byte.repeat(20)}` as Address) as [
  Address,
  Address,
  Address,
]
const word = (flag: boolean) => `0x${(flag ? '1' : '0').padStart(64, '0')}`

/** A node that answers when it is told to, or fails. */
function openMinter() {
  const requests: { accounts: number; answer: (isPaused?: boolean) => void; fail: () => void }[] = []
  const obstacleFor = openMintObstacles(
    minter,
    (to, data) =>
      new Promise((resolve, reject) => {
        expect(to).toBe(minter)
        const answer = (isPaused = false) =>
          resolve(data.map((call, index) => word(index === 0 ? isPaused : call.endsWith(denied.slice(2)))))
        requests.push({ accounts: data.length - 1, answer, fail: () => reject(new Error('unreachable')) })
      }),
  )
  return { requests, obstacleFor }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('asks once for all transfers that wait while a request is under way', async () => {
  const { requests, obstacleFor } = openMinter()
  const first = obstacleFor([allowed])
  await settled()
  const later = [obstacleFor([denied]), obstacleFor([other, allowed]), obstacleFor([other])]
  await settled()
  expect(requests).toHaveLength(1)
  requests[0]!.answer()
  expect(await first).toBeUndefined()
  await settled()
  expect(requests.map(({ accounts }) => accounts)).toEqual([1, 3])
  requests[1]!.answer()
  expect(await Promise.all(later)).toEqual([{ denied }, undefined, undefined])
})

it('refuses all accounts while the minter is paused', async () => {
  const { requests, obstacleFor } = openMinter()
  const asked = obstacleFor([allowed])
  await settled()
  requests[0]!.answer(true)
  expect(await asked).toBe('paused')
})

it('fails those that wait for a request without an answer, and asks again for the next', async () => {
  const { requests, obstacleFor } = openMinter()
  const first = obstacleFor([allowed])
  await settled()
  const next = obstacleFor([denied])
  requests[0]!.fail()
  await expect(first).rejects.toThrow('unreachable')
  await settled()
  requests[1]!.answer()
  expect(await next).toEqual({ denied })
})
