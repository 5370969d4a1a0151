/** `bezant members`: the people who sign in to the console. */
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { signInAs } from '#testing/builders/members'
import { urlOf } from '#testing/databases/database-clone'
import { testRootKey } from '#testing/databases/template'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { runCommand } from '#testing/processes/command'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

/** Runs the command with lines to read. */
async function members(args: string, input = '') {
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as never)
  try {
    return await runCommand({
      command: 'members',
      args: args.split(' '),
      dataDir: harness.ctx.config.dataDir,
      env: { DATABASE_URL: urlOf(harness.connection), BEZANT_ROOT_KEY: testRootKey.toString('hex') },
    })
  } finally {
    stdin.mockRestore()
  }
}
const signIn = (body: object) => httpAs(harness.url, undefined)('POST', '/operator/session', { body })
const password = 'correct horse battery staple'

it('adds a member who signs in, lists, grants, revokes and disables them', async () => {
  const at = `--entity ${harness.entityId}`
  const name = 'Alex@example.com'
  const added = await members(`add ${name} ${at} --role viewer`, `${password}\n`)
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining('alex@example.com')])
  expect(added.stdout + added.stderr).not.toContain(password)
  const { http } = await signInAs({ harness }, { name, password })
  expect((await http('POST', '/operator/apiKeys', { body: {} })).status).toBe(403)
  expect((await members(`grant ${name} ${at} --role operator`)).code).toBe(0)
  expect((await http('POST', '/operator/apiKeys', { body: {} })).status).toBe(201)
  const listed = await members(`list ${at} --json`)
  expect(JSON.parse(listed.stdout)).toMatchObject({
    name: 'alex@example.com',
    role: 'operator',
    hasCodes: false,
    status: 'enabled',
  })
  await members(`disable ${name}`)
  expect((await signIn({ name, password })).body.code).toBe(281001)
  await members(`enable ${name}`)
  expect((await signIn({ name, password })).status).toBe(201)
  await members(`revoke ${name} ${at}`)
  expect((await signIn({ name, password })).body.code).toBe(281005)
})

it('makes one-time codes, and forgets them for a member who lost the device', async () => {
  await members(`add coder --entity ${harness.entityId} --role operator`, password)
  const { stdout } = await members('enrol coder --json')
  const { authenticator } = JSON.parse(stdout)
  expect(authenticator).toMatch(/^otpauth:\/\/totp\/Bezant:coder\?secret=[A-Z2-7]{32}&issuer=Bezant$/)
  expect((await signIn({ name: 'coder', password })).body.code).toBe(281002)
  expect((await members('forget-codes coder')).code).toBe(0)
  expect((await signIn({ name: 'coder', password })).status).toBe(201)
  const other = 'another password of enough letters'
  expect((await members('set-password coder', other)).code).toBe(0)
  expect((await signIn({ name: 'coder', password })).body.code).toBe(281001)
  expect((await signIn({ name: 'coder', password: other })).status).toBe(201)
})

it('names what is wrong with an argument, and changes nothing', async () => {
  const at = `--entity ${harness.entityId}`
  const wrong: [string, string, string][] = [
    ['add', '', 'add needs the name of a member'],
    [`add new ${at}`, '', '--role is missing: choose from viewer, developer, operator'],
    [`add new ${at} --role boss`, '', '--role must be one of viewer, developer, operator, not "boss"'],
    ['add new --role viewer', '', '--entity is missing'],
    ['add new --entity x --role viewer', '', 'no entity x'],
    [`add a/b ${at} --role viewer`, '', 'letters, digits'],
    [`add new ${at} --role viewer`, 'short', '12 to 200 characters, and this one has 5'],
    [`add new ${at} --role viewer`, '', 'this one has 0'],
    [`add coder ${at} --role viewer`, password, 'coder is a member already'],
    ['disable nobody', '', 'there is no member nobody'],
    [`revoke coder --entity ${'0'.repeat(8)}-0000-4000-8000-000000000000`, '', 'no entity'],
    ['promote coder', '', 'unknown action "promote"'],
  ]
  for (const [args, input, told] of wrong) {
    const { code, stderr } = await members(args, input)
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(told)])
  }
  expect((await members('list')).stdout).not.toContain('new')
})
