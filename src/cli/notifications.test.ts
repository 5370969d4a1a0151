import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { makeNotification } from '#testing/builders/subscriptions'
import { type World, worldOf } from '#testing/builders/world'
import { urlOf } from '#testing/databases/database-clone'
import { type Harness, openHarness } from '#testing/platform/harness'
import { parseCommand } from './command.ts'
import { notificationsCommand } from './notifications.ts'

let harness: Harness
let world: World
let printed: string

beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())
beforeEach(() => {
  vi.stubEnv('DATABASE_URL', urlOf(harness.connection))
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text
    return true
  })
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

async function bezant(...args: string[]): Promise<string> {
  const parsed = parseCommand('notifications', notificationsCommand, args)
  if (parsed === 'help') throw new Error('asked for help')
  printed = ''
  expect(await notificationsCommand.run(parsed)).toBe(0)
  return printed
}

it('lists, shows, resends and replays notifications of an entity', async () => {
  const { id } = await makeNotification(world)
  const { entityId } = world.tenant
  const of = ['--entity', entityId]
  const read = () => world.call('GET', `/operator/notifications/${id}`)
  const [{ subscriptionId }] = (await read()).deliveries
  expect(await bezant('list', ...of, '--state', 'failed')).toMatch(
    new RegExp(`^CREATE DATE .*\n.*${id} .*transactions.inbound .* 0 of 1\n$`),
  )
  expect(await bezant('list', ...of, '--state', 'delivered', '--json')).toBe('')
  const shown = JSON.parse(await bezant('show', id, ...of, '--json'))
  expect(shown).toMatchObject({ id, attempts: [], deliveries: [{ subscriptionId, state: 'failed' }] })

  const from = '2026-01-01T00:00:00Z'
  const range = [...of, '--subscription', subscriptionId, '--from', from]
  expect(JSON.parse(await bezant('replay', ...range, '--json'))).toMatchObject({ subscriptionId, total: 1 })
  expect((await read()).deliveries).toMatchObject([{ state: 'waiting', cause: 'replay' }])
  expect(await bezant('resend', id, ...of)).toContain(`${subscriptionId}  http://127.0.0.1`)
  expect((await read()).deliveries).toMatchObject([{ state: 'waiting', cause: 'resend' }])
})

it.each([
  ['no entity', ['list'], /--entity is missing: bezant keys list shows the ids of entities/],
  ['another action', ['forget'], /unknown action "forget": choose from list, show, resend, replay/],
  ['no id', ['show', '7', '--entity', 'own'], /show needs the id of a notification/],
  ['an unknown id', ['show', '00000000-0000-4000-8000-000000000000', '--entity', 'own'], /matches no notif/],
  ['another state', ['list', '--state', 'lost', '--entity', 'own'], /must be one of waiting, delivered/],
  ['no range', ['replay', '--entity', 'own'], /--subscription and --from are needed/],
])('refuses %s', async (_, args, reason) => {
  const given = args.map((each) => (each === 'own' ? world.tenant.entityId : each))
  await expect(bezant(...given)).rejects.toThrow(reason)
})
