import { randomUUID } from 'node:crypto'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'
import { submissionOf } from './user-submissions.ts'

const pin = '258014'
const answers = [
  ['Q', 'Which street did you grow up in?'],
  ['A', 'Elm Street'],
  ['Q', 'What was your first pet?'],
  ['A', 'Bruno'],
] as const

/** Makes a user who has entered a wrong PIN until it was locked, and returns the id that the app chose. */
export async function makeLockedUser(http: Tenant['http'], blockchain: string): Promise<string> {
  const userId = `locked-${randomUUID()}`
  const call = async (method: string, path: string, body?: object, headers = {}) => {
    const answer = await http(method, path, { body, headers })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body.data
  }
  await call('POST', '/v1/w3s/users', { userId })
  const { userToken, encryptionKey } = await call('POST', '/v1/w3s/users/token', { userId })
  const headers = { 'X-User-Token': userToken }
  const ofPage = { ...headers, authorization: undefined }
  const submit = async (challengeId: string, fields: readonly (readonly [string, string])[]) => {
    const path = `/page/challenges/${challengeId}`
    const { user, needs } = await call('GET', path, undefined, ofPage)
    const page = { userId: user.id, encryptionKey: Buffer.from(encryptionKey, 'base64') }
    const { sealed } = submissionOf(page, needs, fields, challengeId)
    return http('POST', `${path}/approval`, {
      body: { purpose: needs, submission: sealed },
      headers: ofPage,
    })
  }
  const ask = (method: string, path: string, body = {}) =>
    call(method, `/v1/w3s/user/${path}`, { idempotencyKey: randomUUID(), ...body }, headers)
  const first = await ask('POST', 'initialize', { blockchains: [blockchain], accountType: 'EOA' })
  const approved = await submit(first.challengeId, [['N', pin], ...answers])
  if (approved.status >= 300) throw new Error(`the PIN was not set: ${approved.text}`)
  const { challengeId } = await ask('PUT', 'pin')
  await until(async () => {
    await submit(challengeId, [
      ['P', '413975'],
      ['N', '926481'],
    ])
    return (await call('GET', `/v1/w3s/users/${userId}`)).user.pinStatus === 'LOCKED'
  }, 'the PIN is locked')
  return userId
}
