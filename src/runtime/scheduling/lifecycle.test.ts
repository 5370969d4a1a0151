import { expect, it } from 'vitest'
import { serviceOf } from './lifecycle.ts'

/** A part that ends when the test says so, and what happened to all parts, in order. */
function parts() {
  const events: string[] = []
  const part = (name: string, fails = false) => {
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    return {
      end: () => end(),
      stop: async () => {
        events.push(`${name} stops`)
        await ended
        events.push(`${name} ended`)
        if (fails) throw new Error(`${name} failed`)
      },
    }
  }
  return { events, part }
}

it('stops the parts of a stage together, and each stage when the one before has ended', async () => {
  const { events, part } = parts()
  const [wakes, one, other] = [part('what wakes'), part('one'), part('other')]
  const stopped = serviceOf(wakes, [one, other]).stop()
  one.end()
  other.end()
  await Promise.resolve()
  expect(events).toEqual(['what wakes stops'])
  wakes.end()
  await stopped
  expect(events.slice(1, 4)).toEqual(['what wakes ended', 'one stops', 'other stops'])
  expect(events).toHaveLength(6)
})

it('stops once, however often it is asked, and every caller waits for the end', async () => {
  const { events, part } = parts()
  const only = part('the only one')
  const service = serviceOf(only)
  const [first, second] = [service.stop(), service.stop()]
  let ended = false
  void second.then(() => {
    ended = true
  })
  await Promise.resolve()
  expect(ended).toBe(false)
  only.end()
  await Promise.all([first, second, service.stop()])
  expect(events).toEqual(['the only one stops', 'the only one ended'])
})

it('stops the others when one fails, and throws that failure in the end', async () => {
  const { events, part } = parts()
  const [failing, beside, after] = [part('failing', true), part('beside'), part('after')]
  for (const each of [failing, beside, after]) each.end()
  const throwing = () => {
    throw new Error('threw at once')
  }
  await expect(serviceOf([failing, beside], throwing, after).stop()).rejects.toThrow('failing failed')
  expect(events).toEqual(expect.arrayContaining(['beside ended', 'after ended']))
})

it('has started when all of its parts have, those of its parts included', async () => {
  let begin: () => void = () => undefined
  const started = new Promise<void>((resolve) => {
    begin = resolve
  })
  const inner = serviceOf([{ started, stop: async () => undefined }, () => undefined])
  let has = false
  const outer = serviceOf(inner, { stop: async () => undefined })
  void outer.started.then(() => {
    has = true
  })
  await new Promise((resume) => setImmediate(resume))
  expect(has).toBe(false)
  begin()
  await outer.started
})
