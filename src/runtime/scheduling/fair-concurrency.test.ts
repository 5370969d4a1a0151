import { expect, it } from 'vitest'
import { createLanes, type LaneLimits } from './fair-concurrency.ts'

const crowded = () => new Error('crowded')
const open = (limits: Partial<LaneLimits>) =>
  createLanes({ count: 1, leavesRoom: false, waitingMax: 100, waitMs: 600_000, crowded, ...limits })

/** Work that ends on request. */
function heldWork() {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => ends.push(resolve))
  const endOne = async () => {
    ends.shift()?.()
    await new Promise((resume) => setImmediate(resume))
  }
  return { work, endOne, under: () => ends.length }
}

it("property 65: an overloaded tenant's own latest work is refused, and no other tenant's", async () => {
  const lanes = open({ waitingMax: 6 })
  const { work, endOne } = heldWork()
  const outcomes: string[] = []
  const ask = (asker: string, name: string) =>
    lanes.run(asker, work).then(
      () => void outcomes.push(name),
      ({ message }) => void outcomes.push(`${name} ${message}`),
    )
  const crowd = Array.from({ length: 7 }, (_, index) => ask('noisy', `noisy ${index}`))
  const late = ask('noisy', 'noisy 7')
  const [first, second] = [ask('quiet', 'quiet 0'), ask('other', 'other 0')]
  await Promise.all([late, crowd[6], crowd[5]])
  expect(outcomes.splice(0).sort()).toEqual(
    ['noisy 5', 'noisy 6', 'noisy 7'].map((name) => `${name} crowded`),
  )
  for (let turn = 0; turn < 7; turn++) await endOne()
  await Promise.all([...crowd, first, second])
  expect(outcomes).toEqual(['noisy 0', 'noisy 1', 'quiet 0', 'other 0', 'noisy 2', 'noisy 3', 'noisy 4'])
  expect(lanes.waiting()).toBe(0)
})

it('property 65: parts of a tenant take turns, and a busy one displaces itself alone', async () => {
  const lanes = open({ waitingMax: 4 })
  const { work, endOne } = heldWork()
  const outcomes: string[] = []
  const ask = (part: string, name: string, asker = 'tenant') =>
    lanes
      .run(asker, work, part)
      .then(
        () => name,
        ({ message }) => `${name} ${message}`,
      )
      .then((outcome) => void outcomes.push(outcome))
  const asked = Array.from({ length: 6 }, (_, index) => ask('busy', `busy ${index}`))
  asked.push(ask('quiet', 'quiet 0'), ask('other', 'other 0'), ask('any', 'any 0', 'elsewhere'))
  while (lanes.waiting() > 0) await endOne()
  await endOne()
  await Promise.all(asked)
  const refused = ['busy 5', 'busy 4', 'busy 3', 'busy 2'].map((name) => `${name} crowded`)
  expect(outcomes).toEqual([...refused, 'busy 0', 'busy 1', 'any 0', 'quiet 0', 'other 0'])
})

it('property 61: stalled work of one tenant leaves room for others, and regains it afterwards', async () => {
  const lanes = open({ count: 9, leavesRoom: true })
  const begun: string[] = []
  const held = new Map<string, ReturnType<typeof heldWork>>()
  const ask = (asker: string, count: number) => {
    const { work } = held.get(asker) ?? held.set(asker, heldWork()).get(asker)!
    const begin = () => {
      begun.push(asker)
      return work()
    }
    return Array.from({ length: count }, () => lanes.run(asker, begin))
  }
  const under = () => [...held.values()].map((each) => each.under())
  const asked = ask('first', 20)
  expect(under()).toEqual([5])
  for (const asker of ['second', 'third', 'fourth']) asked.push(...ask(asker, 20))
  expect(under()).toEqual([5, 2, 1, 1])
  // Lanes that become free are shared: no asker holds more than were free when it took them.
  for (let turn = 0; turn < 5; turn++) await held.get('first')!.endOne()
  expect(Math.max(...under())).toBeLessThan(5)
  while (under().some((count) => count > 0)) for (const each of held.values()) await each.endOne()
  await Promise.all(asked)
  expect(begun).toHaveLength(80)
  expect(lanes.waiting()).toBe(0)
})

it('property 61: waiting for a turn times out', async () => {
  const lanes = open({ waitMs: 1 })
  const { work, endOne } = heldWork()
  const first = lanes.run('one', work)
  await expect(lanes.run('one', work)).rejects.toThrow('crowded')
  await expect(lanes.run('other', work)).rejects.toThrow('crowded')
  expect(lanes.waiting()).toBe(0)
  await endOne()
  await first
  const next = lanes.run('other', work)
  await endOne()
  await next
})
