/** Users, their challenges and modular wallets, as operators see and control them. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeMember, signInAs } from '#testing/builders/members'
import { makeModularWallet } from '#testing/builders/modular-accounts'
import { makeUser } from '#testing/builders/users'
import { freshAddress, type World, worldOf } from '#testing/builders/world'
import { approve, approved } from '#testing/pages/page'
import { type Harness, openHarness } from '#testing/platform/harness'
import { askUser, makePinUser } from '#testing/requests/challenge-requests'

let harness: Harness
let world: World
let stranger: World
beforeAll(async () => {
  harness = await openHarness({ engines: false })
  world = worldOf(harness)
  stranger = worldOf(harness, await harness.newEntity())
})
afterAll(() => harness?.close())

it('property 204: an operator ends locks, logs out, disables and enables a user, as the command does', async () => {
  const user = await makePinUser(world)
  const path = `/operator/users/${user.userId}`
  const id = await askUser(world, user, 'wallets', { blockchains: ['BASE-SEPOLIA'] })
  for (let count = 0; count < 4; count++) await approve(world, user, id, [['P', '999000']])
  expect((await approve(world, user, id)).body.code).toBe(155119)
  const unlocked = await world.call('POST', `${path}/unlock`, { secret: 'pin' })
  expect(unlocked).toMatchObject({ id: user.userId, pinStatus: 'ENABLED' })
  expect(unlocked.pinDetails.lastLockOverrideDate).toEqual(expect.any(String))
  expect((await approved(world, user, id)).challenge.status).toBe('COMPLETE')

  const codeOf = async () =>
    (await harness.http('GET', '/v1/w3s/user', { headers: { 'X-User-Token': user.userToken } })).body.code
  expect(await world.call('POST', `${path}/disable`)).toMatchObject({ status: 'DISABLED' })
  expect(await codeOf()).toBe(155109)
  expect(await world.call('POST', `${path}/enable`)).toMatchObject({ status: 'ENABLED' })
  expect(await codeOf()).toBeUndefined()
  await world.call('POST', `${path}/logOut`)
  expect(await codeOf()).toEqual(expect.any(Number))
  const types = (await world.call('GET', '/operator/events?pageSize=20')).map(
    ({ type }: { type: string }) => type,
  )
  expect(types).toEqual(
    expect.arrayContaining(['user.loggedOut', 'user.enabled', 'user.disabled', 'userPin.lockOverridden']),
  )

  const challenges = await world.call('GET', `/operator/challenges?userId=${user.userId}`)
  expect(challenges[0]).toMatchObject({ id, type: 'CREATE_WALLET', status: 'COMPLETE' })
  expect(challenges.flatMap((each: object) => Object.keys(each))).not.toContain('request')
})

it('property 204: users of others are unknown, and only operators may act', async () => {
  const { id } = await makeUser(world)
  for (const verb of ['disable', 'enable', 'logOut', 'unlock']) {
    const body = verb === 'unlock' ? { secret: 'answers' } : undefined
    const request = { ...(body && { body }) }
    const foreign = await stranger.tenant.http('POST', `/operator/users/${id}/${verb}`, request)
    expect([foreign.status, foreign.body.code], verb).toEqual([404, 155102])
    for (const role of ['viewer', 'developer'] as const) {
      const { http } = await signInAs(world, await makeMember(world, role))
      expect((await http('POST', `/operator/users/${id}/${verb}`, request)).status, verb).toBe(403)
    }
  }
  const unset = await world.tenant.http('POST', `/operator/users/${id}/unlock`, { body: { secret: 'pin' } })
  expect([unset.status, unset.body.errors[0].location]).toEqual([400, 'secret'])
  const foreign = await stranger.tenant.http('GET', `/operator/challenges?userId=${id}`)
  expect([foreign.status, foreign.body.errors[0].location]).toEqual([404, 'userId'])
  expect((await world.tenant.http('GET', '/operator/challenges')).status).toBe(400)
})

it('lists modular wallets by chain and address, those of the entity alone', async () => {
  const made = await makeModularWallet(world)
  const list = (of: World, query = '') => of.call('GET', `/operator/modularWallets${query}`)
  const [wallet] = await list(world)
  expect(wallet).toMatchObject({
    id: made.id,
    address: made.address.toLowerCase(),
    blockchain: 'BASE-SEPOLIA',
  })
  expect(await list(world, `?address=${made.address}&blockchain=BASE-SEPOLIA`)).toEqual([wallet])
  expect(await list(world, `?address=${freshAddress()}`)).toEqual([])
  expect(await list(stranger)).toEqual([])
})
