import { createHook } from 'node:async_hooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestCustody, type TestCustody } from '../../testing/custody.ts'
import { transportPublicKey } from './index.ts'

let test: TestCustody

beforeAll(async () => {
  test = await openTestCustody()
})
afterAll(() => test?.close())

it('is opened with the key that is there, without seconds spent on another one', async () => {
  const publicKey = await transportPublicKey(test.custody)
  let made = 0
  const hook = createHook({ init: (_id, type) => void (type === 'KEYPAIRGENREQUEST' && made++) }).enable()
  const again = await test.open()
  expect(await transportPublicKey(again)).toBe(publicKey)
  expect(made).toBe(0)
  await test.custody.transport.rotate()
  hook.disable()
  // The hook sees keys being made: the zero above means something.
  expect(made).toBe(1)
  expect(await transportPublicKey(again)).not.toBe(publicKey)
}, 60_000)
