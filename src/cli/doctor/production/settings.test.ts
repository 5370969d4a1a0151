import { expect, it } from 'vitest'
import { readConfig, readSurroundings } from '#runtime/config'
import { settingRules } from './settings.ts'

const key = `0x04${'1'.repeat(128)}`
const attesters = JSON.stringify([{ publicKey: key, url: 'https://1.1.1.1', token: 'LIVE_API_KEY:a:b' }])
const networks = (rpcUrls: string[], more: object = {}) =>
  JSON.stringify([{ blockchain: 'BASE', rpcUrls, ...more }])

const sound = {
  BEZANT_PUBLIC_URL: 'https://payments.example',
  BEZANT_CHALLENGE_URL: 'https://pin.example',
  BEZANT_PROXIES: '127.0.0.1',
  BEZANT_REQUESTS_PER_SECOND: '50',
  BEZANT_NETWORKS: networks(['https://1.1.1.1', 'https://8.8.8.8']),
  BEZANT_REVIEW_APPROVERS: '2',
  BEZANT_ROOT_KEY: '8f0c5d1be7a2394660d7fe3b91c84a25f2736ed80bb9154c7e60a3dd52c81f97',
}

/** The names of the faults of these settings. */
async function named(change: Record<string, string | undefined>): Promise<string[]> {
  const environment = { ...sound, ...change }
  const given = { config: readConfig({}, environment), surroundings: readSurroundings(environment) }
  const found = await Promise.all(
    settingRules.map(async ({ name, faults }) => ((await faults(given)).some(Boolean) ? [name] : [])),
  )
  return found.flat()
}

it.each([
  {},
  { BEZANT_HOST: '10.0.0.5', BEZANT_PROXIES: '10.0.0.0/8' },
  { BEZANT_HOST: '0.0.0.0', BEZANT_PROXIES: '104.16.0.0/13,2a06:98c0::/29,fc00::/7' },
  { BEZANT_NETWORKS: networks(['http://127.0.0.1:8545']) },
  { BEZANT_NETWORKS: networks(['http://10.0.0.7:8545', 'http://10.0.0.8:8545'], { agree: 1 }) },
  { BEZANT_NETWORKS: networks(['https://1.1.1.1', 'https://8.8.8.8', 'http://10.0.0.7:8545']) },
  { BEZANT_SMTP_URL: 'smtp://localhost', BEZANT_MAIL_FROM: 'Shop <no-reply@shop.example>' },
  { BEZANT_SMTP_URL: 'smtps://u:p@1.1.1.1', BEZANT_MAIL_FROM: 'no-reply@localhost.example' },
  { BEZANT_SMTP_URL: 'smtp://1.1.1.1:587?requireTLS=true', BEZANT_MAIL_FROM: 'no-reply@shop.example' },
  { BEZANT_PASSKEY_ORIGINS: 'https://shop.example' },
  { BEZANT_ATTESTERS: attesters, BEZANT_ATTESTATION_THRESHOLD: '2' },
  // It is asked no more.
  { BEZANT_ATTESTERS: JSON.stringify([{ publicKey: key }]) },
  { BEZANT_LOG_LEVEL: 'debug', BEZANT_REQUEST_LOG: 'bodies' },
  { NODE_OPTIONS: '--max-old-space-size=4096 --no-deprecation', NODE_TLS_REJECT_UNAUTHORIZED: '1' },
])('finds nothing amiss with the sound settings %j', async (change) => {
  expect(await named(change)).toEqual([])
})

it.each<[string, Record<string, string | undefined>]>([
  ['BEZANT_PUBLIC_URL', { BEZANT_PUBLIC_URL: undefined }],
  ['BEZANT_PUBLIC_URL', { BEZANT_PUBLIC_URL: 'http://payments.example' }],
  ['BEZANT_PUBLIC_URL', { BEZANT_PUBLIC_URL: 'https://localhost' }],
  ['BEZANT_CHALLENGE_URL', { BEZANT_CHALLENGE_URL: undefined }],
  ['BEZANT_CHALLENGE_URL', { BEZANT_CHALLENGE_URL: 'http://pin.example' }],
  ['BEZANT_CHALLENGE_URL', { BEZANT_CHALLENGE_URL: 'https://payments.example' }],
  ['BEZANT_CHALLENGE_URL', { BEZANT_CHALLENGE_URL: 'https://payments.example:8443' }],
  ['BEZANT_HOST', { BEZANT_HOST: '8.8.8.8' }],
  ['BEZANT_PROXIES', { BEZANT_PROXIES: undefined }],
  ['BEZANT_PROXIES', { BEZANT_PROXIES: '127.0.0.1,0.0.0.0/0' }],
  ['BEZANT_PROXIES', { BEZANT_PROXIES: '::/0' }],
  ['BEZANT_PROXIES', { BEZANT_PROXIES: '128.0.0.0/1' }],
  ['BEZANT_PROXIES', { BEZANT_PROXIES: '10.0.0.0/7' }],
  ['BEZANT_REQUESTS_PER_SECOND', { BEZANT_REQUESTS_PER_SECOND: '0' }],
  ['BEZANT_PAGE_NODE_MS', { BEZANT_PAGE_NODE_MS: '0' }],
  ['BEZANT_NOTIFICATION_TARGETS', { BEZANT_NOTIFICATION_TARGETS: 'loopback' }],
  ['BEZANT_NOTIFICATION_TARGETS', { BEZANT_NOTIFICATION_TARGETS: 'private' }],
  ['BEZANT_PASSKEY_ORIGINS', { BEZANT_PASSKEY_ORIGINS: 'https://shop.example,loopback' }],
  ['BEZANT_PASSKEY_ORIGINS', { BEZANT_PASSKEY_ORIGINS: 'https://localhost:3000' }],
  ['BEZANT_SMTP_URL', { BEZANT_SMTP_URL: 'smtp://10.0.0.9', BEZANT_MAIL_FROM: 'a@shop.example' }],
  [
    'BEZANT_SMTP_URL',
    { BEZANT_SMTP_URL: 'smtps://1.1.1.1?tls.rejectUnauthorized=false', BEZANT_MAIL_FROM: 'a@shop.example' },
  ],
  ['BEZANT_MAIL_FROM', { BEZANT_SMTP_URL: 'smtps://1.1.1.1' }],
  ['BEZANT_NETWORKS', { BEZANT_NETWORKS: networks(['https://1.1.1.1']) }],
  ['BEZANT_NETWORKS', { BEZANT_NETWORKS: networks(['https://1.1.1.1/one', 'https://1.1.1.1/two']) }],
  ['BEZANT_NETWORKS', { BEZANT_NETWORKS: networks(['https://1.1.1.1', 'https://8.8.8.8'], { agree: 1 }) }],
  ['BEZANT_NETWORKS', { BEZANT_NETWORKS: networks(['http://1.1.1.1', 'https://8.8.8.8']) }],
  ['BEZANT_CROSSCHAIN_ENVIRONMENT', { BEZANT_CROSSCHAIN_ENVIRONMENT: 'TEST' }],
  ['BEZANT_ATTESTATION_THRESHOLD', { BEZANT_ATTESTERS: attesters }],
  ['BEZANT_REVIEW_APPROVERS', { BEZANT_REVIEW_APPROVERS: '1' }],
  ['randomness of the root key', { BEZANT_ROOT_KEY: '0123456789abcdef'.repeat(4) }],
  ['BEZANT_FAILPOINT', { BEZANT_FAILPOINT: 'after-attempt-commit:3' }],
  ['NODE_TLS_REJECT_UNAUTHORIZED', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ['NODE_OPTIONS', { NODE_OPTIONS: '--no-deprecation --inspect-brk=0.0.0.0:9229' }],
  ['NODE_OPTIONS', { NODE_OPTIONS: '--insecure-http-parser' }],
])('names %s, and nothing else, of %j', async (name, change) => {
  expect(await named(change)).toEqual([name])
})
