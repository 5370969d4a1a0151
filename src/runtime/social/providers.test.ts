import { describe, expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { parseSocialProviders } from './providers.ts'

const [entity, other] = ['01a211ac-0000-7000-8000-000000000001', '01a211ac-0000-7000-8000-000000000002']
const google = { entity, provider: 'Google', clientIds: ['g-1'] }
const read = (...list: object[]) => parseSocialProviders(JSON.stringify(list))

describe('BEZANT_SOCIAL_PROVIDERS', () => {
  it('names the apps of each entity', () => {
    const facebook = { entity: other, provider: 'Facebook', clientIds: ['f'], appSecret: 's' }
    const own = { ...google, entity: other, issuer: 'https://id.example/realm', clientIds: ['g-1', 'g-2'] }
    expect(read(google, facebook, own)).toEqual([
      { entityId: entity, provider: 'Google', issuer: 'https://accounts.google.com', clientIds: ['g-1'] },
      {
        entityId: other,
        provider: 'Facebook',
        issuer: 'https://graph.facebook.com',
        clientIds: ['f'],
        appSecret: 's',
      },
      { entityId: other, provider: 'Google', issuer: own.issuer, clientIds: own.clientIds },
    ])
    expect(readConfig({}, {}).socialProviders).toEqual([])
  })

  it.each([
    [[{ ...google, clientIds: undefined }], /clientIds must be a list of 1 to 32/],
    [[{ ...google, entity: 'x' }], /needs the id of its entity/],
    [[{ ...google, provider: 'Nobody' }], /must be one of Google, Facebook, Apple/],
    [[{ ...google, issuer: 'id.example' }], /issuer must be an address/],
    [[{ ...google, issuer: 'https://id.example?a' }], /issuer must be an address/],
    [[{ ...google, appSecret: 's' }], /Facebook, and no other, needs an appSecret/],
    [[{ ...google, provider: 'Facebook' }], /Facebook, and no other, needs an appSecret/],
    [[{ ...google, clientID: 'g' }], /there is no setting "clientID"/],
    [[google, { ...google, clientIds: ['g-2'] }], /names Google twice for one entity/],
    [[google, { ...google, entity: other }], /names the client id g-1 twice/],
    [
      [google, { ...google, provider: 'Apple', issuer: 'https://accounts.google.com' }],
      /client id g-1 twice/,
    ],
  ])('refuses %j', (list, message) => expect(() => read(...list)).toThrow(message))

  it.each(['{', '{}', 'null'])('refuses %s', (text) => {
    expect(() => parseSocialProviders(text)).toThrow(/must be/)
  })
})
